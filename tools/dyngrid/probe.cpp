// SPDX-License-Identifier: BSD-3-Clause
// `dyngrid doctor` starts this under mpirun: a matrix on a 1 x n grid, one process more, one process less. Prints lines
// of "word value".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dyngrid.hpp"

namespace {

constexpr std::int64_t n = 256, nb = 16;

double element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(i * n + j);
}

/// Visits the local elements of a block-cyclic matrix on the current grid.
template <class Visit>
void visit(const dyngrid::Application& app, const dyngrid::Matrix<double>& a, Visit visit_element) {
  const dyngrid::Grid grid = app.grid();
  if (!grid.is_mine()) return;
  const std::int64_t rows = a.rows(), columns = a.columns();
  const auto global = [](std::int64_t k, int me, int procs) { return (k / nb * procs + me) * nb + k % nb; };
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      visit_element(a(i, j), element(global(i, grid.myrow, grid.nprow), global(j, grid.mycol, grid.npcol)));
}

bool is_right(const dyngrid::Application& app, const dyngrid::Matrix<double>& a) {
  int wrong = 0, anywhere = 0;
  visit(app, a, [&](double& here, double wanted) { wrong += here != wanted ? 1 : 0; });
  MPI_Allreduce(&wrong, &anywhere, 1, MPI_INT, MPI_SUM, app.comm());
  return anywhere == 0;
}

/// Messages of a few bytes and of a megabyte between two processes and a third one that they start. Without dyngrid:
/// `dyngrid run` tries a transport by it.
int exchange_messages(int argc, char** argv) {
  int level = 0; // a transport may refuse what a program may ask for
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm parent = MPI_COMM_NULL, others = MPI_COMM_NULL, all = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  char mode[] = "messages", *arguments[] = {mode, nullptr};
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(parent == MPI_COMM_NULL ? others : parent, parent == MPI_COMM_NULL ? 0 : 1, &all);
  int rank = 0, size = 1, is_wrong = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  for (const int count : {1, 1 << 17})
    for (int distance = 1; distance < size; ++distance) {
      const int to = (rank + distance) % size, from = (rank + size - distance) % size;
      const std::vector<double> sent(static_cast<std::size_t>(count), rank);
      std::vector<double> got(sent.size(), -1);
      MPI_Sendrecv(sent.data(), count, MPI_DOUBLE, to, 0, got.data(), count, MPI_DOUBLE, from, 0, all,
                   MPI_STATUS_IGNORE);
      if (got != std::vector<double>(sent.size(), from)) is_wrong = 1;
    }
  MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, all);
  if (rank == 0 && is_wrong == 0) std::printf("messages arrived\n");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(parent == MPI_COMM_NULL ? &others : &parent);
  MPI_Finalize();
  return is_wrong;
}

} // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::strcmp(argv[1], "messages") == 0) return exchange_messages(argc, argv);
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // with an MPI that cannot start processes some exist from the beginning, and sleep
  if (const char* spare = std::getenv("DYNGRID_SPARE")) size -= std::atoi(spare);
  int failed = 0;
  {
    dyngrid::Application app(1, size);
    const bool talks = !app.is_newcomer() && rank == 0;
    if (talks) {
      char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
      int length = 0;
      MPI_Get_library_version(version, &length);
      std::printf("mpi %.*s\ndyngrid %s\n", static_cast<int>(std::strcspn(version, "\n")), version, dyngrid_version());
      std::fflush(stdout);
    }
    dyngrid::Matrix<double> a("A", n, n, nb, nb);
    if (!app.is_newcomer()) visit(app, a, [](double& here, double wanted) { here = wanted; });
    const auto step = [&](const char* word, dyngrid::Outcome outcome) {
      const bool right = outcome == dyngrid::Outcome::leave || is_right(app, a);
      failed = failed != 0 || !right ? 1 : 0;
      if (talks) std::printf("%s %.3f %s\n", word, app.last_resize().total_s, right ? "right" : "wrong");
      std::fflush(stdout);
      return outcome;
    };
    dyngrid::Outcome outcome = dyngrid::Outcome::same;
    if (app.is_newcomer() || !app.grid().is_mine())
      outcome = step("joined", app.resize_point());
    else
      outcome = step("grown", app.resize(1, size + 1));
    // not size: a new process has another MPI_COMM_WORLD. A process that leaves returns to sleep.
    if (outcome != dyngrid::Outcome::leave) step("shrunk", app.resize(1, app.grid().npcol - 1));
  }
  MPI_Finalize();
  return failed;
} catch (const dyngrid::Error& error) {
  std::printf("refused %d %s\n", error.status(), error.what());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
