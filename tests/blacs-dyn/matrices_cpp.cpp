// SPDX-License-Identifier: BSD-3-Clause
// matrices_cpp: dyngrid.hpp's matrices with rules, for_each and copy, and dyngrid/scalapack.hpp, on 1x2, 2x2, 1x3 and
// 2x2; every result against one worked out here by plain loops over the whole matrices.
#include <cmath>
#include <cstdio>
#include <dyngrid/scalapack.hpp>
#include <limits>
#include <optional>
#include <string>

#include "refused.hpp"

// a user's own declarations, in types that the header does not use
extern "C" int pdgemm_(char*, char*, int*, int*, int*, double*, double*, int*, int*, int*, double*, int*, int*, int*,
                       double*, double*, int*, int*, int*);

namespace {

using dyngrid::Axis;
using dyngrid::Matrix;
using dyngrid::Op;
using dyngrid::Side;
using dyngrid::Uplo;
using dyngrid::view;
using follow::expect;
using follow::refused;
using std::int64_t;

// ---- whole matrices, the same on every process

template <class T> struct Whole {
  int64_t m, n;
  std::vector<T> x = std::vector<T>(static_cast<std::size_t>(m * n));
  T& operator()(int64_t i, int64_t j) { return x[static_cast<std::size_t>(i + j * m)]; }
  T operator()(int64_t i, int64_t j) const { return x[static_cast<std::size_t>(i + j * m)]; }
};
template <class T> constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T> T number(double re, double im) {
  if constexpr (is_complex<T>)
    return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
  else
    return static_cast<T>(re);
}
template <class T> T conj_of(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}
/// Small whole numbers: sums of products are exact in every type.
template <class T> Whole<T> numbers(int64_t m, int64_t n, int salt) {
  Whole<T> a{m, n};
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      a(i, j) = number<T>(static_cast<double>((3 * i + 5 * j + i * j + salt) % 7 - 3),
                          static_cast<double>((i + 2 * j + salt) % 5 - 2));
  return a;
}
template <class T> Whole<T> op(const Whole<T>& a, Op how) {
  if (how == Op::none) return a;
  Whole<T> t{a.n, a.m};
  for (int64_t j = 0; j < a.n; ++j)
    for (int64_t i = 0; i < a.m; ++i) t(j, i) = how == Op::adjoint ? conj_of(a(i, j)) : a(i, j);
  return t;
}
template <class T> Whole<T> product(const Whole<T>& a, const Whole<T>& b) {
  Whole<T> c{a.m, b.n};
  for (int64_t j = 0; j < b.n; ++j)
    for (int64_t k = 0; k < a.n; ++k)
      for (int64_t i = 0; i < a.m; ++i) c(i, j) += a(i, k) * b(k, j);
  return c;
}
template <class T> void set(Matrix<T>& a, const Whole<T>& to) {
  dyngrid::for_each(a, [&](int64_t i, int64_t j, T& x) { x = to(i, j); });
}
template <class T> Matrix<T> spread(const std::string& name, const Whole<T>& a, int64_t nb = 3) {
  Matrix<T> made(name, a.m, a.n, nb, nb);
  set(made, a);
  return made;
}
/// Compares; `only` leaves one triangle out of it.
template <class T>
void same(const Matrix<T>& a, const Whole<T>& expected, double tolerance, const std::string& what,
          std::optional<Uplo> only = {}) {
  dyngrid::for_each(a, [&](int64_t i, int64_t j, const T& x) {
    if (only && (*only == Uplo::lower ? i < j : i > j)) return;
    expect(std::abs(x - expected(i, j)) <= tolerance, what + " at " + std::to_string(i) + ", " + std::to_string(j));
  });
}

// ---- every routine

/// min(i, j), from 1, turned by i where the type is complex: the same eigenvalues. It is the inverse of -1, 2, -1 with
/// a 1 in the last place.
template <class T> Whole<T> minima(int64_t n) {
  constexpr int re[] = {1, 0, -1, 0}, im[] = {0, 1, 0, -1}; // powers of the imaginary unit
  Whole<T> a{n, n};
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      const auto turned = is_complex<T> ? static_cast<std::size_t>((i - j) & 3) : 0;
      a(i, j) = T(static_cast<float>(std::min(i, j) + 1)) * number<T>(re[turned], im[turned]);
    }
  return a;
}

template <class T> void eigenvectors(int64_t n, int64_t nb, const std::string& type) {
  using R = decltype(std::abs(T{}));
  const double eps = static_cast<double>(std::numeric_limits<R>::epsilon());
  const Whole<T> a = minima<T>(n);
  auto system = spread("minima", a, nb), vectors = spread("vectors", Whole<T>{n, n}, nb),
       images = spread("images", Whole<T>{n, n}, nb);
  std::vector<R> w;
  expect(dyngrid::heevd(system, w, vectors) == 0 && w.size() == static_cast<std::size_t>(n), type + " heevd");
  const auto expected_of = [n](int64_t i) {
    const double half =
        std::sin(static_cast<double>(2 * (n - i) - 1) * std::acos(-1.0) / static_cast<double>(4 * n + 2));
    return 1 / (4 * half * half);
  };
  const double largest = expected_of(n - 1);
  for (int64_t i = 0; i < n; ++i) {
    const double expected = expected_of(i);
    expect(std::abs(static_cast<double>(w[static_cast<std::size_t>(i)]) - expected) < 50 * eps * largest,
           type + " eigenvalue " + std::to_string(i) + " is " + std::to_string(w[static_cast<std::size_t>(i)]) +
               ", not " + std::to_string(expected));
  }
  set(system, a);
  dyngrid::gemm(1, system, vectors, 0, images);
  dyngrid::for_each(vectors, [&](int64_t, int64_t j, T& x) { x *= w[static_cast<std::size_t>(j)]; });
  dyngrid::geadd(-1, vectors, 1, images);
  expect(static_cast<double>(dyngrid::lange(images)) < 100 * eps * largest, type + " eigenvectors");
  if constexpr (!is_complex<T>) {
    set(system, a);
    expect(dyngrid::syevd(system, w, vectors) == 0 && w.front() > 0, type + " syevd");
  }
}

template <class T> void compute(const std::string& type) {
  using R = decltype(std::abs(T{}));
  const double eps = static_cast<double>(std::numeric_limits<R>::epsilon()), close = 2000 * eps;
  const int64_t m = 14, n = 11, k = 9;
  const auto a = numbers<T>(m, k, 1), b = numbers<T>(k, n, 2), c = numbers<T>(m, n, 3);
  auto da = spread("a", a), db = spread("b", b), dc = spread("c", c);

  dyngrid::gemm(1, da, db, 0, dc);
  same(dc, product(a, b), 0, type + " gemm");
  for (const Op how : {Op::transposed, Op::adjoint}) {
    auto turned = spread("turned", op(a, how)), right = spread("right", op(b, how));
    set(dc, c);
    dyngrid::gemm(2, turned, right, -1, dc, how, how);
    Whole<T> expected = product(a, b);
    for (std::size_t at = 0; at < c.x.size(); ++at) expected.x[at] = T(2) * expected.x[at] - c.x[at];
    same(dc, expected, 0, type + " gemm, turned");
    auto sum = spread("sum", c), other = spread("other", op(c, how));
    dyngrid::geadd(1, other, 1, sum, how);
    expected = c;
    for (T& x : expected.x) x += x;
    same(sum, expected, 0, type + " geadd");
  }
  set(dc, c); // parts that begin anywhere
  dyngrid::gemm(1, view(da, 2, 1, 5, 7), view(db, 2, 4, 7, 6), 1, view(dc, 4, 5, 5, 6));
  Whole<T> part = c;
  for (int64_t j = 0; j < 6; ++j)
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t l = 0; l < 7; ++l) part(4 + i, 5 + j) += a(2 + i, 1 + l) * b(2 + l, 4 + j);
  same(dc, part, 0, type + " gemm of views");

  set(dc, c); // a column and a row of c
  dyngrid::gemv(1, da, view(db, 0, 3, k, 1), 0, view(dc, 0, 2, m, 1));
  dyngrid::gemv(1, db, view(da, 1, 0, 1, k), 0, view(dc, 5, 0, 1, n), Op::transposed);
  part = c;
  for (int64_t i = 0; i < m; ++i) part(i, 2) = product(a, b)(i, 3);
  for (int64_t j = 0; j < n; ++j) part(5, j) = product(a, b)(1, j);
  same(dc, part, 0, type + " gemv");

  auto square = spread("square", Whole<T>{m, m}); // one triangle, and a product with it
  dyngrid::syrk(1, da, 0, square);
  Whole<T> full = product(a, op(a, Op::transposed));
  same(square, full, 0, type + " syrk", Uplo::lower);
  dyngrid::symm(1, square, spread("one", c), 0, dc);
  same(dc, product(full, c), 0, type + " symm");
  set(square, Whole<T>{m, m});
  dyngrid::herk(1, da, 0, square, Uplo::upper);
  full = product(a, op(a, Op::adjoint));
  same(square, full, 0, type + " herk", Uplo::upper);
  dyngrid::hemm(1, square, spread("one", c), 0, dc, Side::left, Uplo::upper);
  same(dc, product(full, c), 0, type + " hemm");

  // systems with known answers
  Whole<T> heavy = numbers<T>(m, m, 4);
  for (int64_t i = 0; i < m; ++i) heavy(i, i) += T(60);
  const Whole<T> right = product(heavy, c);
  auto system = spread("system", heavy), answer = spread("answer", right);
  dyngrid::Pivots pivots;
  expect(dyngrid::gesv(system, pivots, answer) == 0, type + " gesv");
  same(answer, c, close, type + " gesv");
  set(answer, product(op(heavy, Op::transposed), c));
  dyngrid::getrs(system, pivots, answer, Op::transposed);
  same(answer, c, close, type + " getrs");
  pivots.context += 1;
  refused(DYNGRID_ERR_STATE, "factor it again", [&] { dyngrid::getrs(system, pivots, answer); });
  auto shorter = spread("shorter", Whole<T>{m - 1, m - 1}); // on 2x2: as many local rows as the other one in row 1 only
  pivots = dyngrid::Pivots();
  dyngrid::getrf(shorter, pivots);
  refused(DYNGRID_ERR_STATE, "another grid or matrix", [&] { dyngrid::getrs(system, pivots, answer); });
  Whole<T> singular = heavy;
  for (int64_t i = 0; i < m; ++i) singular(i, 6) = T(0);
  set(system, singular);
  expect(dyngrid::gesv(system, answer) == 7, type + " gesv, singular");

  Whole<T> positive = product(heavy, op(heavy, Op::adjoint));
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    set(system, positive);
    set(answer, product(positive, c));
    expect(dyngrid::posv(system, answer, uplo) == 0, type + " posv");
    same(answer, c, 10 * close, type + " posv");
    dyngrid::trsm(1, system, answer, Side::left, uplo, Op::adjoint); // L^H (L^-H C)
    Whole<T> indefinite = positive;
    indefinite(4, 4) = T(-1);
    set(system, indefinite);
    expect(dyngrid::potrf(system, uplo) == 5, type + " potrf, indefinite");
  }
  Whole<T> triangle = heavy;
  for (int64_t j = 0; j < m; ++j)
    for (int64_t i = 0; i < j; ++i) triangle(i, j) = T(0);
  set(system, heavy); // only the lower triangle is read
  set(answer, product(triangle, c));
  dyngrid::trsm(1, system, answer, Side::left, Uplo::lower);
  same(answer, c, close, type + " trsm");

  Whole<T> tall{m, k}; // least squares that can be met: B = A X
  for (int64_t j = 0; j < k; ++j)
    for (int64_t i = 0; i < m; ++i) tall(i, j) = heavy(i, j);
  auto dtall = spread("tall", tall), dx = spread("x", product(tall, b));
  const auto tau = dyngrid::geqrf(dtall);
  expect(!tau.empty(), type + " geqrf");
  dyngrid::for_each(dtall, [&](int64_t i, int64_t j, const T& r) { // the first column of R is as long as that of A
    double length = 0;
    for (int64_t l = 0; l < m; ++l) length += std::norm(tall(l, 0));
    expect(i != 0 || j != 0 || std::abs(static_cast<double>(std::abs(r)) - std::sqrt(length)) < close, type + " geqrf");
  });
  set(dtall, tall);
  dyngrid::gels(dtall, dx);
  dyngrid::for_each(
      dx, [&](int64_t i, int64_t j, const T& x) { expect(i >= k || std::abs(x - b(i, j)) < close, type + " gels"); });

  eigenvectors<T>(m, 3, type);
  eigenvectors<T>(64, 64, type + ", a block as large as the matrix:"); // ScaLAPACK asks for too little work space then

  double column = 0, row = 0, most = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < m; ++i)
      sum += static_cast<double>(std::abs(c(i, j))), most = std::max(most, static_cast<double>(std::abs(c(i, j))));
    column = std::max(column, sum);
  }
  for (int64_t i = 0; i < m; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += static_cast<double>(std::abs(c(i, j)));
    row = std::max(row, sum);
  }
  set(dc, c);
  for (const auto& [norm, expected] :
       {std::pair(dyngrid::Norm::one, column), {dyngrid::Norm::infinity, row}, {dyngrid::Norm::largest, most}})
    expect(std::abs(static_cast<double>(dyngrid::lange(dc, norm)) - expected) < close, type + " lange");

  // mismatched arguments are refused with a message by all, and nothing hangs
  refused(DYNGRID_ERR_SHAPE, "got 14 x 9, 14 x 11, 14 x 11, expected op(A) m x k",
          [&] { dyngrid::gemm(1, da, dc, 0, dc); });
  refused(DYNGRID_ERR_SHAPE, "dyngrid::view: got 3 x 4 elements from (12, 0), expected a part of 14 x 9",
          [&] { view(da, 12, 0, 3, 4); });
  refused(DYNGRID_ERR_SHAPE, "potrf: got 14 x 9, expected A n x n", [&] { dyngrid::potrf(da); });
  refused(DYNGRID_ERR_SHAPE, "gemv", [&] { dyngrid::gemv(1, da, db, 0, dc); });
  if constexpr (is_complex<T>) {
    refused(DYNGRID_ERR_ARGUMENT, "syrk: got 'C' for complex numbers, expected 'N' or 'T'",
            [&] { dyngrid::syrk(1, da, 0, square, Uplo::lower, Op::adjoint); });
    refused(DYNGRID_ERR_ARGUMENT, "herk: got 'T'",
            [&] { dyngrid::herk(1, da, 0, square, Uplo::lower, Op::transposed); });
  }
  Matrix<T> oblong("oblong", m, m, 3, 4),
      ruled("lies otherwise", m, m,
            dyngrid::by_speed([](int p, int q) { return std::vector<double>(static_cast<std::size_t>(p * q), 1); }));
  refused(DYNGRID_ERR_DESCRIPTOR, "square blocks", [&] { dyngrid::potrf(oblong); });
  refused(DYNGRID_ERR_UNSUPPORTED, "copy it into such a one", [&] { dyngrid::gemv(1, ruled, db, 0, dc); });

  // blocks of any sizes are for dyngrid's own kernels
  set(ruled, heavy);
  set(dc, c);
  dyngrid::gemm(1, ruled, dc, 0, answer);
  same(answer, right, close, type + " gemm in unequal blocks");
  expect(dyngrid::gesv(ruled, pivots, answer) == 0, type + " gesv in unequal blocks");
  same(answer, c, close, type + " gesv in unequal blocks");
  dyngrid::herk(1, spread("heavy", heavy), 0, ruled);
  set(answer, product(positive, c));
  expect(dyngrid::posv(ruled, answer) == 0, type + " posv in unequal blocks");
  same(answer, c, 10 * close, type + " posv in unequal blocks");
}

// ---- matrices that lie as a lambda says

constexpr int64_t m_all = 37, n_all = 29;

double element(int64_t i, int64_t j, int salt) {
  return static_cast<double>(1000 * i + j + salt);
}
void fill(Matrix<double>& a, int salt) {
  dyngrid::for_each(a, [&](int64_t i, int64_t j, double& x) { x = element(i, j, salt); });
}
void is_filled(const Matrix<double>& a, int salt, const std::string& what) {
  int64_t count = 0;
  dyngrid::for_each(a, [&](int64_t i, int64_t j, const double& x) {
    expect(x == element(i, j, salt), what);
    ++count;
  });
  expect(count == a.rows() * a.columns(), what + ": all of mine");
  long long mine = count, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, dyngrid_comm());
  expect(all == m_all * n_all, what + ": each once");
}

/// All but one for each, which the first one takes.
std::vector<int64_t> first_takes_most(int64_t length, int procs) {
  std::vector<int64_t> sizes(static_cast<std::size_t>(procs), 1);
  sizes[0] = length - (procs - 1);
  return sizes;
}

void refused_rules(dyngrid::Application& app) {
  refused(DYNGRID_ERR_ARGUMENT, "the rule threw: no rows today", [] {
    Matrix<double>("thrower", 5, 5,
                   [](Axis, int64_t, int, int) -> std::vector<int64_t> { throw std::runtime_error("no rows today"); });
  });
  refused(DYNGRID_ERR_ARGUMENT, "no std::exception",
          [] { Matrix<double>("thrower", 5, 5, [](Axis, int64_t, int, int) -> std::vector<int64_t> { throw 1; }); });
  refused(DYNGRID_ERR_ARGUMENT, "gives 0 block sizes",
          [] { Matrix<double>("empty", 5, 5, [](Axis, int64_t, int, int) { return std::vector<int64_t>(); }); });
  refused(DYNGRID_ERR_NULL, "rule is null", [] { Matrix<double>("null", 5, 5, dyngrid::Rule()); });
  expect(!dyngrid_matrix_find("thrower"), "a refused matrix is none");
  { // refused by a change: the grid stays, and its message is printed once
    Matrix<double> picky("picky", 5, 5, [](Axis axis, int64_t length, int nprow, int npcol) {
      if (nprow > 1) throw std::runtime_error("one row only");
      return first_takes_most(length, axis == Axis::rows ? nprow : npcol);
    });
    refused(DYNGRID_ERR_ARGUMENT, "the rule threw: one row only", [&] { app.resize(2, 1); });
    expect(app.grid().nprow == 1 && app.grid().npcol == 2 && picky.m() == 5, "the grid stays");
    try {
      picky(0, 0) = 1, app.resize(0, 0);
    } catch (const dyngrid::Error& error) {
      expect(std::string(error.what()).find("the rule") == std::string::npos, "said again");
    }
  }
  {
    Matrix<double> fast("fast", 40, 40, dyngrid::by_speed({3, 1}));
    expect(fast.rows() == 40 && fast.columns() == (app.grid().mycol == 0 ? 30 : 10), "by_speed");
    refused(DYNGRID_ERR_ARGUMENT, "by_speed: got 2 speeds, expected 1, one for each process of the 1 x 1 grid",
            [&] { app.resize(1, 1); });
    expect(app.resize(2, 1) == dyngrid::Outcome::resized && fast.rows() == (app.grid().myrow == 0 ? 30 : 10),
           "by_speed follows");
    expect(app.resize(1, 2) == dyngrid::Outcome::resized, "and back");
  }
  { // ScaLAPACK has no context for a matrix that every process has
    Matrix<double> whole("whole", 4, 4, 2, 2, dyngrid::On::all), spread("spread", 4, 4, 2, 2);
    refused(DYNGRID_ERR_UNSUPPORTED, "call LAPACK", [&] { dyngrid::potrf(whole); });
    refused(DYNGRID_ERR_UNSUPPORTED, "call LAPACK", [&] { dyngrid::gemm(1, whole, spread, 0, spread); });
  }
  // a matrix that goes out of scope where it cannot be freed lives on, with its rule
  auto kept = std::make_shared<std::optional<Matrix<double>>>();
  kept->emplace("kept", 20, 20, [data = std::vector<int64_t>(100, 7)](Axis axis, int64_t length, int nprow, int npcol) {
    expect(data.size() == 100 && data[99] == 7, "a rule that is gone is asked");
    return first_takes_most(length, axis == Axis::rows ? nprow : npcol);
  });
  app.on_change([kept] { kept->reset(); }, nullptr);
  expect(app.resize(2, 1) == dyngrid::Outcome::resized && app.resize(1, 2) == dyngrid::Outcome::resized,
         "with one that cannot be freed");
  dyngrid_matrix* rest = dyngrid_matrix_find("kept");
  expect(rest && dyngrid_matrix_free(&rest) == 0, "and is freed later");
}

} // namespace

/// Two phases that are best in different layouts; one writes, the other reads.
void in_phases(const std::string& where) {
  Matrix<double> a("phased", m_all, n_all, 4, 3);
  fill(a, 5);
  dyngrid::Phase first("first of " + where), second("second of " + where);
  first.uses(a, dyngrid::Use::both).layout(a, 2, 2).layout(a, 7, 1);
  second.uses(a, dyngrid::Use::read).layout(a, 5, 5);
  for (int cycle = 0; cycle < 6; ++cycle) {
    first.run([&] {
      is_filled(a, 5 + cycle, where + "first phase");
      expect(a.desc()[4] == 2 || a.desc()[4] == 7, where + "layout of the first phase");
      fill(a, 6 + cycle);
    });
    try {
      second.run([&] {
        is_filled(a, 6 + cycle, where + "second phase");
        expect(a.desc()[4] == 5, where + "layout of the second phase");
        if (cycle == 1) throw std::runtime_error("from inside");
      });
    } catch (const std::runtime_error& error) {
      expect(std::string(error.what()) == "from inside" && cycle == 1, where + "what the phase threw");
    }
    // two layouts, twice each; but one that took three times as long as the other is tried once
    expect(cycle == 3 || dyngrid::last_phase().is_planned == (cycle > 3 ? 1 : 0), where + "planned when all was tried");
  }
  dyngrid::plan_phases(3);
}

int main() try {
  dyngrid::Application app(1, 2);
  if (!app.is_newcomer()) refused_rules(app);
  const std::vector<std::pair<int, int>> grids = {{1, 2}, {2, 2}, {1, 3}, {2, 2}};

  dyngrid::Shared<int> step("step", 0), share("share", 1);
  std::vector<Matrix<double>> lying; // moved when the vector grows
  lying.emplace_back("even", m_all, n_all, 4, 3);
  lying.emplace_back("lambda", m_all, n_all,
                     [&share](Axis axis, int64_t length, int nprow, int npcol) { // reads shared state
                       const int procs = axis == Axis::rows ? nprow : npcol;
                       return share.get() == 1 ? first_takes_most(length, procs)
                                               : std::vector<int64_t>(static_cast<std::size_t>(procs), length);
                     });
  lying.emplace_back("block", m_all, n_all, dyngrid::block());
  lying.emplace_back("speed", m_all, n_all, dyngrid::by_speed([](int p, int q) {
                       std::vector<double> speeds;
                       for (int at = 0; at < p * q; ++at) speeds.push_back(1.0 + at % q);
                       return speeds;
                     }));
  if (!app.is_newcomer())
    for (std::size_t k = 0; k < lying.size(); ++k) fill(lying[k], static_cast<int>(k));
  for (;; step = step + 1) {
    if (app.resize_point() == dyngrid::Outcome::leave) break;
    const dyngrid::Grid grid = app.grid();
    const std::string where = "step " + std::to_string(step.get()) + ": ";
    expect(std::pair(grid.nprow, grid.npcol) == grids[static_cast<std::size_t>(step.get())], where + "grid");
    const auto rows = first_takes_most(m_all, grid.nprow), columns = first_takes_most(n_all, grid.npcol);
    expect(lying[1].rows() == rows[static_cast<std::size_t>(grid.myrow)] &&
               lying[1].columns() == columns[static_cast<std::size_t>(grid.mycol)],
           where + "lambda");
    expect(lying[2].rows() <= (m_all + grid.nprow - 1) / grid.nprow, where + "block");
    int64_t edges[] = {0, 0}; // 1 : 2 : 3 along the columns
    for (int q = 0; q < grid.npcol; ++q) edges[q == grid.mycol] += q + 1;
    expect(std::abs(static_cast<double>(lying[3].columns()) -
                    static_cast<double>(n_all * edges[1]) / static_cast<double>(edges[0] + edges[1])) <= 1,
           where + "speed");
    for (std::size_t k = 0; k < lying.size(); ++k) is_filled(lying[k], static_cast<int>(k), where + "followed");
    for (std::size_t from = 0; from < lying.size(); ++from)
      for (std::size_t to = 0; to < lying.size(); ++to) {
        fill(lying[from], 77 + static_cast<int>(from));
        dyngrid::copy(lying[from], lying[to]);
        is_filled(lying[to], 77 + static_cast<int>(from), where + "copy");
      }
    for (std::size_t k = 0; k < lying.size(); ++k) fill(lying[k], static_cast<int>(k));

    if (step + 1 == static_cast<int>(grids.size())) in_phases(where);
    compute<float>(where + "s");
    compute<double>(where + "d");
    compute<std::complex<float>>(where + "c");
    compute<std::complex<double>>(where + "z");

    if (step + 1 == static_cast<int>(grids.size())) break;
    const auto [nprow, npcol] = grids[static_cast<std::size_t>(step + 1)];
    app.request(nprow, npcol);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "FAILED: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
