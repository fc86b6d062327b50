// SPDX-License-Identifier: BSD-3-Clause
// short_memory FILE: one process may allocate a few MiB more and no others (RLIMIT_AS), or its host or container has
// only a few MiB left, or one of its allocations fails. A joint operation works, or is the same status on all
// processes; the matrix is whole, and the application goes on. FILE: for checkpoints; "-": none.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "dyngrid/balance.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "dyngrid/layout.h"
#include "dyngrid/phases.h"
#include "follow.hpp"

namespace {

using follow::expect;

constexpr int n = 1600; // 20 MB in all

/// During its life this process may allocate N MiB more.
class Limit {
public:
  Limit(bool is_mine, int mib) {
    if (!is_mine) return;
    std::ifstream status("/proc/self/status");
    rlim_t used_kib = 0;
    for (std::string word; status >> word;)
      if (word == "VmSize:") status >> used_kib;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = (used_kib << 10) + (static_cast<rlim_t>(mib) << 20);
    expect(setrlimit(RLIMIT_AS, &limit) == 0, "the limit");
    is_set_ = true;
  }
  ~Limit() {
    if (is_set_) setrlimit(RLIMIT_AS, &before_);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

private:
  bool is_set_ = false;
  rlimit before_{};
};

/// Where this process finds /proc/meminfo; empty: where it is.
std::string meminfo;

/// During its life the host of this process has N MiB left.
class FullHost {
public:
  FullHost(bool is_mine, int mib) {
    if (!is_mine) return;
    meminfo = "short_memory." + std::to_string(getpid());
    std::ofstream(meminfo) << "MemAvailable: " << (mib << 10) << " kB\n";
  }
  ~FullHost() {
    if (!meminfo.empty()) std::remove(meminfo.c_str());
    meminfo.clear();
  }
  FullHost(const FullHost&) = delete;
  FullHost& operator=(const FullHost&) = delete;
};

template <class Call> int limited(int who, int mib, Call&& call) {
  const Limit limit(dyngrid_process_id() == who, mib);
  return call();
}

/// Of the allocations of least .. most bytes in this thread one fails: that after `left` others. Below 0: none, or none
/// any more.
struct Refused {
  std::size_t least = 0, most = 0;
  int left = -1;
};
thread_local Refused refused_one;

template <class Call> int refused(int who, std::size_t bytes, Call&& call) {
  if (dyngrid_process_id() == who) refused_one = {bytes, bytes, 0};
  const int status = call();
  expect(refused_one.left < 0, "nothing of " + std::to_string(bytes) + " bytes was allocated");
  return status;
}

constexpr int many = 6000, wide = 3 * many / 2;

/// Columns in blocks of 1, 2, 1, 2 ...: what describes the layout is no small piece of memory.
std::int64_t uneven(void*, char axis, std::int64_t length, int, int, std::int64_t* sizes) {
  const int count = axis == 'R' ? 1 : many;
  for (int k = 0; k < count && sizes != nullptr; ++k) sizes[k] = axis == 'R' ? length : 1 + k % 2;
  return count;
}

/// Process 1 sleeps and is woken. Each larger allocation of process 0 meanwhile fails in turn: nothing has changed
/// then.
void wakes_without_memory() {
  constexpr std::size_t least = 40000, any = SIZE_MAX / 2;
  dyngrid_matrix* a = nullptr;
  expect(!dyngrid_matrix_create_by("uneven", 'd', 1, wide, uneven, nullptr, &a), "create by a rule");
  follow::fill(a, 'd', 4);
  const bool is_first = dyngrid_process_id() == 0;
  expect(dyngrid_resize(1, 1, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "parked, and woken");
  int tries = 0;
  for (bool fails = is_first; fails; ++tries) {
    refused_one = {least, any, tries};
    const int status = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
    fails = refused_one.left < 0;
    refused_one = {};
    expect(status == (fails ? int{DYNGRID_ERR_MEMORY} : int{DYNGRID_RESIZED}),
           "allocation " + std::to_string(tries) + ": " + std::to_string(status) + ", " + dyngrid_last_message());
  }
  expect(!is_first || tries > 3, "allocations fail");
  expect(follow::wrong(a, 'd', 4) == 0, "elements");
  expect(!dyngrid_matrix_free(&a), "free");
}

/// Costs of columns are reported and gathered, and each larger allocation of one process meanwhile fails in turn.
void balances_without_memory() {
  constexpr std::size_t least = 60000, any = SIZE_MAX / 2;
  constexpr int n_items = 40000;
  dyngrid_matrix* a = nullptr;
  expect(!dyngrid_matrix_create_weighted("items", 'd', 1, n_items, 1, 1, DYNGRID_ORDER_BLOCK, &a), "create by speed");
  std::int64_t first = 0, last = 0;
  expect(dyngrid_my_range(a, 'C', 0, &first, &last) == 1, "my columns");
  const std::vector<double> seconds(static_cast<std::size_t>(last - first), 1e-3);
  for (const int who : {0, 1}) {
    int tries = 0;
    for (int fails = 1; fails != 0; ++tries) {
      expect(!dyngrid_work_items(a, 'C', first, last - first, seconds.data()), "work_items");
      if (dyngrid_process_id() == who) refused_one = {least, any, tries};
      const int status = dyngrid_rebalance();
      fails = dyngrid_process_id() == who && refused_one.left < 0 ? 1 : 0;
      refused_one = {};
      expect(status == DYNGRID_SAME, "balance without memory: " + std::to_string(status));
      MPI_Bcast(&fails, 1, MPI_INT, who, MPI_COMM_WORLD);
    }
    expect(tries > 1, "allocations fail");
  }
  expect(!dyngrid_matrix_free(&a), "free");
}

/// A matrix moves between the layouts of two phases, as it did before. Each larger allocation of one process meanwhile
/// fails in turn.
void phases_without_memory() {
  constexpr std::size_t least = 40000, any = SIZE_MAX / 2;
  dyngrid_matrix* a = nullptr;
  expect(!dyngrid_matrix_create_by("phased", 'd', 1, wide, uneven, nullptr, &a), "create by a rule");
  follow::fill(a, 'd', 5);
  std::array<dyngrid_phase*, 2> phases{};
  expect(!dyngrid_phase_create("uneven", &phases[0]) && !dyngrid_phase_create("even", &phases[1]), "phases");
  const auto declare = [&] { // whenever it is called, all begins anew
    for (dyngrid_phase* phase : phases)
      expect(!dyngrid_phase_uses(phase, a, DYNGRID_READ | DYNGRID_WRITE), "phase_uses");
  };
  const auto run = [&](std::size_t phase) {
    const int status = dyngrid_phase_begin(phases[phase]);
    return status != 0 ? status : dyngrid_phase_end(phases[phase]);
  };
  declare();
  expect(!dyngrid_phase_layout_by(phases[0], a, uneven, nullptr) && !dyngrid_phase_layout(phases[1], a, 1, 3),
         "phase_layout");
  for (const std::size_t phase : {0, 1, 0, 1, 0, 1}) expect(!run(phase), "a phase");
  for (const int who : {0, 1}) {
    int tries = 0;
    for (int fails = 1; fails != 0; ++tries) {
      declare();
      if (dyngrid_process_id() == who) refused_one = {least, any, tries};
      const int status = run(0);
      fails = dyngrid_process_id() == who && refused_one.left < 0 ? 1 : 0;
      refused_one = {};
      int others = status;
      MPI_Bcast(&fails, 1, MPI_INT, who, MPI_COMM_WORLD);
      MPI_Bcast(&others, 1, MPI_INT, who, MPI_COMM_WORLD);
      expect(status == others && (status == 0 || (fails != 0 && status == DYNGRID_ERR_MEMORY)),
             "phase without allocation " + std::to_string(tries) + ": " + std::to_string(status));
      expect(follow::wrong(a, 'd', 5) == 0, "elements");
      if (status == 0) expect(!run(1), "back");
    }
    expect(tries > 3, "allocations fail");
  }
  expect(!dyngrid_matrix_free(&a), "free");
}

/// Each allocation of one process in `call` fails in turn, the smallest too: all processes get one status.
template <class Call> void each_refused(const std::string& what, Call&& call) {
  constexpr std::size_t any = SIZE_MAX / 2;
  for (const int who : {0, 1}) {
    int tries = 0;
    for (int fails = 1; fails != 0; ++tries) {
      if (dyngrid_process_id() == who) refused_one = {1, any, tries};
      const int status = call();
      fails = dyngrid_process_id() == who && refused_one.left < 0 ? 1 : 0;
      refused_one = {};
      int others = status;
      MPI_Bcast(&fails, 1, MPI_INT, who, MPI_COMM_WORLD);
      MPI_Bcast(&others, 1, MPI_INT, who, MPI_COMM_WORLD);
      expect(status == others && (status == 0 || (fails != 0 && status == DYNGRID_ERR_MEMORY)),
             what + " without allocation " + std::to_string(tries) + ": " + std::to_string(status));
    }
  }
}

/// A copy that was planned before, and shared state.
void small_pieces_without_memory() {
  dyngrid_matrix *from = follow::create("from", 'd', 40, 30, 4, 4), *to = follow::create("to", 'd', 40, 30, 3, 5);
  follow::fill(from, 'd', 6);
  expect(!dyngrid_copy(from, to), "the first copy");
  each_refused("copy", [&] { return dyngrid_copy(from, to); });
  expect(follow::wrong(to, 'd', 6) == 0, "elements of the copy");
  const char* const name = "a name that no short string holds";
  int value = 0;
  bool is_shared = false;
  each_refused("share", [&] {
    const Refused armed = std::exchange(refused_one, Refused{}); // unsharing is no joint operation
    if (is_shared) expect(!dyngrid_unshare(name), "unshare");
    refused_one = armed;
    const int status = dyngrid_share(name, &value, sizeof value);
    is_shared = status == 0;
    return status;
  });
  expect(is_shared && !dyngrid_unshare(name), "it is shared in the end");
  expect(!dyngrid_matrix_free(&to) && !dyngrid_matrix_free(&from), "free");
}

/// "a" in memory of the program.
dyngrid_matrix* in_own_memory() {
  const int desc[9] = {1, dyngrid_context(), n, n, n, n / 2, 0, 0, n};
  const std::size_t bytes = std::size_t{n} * (n / 2) * sizeof(double);
  const dyngrid_allocator provide = [](void*, void* old, std::size_t asked, std::int64_t, std::int64_t) {
    if (asked > 0) return std::malloc(asked);
    std::free(old);
    return static_cast<void*>(nullptr);
  };
  dyngrid_matrix* made = nullptr;
  expect(dyngrid_matrix_adopt("a", 'd', desc, std::malloc(bytes), bytes, provide, nullptr, &made) == 0, "adopt");
  return made;
}

} // namespace

// not inline: the compiler would compare free() with the operator new that it knows
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  Refused& r = refused_one;
  if (bytes >= r.least && bytes <= r.most && r.left >= 0 && r.left-- == 0) throw std::bad_alloc();
  void* const memory = std::malloc(std::max<std::size_t>(1, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// never refused: std::stable_sort goes on without that memory
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(std::max<std::size_t>(1, bytes));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

// dyngrid opens files by the first one, the C++ library by the second
extern "C" std::FILE* fopen(const char* path, const char* mode) {
  using Open = std::FILE* (*)(const char*, const char*);
  static const auto next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "fopen"));
  return next(!meminfo.empty() && std::strcmp(path, "/proc/meminfo") == 0 ? meminfo.c_str() : path, mode);
}
extern "C" std::FILE* fopen64(const char* path, const char* mode) {
  return fopen(path, mode);
}

int main(int argc, char** argv) {
  expect(dyngrid_init_grid(1, 2) == 0 && argc == 2, "init");
  const bool has_file = std::strcmp(argv[1], "-") != 0;
  dyngrid_matrix* a = follow::create("a", 'd', n, n, 64, 64);
  follow::fill(a, 'd', 3);
  int failed = 0;
  const auto check = [&](int status, int who, int mib, const std::string& what) {
    const std::string where = what + " with " + std::to_string(mib) + " MiB on " + std::to_string(who);
    int least = 0, most = 0;
    MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect(least == most, where + ": one status");
    expect(status >= 0 || status == DYNGRID_ERR_MEMORY || status == DYNGRID_ERR_IO,
           where + ": " + std::to_string(status));
    expect(follow::wrong(a, 'd', 3) == 0, where + ": the matrix");
    failed += status < 0;
  };
  for (const int who : {0, 1})
    for (const int mib : {0, 2, 5, 9, 14, 22}) {
      const int block = mib % 2 == 0 ? 48 : 64;
      check(limited(who, mib, [&] { return dyngrid_matrix_reblock(a, block, block); }), who, mib, "reblock");
      check(limited(who, mib, [&] { return dyngrid_resize(2, 1, DYNGRID_OPTIMAL); }), who, mib, "another grid");
      expect(dyngrid_resize(1, 2, DYNGRID_OPTIMAL) >= 0, "back");
      const int growth = limited(who, 4 * mib, [] { return dyngrid_resize(1, 3, DYNGRID_OPTIMAL); });
      check(growth, who, 4 * mib, "growth");
      expect(growth == DYNGRID_ERR_MEMORY && std::strstr(dyngrid_last_message(), "MiB") != nullptr,
             dyngrid_last_message());
      if (!has_file) continue;
      check(limited(who, mib, [&] { return dyngrid_checkpoint(argv[1]); }), who, mib, "checkpoint");
      expect(dyngrid_checkpoint(argv[1]) == 0, "checkpoint");
      check(limited(who, mib, [&] { return dyngrid_restore(argv[1]); }), who, mib, "restore");
    }
  const auto full = [&](int who, const std::string& what, int status) {
    check(status, who, 1, what);
    const std::string text = dyngrid_last_message();
    expect(status == DYNGRID_ERR_MEMORY, what + ": it is refused: " + text);
    expect(text.find("no memory for") != std::string::npos &&
               text.find("1.0 MiB are free (MemAvailable)") < text.size(),
           what + ": " + text);
  };
  for (const int who : {0, 1}) {
    const FullHost host(dyngrid_process_id() == who, 1);
    full(who, "reblock on a full host", dyngrid_matrix_reblock(a, 40, 40));
    full(who, "another grid on a full host", dyngrid_resize(2, 1, DYNGRID_OPTIMAL));
    if (who != 0) full(who, "growth on a full host", dyngrid_resize(1, 3, DYNGRID_OPTIMAL));
  }
  for (const int who : {0, 1}) { // enough for slabs, not for two copies
    const FullHost host(dyngrid_process_id() == who, 17);
    expect(dyngrid_matrix_reblock(a, 40 + who, 40) == DYNGRID_RESIZED, "reblock with 17 MiB");
    expect(follow::wrong(a, 'd', 3) == 0, "reblock with 17 MiB: the matrix");
    expect(dyngrid_resize(2 - who, 1 + who, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "another grid with 17 MiB");
    expect(follow::wrong(a, 'd', 3) == 0, "another grid with 17 MiB: the matrix");
  }
  for (const int who : {0, 1}) { // as long as there is enough nothing is refused
    const FullHost host(dyngrid_process_id() == who, 100);
    expect(dyngrid_matrix_reblock(a, 40 + who, 40) >= 0, "reblock with 100 MiB");
    expect(dyngrid_resize(2 - who, 1 + who, DYNGRID_OPTIMAL) >= 0, "another grid with 100 MiB");
  }
  for (const int who : {0, 1}) { // a second array of 10 MB on each process
    dyngrid_borders* borders = nullptr;
    const int one[] = {1, 1};
    expect(!dyngrid_borders_create(a, one, one, nullptr, DYNGRID_NEIGHBOURS_FOUR, nullptr, &borders), "create borders");
    check(limited(who, 2, [&] { return dyngrid_borders_update(borders, nullptr); }), who, 2, "borders");
    const std::string text = dyngrid_last_message();
    expect(text.find("no memory for the borders of matrix \"a\"") != std::string::npos, text);
    expect(dyngrid_borders_exchange(borders) == DYNGRID_ERR_STATE, "there is no array");
    expect(!dyngrid_borders_update(borders, nullptr), "borders with enough memory");
    expect(!dyngrid_borders_free(&borders), "free borders");
  }
  for (const int who : {0, 1})
    for (const std::size_t numbers : {std::size_t{n} + 6, std::size_t{n}}) { // the shared state, the pivots
      std::vector<int> pivots(n);
      int info = 0;
      const std::size_t bytes = numbers * sizeof(std::int64_t);
      const int status = refused(who, bytes, [&] { return dyngrid_lu(a, 0, pivots.data(), &info); });
      check(status, who, 0, "dyngrid_lu without " + std::to_string(bytes) + " bytes");
      expect(status == DYNGRID_ERR_MEMORY, "dyngrid_lu is refused");
    }
  wakes_without_memory();
  balances_without_memory();
  phases_without_memory();
  small_pieces_without_memory();
  for (const int shape : {DYNGRID_ON_ALL, DYNGRID_ON_EACH_COLUMN}) {
    dyngrid_matrix* copies = nullptr; // 128 MiB on each process: a third process needs as much again
    expect(!dyngrid_matrix_create_on("copies", 'd', 4096, 4096, 64, 64, shape, &copies), "create copies");
    {
      const FullHost host(dyngrid_process_id() == 0, 130);
      const int status = dyngrid_resize(1, 3, DYNGRID_OPTIMAL);
      expect(status == DYNGRID_ERR_SLOTS && std::strstr(dyngrid_last_message(), "to move the matrices") != nullptr,
             "growth without room for one more copy: " + std::to_string(status));
    }
    expect(!dyngrid_matrix_free(&copies), "free copies");
  }
  expect(failed > 10, "what fails was tried");

  // an array of the program's stays whole until the new one is filled: slabs do not help
  expect(dyngrid_matrix_free(&a) == 0 && dyngrid_resize(1, 2, DYNGRID_OPTIMAL) >= 0, "free");
  a = in_own_memory();
  follow::fill(a, 'd', 3);
  for (const int who : {0, 1}) {
    {
      const FullHost host(dyngrid_process_id() == who, 17);
      const int status = dyngrid_matrix_reblock(a, 40 + who, 40);
      check(status, who, 17, "the program's array");
      expect(status == DYNGRID_ERR_MEMORY, "it does not move in slabs");
    }
    const FullHost host(dyngrid_process_id() == who, 100);
    const int status = dyngrid_matrix_reblock(a, 40 + who, 40);
    check(status, who, 100, "the program's array");
    expect(status == DYNGRID_RESIZED, "it moves");
  }
  return dyngrid_finalize();
}
