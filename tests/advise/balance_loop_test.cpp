// SPDX-License-Identifier: BSD-3-Clause
// The whole loop of a balance in one process, with a clock of its own. It has processors whose speeds change, the
// monitor's samples of them, the real journal, the real BalanceMemory, and a program that follows it. The time of a run
// is compared with the ideal, which always has the best parts and moves at no cost, and with never adapting.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "advise/balance_memory.hpp"
#include "base/index.hpp"
#include "control/load_monitor.hpp"
#include "gridmap/dealing.hpp"

namespace {
using advise::BalanceAction;
using base::at;
using base::GridShape;
using control::Load;
using control::LoadSample;

struct Competition {
  int process, competitors;
  double from_s, to_s;
};

/// A program and its processors. Times of work are those of an unshared processor.
struct World {
  std::vector<double> quota{1, 1, 1, 1}; ///< processors that each process may use, by its control group; 1: no limit
  std::vector<Competition> competition;
  GridShape grid{2, 2};
  std::int64_t n = 600, nb = 4;
  int steps = 800;
  double work_s = 0.1;      ///< of a step, all processes together
  double messages_s = 2e-3; ///< (1/p + 1/q) of it
  double waiting = 0;       ///< part of the messages that waits for a processor
  double noise = 0.03;      ///< of each process's work in a step, relative
  double change_s = 0.03, planned_s = 0.02;
  bool is_weighted = true;
  bool knows_steps = true;
  unsigned seed = 1;

  double capacity(int process, double t) const {
    double competitors = 0;
    for (const Competition& c : competition)
      if (c.process == process && t >= c.from_s && t < c.to_s) competitors += c.competitors;
    return quota[at(process)] / (1 + competitors);
  }
  double messages(GridShape g) const { return g.size() == 1 ? 0 : messages_s * (1.0 / g.nprow + 1.0 / g.npcol); }
};

struct Outcome { // of a run
  double seconds = 0;
  int changes = 0;
  std::string story;
};

class Simulation {
public:
  Simulation(const World& world, bool balances) : world_(world), balances_(balances), engine_(world.seed) {
    for (int k = 0; k < world_.grid.size(); ++k) {
      ids_.push_back(k);
      processes_.emplace_back(k);
    }
    grid_ = world_.grid;
    rows_ = parts(world_.n, grid_.nprow, {});
    cols_ = parts(world_.n, grid_.npcol, {});
    memory_.grid_changed(0);
  }

  Outcome run() {
    for (int step = 0; step < world_.steps; ++step) {
      compute();
      if (balances_) resize_point(world_.steps - step - 1);
    }
    outcome_.seconds = now_;
    return outcome_;
  }

private:
  struct Process {
    explicit Process(int number) : journal(0), next_sample_s(control::LoadMonitor::period_s * (number + 1) / 7) {}
    control::LoadJournal journal;
    LoadSample sample; ///< the last one that counted
    double cpu_s = 0, wait_s = 0, next_sample_s;
    bool sleeps = false, has_changed = false;
  };

  std::vector<std::int64_t> parts(std::int64_t n, int nprocs, const std::vector<double>& shares) const {
    const gridmap::Axis axis = world_.is_weighted
                                   ? gridmap::deal_out(n, world_.nb, nprocs, shares, gridmap::DealOrder::block)
                                   : gridmap::Axis::block_cyclic(n, world_.nb, nprocs);
    std::vector<std::int64_t> sizes;
    for (int k = 0; k < nprocs; ++k) sizes.push_back(axis.local_size(k));
    return sizes;
  }

  double random(double deviation) { return std::exp(deviation * std::normal_distribution<>()(engine_)); }

  /// One step, and the samples that fall into it.
  void compute() {
    const double begun = now_;
    const auto all = static_cast<double>(world_.n) * static_cast<double>(world_.n);
    double longest = 0, least = 1;
    std::vector<double> work, took;
    for (int place = 0; place < grid_.size(); ++place) {
      const double part =
          static_cast<double>(rows_[at(place / grid_.npcol)]) * static_cast<double>(cols_[at(place % grid_.npcol)]);
      const double capacity = world_.capacity(ids_[at(place)], begun);
      work.push_back(world_.work_s * part / all * random(world_.noise));
      took.push_back(work.back() / capacity);
      longest = std::max(longest, took.back());
      least = std::min(least, capacity);
    }
    const double messages = world_.messages(grid_) * (1 - world_.waiting + world_.waiting / least);
    now_ += longest + messages;
    for (int place = 0; place < grid_.size(); ++place) {
      Process& p = processes_[at(ids_[at(place)])];
      const double quota = world_.quota[at(ids_[at(place)])];
      double share = world_.capacity(ids_[at(place)], begun);
      // a process that waits for others uses less than its quota and is not throttled
      if (quota < 1) share = std::min(1.0, share * (now_ - begun) / took[at(place)]);
      samples(ids_[at(place)], begun, work[at(place)], work[at(place)] * (1 / share - 1) * random(0.05));
      p.cpu_s += work[at(place)];
    }
    for (Process& p : processes_)
      if (p.sleeps) samples(static_cast<int>(&p - processes_.data()), begun, 0, 0);
    if (balances_) memory_.step(now_, now_ - begun);
  }

  /// Those of one process from begun to now_, in which it ran for cpu_s and waited for wait_s.
  void samples(int id, double begun, double cpu_s, double wait_s) {
    Process& p = processes_[at(id)];
    const double took = std::max(now_ - begun, 1e-9), wait_before = p.wait_s;
    p.wait_s += wait_s;
    for (; p.next_sample_s <= now_; p.next_sample_s += control::LoadMonitor::period_s) {
      const double part = std::clamp((p.next_sample_s - begun) / took, 0.0, 1.0);
      LoadSample sample;
      sample.at_s = p.next_sample_s;
      sample.threads[1] = {p.cpu_s + part * cpu_s, wait_before + part * wait_s};
      sample.cores = 1;
      const double quota = world_.quota[at(id)];
      const double rivals = quota / world_.capacity(id, p.next_sample_s) - 1;
      sample.quota = quota < 1 ? quota : 0;
      sample.rivals = quota < 1 ? static_cast<int>(std::lround(rivals)) : -1;
      sample.runnable = static_cast<int>(std::lround(rivals)) + (p.sleeps ? 0 : 1);
      sample.own_runnable = p.sleeps ? 0 : 1;
      const bool is_first = p.sample.threads.empty();
      const double wanted = sample.threads[1].cpu_s + sample.threads[1].wait_s -
                            (is_first ? 0 : p.sample.threads[1].cpu_s + p.sample.threads[1].wait_s);
      if (!p.sleeps && wanted < control::LoadMonitor::wanted_s) continue;
      const Load load = control::judge_load(
          p.sample, sample, p.sleeps ? control::LoadSource::competitors : control::LoadSource::schedstat);
      p.sample = sample;
      if (!is_first && p.journal.add(load, p.next_sample_s)) p.has_changed = true;
    }
  }

  void resize_point(int steps_left) {
    const bool has_news = std::any_of(ids_.begin(), ids_.end(), [&](int id) { return processes_[at(id)].has_changed; });
    if (!has_news && now_ - gathered_s_ < 1) return;
    gathered_s_ = now_;
    std::vector<advise::ProcessLoad> loads;
    for (std::size_t place = 0; place < ids_.size(); ++place)
      loads.push_back(load_of(ids_[place], static_cast<int>(place)));
    for (int id = 0; id < static_cast<int>(processes_.size()); ++id)
      if (processes_[at(id)].sleeps) loads.push_back(load_of(id, -1));
    memory_.take(std::move(loads), now_);
    memory_.outcome(now_);
    if (!memory_.is_due(now_)) return;
    const advise::BalanceDecision decision = advise::decide_balance(subject(steps_left), memory_, now_);
    if (decision.balance && decision.balance->action != BalanceAction::stay) carry_out(decision);
  }

  advise::ProcessLoad load_of(int id, int place) {
    advise::ProcessLoad load;
    load.process = id;
    load.place = place;
    processes_[at(id)].journal.write(load, now_);
    processes_[at(id)].has_changed = false;
    return load;
  }

  advise::BalanceRequest subject(int steps_left) const {
    advise::BalanceRequest s;
    s.grid = grid_;
    s.m = s.n = world_.n;
    s.mb = s.nb = world_.nb;
    s.rows = rows_;
    s.cols = cols_;
    s.is_weighted = world_.is_weighted;
    if (world_.knows_steps) s.steps_left = steps_left;
    s.max_aspect = 0;
    s.change = [planned = world_.planned_s](const advise::BalanceChoice& choice) {
      return advise::Cost{{{"exchange", choice.moved_elements > 0 ? planned : 0}}};
    };
    return s;
  }

  void carry_out(const advise::BalanceDecision& decision) {
    const advise::Balance& balance = *decision.balance;
    const advise::BalanceChoice& to = balance.then;
    const auto shares = [&](const std::vector<std::int64_t>& sizes) {
      std::vector<double> blocks;
      for (const std::int64_t size : sizes)
        blocks.push_back(std::ceil(static_cast<double>(size) / static_cast<double>(world_.nb)));
      return blocks;
    };
    std::vector<int> ids;
    for (const int k : to.order) ids.push_back(memory_.id_of(k));
    outcome_.story += "  " + std::to_string(now_) + " s: " + to_string(balance.action) + " " + to_string(to.grid) +
                      ", " + balance.why + "\n";
    now_ += world_.change_s * random(0.3);
    for (int id = 0; id < static_cast<int>(processes_.size()); ++id) {
      Process& p = processes_[at(id)];
      const bool sleeps = std::count(ids.begin(), ids.end(), id) == 0;
      if (p.sleeps != sleeps) p.journal.begin_again(now_);
      p.sleeps = sleeps;
    }
    ids_ = ids;
    grid_ = to.grid;
    rows_ = parts(world_.n, grid_.nprow, shares(to.rows));
    cols_ = parts(world_.n, grid_.npcol, shares(to.cols));
    memory_.carried_out(decision, world_.change_s, now_);
    ++outcome_.changes;
  }

  const World world_;
  const bool balances_;
  std::mt19937 engine_;
  advise::BalanceMemory memory_;
  GridShape grid_;
  std::vector<int> ids_;
  std::vector<std::int64_t> rows_, cols_;
  std::vector<Process> processes_;
  double now_ = 0, gathered_s_ = 0;
  Outcome outcome_;
};

/// All divisions of `blocks` into `parts` parts, in order.
void each_split(int parts, std::int64_t blocks, std::vector<std::int64_t>& split, const std::function<void()>& found) {
  if (parts == 1) {
    split.push_back(blocks);
    found();
    split.pop_back();
    return;
  }
  for (std::int64_t first = 0; first <= blocks; ++first) {
    split.push_back(first);
    each_split(parts - 1, blocks - first, split, found);
    split.pop_back();
  }
}

/// The shortest step with processors of these speeds, for every choice of processes and every shape: all splits of the
/// rows, and for each the best columns. A column takes as long as its slowest process. By blocks, none cut.
double best_step_s(const World& world, const std::vector<double>& speeds) {
  const std::int64_t blocks = (world.n + world.nb - 1) / world.nb;
  double best = std::numeric_limits<double>::infinity();
  std::vector<int> order(speeds.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    for (int count = 1; count <= static_cast<int>(speeds.size()); ++count)
      for (int p = 1; p * p <= count; ++p) { // as well as q x p
        if (count % p != 0) continue;
        const int q = count / p;
        std::vector<std::int64_t> rows;
        each_split(p, blocks, rows, [&] {
          double power = 0; // columns in proportion to the capacity of the slowest of each; they need not be whole
          for (int j = 0; j < q; ++j) {
            double slowest = std::numeric_limits<double>::infinity();
            for (int i = 0; i < p; ++i)
              if (rows[at(i)] > 0)
                slowest = std::min(slowest, speeds[at(order[at(i * q + j)])] / static_cast<double>(rows[at(i)]));
            power += slowest;
          }
          best = std::min(best, world.work_s / static_cast<double>(blocks) / power + world.messages({p, q}));
        });
      }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// One draw for each process: the mean ratio of the longest to the mean.
double longest_draw(const World& world) {
  constexpr int draws = 4000;
  std::mt19937 engine(7);
  std::normal_distribution<> normal;
  double sum = 0;
  for (int k = 0; k < draws; ++k) {
    double longest = 0;
    for (int p = 0; p < world.grid.size(); ++p) longest = std::max(longest, std::exp(world.noise * normal(engine)));
    sum += longest;
  }
  return sum / draws;
}

/// Seconds of a run that always has the best parts, and moves at once and at no cost.
double ideal_s(const World& world) {
  const double longer = longest_draw(world);
  std::map<std::vector<double>, double> known;
  double now = 0, left = world.steps;
  while (left > 0) {
    double until = std::numeric_limits<double>::infinity();
    for (const Competition& c : world.competition)
      for (const double t : {c.from_s, c.to_s})
        if (t > now) until = std::min(until, t);
    std::vector<double> speeds;
    for (int k = 0; k < world.grid.size(); ++k) speeds.push_back(world.capacity(k, now));
    double& step_s = known[speeds];
    if (step_s == 0) step_s = longer * best_step_s(world, speeds);
    const double steps = std::min(left, (until - now) / step_s);
    left -= steps;
    now += steps * step_s;
  }
  return now;
}

/// One competitor from a third of the time that the run takes without it to two thirds.
World in_the_middle_third(double quota, int steps) {
  World world;
  world.quota.assign(4, quota);
  world.work_s *= quota;
  world.steps = steps;
  const double third = ideal_s(world) / 3;
  world.competition = {{1, 1, third, 2 * third}};
  return world;
}

TEST(BalanceLoop, OneCompetitorInTheMiddleThird) {
  for (const double quota : {1.0, 0.45}) // of a processor: nodes that are processors, and those of studies/load/loadlab
    for (const int steps : {800, 2000}) {
      World world = in_the_middle_third(quota, steps);
      const double ideal = ideal_s(world);
      for (world.seed = 1; world.seed <= 20; ++world.seed) {
        SCOPED_TRACE(testing::Message() << "quota " << quota << ", " << steps << " steps, seed " << world.seed);
        const Outcome off = Simulation(world, false).run(), on = Simulation(world, true).run();
        EXPECT_GT(off.seconds, 1.09 * ideal);
        EXPECT_LE(on.seconds, 1.04 * ideal) << on.story; // the bar is 1.05
        EXPECT_LE(on.changes, 4) << on.story;
      }
    }
}

World any_world(unsigned seed) {
  std::mt19937 engine(seed);
  const auto real = [&](double least, double most) { return std::uniform_real_distribution<>(least, most)(engine); };
  const auto whole = [&](int least, int most) { return std::uniform_int_distribution<>(least, most)(engine); };
  World world;
  world.seed = seed;
  const GridShape grids[] = {{2, 2}, {1, 4}, {1, 3}, {2, 3}, {1, 2}};
  world.grid = grids[whole(0, 4)];
  world.quota.assign(at(world.grid.size()), whole(0, 1) == 0 ? 1.0 : real(0.2, 0.9));
  world.nb = whole(0, 3) == 0 ? 64 : whole(1, 16);
  world.is_weighted = whole(0, 3) != 0;
  world.knows_steps = whole(0, 3) != 0;
  world.work_s = world.grid.size() * std::exp(real(std::log(0.005), std::log(0.5)));
  world.steps = static_cast<int>(real(10, 60) / (world.work_s / world.grid.size()) * world.quota[0]);
  world.messages_s = real(0, 0.2) * world.work_s / world.grid.size() / world.quota[0];
  world.waiting = real(0, 1);
  world.noise = real(0, 0.08);
  world.planned_s = std::exp(real(std::log(0.002), std::log(0.1)));
  world.change_s = world.planned_s * std::exp(real(std::log(0.7), std::log(1.5)));
  for (int loads = whole(0, 3); loads > 0; --loads) {
    const double from = real(0, 40);
    world.competition.push_back(
        {whole(0, world.grid.size() - 1), whole(1, 3), from, from + std::exp(real(std::log(0.2), std::log(40)))});
  }
  return world;
}

/// The duration of a load is unknown, so a change can happen when it ends. That has to be rare, and cost less than the
/// gain.
TEST(BalanceLoop, AnyLoadsOnAnyProcessors) {
  constexpr unsigned worlds = 150;
  double sum = 0, worst = 1;
  int changes = 0, worse = 0;
  for (unsigned seed = 1; seed <= worlds; ++seed) {
    const World world = any_world(seed);
    const Outcome off = Simulation(world, false).run(), on = Simulation(world, true).run();
    const double ratio = on.seconds / off.seconds;
    sum += std::log(ratio);
    worst = std::max(worst, ratio);
    worse += ratio > 1.01 ? 1 : 0;
    changes += on.changes;
  }
  EXPECT_GT(changes, 100);
  EXPECT_LE(std::exp(sum / worlds), 0.975);
  EXPECT_LE(worse, static_cast<int>(0.06 * worlds));
  EXPECT_LE(worst, 1.15);
}

/// Nothing but noise, of steps and of samples.
TEST(BalanceLoop, NoLoadIsNoReasonToMove) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    World world = any_world(seed);
    world.competition.clear();
    world.nb = 4; // whose parts are as good as equal
    const Outcome off = Simulation(world, false).run(), on = Simulation(world, true).run();
    EXPECT_LE(on.seconds, 1.01 * off.seconds) << "world " << seed << "\n" << on.story;
  }
}

} // namespace
