// SPDX-License-Identifier: BSD-3-Clause
// Which routine answers to one of ScaLAPACK's names: ours or the stock one.
#pragma once
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <new>
#include <utility>

#include "arguments.hpp"
#include "redist/closed_contexts.hpp"

namespace pblas {

/// Orders, and the width of blocks, with which ours were measured to be no slower than ScaLAPACK's (docs/results.md,
/// "Kernels on blocks of any sizes").
constexpr int least_product = 1000, least_lu = 256, least_cholesky = 512, widest_block_of_cholesky = 64;

/// Ours alone for DTYPE_ 601, which ScaLAPACK does not know. Of processes that differ the first of these holds.
enum class Way { ours_alone, stock, ours };
/// By DYNGRID_PBLAS: auto takes ours where a descriptor has DTYPE_ 601, and for large calls in a context of
/// prefer_ours; own wherever ours can. Ends the program where stock is asked for and cannot, and where a matrix lies in
/// a context that a change of the grid has closed. Local: processes may differ by a mistake in the arguments of one, or
/// where calls of some are routed elsewhere (stock_calls.hpp).
/// @param is_large  of a size from which ours was measured to be no slower
Way way_of(const char* name, std::initializer_list<MatrixArgument> matrices, bool is_large);
/// The way of all processes of ctxt. Collective over it where large calls may be ours, else local.
Way agreed_way(int ctxt, Way mine);

/// Ends the program as the PBLAS do: with the argument's number.
[[noreturn]] void refuse(int ctxt, const char* name, int info);
/// Ends the program when memory or MPI gave out in the middle of a collective call.
[[noreturn]] void fail(int ctxt, const char* name, const std::exception& error);

template <class Call> void guarded(int ctxt, const char* name, Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    fail(ctxt, name, error);
  }
}

/// An own name: `check` says what info would be, `run` computes.
template <class Check, class Run> void call_pblas(int ctxt, const char* name, Check&& check, Run&& run) {
  redist::refuse_closed_contexts(name, {ctxt});
  guarded(ctxt, name, [&] {
    if (const int info = check(); info != 0) refuse(ctxt, name, info);
    run();
  });
}
/// One of ScaLAPACK's names. What it would refuse it refuses itself, where it knows the descriptors.
template <class Check, class Run, class Stock>
void call_pblas(const char* stock_name, int ctxt, const char* name, std::initializer_list<MatrixArgument> matrices,
                bool is_large, Check&& check, Run&& run, Stock&& stock) {
  Way way = way_of(stock_name, matrices, is_large);
  if (is_large) guarded(ctxt, name, [&] { way = agreed_way(ctxt, way); });
  if (way == Way::stock) return stock();
  guarded(ctxt, name, [&] {
    const int info = check();
    if (info == 0) return run();
    if (way == Way::ours_alone) refuse(ctxt, name, info);
    stock();
  });
}

/// The same for a routine with an info.
template <class Check, class Run> void call_lapack(int ctxt, const char* name, int* info, Check&& check, Run&& run) {
  redist::refuse_closed_contexts(name, {ctxt});
  guarded(ctxt, name, [&] {
    *info = check();
    if (*info == 0)
      *info = run();
    else
      report(ctxt, name, *info);
  });
}
template <class Check, class Run, class Stock>
void call_lapack(const char* stock_name, int ctxt, const char* name, int* info,
                 std::initializer_list<MatrixArgument> matrices, bool is_large, Check&& check, Run&& run,
                 Stock&& stock) {
  Way way = way_of(stock_name, matrices, is_large);
  guarded(ctxt, name, [&] { way = agreed_way(ctxt, way); });
  if (way == Way::stock) return stock();
  guarded(ctxt, name, [&] {
    *info = check();
    if (*info == 0)
      *info = run();
    else if (way == Way::ours_alone)
      report(ctxt, name, *info);
    else
      stock();
  });
}

} // namespace pblas
