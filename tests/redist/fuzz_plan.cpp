// SPDX-License-Identifier: BSD-3-Clause
// Plans of random numbers: two layouts of any kind, also wrong ones, windows, operation, schedule. What must hold for
// every plan is checked: every element of the window goes or stays once, both ends agree, one-port schedules
// keep to their figures.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "base/status.hpp"
#include "redist/plan.hpp"

namespace {

using namespace redist;
using gridmap::Axis;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fuzz_plan: %s\n", what);
  std::abort();
}

struct Random {
  std::mt19937 engine;
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
};

Axis axis(Random& random, std::int64_t n, int nprocs) {
  Axis made{n, {}, random.pick(0, nprocs - 1), nprocs};
  const int kind = random.pick(0, 3);
  if (kind == 0) return Axis::block(n, nprocs, made.src);
  for (int k = random.pick(1, kind == 1 ? 1 : 6); k > 0; --k) made.sizes.push_back(random.pick(0, 7));
  if (kind == 3) {
    made.src = 0;
    const std::size_t count = random.pick(0, 9) == 0 ? 1 : made.sizes.size(); // also wrong ones
    while (made.owners.size() < count) made.owners.push_back(random.pick(-1, nprocs));
  }
  return made;
}

Layout layout(Random& random, std::int64_t m, std::int64_t n) {
  const int nprow = random.pick(1, 5), npcol = random.pick(1, 5);
  std::vector<int> ranks(static_cast<std::size_t>(nprow * npcol));
  const int first = random.pick(0, 9), step = random.pick(1, 3);
  for (std::size_t k = 0; k < ranks.size(); ++k) ranks[k] = first + step * static_cast<int>(k);
  std::rotate(ranks.begin(), ranks.begin() + random.pick(0, static_cast<int>(ranks.size()) - 1), ranks.end());
  Layout made;
  made.grid = {nprow, npcol, ranks};
  const int copies = random.pick(0, 15);
  made.rows_replicated = copies == 13 || copies == 15;
  made.cols_replicated = copies >= 14;
  made.rows = axis(random, m, made.rows_replicated ? 1 : nprow);
  made.cols = axis(random, n, made.cols_replicated ? 1 : npcol);
  return made;
}

} // namespace

static void check_any(Random& random) {
  PlanOptions options;
  options.schedule = static_cast<Schedule>(random.pick(0, 4));
  options.op = static_cast<Op>(random.pick(0, 2));
  options.machine = {1e-9, 1e6, 1e12, 1.0, 0}; // so slow that automatic looks for steps
  const std::int64_t m = random.pick(0, 60), n = random.pick(0, 60);
  options.from = {random.pick(0, 5), random.pick(0, 5), -1, -1};
  options.to = {random.pick(0, 5), random.pick(0, 5), random.pick(-1, 60), random.pick(-1, 60)};
  try {
    const Layout from = layout(random, m + random.pick(0, 9), n + random.pick(0, 9));
    const Layout to = layout(random, m + random.pick(0, 9), n + random.pick(0, 9));
    const Plan plan(from, to, options);
    const PlanTotals totals = plan.totals();
    const ScheduleFigures figures = plan.figures();
    const Window window = plan.options().to;
    if (totals.moved_elements + totals.kept_elements != to.copies() * window.m * window.n)
      fail("elements are lost or sent twice");
    if (figures.sum_of_largest < figures.lower_bound) fail("faster than possible");
    if (plan.schedule() == Schedule::matching && figures.sum_of_largest != figures.lower_bound)
      fail("matching is above the bound");
    std::int64_t out = 0, in = 0, kept = 0;
    for (int rank = 0; rank < 100; ++rank) {
      const RankPlan mine = plan.for_rank(rank);
      for (const auto* messages : {&mine.sends, &mine.recvs, &mine.keeps})
        for (const Message& message : *messages) {
          const bool is_source = messages != &mine.recvs;
          (messages == &mine.sends ? out : is_source ? kept : in) += message.elements();
          // local indices within the local array
          const std::int64_t m_loc = is_source ? mine.m_loc_from : mine.m_loc_to,
                             n_loc = is_source ? mine.n_loc_from : mine.n_loc_to;
          const bool turned = is_source && mine.transposed;
          for (const auto& [list, bound] :
               {std::pair{message.rows, turned ? n_loc : m_loc}, std::pair{message.cols, turned ? m_loc : n_loc}})
            for (const Run& run : list->runs) {
              const std::int64_t first = is_source ? run.from : run.to, step = is_source ? run.from_step : run.to_step;
              if (first < 0 || first + (run.count - 1) * step + run.len > bound) fail("a run leaves the local array");
            }
        }
      for (const auto& [order, messages] :
           {std::pair{&mine.send_order, &mine.sends}, std::pair{&mine.recv_order, &mine.recvs}}) {
        std::vector<std::int64_t> left;
        for (const Message& message : *messages) left.push_back(message.elements());
        for (const Piece& piece : *order) {
          if (piece.step < 0 || piece.step >= mine.steps) fail("a step that does not exist");
          left.at(static_cast<std::size_t>(piece.message)) -= piece.count;
        }
        for (const std::int64_t rest : left)
          if (rest != 0) fail("the order leaves something out");
      }
    }
    if (out != in || in != totals.moved_elements || kept != totals.kept_elements)
      fail("ranks and whole machine differ");
  } catch (const base::Error&) { // not a plan
  }
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 20000;
  Random random{std::mt19937(argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1)};
  for (long round = 0; round < rounds; ++round) check_any(random);
  std::printf("%ld plans\n", rounds);
}
