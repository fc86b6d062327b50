// SPDX-License-Identifier: BSD-3-Clause
// One process is killed during an exchange, or before the agreement of the next one, under a launcher that
// does not end the job for it. The others must say so, not wait for ever.
//
//     exec_partner_dies exchange|agreement|background
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "exec_brute.hpp"
#include "redist/executor.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string where = argc > 1 ? argv[1] : "exchange";
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win window = MPI_WIN_NULL;
  int *mine = nullptr, *told_of = nullptr; // of process 0: how many survivors are through
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  *mine = 0;
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &told_of);
  redist::Executor executor(MPI_COMM_WORLD);
  // every rank gets from every other one more than all panels hold
  const brute::Problem x = brute::whole(brute::uniform(2000, 2000, 64, 64, redist::Grid::row_major(1, size)),
                                        brute::uniform(2000, 2000, 64, 64, redist::Grid::row_major(size, 1)));
  const redist::RankPlan plan = brute::plan_of(x, rank, 'd');
  brute::Share from = brute::share_of(x.from, rank, 'd', 0, true), to = brute::share_of(x.to, rank, 'd', 0, false);
  const std::vector<const redist::RankPlan*> plans{&plan};
  const std::vector<redist::Pointers> pointers{{from.data(), from.lld, to.data(), to.lld}};
  executor.execute(plans, pointers);
  const bool good = to.bytes == brute::expected(x, rank, 'd', 0).bytes;
  const int victim = size - 1;
  if (rank == victim) {
    if (where != "agreement") {
      executor.start(plans, pointers); // agrees and fills the first panels
    }
    raise(SIGKILL);
  }
  int told = 0;
  try {
    if (where == "background") {
      executor.start(plans, pointers);
      executor.finish();
    } else {
      executor.execute(plans, pointers);
    }
    executor.execute(plans, pointers); // should the victim have got further than thought
  } catch (const base::Error& error) {
    const std::string dead = "rank " + std::to_string(victim) + " (process";
    if (error.status() == base::Status::timeout && std::strstr(error.what(), dead.c_str()) != nullptr) told = 1;
    std::fprintf(stderr, "%s\n", error.what());
  }
  try {
    executor.execute(plans, pointers);
    told = 0;
  } catch (const base::Error& error) {
    if (error.status() != base::Status::bad_state) told = 0;
  }
  executor.close(); // does not wait for the dead one either
  char line[64];
  const int length = std::snprintf(line, sizeof line, "survivor %d: %s\n", rank, good && told == 1 ? "good" : "bad");
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) _exit(1);
  __atomic_fetch_add(told_of, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(told_of, __ATOMIC_SEQ_CST) < size - 1) usleep(10000); // they are to find only one dead
  _exit(0); // MPI_Finalize would wait for the dead one
}
