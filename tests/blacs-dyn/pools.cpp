// SPDX-License-Identifier: BSD-3-Clause
// pools random CHANGES [SEED] [--strict]: two pools, each with a seeded random sequence of grids of its own, CHANGES in
// all. Every element of two matrices is compared on every grid, and a PDGEMM is exact. --strict: open files,
// communicators and memory of each pool's process 0 stay flat.
// pools ends_early: one pool ends while the other starts processes, and goes on to change its grid.
// pools slots: one pool takes the last slots of mpirun, and the other's growth is refused.
// pools last_slots: both ask for the last slots at the same moment; one grows, and the other goes on as it was.
// pools turn: one pool holds its turn to start processes for longer than the other waits.
// pools several_hosts: the refusal of a pool whose mpirun has other hosts, too.
// pools asked FILE: both pools pass resize points until the file exists.
// pools saved: each pool grows and writes a checkpoint; a restarted one checks what it restored.
// pools wrong: what dyngrid_init_on refuses.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "../../apps/common/scalapack.h"
#include "base/mpi/blacs.hpp"
#include "dyngrid/checkpoint.h"
#include "dyngrid/pool.h"
#include "figures.hpp"
#include "follow.hpp"

namespace {

using follow::expect;
using follow::Figures;

/// Half of mpirun's processes; a new process knows its pool.
int begin_pool() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool is_new = *dyngrid_pool() != '\0';
  const int pool = is_new ? std::atoi(dyngrid_pool() + 4) : 2 * rank / size;
  MPI_Comm mine = MPI_COMM_NULL;
  if (!is_new) MPI_Comm_split(MPI_COMM_WORLD, pool, rank, &mine);
  const std::string name = "pool" + std::to_string(pool);
  expect(!dyngrid_init_on(mine, name.c_str()), std::string("dyngrid_init_on: ") + dyngrid_last_message());
  expect(dyngrid_pool() == name && (dyngrid_is_newcomer() != 0) == is_new, "dyngrid_pool is " + name);
  if (mine != MPI_COMM_NULL) MPI_Comm_free(&mine);
  return pool;
}

struct Pool {
  dyngrid_matrix *a = nullptr, *shift = nullptr, *product = nullptr;
  int number, n = 24, changes = 0;

  explicit Pool(int pool) : number(pool) {
    expect(!dyngrid_matrix_create("a", 'z', 61 + 10 * number, 47, 4 + number, 5, &a), "create a");
    expect(!dyngrid_matrix_create("shift", 'd', n, n, 5, 5, &shift), "create shift");
    expect(!dyngrid_matrix_create("product", 'd', n, n, 5, 5, &product), "create product");
    expect(!dyngrid_share("changes", &changes, sizeof changes), "share");
    if (dyngrid_is_newcomer() || dyngrid_is_restarted()) return;
    follow::fill(a, 'z', number);
    // times itself it has its single ones two columns on, exactly
    auto* x = static_cast<double*>(dyngrid_local(shift));
    follow::for_mine(shift, [&](std::int64_t l, std::int64_t i, std::int64_t j) { x[l] = j == (i + 1) % n; });
  }

  void check(int nprow, int npcol) const {
    const std::string where = " of pool " + std::to_string(number) + " after change " + std::to_string(changes);
    int p = 0, q = 0, row = 0, col = 0, iam = -1, nprocs = 0, context = 0, rank = 0;
    expect(!dyngrid_grid(&p, &q, &row, &col) && p == nprow && q == npcol, "grid" + where);
    Cblacs_pinfo(&iam, &nprocs); // the BLACS of a pool has its processes alone
    MPI_Comm_rank(dyngrid_comm(), &rank);
    Cblacs_get(0, 0, &context);
    int in_system = 0;
    MPI_Comm_size(Cblacs2sys_handle(context), &in_system);
    expect(nprocs == p * q && iam == rank && in_system == p * q, "BLACS processes" + where);
    expect(follow::wrong(a, 'z', number) == 0, "elements" + where);
    const double one = 1, zero = 0;
    const int first = 1;
    const auto* x = static_cast<const double*>(dyngrid_local(shift));
    auto* y = static_cast<double*>(dyngrid_local(product));
    pdgemm_("N", "N", &n, &n, &n, &one, x, &first, &first, dyngrid_desc(shift), x, &first, &first, dyngrid_desc(shift),
            &zero, y, &first, &first, dyngrid_desc(product));
    follow::for_mine(product, [&](std::int64_t l, std::int64_t i, std::int64_t j) {
      expect(y[l] == (j == (i + 2) % n ? 1.0 : 0.0), "product" + where);
    });
  }
};

/// Of 1 to 6 processes, other than `before`: from the seed and the number of the change alone.
std::pair<int, int> next_shape(unsigned seed, int change, std::pair<int, int> before) {
  std::mt19937 random(seed * 1000003u + static_cast<unsigned>(change));
  for (;;) {
    const std::pair<int, int> next(1 + static_cast<int>(random() % 3), 1 + static_cast<int>(random() % 3));
    if (next.first * next.second <= 6 && next != before) return next;
  }
}

void random_changes(int changes, unsigned seed, bool is_strict) {
  Pool pool(begin_pool()); // of two processes
  const bool is_root = dyngrid_is_first() != 0;
  const unsigned own_seed = 2 * seed + static_cast<unsigned>(pool.number);
  const int warm = std::min(20, changes / 2);
  Figures first, last;
  const auto take_highest = [](Figures& highest) {
    const Figures now = follow::figures();
    for (long Figures::*one : {&Figures::anon_kb, &Figures::files, &Figures::communicator})
      highest.*one = std::max(highest.*one, now.*one);
  };
  for (;;) {
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, std::string("resize point: ") + dyngrid_last_message());
    if (outcome == DYNGRID_LEAVE) break;
    if (outcome == DYNGRID_SAME && pool.changes > 0) { // new processes start in the background
      usleep(500);
      continue;
    }
    std::pair<int, int> shape(1, 2); // the whole sequence again: a new process has only the number
    for (int change = 0; change < pool.changes; ++change) shape = next_shape(own_seed, change, shape);
    pool.check(shape.first, shape.second);
    if (is_root && pool.changes > warm - 10 && pool.changes <= warm) take_highest(first);
    if (is_root && pool.changes > changes - 10) take_highest(last);
    if (pool.changes == changes) break;
    const auto next = next_shape(own_seed, pool.changes++, shape);
    expect(!dyngrid_request(next.first, next.second), "request");
  }
  if (is_root) {
    std::printf("pool %d: %d changes right; own memory %ld -> %ld kB, open files %ld -> %ld, communicators %ld -> "
                "%ld\n",
                pool.number, pool.changes, first.anon_kb, last.anon_kb, first.files, last.files, first.communicator,
                last.communicator);
    std::fflush(stdout);
    if (is_strict) {
      expect(last.communicator <= first.communicator + 4, "communicators are flat");
      expect(last.files <= first.files + 8, "open files are flat");
      // Open MPI and PMIx keep some 40 kB for every world ever spawned
      expect(last.anon_kb - first.anon_kb <= 150L * (changes - warm), "memory is flat");
    }
  }
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

/// Pool 0 ends as soon as pool 1 has asked for processes; pool 1 changes its grid a few times more.
void ends_early() {
  Pool pool(begin_pool());
  const std::vector<std::pair<int, int>> shapes{{2, 2}, {1, 1}, {1, 3}, {2, 3}, {1, 2}};
  const int rank = follow::world_rank();
  const bool is_new = dyngrid_is_newcomer() != 0;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (pool.number == 0) {
    expect(dyngrid_resize_point() == DYNGRID_SAME, "resize point of pool 0");
    int word = 0;
    if (rank == 0) MPI_Recv(&word, 1, MPI_INT, size / 2, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&word, 1, MPI_INT, 0, dyngrid_comm());
    expect(!dyngrid_finalize(), "dyngrid_finalize of pool 0");
    return;
  }
  bool has_sent = is_new;
  for (;;) {
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, std::string("resize point: ") + dyngrid_last_message());
    if (outcome == DYNGRID_LEAVE) break;
    if (outcome == DYNGRID_SAME && pool.changes > 0) {
      if (!has_sent && rank == size / 2) { // the processes are being started
        const int word = 1;
        MPI_Send(&word, 1, MPI_INT, 0, 17, MPI_COMM_WORLD);
      }
      has_sent = true;
      usleep(500);
      continue;
    }
    if (pool.changes > 0) {
      const auto now = shapes[static_cast<std::size_t>(pool.changes - 1)];
      pool.check(now.first, now.second);
      if (!has_sent && rank == size / 2) { // they were started at once
        const int word = 1;
        MPI_Send(&word, 1, MPI_INT, 0, 17, MPI_COMM_WORLD);
      }
      has_sent = true;
    }
    if (pool.changes == static_cast<int>(shapes.size())) break;
    const auto next = shapes[static_cast<std::size_t>(pool.changes++)];
    expect(!dyngrid_request(next.first, next.second), "request");
  }
  if (dyngrid_is_first()) std::printf("pool 1: %d changes right, the last ones after pool 0 has ended\n", pool.changes);
  std::fflush(stdout);
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

void asked(const std::string& file) {
  Pool pool(begin_pool());
  int is_over = 0;
  dyngrid_share("over", &is_over, sizeof is_over);
  for (;;) {
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, dyngrid_last_message());
    if (outcome == DYNGRID_LEAVE) break;
    if (dyngrid_is_first()) is_over = access(file.c_str(), F_OK) == 0;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, dyngrid_comm());
    if (is_over) break;
    usleep(2000);
  }
  if (is_over) expect(follow::wrong(pool.a, 'z', pool.number) == 0, "elements");
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

void refused(int status, int expected, const std::string& text) {
  expect(status == expected,
         "status " + std::to_string(status) + ", expected " + std::to_string(expected) + ": " + dyngrid_last_message());
  expect(std::strstr(dyngrid_last_message(), text.c_str()) != nullptr,
         "message \"" + std::string(dyngrid_last_message()) + "\", expected in it: " + text);
}

/// By a first run on grids other than 1x2, or restored on 1 x the processes of the pool.
void saved() {
  Pool pool(begin_pool());
  const int grown[2][2] = {{2, 2}, {1, 3}};
  const int* shape = grown[pool.number];
  const bool is_restarted = dyngrid_is_restarted() != 0;
  if (!is_restarted) {
    if (!dyngrid_is_newcomer()) pool.changes = 10 + pool.number;
    const int outcome = dyngrid_is_newcomer() ? dyngrid_resize_point() : dyngrid_resize(shape[0], shape[1], 0);
    expect(outcome == DYNGRID_RESIZED, std::string("grows: ") + dyngrid_last_message());
    pool.check(shape[0], shape[1]);
    expect(!dyngrid_checkpoint(nullptr), std::string("dyngrid_checkpoint: ") + dyngrid_last_message());
  } else {
    int size = 0;
    MPI_Comm_size(dyngrid_comm(), &size);
    expect(dyngrid_resize_point() >= 0, std::string("restores: ") + dyngrid_last_message());
    pool.check(1, size);
    if (pool.number == 1) {
      const std::string of_other = std::string(getenv("DYNGRID_RESTORE")) + ".pool0";
      refused(dyngrid_checkpoint(of_other.c_str()), DYNGRID_ERR_ARGUMENT, "pool \"pool0\" has written it");
    }
  }
  expect(pool.changes == 10 + pool.number, "shared state");
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  if (dyngrid_is_first())
    std::printf("pool%d %s on %dx%d\n", pool.number, is_restarted ? "restored" : "saved", nprow, npcol);
  std::fflush(stdout);
  // a pool that cannot restore ends the other one, which must not be in MPI_Finalize then (docs/mpi.md)
  if (is_restarted) MPI_Barrier(MPI_COMM_WORLD);
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

/// mpirun has two slots more than processes.
void slots() {
  Pool pool(begin_pool());
  if (pool.number == 1) {
    const int outcome = dyngrid_is_newcomer() ? dyngrid_resize_point() : dyngrid_resize(2, 2, DYNGRID_OPTIMAL);
    expect(outcome == DYNGRID_RESIZED, std::string("pool 1 grows: ") + dyngrid_last_message());
    pool.check(2, 2);
  }
  int rank = 0, size = 0, word = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (pool.number == 1 && dyngrid_is_first()) MPI_Send(&word, 1, MPI_INT, 0, 17, MPI_COMM_WORLD);
  if (pool.number == 0) {
    if (rank == 0) MPI_Recv(&word, 1, MPI_INT, size / 2, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&word, 1, MPI_INT, 0, dyngrid_comm());
    expect(dyngrid_resize(1, 3, DYNGRID_OPTIMAL) == DYNGRID_ERR_SLOTS, "no slots for pool 0");
    expect(std::strstr(dyngrid_last_message(), "6 of mpirun's 6 slots are taken") != nullptr, dyngrid_last_message());
    pool.check(1, 2);
    expect(dyngrid_resize(1, 1, DYNGRID_OPTIMAL) >= 0, "pool 0 shrinks");
  }
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

/// mpirun has two slots more than processes.
void last_slots() {
  Pool pool(begin_pool());
  int grew = 1, both = 0;
  if (dyngrid_is_newcomer()) {
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, std::string("joins: ") + dyngrid_last_message());
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    const int outcome = dyngrid_resize(2, 2, DYNGRID_OPTIMAL);
    grew = outcome == DYNGRID_RESIZED;
    if (!grew) refused(outcome, DYNGRID_ERR_SLOTS, "2 new processes requested, but 6 of mpirun's 6 slots are taken");
    MPI_Allreduce(&grew, &both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(both == 2, "one pool of two processes grew, not " + std::to_string(both) + " of 4 processes");
  }
  grew ? pool.check(2, 2) : pool.check(1, 2);
  if (!grew) expect(dyngrid_resize(1, 1, DYNGRID_OPTIMAL) >= 0, "the other pool shrinks");
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

/// The lock of SpawnTurn, held by a process of pool 1 as if that pool's start of processes took long.
void turn() {
  Pool pool(begin_pool());
  const bool is_new = dyngrid_is_newcomer() != 0;
  const int rank = follow::world_rank();
  const int folder = !is_new && rank == 3 ? open(std::getenv("PMIX_SERVER_TMPDIR"), O_RDONLY | O_DIRECTORY) : -1;
  if (folder >= 0) expect(flock(folder, LOCK_EX | LOCK_NB) == 0, "flock");
  if (!is_new) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (pool.number == 0) {
      refused(dyngrid_resize(2, 2, DYNGRID_OPTIMAL), DYNGRID_ERR_TIMEOUT,
              "another pool of this mpirun has been starting some for 8 s");
      pool.check(1, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (folder >= 0) close(folder);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (pool.number == 0) {
    const int outcome = is_new ? dyngrid_resize_point() : dyngrid_resize(1, 3, DYNGRID_OPTIMAL);
    expect(outcome == DYNGRID_RESIZED, std::string("pool 0 grows: ") + dyngrid_last_message());
    pool.check(1, 3);
  }
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

/// Each refusal on every process, and then a pool begins.
void wrong() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect(std::string(dyngrid_pool()).empty(), "no pool");
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  const bool is_upper = 2 * rank >= size;
  MPI_Comm_split(MPI_COMM_WORLD, is_upper, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_upper ? 0 : size / 2, 3, &inter);
  refused(dyngrid_init_on(MPI_COMM_NULL, "a"), DYNGRID_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL");
  refused(dyngrid_init_on(inter, "a"), DYNGRID_ERR_ARGUMENT, "intercommunicator");
  refused(dyngrid_init_on(half, nullptr), DYNGRID_ERR_NULL, "name is null");
  refused(dyngrid_init_on(half, ""), DYNGRID_ERR_ARGUMENT, "is \"\", expected 1 to 20");
  refused(dyngrid_init_on(half, "a/b"), DYNGRID_ERR_ARGUMENT, "is \"a/b\", expected 1 to 20");
  refused(dyngrid_init_on(half, "123456789012345678901"), DYNGRID_ERR_ARGUMENT, "expected 1 to 20");
  // one process alone is wrong, and all of its pool get the error
  refused(dyngrid_init_on(half, rank == (is_upper ? size / 2 : 0) ? "" : "a"), DYNGRID_ERR_ARGUMENT, "is \"\"");
  refused(dyngrid_init_on(half, 2 * rank < size && rank > 0   ? "other"
                                : is_upper && rank > size / 2 ? "other"
                                                              : "a"),
          DYNGRID_ERR_MISMATCH, "is \"other\", but \"a\" on process 0");
  expect(std::string(dyngrid_pool()).empty(), "no pool after the refusals");
  expect(!dyngrid_init_on(half, is_upper ? "upper" : "lower"), dyngrid_last_message());
  refused(dyngrid_init_on(half, "again"), DYNGRID_ERR_STATE, "was called before (pool ");
  refused(dyngrid_init(), DYNGRID_ERR_STATE, "was called before (pool ");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  expect(dyngrid_resize_point() == DYNGRID_SAME, "resize point");
  expect(!dyngrid_finalize(), "dyngrid_finalize");
}

/// As if mpirun had started one process here and the others elsewhere.
void several_hosts() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 2 * rank / size, rank, &half);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
  refused(dyngrid_init_on(half, "a"), DYNGRID_ERR_UNSUPPORTED, "mpirun started the application on several hosts");
  MPI_Comm_free(&half);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "random") {
    const bool is_strict = !std::strcmp(argv[argc - 1], "--strict");
    // half of the changes in each pool
    random_changes(std::atoi(argv[2]) / 2, argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1, is_strict);
  } else if (what == "ends_early")
    ends_early();
  else if (what == "asked")
    asked(argv[2]);
  else if (what == "saved")
    saved();
  else if (what == "slots")
    slots();
  else if (what == "last_slots")
    last_slots();
  else if (what == "turn")
    turn();
  else if (what == "several_hosts")
    several_hosts();
  else if (what == "wrong")
    wrong();
  else
    follow::fail("usage: pools random|ends_early|asked|saved|slots|last_slots|turn|several_hosts|wrong");
  MPI_Finalize();
  return 0;
}
