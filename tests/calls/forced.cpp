// SPDX-License-Identifier: BSD-3-Clause
// Every call moved (DYNGRID_CALLS, see CMakeLists.txt) against ScaLAPACK's routine itself, on random grids, blocks,
// sub-matrices and first processes: info and pivots exactly, numbers up to rounding, what is outside untouched.
// A routine is in one type only, of which no routine is listed that it calls.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <dlfcn.h>

#include "../pblas/spread.hpp"

using spread::Axis;
using spread::Grid;
using spread::Matrix;
using spread::pick;
using spread::Random;

extern "C" {
void pdgetrf_(const int*, const int*, double*, const int*, const int*, const int*, int*, int*);
void pdgetrs_(const char*, int*, int*, double*, int*, int*, int*, int*, double*, int*, int*, int*, int*);
void psgesv_(int*, int*, float*, int*, int*, int*, int*, float*, int*, int*, int*, int*);
void pdpotrf_(const char*, int*, double*, int*, int*, int*, int*);
void psposv_(const char*, int*, int*, float*, int*, int*, int*, float*, int*, int*, int*, int*);
void pdgeqrf_(int*, int*, double*, int*, int*, int*, double*, double*, int*, int*);
void pdsyev_(const char*, const char*, int*, double*, int*, int*, int*, double*, double*, int*, int*, int*, double*,
             int*, int*);
}

namespace {

/// ScaLAPACK's own, behind the library's name.
template <class F> F* direct(F*, const char* name) {
  static void* const library = [] {
    for (const char* file : {"libscalapack-openmpi.so.2.2", "libscalapack-mpich.so.2.2", "libscalapack.so"})
      if (void* found = dlopen(file, RTLD_LAZY | RTLD_NOLOAD)) return found;
    return static_cast<void*>(nullptr);
  }();
  return reinterpret_cast<F*>(dlsym(library, name));
}
#define BOTH(routine)                                                                                                  \
  { &routine, direct(&routine, #routine) }

template <class T>
Matrix<T> aligned(Random& random, const Grid& grid, int m, int n, int nb, int rsrc, int csrc, int before = -1) {
  const int i = (before < 0 ? pick(random, 0, 2) : before) * nb + 1,
            j = (before < 0 ? pick(random, 0, 2) : before) * nb + 1;
  const int all_m = m + i - 1 + pick(random, 0, 3), all_n = n + j - 1 + pick(random, 0, 3);
  const Axis rows(all_m, {nb}, rsrc, grid.nprow), cols(all_n, {nb}, csrc, grid.npcol);
  const int mine = rows.count[static_cast<std::size_t>(grid.myrow)], lld = std::max(1, mine + pick(random, 0, 2));
  const int width = std::max(1, cols.count[static_cast<std::size_t>(grid.mycol)]);
  return {m,
          n,
          i,
          j,
          {1, grid.ctxt, all_m, all_n, nb, nb, rsrc, csrc, lld},
          rows,
          cols,
          std::vector<T>(static_cast<std::size_t>(lld * width), T(55)),
          {},
          &grid};
}

template <class T> double difference(const std::vector<T>& x, const std::vector<T>& y, bool of_sizes = false) {
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double off = of_sizes ? std::abs(std::abs(x[k]) - std::abs(y[k])) : std::abs(x[k] - y[k]);
    most = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(most, off);
  }
  return most;
}

/// Grids of all processes, and one that leaves a process out.
template <class Check> void for_cases(int cases, int seed, Check&& check) {
  const std::pair<int, int> shapes[] = {{1, 4}, {2, 2}, {4, 1}, {3, 1}};
  for (const auto& [p, q] : shapes) {
    const Grid grid(p, q);
    for (int t = 0; t < cases && grid.myrow >= 0; ++t) {
      Random random(static_cast<unsigned>(seed * 1000 + t * 4 + p));
      SCOPED_TRACE(::testing::Message() << "case " << t << " on " << p << " x " << q);
      check(random, grid, static_cast<std::uint64_t>(seed * 1000 + t));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

struct Place {
  int nb, rsrc, csrc;
  Place(Random& random, const Grid& grid)
      : nb(pick(random, 1, 9)), rsrc(pick(random, 0, grid.nprow - 1)), csrc(pick(random, 0, grid.npcol - 1)) {}
};

template <class T> std::vector<int> pivots_of(const Matrix<T>& a, const std::vector<int>& ipiv) {
  std::vector<int> mine;
  for (int r = a.i - 1; r < a.i - 1 + std::min(a.m, a.n); ++r)
    if (a.rows.owner[Matrix<T>::at(r)] == a.grid->myrow)
      mine.push_back(ipiv[Matrix<T>::at(a.rows.local[Matrix<T>::at(r)])]);
  return mine;
}

TEST(Calls, LuIsTheSame) {
  int differing = 0;
  for_cases(25, 1, [&](Random& random, const Grid& grid, std::uint64_t seed) {
    const Place place(random, grid);
    int m = pick(random, 1, 60), n = pick(random, 1, 60);
    Matrix<double> a = aligned<double>(random, grid, m, n, place.nb, place.rsrc, place.csrc);
    const int kind = pick(random, 0, 5), where = pick(random, 0, std::min(m, n) - 1);
    a.fill([&](int i, int j) {
      if (kind == 0 && j == where) return 0.0; // singular
      if (kind == 1 && i == where && j == where) return std::nan("");
      return spread::element_of<double>(seed, i, j);
    });
    Matrix<double> b = a;
    std::vector<int> of_a(200, -7), of_b(200, -7);
    int info_a = 77, info_b = 77;
    decltype(&pdgetrf_) call[] = BOTH(pdgetrf_);
    ASSERT_NE(call[0], call[1]);
    call[0](&m, &n, a.data(), &a.i, &a.j, a.desc.data(), of_a.data(), &info_a);
    call[1](&m, &n, b.data(), &b.i, &b.j, b.desc.data(), of_b.data(), &info_b);
    EXPECT_EQ(info_a, info_b) << m << " x " << n << ", kind " << kind;
    EXPECT_TRUE(a.is_kept());
    if (kind == 1) return;
    EXPECT_EQ(pivots_of(a, of_a), pivots_of(b, of_b));
    EXPECT_LT(difference(a.local, b.local), 1e-8);
    if (a.local != b.local) ++differing;
  });
  EXPECT_GT(differing, 3) << "the same to the last bit: nothing was moved";
}

TEST(Calls, SolutionsAreTheSame) {
  for_cases(15, 2, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const Place place(random, grid);
    int n = pick(random, 1, 50), nrhs = pick(random, 1, 9);
    Matrix<double> a = aligned<double>(random, grid, n, n, place.nb, place.rsrc, place.csrc, 0);
    a.fill([&](int i, int j) { return spread::element_of<double>(seed, i, j) + (i == j ? 4 : 0); });
    std::vector<int> ipiv(200, 0);
    int info = 77, info_b = 77;
    pdgetrf_(&n, &n, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), &info);
    ASSERT_EQ(info, 0);
    Matrix<double> x = aligned<double>(random, grid, n, nrhs, place.nb, place.rsrc, place.csrc, 0);
    x.fill([&](int i, int j) { return spread::element_of<double>(seed + 9, i, j); });
    Matrix<double> y = x;
    const std::vector<double> factors = a.local;
    const std::vector<int> pivots = ipiv;
    const char* op = pick(random, 0, 1) == 0 ? "N" : "T";
    decltype(&pdgetrs_) call[] = BOTH(pdgetrs_);
    call[0](op, &n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), x.data(), &x.i, &x.j, x.desc.data(),
            &info);
    EXPECT_TRUE(a.local == factors && ipiv == pivots);
    call[1](op, &n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), ipiv.data(), y.data(), &y.i, &y.j, y.desc.data(),
            &info_b);
    EXPECT_EQ(info, info_b);
    EXPECT_LT(difference(x.local, y.local), 1e-8);
    EXPECT_TRUE(x.is_kept());
  });
}

TEST(Calls, SystemsAreTheSame) {
  for_cases(12, 3, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const Place place(random, grid);
    int n = pick(random, 1, 40), nrhs = pick(random, 1, 9);
    const bool is_posv = pick(random, 0, 1) == 1, fails = pick(random, 0, 4) == 0;
    Matrix<float> a = aligned<float>(random, grid, n, n, place.nb, place.rsrc, place.csrc, 0);
    const int bad = pick(random, 0, n - 1);
    a.fill([&](int i, int j) {
      if (fails && j == bad) return 0.0f;
      return spread::element_of<float>(seed, std::min(i, j), std::max(i, j)) + (i == j ? static_cast<float>(n) : 0);
    });
    Matrix<float> x = aligned<float>(random, grid, n, nrhs, place.nb, place.rsrc, place.csrc, 0);
    x.fill([&](int i, int j) { return spread::element_of<float>(seed + 9, i, j); });
    Matrix<float> b = a, y = x;
    std::vector<int> of_a(200, -7), of_b(200, -7);
    int info_a = 77, info_b = 77;
    if (is_posv) {
      decltype(&psposv_) call[] = BOTH(psposv_);
      call[0]("U", &n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), x.data(), &x.i, &x.j, x.desc.data(), &info_a);
      call[1]("U", &n, &nrhs, b.data(), &b.i, &b.j, b.desc.data(), y.data(), &y.i, &y.j, y.desc.data(), &info_b);
    } else {
      decltype(&psgesv_) call[] = BOTH(psgesv_);
      call[0](&n, &nrhs, a.data(), &a.i, &a.j, a.desc.data(), of_a.data(), x.data(), &x.i, &x.j, x.desc.data(),
              &info_a);
      call[1](&n, &nrhs, b.data(), &b.i, &b.j, b.desc.data(), of_b.data(), y.data(), &y.i, &y.j, y.desc.data(),
              &info_b);
      EXPECT_EQ(pivots_of(a, of_a), pivots_of(b, of_b));
    }
    EXPECT_EQ(info_a, info_b);
    EXPECT_TRUE(a.is_kept() && x.is_kept());
    if (info_b == 0) {
      EXPECT_LT(difference(x.local, y.local), 1e-3);
    }
  });
}

TEST(Calls, CholeskyIsTheSame) {
  for_cases(20, 4, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const Place place(random, grid);
    int n = pick(random, 1, 60);
    const char* uplo = pick(random, 0, 1) == 0 ? "U" : "L";
    const int kind = pick(random, 0, 4), where = pick(random, 0, n - 1);
    Matrix<double> a = aligned<double>(random, grid, n, n, place.nb, place.rsrc, place.csrc);
    a.fill([&](int i, int j) {
      if (kind == 0 && i == where && j == where) return -1.0; // not positive definite
      if (*uplo == 'U' ? i > j : i < j) return std::nan("");  // not looked at
      return spread::element_of<double>(seed, std::min(i, j), std::max(i, j)) + (i == j ? n : 0);
    });
    Matrix<double> b = a;
    int info_a = 77, info_b = 77;
    decltype(&pdpotrf_) call[] = BOTH(pdpotrf_);
    call[0](uplo, &n, a.data(), &a.i, &a.j, a.desc.data(), &info_a);
    call[1](uplo, &n, b.data(), &b.i, &b.j, b.desc.data(), &info_b);
    EXPECT_EQ(info_a, info_b);
    for (std::vector<double>* x : {&a.local, &b.local})
      std::replace_if(
          x->begin(), x->end(), [](double v) { return std::isnan(v); }, 3.0);
    if (info_b == 0) {
      EXPECT_LT(difference(a.local, b.local), 1e-10);
    }
  });
}

TEST(Calls, ReflectorsAndWorkSpaceAreTheSame) {
  for_cases(20, 5, [](Random& random, const Grid& grid, std::uint64_t seed) {
    int m = pick(random, 1, 50), n = pick(random, 1, 50);
    Matrix<double> a = spread::random_matrix<double>(random, grid, m, n, spread::Kind::uniform); // any ia, ja, mb, nb
    a.fill([&](int i, int j) { return spread::element_of<double>(seed, i, j); });
    Matrix<double> b = a;
    std::vector<double> tau_a(200, 5), tau_b(200, 5), work_a(20000), work_b(20000);
    decltype(&pdgeqrf_) call[] = BOTH(pdgeqrf_);
    for (int lwork : {-1, 20000}) {
      int info_a = 77, info_b = 77;
      work_a[0] = work_b[0] = -3;
      call[0](&m, &n, a.data(), &a.i, &a.j, a.desc.data(), tau_a.data(), work_a.data(), &lwork, &info_a);
      call[1](&m, &n, b.data(), &b.i, &b.j, b.desc.data(), tau_b.data(), work_b.data(), &lwork, &info_b);
      EXPECT_EQ(info_a, info_b);
      EXPECT_EQ(work_a[0], work_b[0]);
      EXPECT_LT(difference(a.local, b.local), 1e-9);
      EXPECT_LT(difference(tau_a, tau_b), 1e-9);
      EXPECT_TRUE(a.is_kept());
    }
  });
}

TEST(Calls, EigenvaluesAreTheSame) {
  for_cases(6, 6, [](Random& random, const Grid& grid, std::uint64_t seed) {
    const Place place(random, grid);
    int n = pick(random, 1, 40);
    Matrix<double> a = aligned<double>(random, grid, n, n, place.nb, place.rsrc, place.csrc);
    a.fill([&](int i, int j) {
      return spread::element_of<double>(seed, std::min(i, j), std::max(i, j)) + (i == j ? i : 0);
    });
    Matrix<double> b = a, z = a, y = a;
    std::vector<double> w(100, 0), v(100, 0), work(60000), other(60000);
    const char* job = pick(random, 0, 2) == 0 ? "N" : "V";
    decltype(&pdsyev_) call[] = BOTH(pdsyev_);
    for (int lwork : {-1, 60000}) {
      int info_a = 77, info_b = 77;
      work[0] = other[0] = -3;
      call[0](job, "L", &n, a.data(), &a.i, &a.j, a.desc.data(), w.data(), z.data(), &z.i, &z.j, z.desc.data(),
              work.data(), &lwork, &info_a);
      call[1](job, "L", &n, b.data(), &b.i, &b.j, b.desc.data(), v.data(), y.data(), &y.i, &y.j, y.desc.data(),
              other.data(), &lwork, &info_b);
      EXPECT_EQ(info_a, info_b);
      if (lwork == -1) {
        EXPECT_EQ(work[0], other[0]);
      }
    }
    EXPECT_LT(difference(w, v), 1e-9);
    EXPECT_LT(difference(z.local, y.local, true), 1e-6); // vectors up to their sign
    EXPECT_TRUE(z.is_kept());
  });
}

/// A mistake of one process, or of all: as ScaLAPACK says it.
TEST(Calls, MistakesAreScalapacks) {
  const Grid grid(2, 2);
  decltype(&pdgetrf_) call[] = BOTH(pdgetrf_);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int mistake = 0; mistake < 6; ++mistake) {
    int info[2] = {77, 77};
    for (int which = 0; which < 2; ++which) {
      std::vector<double> x(400, 1);
      std::vector<int> ipiv(100);
      int desc[] = {1, grid.ctxt, 10, 10, 2, 2, 0, 0, 10}, m = 8, n = 8, i = 1, j = 1;
      if (mistake == 0) m = -1;
      if (mistake == 1) i = 2; // not the first of a block
      if (mistake == 2) desc[5] = 3;
      if (mistake == 3 && rank == 2) desc[8] = 1;
      if (mistake == 4 && rank == 1) n = 7;
      if (mistake == 5) n = 0;
      call[which](&m, &n, x.data(), &i, &j, desc, ipiv.data(), &info[which]);
    }
    EXPECT_EQ(info[0], info[1]) << "mistake " << mistake;
  }
}

} // namespace
