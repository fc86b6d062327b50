// SPDX-License-Identifier: BSD-3-Clause
#include "pblas/factorization.hpp"

#include <complex>

#include "arguments.hpp"
#include "factor.hpp"
#include "pivots.hpp"

namespace pblas {
namespace {

template <class T>
std::unique_ptr<Factorization> make(FactorKind kind, void* local, const int* desc, Progress& progress) {
  const int one = 1;
  Operand<T> a = operand<T>(Grid::of(desc[1]), {local, &one, &one, desc, 0}, desc[2], desc[3]);
  if (kind == FactorKind::lu) return lu(std::move(a), progress);
  return cholesky(kind == FactorKind::lower, std::move(a), progress);
}

} // namespace

std::unique_ptr<Factorization> go_on(FactorKind kind, char type, void* local, const int* desc, Progress& progress) {
  switch (type) {
  case 's':
    return make<float>(kind, local, desc, progress);
  case 'd':
    return make<double>(kind, local, desc, progress);
  case 'c':
    return make<std::complex<float>>(kind, local, desc, progress);
  default:
    return make<std::complex<double>>(kind, local, desc, progress);
  }
}

void local_pivots(const int* desc, const std::vector<std::int64_t>& pivots, int* ipiv) {
  const Position here = position_in(desc[1]);
  write_pivots(AxisWindow(axes_of(desc, here).rows, 0, desc[2]), here.myrow, pivots, 1, ipiv);
}

} // namespace pblas
