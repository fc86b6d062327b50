// SPDX-License-Identifier: BSD-3-Clause
// The kernels on matrices that are spread at random (unequal blocks, zero blocks, sub-matrices, all operations, four
// types) against BLAS and LAPACK on one process.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "../../pblas/src/blas.hpp"
#include "../../pblas/src/in_place.hpp"
#include "../sanitized.hpp"
#include "local_lapack.hpp"
#include "pblas/contexts.hpp"
#include "spread.hpp"

namespace {

using namespace spread;
using elements::difference;
using elements::largest;

template <class T> class Kernels : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Kernels, Types);

[[maybe_unused]] const bool reads_in_place = [] { // TEST_IN_PLACE: panels and slices
  pblas::always_read_in_place(std::getenv("TEST_IN_PLACE") != nullptr);
  return true;
}();
[[maybe_unused]] const bool has_short_messages = [] { // TEST_MESSAGES: elements that one may have
  if (const char* most = std::getenv("TEST_MESSAGES"); most != nullptr) pblas::blas::most_elements() = std::atoi(most);
  return true;
}();

constexpr double threshold = 16; // as ScaLAPACK's own testers

int processes() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Runs `check` on all shapes of the grid in turn, each time with numbers of its own.
template <class Check> void for_cases(int cases, int seed, Check&& check) {
  if (is_sanitized) cases /= 4;
  std::vector<std::pair<int, int>> shapes;
  for (int p = 1; p <= processes(); ++p)
    if (processes() % p == 0) shapes.emplace_back(p, processes() / p);
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const Grid grid(shapes[s].first, shapes[s].second);
    for (int t = static_cast<int>(s); t < cases; t += static_cast<int>(shapes.size())) {
      Random random(static_cast<unsigned>(1000 * seed + t));
      SCOPED_TRACE(::testing::Message() << "case " << t << " on " << grid.nprow << " x " << grid.npcol);
      check(random, grid, static_cast<std::uint64_t>(1000 * seed + t));
      int failed = ::testing::Test::HasFailure() ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (failed != 0) return;
    }
  }
}

template <class T> double eps() {
  return std::numeric_limits<Real<T>>::epsilon();
}
template <class T> std::function<T(int, int)> hashed(std::uint64_t seed) {
  return [=](int i, int j) { return element_of<T>(seed, i, j); };
}
template <class T> T scalar(Random& random) {
  const T values[] = {T(0), T(1), T(-1), element_of<T>(9, 1, pick(random, 0, 99)),
                      element_of<T>(8, 2, pick(random, 0, 99))};
  return values[pick(random, 0, 4)];
}
char one_of(Random& random, const char* letters) {
  return letters[pick(random, 0, static_cast<int>(std::char_traits<char>::length(letters)) - 1)];
}

TYPED_TEST(Kernels, Gemm) {
  using T = TypeParam;
  for_cases(150, 1, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int m = pick(random, 0, 60), n = pick(random, 0, 60),
              k = pick(random, 0, 9) == 0 ? pick(random, 250, 600) : pick(random, 0, 60);
    const char op_a = one_of(random, "NTCnt"), op_b = one_of(random, "NTCnc");
    const bool turned_a = std::toupper(op_a) != 'N', turned_b = std::toupper(op_b) != 'N';
    auto a = random_matrix<T>(random, grid, turned_a ? k : m, turned_a ? m : k);
    auto b = random_matrix<T>(random, grid, turned_b ? n : k, turned_b ? k : n);
    auto c = random_matrix<T>(random, grid, m, n);
    a.fill(hashed<T>(3 * seed));
    b.fill(hashed<T>(3 * seed + 1));
    c.fill(hashed<T>(3 * seed + 2));
    const T alpha = scalar<T>(random), beta = scalar<T>(random);
    Dense<T> expected = c.whole();
    const Dense<T> whole_a = a.whole(), whole_b = b.whole();
    const int la = whole_a.ld(), lb = whole_b.ld(), lc = expected.ld();
    local::gemm(T{})(&op_a, &op_b, &m, &n, &k, &alpha, whole_a.x.data(), &la, whole_b.x.data(), &lb, &beta,
                     expected.x.data(), &lc);
    spread_out::gemm(T{})(&op_a, &op_b, &m, &n, &k, &alpha, a.data(), &a.i, &a.j, a.desc.data(), b.data(), &b.i, &b.j,
                          b.desc.data(), &beta, c.data(), &c.i, &c.j, c.desc.data());
    EXPECT_LT(difference(c.whole(), expected) / (eps<T>() * std::max(1, k)), threshold);
    EXPECT_TRUE(c.is_kept() && a.local == a.before && b.local == b.before);
  });
}

/// On a grid of one row or column and with such k each process has about a panel of the operand that moves.
TYPED_TEST(Kernels, ProductsOfWhatEachHas) {
  using T = TypeParam;
  for_cases(36, 7, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int k = pick(random, 128 * processes(), 250 * processes()), m = pick(random, 0, 60),
              n = pick(random, 0, 4) == 0 ? pick(random, 380, 420) : pick(random, 0, 60);
    const char op_a = one_of(random, "NNT"), op_b = one_of(random, "NNT");
    auto a = random_matrix<T>(random, grid, op_a == 'N' ? m : k, op_a == 'N' ? k : m, Kind::uniform);
    auto b = random_matrix<T>(random, grid, op_b == 'N' ? k : n, op_b == 'N' ? n : k, Kind::uniform);
    auto c = random_matrix<T>(random, grid, m, n), triangle = random_matrix<T>(random, grid, m, m);
    a.fill(hashed<T>(4 * seed));
    b.fill(hashed<T>(4 * seed + 1));
    c.fill(hashed<T>(4 * seed + 2));
    triangle.fill(hashed<T>(4 * seed + 3));
    const T one(1), beta = scalar<T>(random);
    const char lower = 'L';
    Dense<T> expected = c.whole(), expected_triangle = triangle.whole();
    const Dense<T> whole_a = a.whole(), whole_b = b.whole();
    const int la = whole_a.ld(), lb = whole_b.ld(), lc = expected.ld(), lt = expected_triangle.ld();
    local::gemm(T{})(&op_a, &op_b, &m, &n, &k, &one, whole_a.x.data(), &la, whole_b.x.data(), &lb, &beta,
                     expected.x.data(), &lc);
    local::syrk(T{})(&lower, &op_a, &m, &k, &one, whole_a.x.data(), &la, &beta, expected_triangle.x.data(), &lt);
    spread_out::gemm(T{})(&op_a, &op_b, &m, &n, &k, &one, a.data(), &a.i, &a.j, a.desc.data(), b.data(), &b.i, &b.j,
                          b.desc.data(), &beta, c.data(), &c.i, &c.j, c.desc.data());
    spread_out::syrk(T{})(&lower, &op_a, &m, &k, &one, a.data(), &a.i, &a.j, a.desc.data(), &beta, triangle.data(),
                          &triangle.i, &triangle.j, triangle.desc.data());
    EXPECT_LT(difference(c.whole(), expected) / (eps<T>() * k), threshold);
    EXPECT_LT(difference(triangle.whole(), expected_triangle) / (eps<T>() * k), threshold);
    EXPECT_TRUE(c.is_kept() && triangle.is_kept([](int i, int j) { return i >= j; }));
    EXPECT_TRUE(a.local == a.before && b.local == b.before);
  });
}

TYPED_TEST(Kernels, Syrk) {
  using T = TypeParam;
  for_cases(80, 2, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int n = pick(random, 0, 160), k = pick(random, 0, 60);
    const bool is_adjoint = is_complex<T> && pick(random, 0, 1) == 1;
    const char uplo = one_of(random, "ULul"), op = one_of(random, is_adjoint ? "NC" : is_complex<T> ? "NT" : "NTC");
    auto a = random_matrix<T>(random, grid, op == 'N' ? n : k, op == 'N' ? k : n);
    auto c = random_matrix<T>(random, grid, n, n);
    a.fill(hashed<T>(2 * seed));
    c.fill(hashed<T>(2 * seed + 1));
    T alpha = scalar<T>(random), beta = scalar<T>(random);
    const bool is_changed = (std::real(alpha) != 0 && k > 0) || std::real(beta) != 1;
    if constexpr (is_complex<T>)
      if (is_adjoint && is_changed) // what is not referenced is no number
        c.fill([&, of = hashed<T>(2 * seed + 1)](int i, int j) {
          const T x = of(i, j);
          return i == j ? T(x.real(), std::numeric_limits<Real<T>>::quiet_NaN()) : x;
        });
    Dense<T> expected = c.whole();
    const Dense<T> whole_a = a.whole();
    const int la = whole_a.ld(), lc = expected.ld();
    if (!is_adjoint) {
      local::syrk(T{})(&uplo, &op, &n, &k, &alpha, whole_a.x.data(), &la, &beta, expected.x.data(), &lc);
      spread_out::syrk(T{})(&uplo, &op, &n, &k, &alpha, a.data(), &a.i, &a.j, a.desc.data(), &beta, c.data(), &c.i,
                            &c.j, c.desc.data());
    }
    if constexpr (is_complex<T>)
      if (is_adjoint) {
        const Real<T> real_alpha = alpha.real(), real_beta = beta.real();
        for (int i = 0; is_changed && i < n; ++i) expected(i, i) = expected(i, i).real();
        local::herk(T{})(&uplo, &op, &n, &k, &real_alpha, whole_a.x.data(), &la, &real_beta, expected.x.data(), &lc);
        spread_out::herk(T{})(&uplo, &op, &n, &k, &real_alpha, a.data(), &a.i, &a.j, a.desc.data(), &real_beta,
                              c.data(), &c.i, &c.j, c.desc.data());
      }
    EXPECT_LT(difference(c.whole(), expected) / (eps<T>() * std::max(1, k)), threshold);
    EXPECT_TRUE(c.is_kept([&](int i, int j) { return std::toupper(uplo) == 'U' ? i <= j : i >= j; }));
    EXPECT_TRUE(a.local == a.before);
  });
}

// With alpha = 0 A is not read, and with beta = 0 C is not either.
TYPED_TEST(Kernels, SyrkWithoutProduct) {
  using T = TypeParam;
  for_cases(48, 8, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const T no_number(std::numeric_limits<Real<T>>::quiet_NaN());
    const int n = pick(random, 0, 90), k = pick(random, 0, 1) * 20;
    const bool is_adjoint = is_complex<T> && pick(random, 0, 1) == 1;
    const char uplo = one_of(random, "UL"), op = one_of(random, is_adjoint ? "NC" : "NT");
    const Real<T> alpha = static_cast<Real<T>>(k > 0 ? 0 : 2), beta = static_cast<Real<T>>(pick(random, 0, 2));
    const T whole_alpha = alpha, whole_beta = beta;
    auto a = random_matrix<T>(random, grid, op == 'N' ? n : k, op == 'N' ? k : n);
    auto c = random_matrix<T>(random, grid, n, n);
    a.fill([&](int, int) { return no_number; });
    const auto is_in = [&](int i, int j) { return uplo == 'U' ? i <= j : i >= j; };
    const auto before = hashed<T>(seed);
    c.fill([&](int i, int j) { return beta == 0 && is_in(i, j) ? no_number : before(i, j); });
    Dense<T> expected(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        expected(i, j) = is_in(i, j) ? before(i, j) * beta : before(i, j);
        if (is_adjoint && i == j && beta != 1) expected(i, i) = std::real(expected(i, i));
      }
    if (!is_adjoint)
      spread_out::syrk(T{})(&uplo, &op, &n, &k, &whole_alpha, a.data(), &a.i, &a.j, a.desc.data(), &whole_beta,
                            c.data(), &c.i, &c.j, c.desc.data());
    if constexpr (is_complex<T>)
      if (is_adjoint)
        spread_out::herk(T{})(&uplo, &op, &n, &k, &alpha, a.data(), &a.i, &a.j, a.desc.data(), &beta, c.data(), &c.i,
                              &c.j, c.desc.data());
    EXPECT_EQ(difference(c.whole(), expected), 0);
    EXPECT_TRUE(c.is_kept(is_in));
  });
}

TYPED_TEST(Kernels, Trsm) {
  using T = TypeParam;
  for_cases(100, 3, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int m = pick(random, 0, 100), n = pick(random, 0, 100);
    const char side = one_of(random, "LR"), uplo = one_of(random, "UL"), op = one_of(random, "NTC"),
               diag = one_of(random, "UN");
    const int order = side == 'L' ? m : n;
    auto a = random_matrix<T>(random, grid, order, order);
    auto b = random_matrix<T>(random, grid, m, n);
    // what is not referenced is no number
    a.fill([&](int i, int j) {
      if (i == j) return diag == 'U' ? T(std::numeric_limits<Real<T>>::quiet_NaN()) : T(2) + element_of<T>(seed, i, j);
      return (uplo == 'U' ? i < j : i > j) ? element_of<T>(seed, i, j) / T(static_cast<Real<T>>(order))
                                           : T(std::numeric_limits<Real<T>>::quiet_NaN());
    });
    b.fill(hashed<T>(seed + 1));
    const T alpha = scalar<T>(random);
    Dense<T> expected = b.whole();
    const Dense<T> whole_a = a.whole();
    const int la = whole_a.ld(), lb = expected.ld();
    local::trsm(T{})(&side, &uplo, &op, &diag, &m, &n, &alpha, whole_a.x.data(), &la, expected.x.data(), &lb);
    spread_out::trsm(T{})(&side, &uplo, &op, &diag, &m, &n, &alpha, a.data(), &a.i, &a.j, a.desc.data(), b.data(), &b.i,
                          &b.j, b.desc.data());
    EXPECT_LT(difference(b.whole(), expected) / (eps<T>() * std::max(1, order) * std::max(1.0, largest(expected))),
              threshold);
    EXPECT_TRUE(b.is_kept());
  });
}

/// P A of LAPACK's interchanges.
template <class T> Dense<T> interchanged(Dense<T> a, const std::vector<int>& pivots) {
  for (std::size_t t = 0; t < pivots.size(); ++t)
    for (std::int64_t j = 0; j < a.n; ++j) std::swap(a(static_cast<std::int64_t>(t), j), a(pivots[t] - 1, j));
  return a;
}

/// The pivots of all rows, from ipiv as it is spread, counted from 1 in the window.
template <class T> std::vector<int> whole_pivots(const Matrix<T>& a, const std::vector<int>& ipiv, int count) {
  std::vector<int> all(static_cast<std::size_t>(count), 0);
  for (int t = 0; t < count; ++t) {
    const auto row = static_cast<std::size_t>(t + a.i - 1);
    if (a.rows.owner[row] == a.grid->myrow)
      all[static_cast<std::size_t>(t)] = ipiv[static_cast<std::size_t>(a.rows.local[row])] - a.i + 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, all.data(), count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

TYPED_TEST(Kernels, Getrf) {
  using T = TypeParam;
  for_cases(80, 4, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int m = pick(random, 0, 150), n = pick(random, 0, 150);
    auto a = random_matrix<T>(random, grid, m, n);
    const int singular = pick(random, 0, 4) == 0 && std::min(m, n) > 0 ? pick(random, 0, std::min(m, n) - 1) : -1;
    a.fill([&](int i, int j) { return j == singular ? T(0) : element_of<T>(seed, i, j); });
    const Dense<T> before = a.whole();
    Dense<T> expected = before;
    std::vector<int> ipiv(a.local.size() + 20, 0), pivots(static_cast<std::size_t>(std::min(m, n)));
    int info = -1, expected_info = 0;
    const int ld = expected.ld();
    if (m > 0 && n > 0) local::getrf(T{})(&m, &n, expected.x.data(), &ld, pivots.data(), &expected_info);
    spread_out::getrf(T{})(&m, &n, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), &info);
    EXPECT_EQ(info, expected_info);
    if (singular < 0) {
      EXPECT_EQ(whole_pivots(a, ipiv, std::min(m, n)), pivots);
    }
    const Dense<T> factors = a.whole();
    Dense<T> lower(m, std::min(m, n)), upper(std::min(m, n), n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        if (j < lower.n && i >= j) lower(i, j) = i == j ? T(1) : factors(i, j);
        if (i < upper.m && i <= j) upper(i, j) = factors(i, j);
      }
    const Dense<T> permuted = interchanged(before, whole_pivots(a, ipiv, std::min(m, n)));
    EXPECT_LT(difference(local::product('N', 'N', lower, upper), permuted) / (eps<T>() * std::max({1, m, n})),
              threshold);
    EXPECT_TRUE(a.is_kept());
  });
}

TYPED_TEST(Kernels, Getrs) {
  using T = TypeParam;
  for_cases(50, 5, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int n = pick(random, 0, 120), nrhs = pick(random, 0, 40);
    const char op = one_of(random, "NTC");
    auto a = random_matrix<T>(random, grid, n, n);
    auto b = random_matrix<T>(random, grid, n, nrhs);
    a.fill(hashed<T>(seed));
    b.fill(hashed<T>(seed + 1));
    const Dense<T> whole_a = a.whole(), whole_b = b.whole();
    std::vector<int> ipiv(a.local.size() + 20, 0);
    int info = -1;
    const bool at_once = pick(random, 0, 1) == 1;
    if (at_once) {
      spread_out::gesv(T{})(&n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), b.data(), &b.i, &b.j,
                            b.desc.data(), &info);
      EXPECT_EQ(info, 0);
    } else {
      spread_out::getrf(T{})(&n, &n, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), &info);
      EXPECT_EQ(info, 0);
      spread_out::getrs(T{})(&op, &n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), b.data(), &b.i, &b.j,
                             b.desc.data(), &info);
      EXPECT_EQ(info, 0);
    }
    const Dense<T> x = b.whole();
    if (n > 0 && nrhs > 0) {
      EXPECT_LT(difference(local::product(at_once ? 'N' : op, 'N', whole_a, x), whole_b) /
                    (eps<T>() * n * std::max(1.0, largest(x))),
                threshold);
    }
    EXPECT_TRUE(b.is_kept());
  });
}

TYPED_TEST(Kernels, Potrf) {
  using T = TypeParam;
  for_cases(80, 6, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const int n = pick(random, 0, 150), nrhs = pick(random, 0, 40);
    const char uplo = one_of(random, "ULul");
    const bool is_lower = std::toupper(uplo) == 'L';
    const int indefinite = pick(random, 0, 4) == 0 && n > 0 ? pick(random, 0, n - 1) : -1;
    const auto value = [&](int i, int j) {
      if (i == j) return T(i == indefinite ? -1 : static_cast<Real<T>>(n));
      return i > j ? element_of<T>(seed, i, j) : conj(element_of<T>(seed, j, i));
    };
    auto a = random_matrix<T>(random, grid, n, n);
    auto b = random_matrix<T>(random, grid, n, nrhs);
    a.fill([&](int i, int j) { return (is_lower ? i >= j : i <= j) ? value(i, j) : T(99); });
    b.fill(hashed<T>(seed + 1));
    const Dense<T> whole_b = b.whole();
    Dense<T> expected = a.whole();
    int info = -1, expected_info = 0;
    const int ld = expected.ld();
    if (n > 0) local::potrf(T{})(&uplo, &n, expected.x.data(), &ld, &expected_info);
    spread_out::potrf(T{})(&uplo, &n, a.data(), &a.i, &a.j, a.desc.data(), &info);
    EXPECT_EQ(info, expected_info);
    EXPECT_TRUE(a.is_kept([&](int i, int j) { return is_lower ? i >= j : i <= j; }));
    if (info != 0) return;
    EXPECT_LT(difference(a.whole(), expected) / (eps<T>() * std::max(1, n)), threshold);
    spread_out::potrs(T{})(&uplo, &n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), b.data(), &b.i, &b.j, b.desc.data(),
                           &info);
    EXPECT_EQ(info, 0);
    Dense<T> whole_a(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) whole_a(i, j) = value(i, j);
    if (n > 0 && nrhs > 0) {
      EXPECT_LT(difference(local::product('N', 'N', whole_a, b.whole()), whole_b) / (eps<T>() * n), threshold);
    }
    EXPECT_TRUE(b.is_kept());
  });
}

/// What is kept for a context goes with it.
TEST(Contexts, AreForgotten) {
  EXPECT_EQ(pblas::remembered_contexts(), 0u);
  for (int round = 0; round < (is_sanitized ? 30 : 300); ++round) {
    const Grid grid(1, processes());
    Random random(1);
    auto a = random_matrix<double>(random, grid, 8, 8), c = random_matrix<double>(random, grid, 8, 8);
    a.fill(hashed<double>(1));
    c.fill(hashed<double>(2));
    const int n = 8;
    const double one = 1;
    dyngrid_pdgemm_("T", "N", &n, &n, &n, &one, a.data(), &a.i, &a.j, a.desc.data(), a.data(), &a.i, &a.j,
                    a.desc.data(), &one, c.data(), &c.i, &c.j, c.desc.data());
    EXPECT_EQ(pblas::remembered_contexts(), 1u);
  }
  EXPECT_EQ(pblas::remembered_contexts(), 0u);
}

} // namespace
