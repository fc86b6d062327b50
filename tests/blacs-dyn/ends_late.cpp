// SPDX-License-Identifier: BSD-3-Clause
// ends_late global|atexit: 1x2 -> 2x2, and dyngrid ends after main. Either by the destructor of a global object that
// existed before the library's own, or by a handler that was registered before dyngrid_init. A fork of the process ends
// in the same way, and ends nothing of its parent's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

#include <dyngrid.hpp>

namespace {

int status = DYNGRID_SUCCESS;
const pid_t program = getpid();

/// dyngrid has started MPI, so it ends it.
struct LooksLast {
  ~LooksLast() {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (getpid() != program) std::_Exit(is_finalized ? 1 : 0);
    if (status == DYNGRID_SUCCESS && is_finalized) return;
    std::printf("ends_late: status %d %s, MPI is %sfinalized\n", status, dyngrid_last_message(),
                is_finalized ? "" : "not ");
    std::fflush(stdout);
    std::_Exit(1);
  }
};
const LooksLast looks_last; // it was there first
std::optional<dyngrid::Application> global;

void finalize() {
  status = dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "global"))
    global.emplace(1, 2);
  else if (std::atexit(finalize) != 0 || dyngrid_init_grid(1, 2) != DYNGRID_SUCCESS)
    return 1;
  dyngrid_matrix* a = nullptr;
  if (dyngrid_matrix_create("a", 'd', 9, 9, 2, 2, &a) != DYNGRID_SUCCESS) return 1;
  if (dyngrid_resize_point() < 0) return 1;
  const pid_t child = fork();
  if (child == 0) return 0;
  int ended = 0;
  if (waitpid(child, &ended, 0) == child && ended == 0) return 0;
  std::printf("ends_late: a fork ended with %d\n", ended);
  return 1;
}
