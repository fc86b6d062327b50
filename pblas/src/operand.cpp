// SPDX-License-Identifier: BSD-3-Clause
#include "operand.hpp"

#include "blas.hpp"

namespace pblas {
namespace {

template <class T> constexpr char letter() {
  const bool is_double = sizeof(blas::Real<T>) == sizeof(double);
  return blas::is_complex<T> ? (is_double ? 'z' : 'c') : (is_double ? 'd' : 's');
}

template <class T> redist::Layout layout_of(const Operand<T>& a) {
  return {a.rows.axis(), a.cols.axis(), a.grid->ranks(), false};
}
template <class T> redist::Window window_of(const Operand<T>& a) {
  return {a.rows.first(), a.cols.first(), a.m(), a.n()};
}

} // namespace

template <class T> void copy(const Operand<const T>& from, Op op, const Operand<T>& to) {
  redist::PlanOptions options;
  options.schedule = redist::Schedule::async;
  options.op = op;
  options.from = window_of(from);
  options.to = window_of(to);
  options.element_bytes = sizeof(T);
  const redist::Plan plan(layout_of(from), layout_of(to), options);
  redist::Executor& executor = from.grid->executor();
  const redist::RankPlan mine =
      plan.for_rank(from.grid->ranks().rank_at(from.grid->here().myrow, from.grid->here().mycol), letter<T>());
  executor.execute({&mine}, {{from.data, from.lld, to.data, to.lld}});
}

#define DYNGRID_INSTANTIATE(T) template void copy(const Operand<const T>&, Op, const Operand<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
