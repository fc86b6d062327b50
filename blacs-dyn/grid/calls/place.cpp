// SPDX-License-Identifier: BSD-3-Clause
#include "grid/calls/place.hpp"

#include <algorithm>
#include <cstdio>
#include <list>

#include "base/mpi/blacs.hpp"
#include "grid/calls/calls.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn::calls {
namespace {

constexpr std::size_t most_callers = 16;

std::list<Callers>& all_callers() { // outlives MPI_Finalize
  static auto* all = new std::list<Callers>;
  return *all;
}

bool lies_within(const Operand& operand, const Given& x, const Standing& here) {
  const int* d = x.desc;
  if (d[dtype_at] != 1 || d[ctxt_at] != here.ctxt || operand.m < 1 || operand.n < 1) return false;
  if (d[m_at] < 1 || d[n_at] < 1 || d[mb_at] < 1 || d[nb_at] < 1 || x.i < 1 || x.j < 1) return false;
  if (d[rsrc_at] < 0 || d[rsrc_at] >= here.grid.nprow || d[csrc_at] < 0 || d[csrc_at] >= here.grid.npcol) return false;
  if (x.i - 1 + operand.m > d[m_at] || x.j - 1 + operand.n > d[n_at]) return false;
  return d[lld_at] >= std::max<std::int64_t>(1, rows_of(d, here.grid).local_size(here.row));
}

Callers& callers_among_all(MPI_Comm comm) {
  Callers fresh;
  fresh.group = base::Group::of(comm);
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &fresh.size), "MPI_Comm_size");
  for (Callers& callers : all_callers()) {
    if (callers.group.is_same_as(fresh.group)) return callers;
  }
  fresh.is_first = all_callers().empty();
  fresh.is_one_of_many = all_callers().size() >= most_callers;
  if (all_callers().size() == most_callers && rank == 0)
    std::fprintf(
        stderr,
        "dyngrid: calls of ScaLAPACK's routines came from %zu groups of processes (the processes of a context, "
        "in its order); calls from further groups stay where they are\n",
        most_callers);
  all_callers().push_back(std::move(fresh));
  return all_callers().back();
}

int owner_of_row(const Given& x, GridShape grid) {
  return (x.desc[rsrc_at] + (x.i - 1) / x.desc[mb_at]) % grid.nprow;
}

} // namespace

Standing standing_in(int ctxt) {
  Standing here;
  if (ctxt >= 0) Cblacs_gridinfo(ctxt, &here.grid.nprow, &here.grid.npcol, &here.row, &here.col);
  if (here.row < 0 || here.col < 0 || here.row >= here.grid.nprow || here.col >= here.grid.npcol) return {};
  here.ctxt = ctxt;
  return here;
}

Given given(const Arguments& a, const Operand& operand) {
  const auto at = static_cast<std::size_t>(operand.at);
  return {a[at], integer(a, operand.at + 1), integer(a, operand.at + 2), static_cast<const int*>(a[at + 3])};
}

gridmap::Axis rows_of(const int* desc, GridShape grid) {
  return gridmap::Axis::block_cyclic(desc[m_at], desc[mb_at], grid.nprow, desc[rsrc_at]);
}
gridmap::Axis cols_of(const int* desc, GridShape grid) {
  return gridmap::Axis::block_cyclic(desc[n_at], desc[nb_at], grid.npcol, desc[csrc_at]);
}

bool is_acceptable(const Routine& routine, const Problem& problem, const Arguments& a, const Standing& here) {
  if (!problem.is_valid) return false;
  for (const Operand& operand : problem.operands)
    if (!lies_within(operand, given(a, operand), here)) return false;
  // p?getrf says nothing of a zero where its matrix has one row, and the copy would
  if (routine.pivots != Routine::none && problem.operands.front().m < 2) return false;
  if (routine.alignment == Alignment::any) return true;
  const Given first = given(a, problem.operands.front());
  if (first.desc[mb_at] != first.desc[nb_at] || (first.j - 1) % first.desc[nb_at] != 0) return false;
  for (const Operand& operand : problem.operands) {
    const Given x = given(a, operand);
    if (x.desc[mb_at] != first.desc[mb_at] || (x.i - 1) % x.desc[mb_at] != 0) return false;
    if (owner_of_row(x, here.grid) != owner_of_row(first, here.grid)) return false;
    if (routine.alignment == Alignment::same &&
        (x.i != first.i || x.j != first.j || !std::equal(x.desc + m_at, x.desc + lld_at, first.desc + m_at)))
      return false;
  }
  return true;
}

Callers& callers_of(MPI_Comm comm) {
  static const int keyval = [] { // groups are compared once for each communicator
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr),
              "MPI_Comm_create_keyval");
    return made;
  }();
  void* known = nullptr;
  int is_known = 0;
  check_mpi(MPI_Comm_get_attr(comm, keyval, &known, &is_known), "MPI_Comm_get_attr");
  if (is_known != 0) return *static_cast<Callers*>(known);
  Callers& callers = callers_among_all(comm);
  check_mpi(MPI_Comm_set_attr(comm, keyval, &callers), "MPI_Comm_set_attr");
  return callers;
}

Standing place_context(Callers& callers, GridShape grid, const Standing& caller, MPI_Comm comm) {
  if (grid == caller.grid) return caller;
  const auto [at, is_new] = callers.contexts.emplace(grid, -1);
  if (is_new) {
    std::vector<int> map; // by columns; ranks of a context go by rows
    for (int q = 0; q < grid.npcol; ++q)
      for (int p = 0; p < grid.nprow; ++p) map.push_back(p * grid.npcol + q);
    const int handle = Csys2blacs_handle(comm);
    at->second = handle;
    Cblacs_gridmap(&at->second, map.data(), grid.nprow, grid.nprow, grid.npcol);
    Cfree_blacs_system_handle(handle);
  }
  Standing there = standing_in(at->second);
  there.grid = grid;
  return there;
}

void contexts_are_closed() {
  for (Callers& callers : all_callers()) callers.contexts.clear();
}

} // namespace blacs_dyn::calls
