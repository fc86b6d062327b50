// SPDX-License-Identifier: BSD-3-Clause
// Which routine answers to one of ScaLAPACK's names: ours or the stock one. Each name has a twin that begins with
// dyngrid_ and cannot be switched to stock.
#pragma once
#include <exception>
#include <initializer_list>

#include "arguments.hpp"
#include "base/spellings.hpp"
#include "pblas/stock_calls.hpp"
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

/// An own name of a routine: `call` says what info would be, and computes.
template <class Call> void call_pblas(const char* name, const Call& call) {
  redist::refuse_closed_contexts(name, {call.ctxt()});
  guarded(call.ctxt(), name, [&] {
    if (const int info = call.check(); info != 0) refuse(call.ctxt(), name, info);
    call.run();
  });
}
/// One of ScaLAPACK's names. What it would refuse it refuses itself, where it knows the descriptors.
template <class Call, class Stock>
void call_pblas(const char* name, const Call& call, std::initializer_list<MatrixArgument> matrices,
                const char* stock_name, Stock&& stock) {
  const int ctxt = call.ctxt();
  const bool is_large = call.is_large();
  Way way = way_of(stock_name, matrices, is_large);
  if (is_large) guarded(ctxt, name, [&] { way = agreed_way(ctxt, way); });
  if (way == Way::stock) return stock();
  guarded(ctxt, name, [&] {
    const int info = call.check();
    if (info == 0) return call.run();
    if (way == Way::ours_alone) refuse(ctxt, name, info);
    stock();
  });
}

/// The same for a routine with an info.
template <class Call> void call_lapack(const char* name, const Call& call) {
  redist::refuse_closed_contexts(name, {call.ctxt()});
  guarded(call.ctxt(), name, [&] {
    *call.info = call.check();
    if (*call.info == 0)
      *call.info = call.run();
    else
      report(call.ctxt(), name, *call.info);
  });
}
template <class Call, class Stock>
void call_lapack(const char* name, const Call& call, std::initializer_list<MatrixArgument> matrices,
                 const char* stock_name, Stock&& stock) {
  const int ctxt = call.ctxt();
  Way way = way_of(stock_name, matrices, call.is_large());
  guarded(ctxt, name, [&] { way = agreed_way(ctxt, way); });
  if (way == Way::stock) return stock();
  guarded(ctxt, name, [&] {
    *call.info = call.check();
    if (*call.info == 0)
      *call.info = call.run();
    else if (way == Way::ours_alone)
      report(ctxt, name, *call.info);
    else
      stock();
  });
}

} // namespace pblas

// One of ScaLAPACK's names and its twin, in all spellings. `answer`: call_pblas or call_lapack; `made` makes its call,
// `matrices` are those of it, `pass` are its arguments.
#define DYNGRID_ROUTINE(answer, x, XX, name, NAME, arguments, made, matrices, pass)                                    \
  void p##x##name##_ arguments;                                                                                        \
  DYNGRID_API void dyngrid_p##x##name##_ arguments {                                                                   \
    pblas::answer("P" #XX #NAME, made);                                                                                \
  }                                                                                                                    \
  DYNGRID_API void p##x##name##_ arguments {                                                                           \
    const void* const returns_to = __builtin_return_address(0);                                                        \
    const auto call = made;                                                                                            \
    pblas::answer("P" #XX #NAME, call, matrices, "p" #x #name "_", [&] {                                               \
      static void* const stock = pblas::stock_routine("p" #x #name "_");                                               \
      pblas::call_stock("p" #x #name "_", stock, pass, returns_to);                                                    \
    });                                                                                                                \
  }                                                                                                                    \
  DYNGRID_SPELLINGS_WITH_TWIN(p##x##name, P##XX##NAME)

#define DYNGRID_COMMA ,
#define DYNGRID_PASS(...)                                                                                              \
  { __VA_ARGS__ }
