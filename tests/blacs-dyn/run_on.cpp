// SPDX-License-Identifier: BSD-3-Clause
// dyngrid_run_on: LU of a matrix that lies on 2x2 in blocks of 5. Its last bits show where it runs: they are those of
// ScaLAPACK's routine on a matrix that lies there, and differ between places.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "../without_threads.hpp"
#include "base/mpi/blacs.hpp"
#include "dyngrid.h"
#include "dyngrid.hpp"
#include "dyngrid/pblas.h"

extern "C" {
int numroc_(const int* n, const int* nb, const int* iproc, const int* isrc, const int* nprocs);
void pdgetrf_(DYNGRID_GETRF_ARGS(double));
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc, double* tau,
              double* work, const int* lwork, int* info);
void pdgels_(const char* trans, const int* m, const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
             const int* desca, double* b, const int* ib, const int* jb, const int* descb, double* work,
             const int* lwork, int* info, std::size_t);
void pdgesvx_(const char* fact, const char* trans, const int* n, const int* nrhs, double* a, const int* ia,
              const int* ja, const int* desca, double* af, const int* iaf, const int* jaf, const int* descaf, int* ipiv,
              char* equed, double* r, double* c, double* b, const int* ib, const int* jb, const int* descb, double* x,
              const int* ix, const int* jx, const int* descx, double* rcond, double* ferr, double* berr, double* work,
              const int* lwork, int* iwork, const int* liwork, int* info, std::size_t, std::size_t, std::size_t);
}

namespace {

struct Factors {
  std::vector<double> lu; ///< the whole matrix
  std::vector<int> pivots;
  int info = 77;
  bool operator==(const Factors& o) const { return lu == o.lu && pivots == o.pivots && info == o.info; }
};

constexpr int n = 60;

double element(int i, int j) {
  auto mixed = static_cast<std::uint64_t>(i * 1009 + j + 1) * 11400714819323198485u;
  mixed = (mixed ^ (mixed >> 29)) * 13787848793156543929u; // else rows are nearly the same
  return static_cast<double>(mixed >> 11) / (1ull << 53) - 0.5;
}

/// On a grid of its own. All four processes get the result.
Factors lu_on(int nprow, int npcol, int nb, int zero_at = -1) {
  int ctxt = -1, me[2], shape[2];
  const int zero = 0, one = 1, order = n;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", nprow, npcol);
  Cblacs_gridinfo(ctxt, &shape[0], &shape[1], &me[0], &me[1]);
  const bool is_in = ctxt >= 0 && me[0] >= 0;
  const int rows = is_in ? numroc_(&order, &nb, &me[0], &zero, &nprow) : 0;
  const int cols = is_in ? numroc_(&order, &nb, &me[1], &zero, &npcol) : 0;
  const int lld = std::max(1, rows), desc[] = {1, ctxt, n, n, nb, nb, 0, 0, lld};
  const auto global = [nb](int local, int mine, int procs) { return (local / nb * procs + mine) * nb + local % nb; };
  const auto at = [](int i, int j, int ld) {
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(ld);
  };
  std::vector<double> a(at(0, std::max(1, cols), lld));
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) {
      const int r = global(i, me[0], nprow), c = global(j, me[1], npcol);
      a[at(i, j, lld)] = c == zero_at ? 0 : element(r, c); // a column of zeros: singular
    }
  std::vector<int> ipiv(static_cast<std::size_t>(rows + nb), 0);
  Factors all;
  if (is_in) pdgetrf_(&order, &order, a.data(), &one, &one, desc, ipiv.data(), &all.info);
  MPI_Bcast(&all.info, 1, MPI_INT, 0, MPI_COMM_WORLD);
  all.lu.assign(at(0, n, n), 0);
  all.pivots.assign(n, 0);
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) all.lu[at(global(i, me[0], nprow), global(j, me[1], npcol), n)] = a[at(i, j, lld)];
  for (int i = 0; i < rows && me[1] == 0; ++i)
    all.pivots[static_cast<std::size_t>(global(i, me[0], nprow))] = ipiv[static_cast<std::size_t>(i)];
  MPI_Allreduce(MPI_IN_PLACE, all.lu.data(), n * n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, all.pivots.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (is_in) Cblacs_gridexit(ctxt);
  return all;
}

/// What PDGEQRF leaves in the matrix on a 2x2 grid, in blocks of mb x nb. All four processes get it.
std::vector<double> qr_on_2x2(int mb, int nb) {
  int ctxt = -1, nprow = 2, npcol = 2, myrow = 0, mycol = 0, info = 77;
  const int zero = 0, one = 1, order = n, lwork = 1 << 16;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", nprow, npcol);
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &myrow, &mycol);
  const int rows = numroc_(&order, &mb, &myrow, &zero, &nprow), cols = numroc_(&order, &nb, &mycol, &zero, &npcol);
  const int desc[] = {1, ctxt, n, n, mb, nb, 0, 0, rows};
  std::vector<double> a, tau(static_cast<std::size_t>(cols)), work(lwork), r(n * n, 0);
  const auto row = [&](int i) { return (i / mb * nprow + myrow) * mb + i % mb; };
  const auto col = [&](int j) { return (j / nb * npcol + mycol) * nb + j % nb; };
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) a.push_back(element(row(i), col(j)));
  pdgeqrf_(&order, &order, a.data(), &one, &one, desc, tau.data(), work.data(), &lwork, &info);
  EXPECT_EQ(info, 0);
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i)
      r[static_cast<std::size_t>(row(i) + col(j) * n)] = a[static_cast<std::size_t>(i + j * rows)];
  MPI_Allreduce(MPI_IN_PLACE, r.data(), n * n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  Cblacs_gridexit(ctxt);
  return r;
}

/// One right-hand side on a 2x2 grid in blocks of 5, by PDGELS, or else by PDGESVX. This process's part of the
/// solution.
std::vector<double> solution_on_2x2(bool by_least_squares) {
  constexpr int nb = 5, part = n / 2;
  int ctxt = -1, nprow = 2, npcol = 2, myrow = 0, mycol = 0, info = 77;
  const int one = 1, order = n, length = 1 << 14;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", nprow, npcol);
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &myrow, &mycol);
  const int desc[] = {1, ctxt, n, n, nb, nb, 0, 0, part}, desc_b[] = {1, ctxt, n, 1, nb, nb, 0, 0, part};
  std::vector<double> a, b, x(part), factors(part * part), work(length), scales(4 * part);
  const auto global = [](int local, int mine) { return (local / nb * 2 + mine) * nb + local % nb; };
  for (int j = 0; j < part; ++j)
    for (int i = 0; i < part; ++i) a.push_back(element(global(i, myrow), global(j, mycol)));
  for (int i = 0; i < part; ++i) b.push_back(element(global(i, myrow), n));
  std::vector<int> ipiv(part + nb), iwork(length);
  double rcond = 0, ferr = 0, berr = 0;
  char equed = 'N';
  if (by_least_squares)
    pdgels_("N", &order, &order, &one, a.data(), &one, &one, desc, b.data(), &one, &one, desc_b, work.data(), &length,
            &info, 1);
  else
    pdgesvx_("N", "N", &order, &one, a.data(), &one, &one, desc, factors.data(), &one, &one, desc, ipiv.data(), &equed,
             scales.data(), scales.data() + 2 * part, b.data(), &one, &one, desc_b, x.data(), &one, &one, desc_b,
             &rcond, &ferr, &berr, work.data(), &length, iwork.data(), &length, &info, 1, 1, 1);
  EXPECT_EQ(info, 0);
  Cblacs_gridexit(ctxt);
  return mycol != 0 ? std::vector<double>() : by_least_squares ? b : x;
}

/// The results of the routine itself in three places, and the place whose bits a call has.
class RunOn : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    own_ = new Factors(lu_on(2, 2, 5));
    row_ = new Factors(lu_on(1, 4, 16));
    one_ = new Factors(lu_on(1, 1, 33));
    blocks_ = new Factors(lu_on(2, 2, 11));
  }
  static std::string place() {
    const Factors is = lu_on(2, 2, 5);
    return is == *own_ ? "own" : is == *row_ ? "row" : is == *one_ ? "one" : is == *blocks_ ? "blocks" : "unknown";
  }
  static Factors *own_, *row_, *one_, *blocks_;
};
Factors *RunOn::own_, *RunOn::row_, *RunOn::one_, *RunOn::blocks_;

TEST_F(RunOn, PlacesDiffer) { // else the others see nothing
  EXPECT_EQ(own_->info, 0);
  EXPECT_NE(own_->lu, row_->lu);
  EXPECT_NE(own_->lu, one_->lu);
  EXPECT_NE(row_->lu, one_->lu);
  EXPECT_NE(own_->lu, blocks_->lu);
  EXPECT_NE(row_->lu, blocks_->lu);
  EXPECT_EQ(own_->pivots, row_->pivots);
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, TheNextCallOnly) {
  ASSERT_EQ(dyngrid_run_on(1, 4, 16, "pdgetrf"), DYNGRID_SUCCESS);
  EXPECT_EQ(place(), "row");
  EXPECT_EQ(place(), "own");
  ASSERT_EQ(dyngrid_run_on(1, 1, 33, "p?getrf"), DYNGRID_SUCCESS);
  ASSERT_EQ(dyngrid_run_on(1, 4, 16, "all"), DYNGRID_SUCCESS);
  EXPECT_EQ(place(), "one"); // in the order of the requests
  EXPECT_EQ(place(), "row");
  EXPECT_EQ(place(), "own");
  dyngrid::run_on(1, 4, 16, "pdgemm,pdgetrf"); // either: used up
  EXPECT_EQ(place(), "row");
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, WithoutAThreadForTheMessage) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::optional<WithoutThreads> none;
  if (rank == 1) none.emplace();
  ASSERT_EQ(dyngrid_run_on(1, 4, 16, "pdgetrf"), DYNGRID_SUCCESS);
  EXPECT_EQ(place(), "row");
}

TEST_F(RunOn, ZerosAreTheCallers) {
  dyngrid::run_on(0, 0, 11, "pdgetrf");
  EXPECT_EQ(place(), "blocks");
  dyngrid::run_on(0, 0, 0, "pdgetrf");
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, OblongBlocksAreNotThereYet) {
  const std::vector<double> oblong = qr_on_2x2(5, 11), square = qr_on_2x2(11, 11);
  ASSERT_NE(oblong, square) << "else the next lines see nothing";
  dyngrid::run_on(0, 0, 11, "pdgeqrf");
  EXPECT_EQ(qr_on_2x2(5, 11), square);
  EXPECT_EQ(qr_on_2x2(5, 11), oblong);
}

TEST_F(RunOn, CallsInsideOfScalapackStay) {
  const std::vector<double> square = qr_on_2x2(11, 11), direct = solution_on_2x2(false);
  dyngrid::run_on(0, 0, 11, "pdgeqrf");
  solution_on_2x2(true);
  EXPECT_EQ(qr_on_2x2(5, 11), square) << "used up by PDGELS";
  const dyngrid::RunOn scope(1, 4, 16);
  EXPECT_EQ(solution_on_2x2(false), direct);
}

TEST_F(RunOn, OtherRoutinesStay) {
  const dyngrid::RunOn scope(1, 4, 16, "pdpotrf,psgetrf");
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, ScopesLieInEachOther) {
  {
    const dyngrid::RunOn scope(1, 4, 16);
    EXPECT_EQ(place(), "row");
    EXPECT_EQ(place(), "row");
    {
      const dyngrid::RunOn inner(1, 1, 33, "pdgetrf"), other(2, 2, 11, "pdgemm");
      EXPECT_EQ(place(), "one");
      dyngrid::run_on(2, 2, 11, "pdgetrf");
      EXPECT_EQ(place(), "blocks");
      EXPECT_EQ(place(), "one");
    }
    EXPECT_EQ(place(), "row");
  }
  EXPECT_EQ(place(), "own");
  try {
    const dyngrid::RunOn scope(1, 4, 16, "pdgetrf");
    throw std::runtime_error("in a scope");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, MistakesAreSaidAndChangeNothing) {
  for (const char* wrong : {"pdgetrg", "", "pdgetrf=2x2/4", "report", "off", "pdgetrf,,pdgemm"}) {
    EXPECT_EQ(dyngrid_run_on(2, 2, 4, wrong), DYNGRID_ERR_ARGUMENT) << wrong;
    EXPECT_EQ(dyngrid_run_on_begin(2, 2, 4, wrong), DYNGRID_ERR_ARGUMENT) << wrong;
  }
  EXPECT_EQ(dyngrid_run_on(2, 2, 4, nullptr), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_run_on(-1, 2, 4, "pdgetrf"), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_run_on(2, 0, 4, "pdgetrf"), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_run_on(50000, 50000, 4, "pdgetrf"), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_run_on(2, 2, -1, "pdgetrf"), DYNGRID_ERR_ARGUMENT);
  EXPECT_NE(std::string(dyngrid_last_message()).find("nb is -1"), std::string::npos) << dyngrid_last_message();
  EXPECT_EQ(dyngrid_run_on_end(), DYNGRID_ERR_STATE);
  EXPECT_THROW(dyngrid::RunOn(2, 2, 4, "pdgetrg"), dyngrid::Error);
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, ALargerGridThanThereIs) {
  dyngrid::run_on(5, 5, 16, "pdgetrf");
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, ProcessesThatSayDifferentThingsStay) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  dyngrid::run_on(1, rank == 2 ? 3 : 4, 16, "pdgetrf");
  EXPECT_EQ(place(), "own");
  EXPECT_EQ(place(), "own");
}

TEST_F(RunOn, SingularIsSaidAlike) {
  const Factors direct = lu_on(2, 2, 5, 17), there = lu_on(1, 4, 16, 17);
  dyngrid::run_on(1, 4, 16, "pdgetrf");
  const Factors moved = lu_on(2, 2, 5, 17);
  EXPECT_EQ(direct.info, 18);
  EXPECT_EQ(moved.info, 18);
  EXPECT_TRUE(moved == there); // where all of a column is 0 any pivot will do: those of the place
}

/// A group of processes is the group of a context in its order: 24 of four.
TEST_F(RunOn, CallsOfThe17thGroupOfProcessesStayAndThatIsSaid) {
  int rank = 0, order[] = {0, 1, 2, 3};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::internal::CaptureStderr();
  do {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, order[rank], &comm);
    const int handle = Csys2blacs_handle(comm), m = 8, nb = 2, one = 1;
    int ctxt = handle, info = 77, ipiv[16];
    Cblacs_gridinit(&ctxt, "R", 2, 2);
    Cfree_blacs_system_handle(handle);
    const int desc[] = {1, ctxt, m, m, nb, nb, 0, 0, 4};
    std::vector<double> a(16);
    for (int k = 0; k < 16; ++k) a[static_cast<std::size_t>(k)] = element(k, order[rank]);
    dyngrid::run_on(1, 1, 4, "pdgetrf");
    pdgetrf_(&m, &m, a.data(), &one, &one, desc, ipiv, &info);
    EXPECT_EQ(info, 0);
    Cblacs_gridexit(ctxt);
    MPI_Comm_free(&comm);
  } while (std::next_permutation(std::begin(order), std::end(order)));
  int times = 0, said = 0;
  const std::string text = testing::internal::GetCapturedStderr();
  for (std::size_t at = 0; (at = text.find("16 groups of processes", at)) != std::string::npos; ++at) ++said;
  MPI_Allreduce(&said, &times, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(times, 1) << text;
}

} // namespace
