// SPDX-License-Identifier: BSD-3-Clause
// dyngrid::lu and dyngrid::cholesky while the grid changes, then getrs and potrs on the resulting grid: A x = b, where
// x is known.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "dyngrid/scalapack.hpp"
#include "refused.hpp"

namespace {

using follow::expect;
using Number = std::complex<double>;
constexpr std::int64_t n = 130, nb = 8;

/// Hermitian. In round 0 its large elements are not on the diagonal.
Number element(int round, std::int64_t i, std::int64_t j) {
  const auto far = round == 0 ? i + j - (n - 1) : i - j;
  return far == 0 ? Number(4.0 * n) : Number(1 / (1.0 + std::fabs(far)), i == j ? 0 : i > j ? 0.5 : -0.5);
}

} // namespace

int main() {
  dyngrid::Application app(2, 2);
  dyngrid::Matrix<Number> a("a", n, n, nb, nb), b("b", n, 1, nb, nb);
  dyngrid::Shared<int> round("round", 0);
  dyngrid::Shared<std::int64_t> next("next", 0);
  const auto see = [&](const dyngrid_panel& panel) {
    expect(panel.first == next && panel.columns == std::min(nb, n - next) && panel.of == n, "the columns of a panel");
    next = next + panel.columns;
    if (panel.first == 0) throw std::runtime_error("as a test"); // is reported, and nothing else
  };
  app.on_panel([&app, &see](const dyngrid_panel& panel) {
    app.on_panel(see); // takes its place while it runs
    see(panel);
  });
  for (; round < 2; round = round + 1) {
    dyngrid::for_each(a, [&](std::int64_t i, std::int64_t j, Number& e) { e = element(round, i, j); });
    dyngrid::for_each(b, [&](std::int64_t i, std::int64_t, Number& e) {
      e = 0;
      for (std::int64_t k = 0; k < n; ++k) e += element(round, i, k) * static_cast<double>(k + 1);
    });
    int info = -1;
    dyngrid::Pivots pivots;
    const dyngrid::Outcome outcome =
        round == 0 ? dyngrid::lu(a, pivots, info) : dyngrid::cholesky(a, info, dyngrid::Uplo::upper);
    if (outcome == dyngrid::Outcome::leave) return 0;
    expect(info == 0 && next == n, "the factorization, and all of its panels");
    next = 0;
    if (round == 0)
      dyngrid::getrs(a, pivots, b);
    else
      dyngrid::potrs(a, b, dyngrid::Uplo::upper);
    dyngrid::for_each(b, [&](std::int64_t i, std::int64_t, Number& e) {
      expect(std::abs(e - static_cast<double>(i + 1)) < 1e-9 * n, "the solution");
    });
  }
  int info = 0;
  follow::refused(DYNGRID_ERR_SHAPE, "", [&] { dyngrid::cholesky(b, info); }); // it is not square
  if (app.is_first()) std::puts("factoring_cpp: right");
}
