// SPDX-License-Identifier: BSD-3-Clause
// Descriptor validation fed with anything: valid descriptors with entries replaced, cut or mixed up, for a number of
// rounds.
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/status.hpp"
#include "redist/descriptor.hpp"

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fuzz_descriptor: %s\n", what);
  std::abort();
}

} // namespace

/// The first four integers are the grid, the rest the descriptor.
static void check_input(const std::vector<int>& all) {
  if (all.size() < 5) return;
  const redist::GridPosition grid{all[0], all[1], all[2], all[3]};
  const std::vector<int> desc(all.begin() + 4,
                              all.end()); // a vector of its own, so that a sanitizer sees its end
  const int info = redist::check_descriptor(desc.data(), desc.size(), grid, 2);
  try {
    const redist::Descriptor read = redist::read_descriptor(desc.data(), desc.size(), grid);
    if (info != 0) fail("read what the check refuses");
    if (write_descriptor(read) !=
        std::vector<int>(desc.begin(), desc.begin() + static_cast<std::ptrdiff_t>(write_descriptor(read).size())))
      fail("does not come back as it was");
    read.rows.validate();
    read.cols.validate();
    if (grid.nprow > 0 && grid.myrow >= 0 && read.rows.local_size(grid.myrow) > read.lld)
      fail("LLD_ too small for the local rows");
    if (read.rows.n > 0) {
      const std::int64_t last = read.rows.n - 1;
      if (read.rows.to_global(read.rows.to_local(last), read.rows.owner(last)) != last) fail("the last row is lost");
    }
  } catch (const base::Error& error) {
    if (info == 0) {
      std::fprintf(stderr, "%s\n", error.what());
      fail("refused what the check takes");
    }
    if (info > -201 || info < -200 - static_cast<int>(desc.size()) - 9) fail("info names no entry");
  }
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 300000;
  std::mt19937 random(argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int odd[] = {INT_MIN, INT_MIN + 1, -601, -1, 0, 1, 2, 9, 10, 601, 65536, INT_MAX - 9, INT_MAX - 1, INT_MAX};
  long taken = 0;
  for (long round = 0; round < rounds; ++round) {
    const int nprow = pick(1, 5), npcol = pick(1, 5), rows = pick(1, 6), cols = pick(1, 6);
    std::vector<int> all{nprow,
                         npcol,
                         pick(-1, nprow - 1),
                         pick(-1, npcol - 1),
                         pick(0, 2) ? 601 : 1,
                         0,
                         pick(0, 50),
                         pick(0, 50),
                         rows,
                         cols,
                         pick(0, nprow - 1),
                         pick(0, npcol - 1),
                         pick(0, 3) ? 50 : pick(1, 20)};
    for (int k = 0; k < rows + cols; ++k) all.push_back(pick(0, 6));
    for (int changes = pick(0, 3); changes > 0; --changes)
      all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))] =
          pick(0, 1) ? odd[pick(0, 13)] : static_cast<int>(random());
    if (pick(0, 9) == 0) all.resize(static_cast<std::size_t>(pick(0, static_cast<int>(all.size()))));
    taken += all.size() > 4 &&
             redist::check_descriptor(all.data() + 4, all.size() - 4, {all[0], all[1], all[2], all[3]}, 1) == 0;
    check_input(all);
  }
  std::printf("%ld descriptors, %ld of them valid\n", rounds, taken);
  return taken > 0 && taken < rounds ? 0 : 1;
}
