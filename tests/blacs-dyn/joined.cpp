// SPDX-License-Identifier: BSD-3-Clause
// joined CASE: the join way, run under with_server. The application computes on while new processes come.
//   follow SHAPE...   through all shapes by requests at resize points
//   early ready connect in_connect never   what becomes of the newcomers of the first growth; the second growth is a good one
//   held              a joined process is killed while it holds part of a matrix
//   server            the ompi-server is killed between two growths
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <unistd.h>

#include "follow.hpp"

namespace {

using follow::expect;

std::string kind;
bool must_fail = false; ///< this process is a newcomer of the growth that is to fail

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

void die_in(int ms) {
  std::thread([ms] {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    die();
  }).detach();
}

} // namespace

// MPI's profiling interface: the moment in which process 0 waits for this process
extern "C" int MPI_Comm_connect(const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* bridge) {
  if (must_fail && kind == "connect") die();
  if (must_fail && kind == "in_connect") die_in(4);
  return PMPI_Comm_connect(port, info, root, comm, bridge);
}

namespace {

/// Asks for a grid, then computes on until it is there. The status of the change; `steps` counts what was done meanwhile.
int change_to(int nprow, int npcol, int ms_between, int* steps) {
  expect(!dyngrid_request(nprow, npcol), "request");
  for (*steps = 0; *steps < 4000; ++*steps) {
    const int outcome = dyngrid_resize_point();
    if (outcome != DYNGRID_SAME) return outcome;
    std::this_thread::sleep_for(std::chrono::milliseconds(ms_between)); // the work
  }
  return DYNGRID_SAME;
}

void say(const std::string& text) {
  int myrow = 0, mycol = 0;
  dyngrid_grid(nullptr, nullptr, &myrow, &mycol);
  if (myrow == 0 && mycol == 0) std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "";
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  must_fail = dyngrid_is_newcomer() && !std::getenv("DYNGRID_TEST_SECOND");
  if (must_fail && kind == "early") die();
  if (must_fail && kind == "never") sleep(1000);
  dyngrid_matrix* a = nullptr;
  expect(!dyngrid_matrix_create("a", 'd', 153, 97, 4, 3, &a), "create");
  int step = 0;
  expect(!dyngrid_share("step", &step, sizeof step), "share");

  if (kind == "follow") {
    std::vector<std::pair<int, int>> shapes;
    for (int i = 2; i < argc; ++i) {
      int r = 0, c = 0;
      expect(std::sscanf(argv[i], "%dx%d", &r, &c) == 2, "shape");
      shapes.emplace_back(r, c);
    }
    int outcome = DYNGRID_SAME, meanwhile = 0;
    if (dyngrid_is_newcomer()) outcome = dyngrid_resize_point();
    else follow::fill(a, 'd', 0);
    while (outcome != DYNGRID_LEAVE) {
      expect(outcome >= 0, "change of the grid");
      int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
      dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
      if (step > 0) expect(nprow == shapes[static_cast<std::size_t>(step - 1)].first && npcol == shapes[static_cast<std::size_t>(step - 1)].second, "shape");
      expect(follow::wrong(a, 'd', step) == 0, "elements on grid " + std::to_string(step));
      say("grid " + std::to_string(nprow) + "x" + std::to_string(npcol) + " right, " + std::to_string(meanwhile) + " steps meanwhile");
      if (step == static_cast<int>(shapes.size())) break;
      follow::fill(a, 'd', ++step);
      const auto to = shapes[static_cast<std::size_t>(step - 1)];
      const bool grows = to.first * to.second > nprow * npcol;
      outcome = change_to(to.first, to.second, 2, &meanwhile);
      if (grows && !std::getenv("TEST_MAY_BE_AWAKE") && outcome == DYNGRID_RESIZED) expect(meanwhile > 3, "the application computed on while new processes came");
    }
    return dyngrid_finalize() == DYNGRID_SUCCESS ? 0 : 1;
  }

  const auto check_grid = [&](int rows, int cols) {
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    expect(nprow == rows && npcol == cols, "grid");
    expect(follow::wrong(a, 'd', 5) == 0, "data");
  };
  if (dyngrid_is_newcomer()) {
    if (must_fail && kind == "ready") die_in(500);
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(outcome == DYNGRID_RESIZED && !(must_fail && kind != "held" && kind != "server"), "a newcomer is let in");
  } else {
    follow::fill(a, 'd', 5);
    int meanwhile = 0, rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    if (kind == "held") {
      expect(change_to(2, 2, 2, &meanwhile) == DYNGRID_RESIZED, "growth");
    } else if (kind == "server") {
      setenv("DYNGRID_TEST_SECOND", "1", 1);
      expect(change_to(1, 3, 2, &meanwhile) == DYNGRID_RESIZED, "growth");
      step = 1;
      if (rank == 0) kill(std::atoi(std::getenv("TEST_SERVER")), SIGKILL);
    } else {
      int status = DYNGRID_SAME;
      if (kind == "ready") { // the newcomers are ready, and end before the application comes to a resize point
        expect(!dyngrid_request(2, 2) && dyngrid_resize_point() == DYNGRID_SAME, "sent for");
        sleep(3);
        status = dyngrid_resize_point();
      } else {
        status = change_to(2, 2, 2, &meanwhile);
      }
      if (rank == 1) std::printf("%s: status %d (%s) after %d steps: %s\n", kind.c_str(), status, dyngrid_status_string(status), meanwhile, dyngrid_last_message());
      std::fflush(stdout);
      expect(status == (kind == "never" ? DYNGRID_ERR_TIMEOUT : DYNGRID_ERR_SPAWN), "status of a growth that fails");
      check_grid(1, 2);
      setenv("DYNGRID_TEST_SECOND", "1", 1);
      expect(change_to(2, 2, 2, &meanwhile) == DYNGRID_RESIZED, "a good growth afterwards");
    }
  }
  if (kind == "held") {
    expect(!dyngrid_checkpoint(nullptr), "checkpoint");
    check_grid(2, 2);
    int rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    MPI_Barrier(dyngrid_comm());
    if (must_fail && rank == 3) die();
    for (double sum = 1, all = 0;;) MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, dyngrid_comm()); // which one of them never enters
  }
  if (kind == "server") {
    sleep(1);
    MPI_Barrier(dyngrid_comm());
    check_grid(1, 3);
    const int status = dyngrid_resize(2, 2, DYNGRID_OPTIMAL);
    int rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    if (rank == 1) std::printf("server: status %d: %s\n", status, dyngrid_last_message());
    if (status == DYNGRID_RESIZED) check_grid(2, 2);
    else check_grid(1, 3);
    const int second = dyngrid_resize(1, 2, DYNGRID_OPTIMAL); // who came over the old server can leave
    if (second == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(second == DYNGRID_RESIZED, "a shrink after the server has ended");
    check_grid(1, 2);
    return dyngrid_finalize();
  }
  check_grid(2, 2);
  say(kind + ": the second growth is right");
  return dyngrid_finalize();
}
