// SPDX-License-Identifier: BSD-3-Clause
// growth_fails CASE: a growth that cannot work leaves every process on the old grid with its data and the expected
// status. A good growth afterwards works (where the case allows one).
// - missing: no such program; not_executable; no_mpi
// - unlinked: argument 2 is a program that does not link
// - slots: run without --oversubscribe, MPI has no slots for more, or spare processes that the growth cannot use hold
//   them
// - host: a missing host (DYNGRID_HOSTS); unreachable: the join way listens on a Unix socket, and the host is another
// - absurd, requested, scheduled: 1000x1000 by dyngrid_resize, by dyngrid_request; DYNGRID_RESIZE_AT=0:300x300
// - descriptors: run where mpirun may not open as many files as it would need
// - before_mpi, never, late: new processes stop before MPI_Init, or before their first resize point, or sleep longer
//   than DYNGRID_START=timeout and then leave cleanly
// - mismatch: new processes declare another matrix
// - deserter: new processes finalize without a resize point
// - rule_differs: the rule of new processes gives other block sizes
// - rule_fails: the rule has no answer for the new grid
// - no_rule: new processes give none
// - folder: the folder in which it was started, argument 2, is gone
// - shares_more, declares_more: new processes share items, or have a matrix, that the others do not
// - woken: a process that slept has a matrix of another size; it sleeps on with all its data
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "dyngrid/control.h"
#include "dyngrid/layout.h"
#include "follow.hpp"

namespace {

const char* rule_that = "";

/// One block for each process, the first one takes the rest of the others.
std::int64_t rule(void*, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  if (!std::strcmp(rule_that, "fails") && nprocs == 3) return -1;
  const bool differs = !std::strcmp(rule_that, "differs") && nprocs == 3;
  for (int p = 0; p < nprocs && sizes; ++p)
    sizes[p] = p > 0 ? (differs ? 2 : 1) : length - (nprocs - 1) * (differs ? 2 : 1);
  return nprocs;
}

int woken() {
  using follow::expect;
  expect(dyngrid_init() == 0, "init");
  const bool sleeps = dyngrid_process_id() == 1;
  dyngrid_matrix *first = follow::create("first", 'd', 9, 9, 2, 2), *a = follow::create("a", 'd', 13, 13, 2, 2);
  dyngrid_matrix *gone = follow::create("gone", 'd', 5, 5, 2, 2), *twin = follow::create("twin", 'd', 9, 9, 2, 2);
  follow::fill(first, 'd', 2);
  dyngrid_matrix* ruled = nullptr; // made again by another rule, of which process 1 does not know
  expect(!dyngrid_matrix_create_by("ruled", 'd', 13, 13, rule, nullptr, &ruled), "by a rule");
  const auto grow = [] { return dyngrid_resize(1, 2, DYNGRID_OPTIMAL); };
  expect(dyngrid_resize(1, 1, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "smaller, and larger again"); // 1 sleeps in it
  if (!sleeps) {
    expect(!dyngrid_matrix_free(&ruled) && !dyngrid_matrix_free(&gone), "free");
    expect(!dyngrid_matrix_create_by("ruled", 'd', 13, 13, dyngrid_block_rule, nullptr, &ruled), "by another rule");
    follow::fill(ruled, 'd', 4);
    for (const int n : {14, 13}) {
      expect(!dyngrid_matrix_free(&a) && !dyngrid_matrix_create("a", 'd', n, 13, 2, 2, &a), "another one");
      follow::fill(a, 'd', 3);
      expect(grow() == (n == 14 ? int{DYNGRID_ERR_MISMATCH} : int{DYNGRID_RESIZED}), "a growth");
      if (n == 14) expect(std::strstr(dyngrid_last_message(), "woken") != nullptr, dyngrid_last_message());
    }
  }
  expect(dyngrid_matrix_find("first") == first && dyngrid_matrix_find("a") == a, "the handles");
  expect(follow::wrong(first, 'd', 2) == 0 && follow::wrong(a, 'd', 3) == 0, "data on the new grid");
  std::int64_t columns = 0;
  expect(!dyngrid_matrix_shape(ruled, nullptr, &columns, nullptr), "shape");
  expect(columns == (sleeps ? 6 : 7) && follow::wrong(ruled, 'd', 4) == 0, "it lies by the new rule");
  for (int k = 0; k < 2; ++k) { // the handle of a matrix that the others freed while this process slept is its own
    expect(!dyngrid_copy(first, twin) && follow::wrong(twin, 'd', 2) == 0, "a copy");
    expect(!dyngrid_matrix_free(&gone), "free");
  }
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  using follow::expect;
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "woken") return woken();
  const bool first_try = std::getenv("DYNGRID_TEST_SECOND") == nullptr;
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  if (kind == "before_mpi") return 0; // its MPI_Comm_spawn has no limit (docs/mpi.md)
#endif
  const char* in_world = std::getenv("OMPI_COMM_WORLD_RANK");
  if (kind == "before_mpi" && first_try && std::getenv("DYNGRID_NEWCOMER") && in_world && std::atoi(in_world) % 2 == 0)
    pause();
  const int started = dyngrid_init();
  if (started != DYNGRID_SUCCESS && kind == "deserter" && first_try && std::getenv("DYNGRID_MEET")) {
    MPI_Finalize(); // of another group, which was cancelled before it joined; Open MPI 5's mpirun counts aborts
    return 0;
  }
  expect(started == DYNGRID_SUCCESS, "dyngrid_init");
  const bool spoil = dyngrid_is_newcomer() && first_try;
  dyngrid_matrix* a = nullptr;
  const int n = kind == "mismatch" && spoil ? 14 : 13;
  expect(!dyngrid_matrix_create("a", 'd', n, 13, 2, 2, &a), "create");
  dyngrid_matrix* ruled = nullptr;
  if (kind.substr(0, 4) == "rule" && (kind == "rule_fails" ? first_try : spoil))
    rule_that = kind == "rule_fails" ? "fails" : "differs";
  if (kind.substr(0, 4) == "rule" || (kind == "no_rule" && !spoil))
    expect(!dyngrid_matrix_create_by("ruled", 'd', 9, 9, rule, nullptr, &ruled), "create by a rule");
  int tries = 0;
  dyngrid_share("tries", &tries, sizeof tries);
  int more = 0;
  if (kind == "shares_more" && spoil) expect(!dyngrid_share("more", &more, sizeof more), "share");
  dyngrid_matrix* another = nullptr;
  if (kind == "declares_more" && spoil)
    expect(!dyngrid_matrix_create("another", 'd', 13, 13, 2, 2, &another), "create");
  if (spoil && kind == "late") sleep(20);
  if (spoil && kind == "never") pause();
  if (spoil && kind == "deserter") return dyngrid_finalize();
  if (dyngrid_is_newcomer()) {
    const int outcome = dyngrid_resize_point();
    expect(first_try ? outcome == DYNGRID_LEAVE : outcome == DYNGRID_RESIZED,
           "outcome of a new process " + std::to_string(outcome));
  } else {
    follow::fill(a, 'd', 3);
    if (ruled) follow::fill(ruled, 'd', 4);
    if (kind == "missing") setenv("DYNGRID_START", "program=/no/such/program", 1);
    if (kind == "unlinked") setenv("DYNGRID_START", (std::string("program=") + argv[2]).c_str(), 1);
    if (kind == "not_executable") setenv("DYNGRID_START", "program=/etc/passwd", 1);
    if (kind == "folder" && dyngrid_is_first()) expect(rmdir(argv[2]) == 0, "rmdir");
    if (kind == "no_mpi") setenv("DYNGRID_START", "program=/bin/true", 1);
    const int wanted =
        kind == "missing" || kind == "host" || kind == "folder" ? DYNGRID_ERR_NOT_FOUND
        : kind == "slots" || kind == "absurd" || kind == "requested" || kind == "scheduled" || kind == "descriptors"
            ? DYNGRID_ERR_SLOTS
        : kind == "late" || kind == "never" || kind == "before_mpi" ? DYNGRID_ERR_TIMEOUT
        : kind == "rule_fails"                                      ? DYNGRID_ERR_ARGUMENT
        : kind == "mismatch" || kind == "rule_differs" || kind == "no_rule" || kind == "shares_more" ||
                kind == "declares_more"
            ? DYNGRID_ERR_MISMATCH
        : kind == "unreachable" ? DYNGRID_ERR_UNSUPPORTED
                                : DYNGRID_ERR_SPAWN;
    if (kind == "slots") expect(dyngrid_resize_point() == DYNGRID_SAME, "spare processes are started");
    const int context = dyngrid_context();
    if (kind == "requested") expect(dyngrid_request(1000, 1000) == DYNGRID_SUCCESS, "dyngrid_request");
    const int status = kind == "requested" || kind == "scheduled" ? dyngrid_resize_point()
                       : kind == "absurd"                         ? dyngrid_resize(1000, 1000, DYNGRID_OPTIMAL)
                       : kind == "descriptors"                    ? dyngrid_resize(4, 5, DYNGRID_OPTIMAL)
                                                                  : dyngrid_resize(2, 3, DYNGRID_OPTIMAL);
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    if (rank == 1)
      std::printf("%s: status %d (%s): %s\n", kind.c_str(), status, dyngrid_status_string(status),
                  dyngrid_last_message());
    std::fflush(stdout);
    expect(status == wanted, "status " + std::to_string(status));
    expect(std::strlen(dyngrid_last_message()) > 20, "a message that says what to do");
    expect(nprow == 1 && npcol == 2 && dyngrid_context() == context && dyngrid_depth() == 1, "the old grid");
    expect(follow::wrong(a, 'd', 3) == 0, "the old data");
    if (kind == "slots" || kind == "host" || kind == "unreachable") { // another attempt would fail for the same reason
      follow::expect(dyngrid_resize(1, 1, DYNGRID_OPTIMAL) != DYNGRID_SAME, "a shrink afterwards");
      return dyngrid_finalize() == DYNGRID_SUCCESS ? 0 : 1;
    }
    unsetenv("DYNGRID_START");
    if (kind == "folder" && dyngrid_is_first()) expect(mkdir(argv[2], 0700) == 0, "mkdir");
    rule_that = "";
    if (ruled) expect(follow::wrong(ruled, 'd', 4) == 0, "the old data in blocks of the rule");
    setenv("DYNGRID_TEST_SECOND", "1", 1);
    tries = 2;
    expect(dyngrid_resize(2, 3, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "a good growth afterwards");
  }
  int myrow = 0;
  dyngrid_grid(nullptr, nullptr, &myrow, nullptr);
  if (myrow >= 0) expect(tries == 2 && follow::wrong(a, 'd', 3) == 0, "data on the new grid");
  if (myrow >= 0 && ruled) expect(follow::wrong(ruled, 'd', 4) == 0, "data in blocks of the rule on the new grid");
  expect(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize");
  return 0;
}
