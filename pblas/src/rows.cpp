// SPDX-License-Identifier: BSD-3-Clause
#include "rows.hpp"

#include <map>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "base/tags.hpp"
#include "blas.hpp"

namespace pblas {

using base::at;
using base::check_mpi;

std::vector<RowMove> moves_of(std::int64_t first, const std::vector<std::int64_t>& pivots, bool backwards) {
  std::map<std::int64_t, std::int64_t> stands; // what row stands where
  const auto count = static_cast<std::int64_t>(pivots.size());
  for (std::int64_t step = 0; step < count; ++step) {
    const std::int64_t t = backwards ? count - 1 - step : step;
    const std::int64_t x = first + t, y = pivots[at(t)];
    stands.emplace(x, x), stands.emplace(y, y);
    std::swap(stands[x], stands[y]);
  }
  std::vector<RowMove> moves;
  for (const auto& [to, from] : stands)
    if (to != from) moves.push_back({to, from});
  return moves;
}

namespace {

/// Local rows that go to, or come from, one process, and their elements on the way.
template <class T> struct Parcel {
  std::vector<std::int64_t> rows;
  std::vector<T> elements;
};

template <class T, class Visit>
void visit(Parcel<T>& parcel, const Operand<T>& a, const std::vector<Columns>& columns, Visit&& each) {
  T* element = parcel.elements.data();
  for (const Columns& part : columns)
    for (std::int64_t j = part.begin; j < part.end; ++j) {
      T* column = a.local(0, j);
      for (const std::int64_t row : parcel.rows) each(column[row], *element++);
    }
}

} // namespace

template <class T>
void move_rows(const Operand<T>& a, const std::vector<RowMove>& moves, const std::vector<Columns>& columns) {
  std::int64_t width = 0;
  for (const Columns& part : columns) width += part.end - part.begin;
  if (moves.empty() || width == 0) return;
  const int nprow = a.grid->here().nprow, me = a.myrow();
  std::vector<Parcel<T>> out(at(nprow)), in(at(nprow));
  for (const RowMove& move : moves) {
    const auto &to = a.rows.piece_of(move.to), &from = a.rows.piece_of(move.from);
    if (from.owner == me) out[at(to.owner)].rows.push_back(from.local + move.from - from.first);
    if (to.owner == me) in[at(from.owner)].rows.push_back(to.local + move.to - to.first);
  }
  std::vector<MPI_Request> requests;
  const auto message = [&](Parcel<T>& parcel, int peer, bool is_out) {
    parcel.elements.resize(parcel.rows.size() * at(width));
    if (is_out) visit(parcel, a, columns, [](T& x, T& y) { y = x; });
    if (peer == me || parcel.rows.empty()) return;
    const int count = blas::to_count(static_cast<std::int64_t>(parcel.elements.size()));
    requests.push_back(MPI_REQUEST_NULL);
    if (is_out)
      check_mpi(MPI_Isend(parcel.elements.data(), count, blas::mpi_type<T>(), peer, base::tag_rows, a.grid->col(),
                          &requests.back()),
                "MPI_Isend");
    else
      check_mpi(MPI_Irecv(parcel.elements.data(), count, blas::mpi_type<T>(), peer, base::tag_rows, a.grid->col(),
                          &requests.back()),
                "MPI_Irecv");
  };
  for (int p = 0; p < nprow; ++p) message(in[at(p)], p, false);
  for (int p = 0; p < nprow; ++p) message(out[at(p)], p, true);
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  std::swap(in[at(me)].elements, out[at(me)].elements);
  for (Parcel<T>& parcel : in) visit(parcel, a, columns, [](T& x, T& y) { x = y; });
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template void move_rows(const Operand<T>&, const std::vector<RowMove>&, const std::vector<Columns>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
