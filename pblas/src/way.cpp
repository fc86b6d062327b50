// SPDX-License-Identifier: BSD-3-Clause
#include "way.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/mpi/blacs.hpp"
#include "base/mpi/check.hpp"
#include "base/stock_symbol.hpp"
#include "pblas/stock_calls.hpp"

namespace pblas {
namespace {

enum class Setting { automatic, stock, own };

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
  std::exit(1);
}

Setting setting() {
  static const Setting set = [] {
    const char* text = base::environment("DYNGRID_PBLAS");
    const std::string value = text == nullptr ? "auto" : text;
    if (value == "auto") return Setting::automatic;
    if (value == "stock") return Setting::stock;
    if (value == "own") return Setting::own;
    stop("dyngrid: DYNGRID_PBLAS is \"" + value + "\", expected auto, stock or own");
  }();
  return set;
}

/// Whether a call with good arguments in this context may be ours. The same on all its processes.
bool may_be_ours(int ctxt) {
  if (setting() == Setting::own) return position_in(ctxt).is_inside();
  return setting() == Setting::automatic && are_ours_preferred(ctxt);
}

} // namespace

Way way_of(const char* name, std::initializer_list<MatrixArgument> matrices, bool is_large) {
  for (const MatrixArgument& a : matrices) redist::refuse_closed_contexts(name, {a.ctxt()});
  const bool listed = std::any_of(matrices.begin(), matrices.end(), is_listed);
  if (setting() == Setting::stock && listed)
    stop(
        fmt::format("{0}: got a descriptor of DTYPE_ 601 and DYNGRID_PBLAS=stock, expected DTYPE_ 1, which is all that "
                    "ScaLAPACK's routine knows; leave the variable out, or call dyngrid_{0}",
                    name));
  if (listed) return Way::ours_alone;
  if (setting() == Setting::stock || !std::all_of(matrices.begin(), matrices.end(), is_known)) return Way::stock;
  if (setting() == Setting::own) return Way::ours;
  // processes that came later than the program's last dyngrid_run_on do not know of it: agreed_way()
  return is_large && !are_stock_calls_routed() && may_be_ours(matrices.begin()->ctxt()) ? Way::ours : Way::stock;
}

Way agreed_way(int ctxt, Way mine) {
  if (!may_be_ours(ctxt)) return mine;
  int least = static_cast<int>(mine);
  base::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, communicator_of(ctxt)), "MPI_Allreduce");
  return static_cast<Way>(least);
}

std::string choice_in_words() {
  if (setting() == Setting::stock) return "p?gemm, p?getrf and p?potrf are ScaLAPACK's (DYNGRID_PBLAS=stock)";
  if (setting() == Setting::own) return "p?gemm, p?getrf and p?potrf are dyngrid's (DYNGRID_PBLAS=own)";
  return fmt::format("p?gemm of order {}, p?getrf of order {}, p?potrf of order {} in blocks of at most {}, and larger "
                     "ones, are dyngrid's on its grids (DYNGRID_PBLAS=stock: ScaLAPACK's)",
                     least_product, least_lu, least_cholesky, widest_block_of_cholesky);
}

void* stock_routine(const char* name) {
  void* const symbol = base::stock_symbol(name);
  if (symbol == nullptr) stop(std::string(name) + ": no ScaLAPACK library that has this routine is loaded");
  return symbol;
}

void refuse(int ctxt, const char* name, int info) {
  const Position here = position_in(ctxt);
  const int process = here.is_inside() ? Cblacs_pnum(ctxt, here.myrow, here.mycol) : -1;
  std::fprintf(stderr,
               "PBLAS ERROR 'Parameter number %d had an illegal value'\nfrom {%d,%d}, pnum=%d, Contxt=%d, in routine "
               "'%s'.\n\n",
               -info, here.myrow, here.mycol, process, ctxt, name);
  std::fflush(stderr);
  Cblacs_abort(ctxt, info);
  std::abort();
}

void fail(int ctxt, const char* name, const std::exception& error) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  std::fprintf(stderr, "%s: %s\n", name, is_memory ? "out of memory" : error.what());
  std::fflush(stderr);
  Cblacs_abort(ctxt, 2);
  std::abort();
}

} // namespace pblas
