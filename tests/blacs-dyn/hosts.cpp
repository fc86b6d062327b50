// SPDX-License-Identifier: BSD-3-Clause
// hosts PxQ...: changes to these grids in turn, compares every element of a matrix after each change, and prints the
// number of processes of the grid on each host: "2x3: lab1 3 lab2 3". Of a growth that fails: "2x3: refused: " and why.
// hosts refused: DYNGRID_HOSTS has the host of process 0 by two names.
// hosts gone PxQ: the network of a new process's host fails before it can join: the growth fails, and the old grid has
// all elements. As root, on hosts of scripts/netlab.
#include <cstdlib>
#include <cstring>
#include <map>

#include <sys/utsname.h>
#include <unistd.h>

#include "dyngrid/control.h"
#include "follow.hpp"

using follow::expect;

namespace {

int host_is_gone(const char* grid) {
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  if (dyngrid_is_newcomer()) {
    expect(std::system("ip link set eth0 down") == 0, "ip link");
    pause();
  }
  dyngrid_matrix* a = follow::create("A", 'd', 200, 150, 8, 8);
  follow::fill(a, 'd', 3);
  follow::request(grid);
  int outcome = DYNGRID_SAME;
  while ((outcome = dyngrid_resize_point_at("hosts")) == DYNGRID_SAME) usleep(5000);
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  expect(outcome == DYNGRID_ERR_TIMEOUT, std::to_string(outcome));
  expect(follow::wrong(a, 'd', 3) == 0, "every element on the old grid");
  if (dyngrid_is_first()) std::printf("%dx%d: goes on\n", nprow, npcol);
  std::fflush(stdout);
  return dyngrid_finalize();
}

int refused() {
  utsname names{};
  expect(uname(&names) == 0, "uname");
  setenv("DYNGRID_HOSTS", (std::string("localhost:2,") + names.nodename + ":2").c_str(), 1);
  expect(dyngrid_init() == DYNGRID_ERR_ARGUMENT, "dyngrid_init");
  expect(std::strstr(dyngrid_last_message(), "is there twice") != nullptr, dyngrid_last_message());
  return MPI_Finalize();
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "refused") == 0) return refused();
  if (argc > 2 && std::strcmp(argv[1], "gone") == 0) return host_is_gone(argv[2]);
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix* a = nullptr;
  int step = 1;
  expect(dyngrid_matrix_create("A", 'd', 200, 150, 8, 8, &a) == DYNGRID_SUCCESS, "dyngrid_matrix_create");
  expect(dyngrid_share("step", &step, sizeof step) == DYNGRID_SUCCESS, "dyngrid_share");
  if (!dyngrid_is_newcomer()) follow::fill(a, 'd', 3);
  for (;;) {
    int wanted_nprow = 0, wanted_npcol = 0;
    if (!dyngrid_is_newcomer() && step < argc) {
      expect(std::sscanf(argv[step], "%dx%d", &wanted_nprow, &wanted_npcol) == 2, "arguments");
      dyngrid_request(wanted_nprow, wanted_npcol);
    }
    int outcome = dyngrid_resize_point_at("hosts");
    while (wanted_nprow > 0 && outcome == DYNGRID_SAME) { // new processes that join are being started
      usleep(5000);
      outcome = dyngrid_resize_point_at("hosts");
    }
    if (outcome == DYNGRID_LEAVE) break;
    if (outcome < 0 && !dyngrid_is_newcomer()) {
      if (dyngrid_is_first()) std::printf("%s: refused: %s\n", argv[step], dyngrid_last_message());
      ++step;
      continue;
    }
    expect(outcome >= 0, "dyngrid_resize_point");
    if (step >= argc) break;
    int nprow = 0, npcol = 0, rank = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    MPI_Comm_rank(dyngrid_comm(), &rank);
    expect(follow::wrong(a, 'd', 3) == 0, "every element on the new grid");
    char mine[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(mine, &length);
    std::vector<char> all(static_cast<std::size_t>(nprow * npcol) * sizeof mine);
    MPI_Gather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, 0, dyngrid_comm());
    if (rank == 0) {
      std::map<std::string, int> count;
      for (int k = 0; k < nprow * npcol; ++k) ++count[&all[static_cast<std::size_t>(k) * sizeof mine]];
      std::string line = std::to_string(nprow) + "x" + std::to_string(npcol) + ":";
      for (const auto& [host, processes] : count) line += " " + host + " " + std::to_string(processes);
      std::printf("%s\n", line.c_str());
      std::fflush(stdout);
    }
    ++step;
  }
  expect(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize");
  return 0;
}
