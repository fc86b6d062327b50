// SPDX-License-Identifier: BSD-3-Clause
// gridmap's balance beside what A-MPI's thesis [Weatherly2002] and SUIF-Adapt print, and beside A-MPI's own methods, in
// figures: no process is started. --noise: the same nodes, by a clock of their own, for the BalanceMemory of advise,
// which receives nothing but loads and the times of steps.
//
// The nodes are a model: a step takes work * (1 + k) of a node with k competitors, and its messages take 1 + k times as
// long, since sending and receiving is work of the processor. That one assumption gives nearly all decisions that A-MPI
// measured. Where it is not true, the tables show what a wrong belief costs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "advise/balance.hpp"
#include "advise/balance_memory.hpp"
#include "advise/chain.hpp"
#include "base/command_line.hpp"
#include "base/index.hpp"
#include "common/report.hpp"
#include "published/balance.hpp"

namespace {

using advise::Balance;
using advise::BalanceProcess;
using advise::BalanceRequest;
using apps::Cell;
using apps::Report;
using apps::Table;
using base::GridShape;

using base::at;

std::string percent(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

// ---- nodes in a row that exchange borders

struct Row {
  double work = 1, comm = 1;  ///< seconds of all work alone; of the messages of a node alone
  std::vector<int> competing; ///< by node
  double processor_part = 1;  ///< of messages

  double messages(int competitors, std::int64_t nodes) const { // a node that is alone sends none
    return nodes > 1 ? comm * (1 + processor_part * competitors) : 0;
  }
  /// A step with this much work on each node; those with a negative one are not there.
  double step(const std::vector<double>& work_s) const {
    const auto nodes = std::count_if(work_s.begin(), work_s.end(), [](double s) { return s >= 0; });
    double seconds = 0;
    for (std::size_t i = 0; i < work_s.size(); ++i)
      if (work_s[i] >= 0) seconds = std::max(seconds, work_s[i] * (1 + competing[i]) + messages(competing[i], nodes));
    return seconds;
  }
  double equal() const {
    return step(std::vector<double>(competing.size(), work / static_cast<double>(competing.size())));
  }
  /// The best shares of a set of nodes: bisection on the time of a step.
  double best(unsigned set) const {
    double least = 0, most = 1e9;
    std::int64_t nodes = 0;
    for (unsigned rest = set; rest != 0; rest &= rest - 1) ++nodes;
    for (std::size_t i = 0; i < competing.size(); ++i)
      if ((set >> i & 1U) != 0) least = std::max(least, messages(competing[i], nodes));
    for (int k = 0; k < 200; ++k) {
      const double middle = (least + most) / 2;
      double done = 0;
      for (std::size_t i = 0; i < competing.size(); ++i)
        if ((set >> i & 1U) != 0) done += std::max(0.0, middle - messages(competing[i], nodes)) / (1 + competing[i]);
      (done >= work ? most : least) = middle;
    }
    return most;
  }
  /// Over all sets of nodes.
  double best() const {
    double seconds = std::numeric_limits<double>::infinity();
    for (unsigned set = 1; set < 1U << competing.size(); ++set) seconds = std::min(seconds, best(set));
    return seconds;
  }
};

/// The nodes as a grid of one row, its columns dealt out by speed.
BalanceRequest request_of(const Row& row, double believed_part) {
  BalanceRequest r;
  r.grid = {1, static_cast<int>(row.competing.size())};
  r.m = 1;
  r.n = 100000;
  r.is_weighted = true;
  r.work_s = row.work;
  r.border_s = row.comm;
  r.processor_part = believed_part;
  r.max_aspect = 0;
  r.allowed = [](GridShape g) { return g.nprow == 1; };
  r.change = [](const advise::BalanceChoice&) { return advise::Cost{}; };
  r.steps_left = 1000;
  for (std::size_t i = 0; i < row.competing.size(); ++i) {
    BalanceProcess p;
    p.speed = p.share = 1.0 / (1 + row.competing[i]);
    p.place = static_cast<int>(i);
    r.processes.push_back(p);
  }
  return r;
}

std::vector<double> work_of(const advise::BalanceChoice& choice, const Row& row, std::int64_t n) {
  std::vector<double> work(row.competing.size(), -1);
  for (std::size_t place = 0; place < choice.order.size(); ++place)
    work[at(choice.order[place])] = row.work * static_cast<double>(choice.cols[place]) / static_cast<double>(n);
  return work;
}

double ours(const Row& row, double believed_part) {
  const BalanceRequest r = request_of(row, believed_part);
  return row.step(work_of(advise::decide_balance(r).then, row, r.n));
}

/// A-MPI's micro-benchmark on the model: the linear trend over ratios 1 to 10 of the best part for the loaded one of
/// two.
published::WorkFunction work_functions(double processor_part) {
  std::vector<std::pair<double, double>> lines; // by competitors: at ratio 0, per ratio
  for (int competing = 0; competing <= 5; ++competing) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (double ratio = 1; ratio <= 10; ratio += 0.25) {
      const Row pair{ratio, 1, {competing, 0}, processor_part};
      double best = 0, least = std::numeric_limits<double>::infinity();
      for (double part = 1.0 / (2 + competing); part > -0.005; part -= 0.005) { // "naive" down to 0
        const double seconds = pair.step({std::max(part, 0.0) * ratio, (1 - std::max(part, 0.0)) * ratio});
        if (seconds >= least) continue;
        least = seconds;
        best = std::max(part, 0.0);
      }
      ++n, x += ratio, y += best, xx += ratio * ratio, xy += ratio * best;
    }
    const double slope = (n * xy - x * y) / (n * xx - x * x);
    lines.emplace_back((y - slope * x) / n, slope);
  }
  return [lines](int competing, double ratio) {
    const auto& [from, slope] = lines[at(std::min(competing, 5))];
    return std::clamp(from + slope * ratio, 0.0, 1.0 / (2 + competing)); // never more than the naive part
  };
}

struct Methods {
  double naive, successive, logical, physical, ampi;
};

/// A-MPI's: naive; successive balancing; the loaded ones keep next to nothing; they leave; and what A-MPI ends with.
Methods published_methods(const Row& row, const published::WorkFunction& work_function) {
  std::vector<double> speeds, logical, physical;
  const auto unloaded = static_cast<double>(std::count(row.competing.begin(), row.competing.end(), 0));
  for (const int k : row.competing) {
    speeds.push_back(1.0 / (1 + k));
    logical.push_back(k > 0 ? 0 : row.work / unloaded);
    physical.push_back(k > 0 ? -1 : row.work / unloaded);
  }
  std::vector<double> naive = published::naive_shares(speeds);
  for (double& share : naive) share *= row.work;
  Methods m{};
  m.naive = row.step(naive);
  m.successive = row.step(
      published::successive_balancing(row.work, row.comm, row.competing, work_function, 1e-6 * row.work).work_s);
  m.logical = row.step(logical);
  m.physical = row.step(physical);
  const bool leave = published::loaded_processes_leave(m.successive, row.work, static_cast<int>(unloaded), row.comm);
  m.ampi = leave ? m.physical : m.successive;
  return m;
}

// ---- tables

int failures = 0;

/// Predicted seconds of a step, or of a run, as a line of the CSV file.
void add_sample(Report& report, const char* part, const std::string& process, const std::string& method,
                double seconds) {
  apps::Sample sample;
  sample.part = part;
  sample.phase = "predicted";
  sample.process = process;
  sample.method = method;
  sample.ranks = 1;
  report.add(sample, {seconds});
}

std::string verdict(bool is_good) {
  failures += is_good ? 0 : 1;
  return is_good ? "yes" : "no";
}

void successive(Report& report) {
  const auto printed = [](int competing, double) { return competing == 2 ? 0.17 : 0.265; };
  const auto b = published::successive_balancing(800, 50, {2, 1, 0, 0}, printed, 0.01);
  Table table{"[Weatherly2002] Figure 4.7: 800 ms of work, 50 ms of communication, two and one competitors, in ms",
              {"", "P0", "P1", "P2", "P3", "as printed"},
              {},
              "The work functions are not printed but for 17 % and 26.5 % of round 1, held fixed here."};
  const auto add = [&](const std::string& name, const std::vector<double>& work, const std::vector<double>& wanted) {
    bool is_good = true;
    std::vector<Cell> row{name};
    for (std::size_t i = 0; i < work.size(); ++i) {
      row.emplace_back(work[i], 4);
      is_good = is_good && (wanted.empty() || std::abs(work[i] - wanted[i]) < 0.06);
    }
    row.emplace_back(wanted.empty() ? "-" : verdict(is_good));
    table.rows.push_back(row);
  };
  add("round 1", b.rounds[0], {68, 106, 313, 313});
  add("end", b.work_s, {63.9, 112.4, 311.8, 311.8});
  Row row{800, 50, {2, 1, 0, 0}};
  BalanceRequest r = request_of(row, 1);
  add("ours", work_of(advise::decide_balance(r).then, row, r.n), {});
  report.add(table);
  report.text(fmt::format("A step on the model: naive {:.0f} ms, successive balancing {:.0f} ms, ours {:.0f} ms.",
                          published_methods(row, printed).naive, row.step(b.work_s), ours(row, 1)));
}

/// 84 cases with one loaded node, and four configurations with several.
std::vector<Row> cases_of_5_2(double processor_part) {
  std::vector<Row> rows;
  const auto add = [&](const std::vector<int>& competing) {
    for (const double ratio : {2, 8, 14, 20, 50, 160, 300}) rows.push_back({ratio, 1, competing, processor_part});
  };
  for (const int nodes : {2, 4, 8})
    for (int competing = 1; competing <= 4; ++competing) {
      std::vector<int> list(at(nodes), 0);
      list[0] = competing;
      add(list);
    }
  add({2, 1, 0, 0});
  add({1, 1, 0, 0});
  add({1, 1, 0, 0, 0, 0, 0, 0});
  add({3, 2, 1, 0, 0, 0, 0, 0});
  return rows;
}

void nearest_neighbour(Report& report) {
  Table table{"[Weatherly2002] 5.2: 112 nearest-neighbour cases, on the model",
              {"messages slowed by load", "method", "within 3 % of best", "at most 2 % behind doing nothing",
               "mean behind best", "worst", "bar held"},
              {},
              "Best: brute force over all sets of nodes with their best shares. The nodes follow the cost model of our "
              "decision: with the model\nit is best by construction; believing 50 % it does not know how much the load "
              "slows messages. A-MPI's own choice was the\nbest of its four in 106 cases.\nNot printed: one of the "
              "seven ratios, 50 here, and the configurations with several "
              "loaded nodes,\n(2,1) (1,1) of 4 and (1,1) (3,2,1) of 8 here."};
  for (const double part : {1.0, 0.5, 0.0}) {
    const published::WorkFunction work_function = work_functions(part);
    struct Method {
      std::string name;
      std::function<double(const Row&)> step;
      bool has_bar;
    };
    const Method methods[] = {
        {"naive", [&](const Row& r) { return published_methods(r, work_function).naive; }, false},
        {"successive", [&](const Row& r) { return published_methods(r, work_function).successive; }, false},
        {"loaded ones leave", [&](const Row& r) { return published_methods(r, work_function).physical; }, false},
        {"A-MPI", [&](const Row& r) { return published_methods(r, work_function).ampi; }, false},
        {"ours with the model", [&](const Row& r) { return ours(r, part); }, true},
        {"ours believing 50 %", [&](const Row& r) { return ours(r, 0.5); }, false}};
    double successive_mean = 0;
    for (const Method& method : methods) {
      int near = 0, harmless = 0, count = 0;
      double behind = 0, worst = 0;
      for (const Row& row : cases_of_5_2(part)) {
        const double seconds = method.step(row), over = seconds / row.best() - 1;
        ++count;
        near += over <= 0.03 ? 1 : 0;
        harmless += seconds <= 1.02 * row.equal() ? 1 : 0;
        behind += over;
        std::string name = fmt::format("work {} on", row.work);
        for (const int k : row.competing) name += fmt::format(" {}", k);
        if (part == 1) add_sample(report, "nearest-neighbour", name, method.name, seconds);
        worst = std::max(worst, over);
      }
      behind /= count;
      if (method.name == "successive") successive_mean = behind;
      const bool is_good = near >= 106 && harmless == count && behind <= successive_mean;
      table.rows.push_back({percent(part), method.name, fmt::format("{} of {}", near, count),
                            fmt::format("{} of {}", harmless, count), percent(behind), percent(worst),
                            method.has_bar ? verdict(is_good) : "-"});
    }
  }
  report.add(table);
}

// ---- the whole loop

/// A program of 1000 steps on the nodes, all there from the beginning, that does what advise::decide_balance says;
/// steps are off by so much. The step that it ends with, without noise.
class Loop {
public:
  Loop(const Row& row, double noise, unsigned seed)
      : row_(row), noise_(noise), unit_(usual_step_s / row.equal()), engine_(seed) {
    BalanceRequest& r = subject_;
    r = request_of(row, 0);
    r.processes.clear();
    r.work_s = r.border_s = 0;
    r.m = 1;
    r.cols.assign(row.competing.size(), r.n / static_cast<std::int64_t>(row.competing.size()));
    r.cols[0] += r.n - std::accumulate(r.cols.begin(), r.cols.end(), std::int64_t{0});
    r.rows = {1};
    r.change = [](const advise::BalanceChoice& choice) {
      return advise::Cost{{{"exchange", choice.moved_elements > 0 ? change_s : 0}}};
    };
    order_.resize(row.competing.size());
    std::iota(order_.begin(), order_.end(), 0);
    memory_.grid_changed(0);
  }

  double run() {
    double gathered_s = 0;
    for (int step = 0; step < steps; ++step) {
      const double step_s = unit_ * step_of() * std::exp(noise_ * normal_(engine_));
      now_ += step_s;
      memory_.step(now_, step_s);
      if (now_ - gathered_s < 1) continue;
      gathered_s = now_;
      resize_point(steps - step - 1);
    }
    return step_of();
  }

private:
  static constexpr double usual_step_s = 0.2, change_s = 0.02;
  static constexpr int steps = 1000;

  double step_of() const {
    std::vector<double> work(row_.competing.size(), -1);
    for (std::size_t place = 0; place < order_.size(); ++place)
      work[at(order_[place])] = row_.work * static_cast<double>(subject_.cols[place]) / static_cast<double>(subject_.n);
    return row_.step(work);
  }

  void resize_point(int steps_left) {
    std::vector<advise::ProcessLoad> loads;
    const auto add = [&](int process, int place) {
      advise::ProcessLoad load;
      load.process = process + 1; // process 0 of an application stays, but each node may leave
      load.place = place;
      load.samples = 100;
      load.share = load.latest = 1.0 / (1 + row_.competing[at(process)]);
      load.held_s = now_;
      load.calm_s = row_.competing[at(process)] > 0 ? 0 : now_;
      loads.push_back(load);
    };
    for (std::size_t place = 0; place < order_.size(); ++place) add(order_[place], static_cast<int>(place));
    for (int k = 0; k < static_cast<int>(row_.competing.size()); ++k)
      if (std::count(order_.begin(), order_.end(), k) == 0) add(k, -1);
    memory_.take(std::move(loads), now_);
    memory_.outcome(now_);
    if (!memory_.is_due(now_)) return;
    subject_.steps_left = steps_left;
    const advise::BalanceDecision decision = advise::decide_balance(subject_, memory_, now_);
    const std::optional<advise::Balance>& balance = decision.balance;
    if (!balance || balance->action == advise::BalanceAction::stay) return;
    std::vector<int> order;
    for (const int k : balance->then.order) order.push_back(memory_.id_of(k) - 1);
    order_ = std::move(order);
    subject_.grid = balance->then.grid;
    subject_.cols = balance->then.cols;
    now_ += change_s;
    memory_.carried_out(decision, change_s, now_);
  }

  const Row row_;
  const double noise_, unit_; ///< seconds of the communication of a node
  std::mt19937 engine_;
  std::normal_distribution<> normal_;
  advise::BalanceMemory memory_;
  BalanceRequest subject_;
  std::vector<int> order_; ///< process at each place
  double now_ = 0;
};

void whole_loop(Report& report, double noise) {
  Table table{
      "[Weatherly2002] 5.2: the same cases, of whose steps nothing is known but how long they take",
      {"messages slowed by load", "noise", "within 3 % of best", "at most 2 % behind doing nothing", "mean behind best",
       "worst", "bar held"},
      {},
      "1000 steps of some 0.2 s; the step at the end, without noise. Best: brute force over all sets of nodes with "
      "their best shares."};
  for (const double part : {1.0, 0.5, 0.0}) {
    int near = 0, harmless = 0, count = 0;
    double behind = 0, worst = 0;
    for (const Row& row : cases_of_5_2(part)) {
      const double seconds = Loop(row, noise, static_cast<unsigned>(count)).run(), over = seconds / row.best() - 1;
      ++count;
      near += over <= 0.03 ? 1 : 0;
      harmless += seconds <= 1.02 * row.equal() ? 1 : 0;
      behind += over;
      worst = std::max(worst, over);
      std::string name = fmt::format("work {} on", row.work);
      for (const int k : row.competing) name += fmt::format(" {}", k);
      add_sample(report, "whole loop", fmt::format("{}, {} of messages", name, percent(part)), "ours", seconds);
    }
    table.rows.push_back({percent(part), percent(noise), fmt::format("{} of {}", near, count),
                          fmt::format("{} of {}", harmless, count), percent(behind / count), percent(worst),
                          verdict(near >= 106 && harmless == count)});
  }
  report.add(table);
}

void removal(Report& report) {
  struct Case {
    int nodes, n;
    double ratio;
    int competing;
    bool removed; ///< was measured to be faster
  };
  std::vector<Case> cases;
  for (int k = 1; k <= 3; ++k) cases.push_back({8, 512, 12, k, k > 1});
  for (int k = 1; k <= 3; ++k) cases.push_back({16, 512, 10, k, true});
  for (int k = 1; k <= 3; ++k) cases.push_back({8, 1024, 50, k, false});
  for (int k = 1; k <= 3; ++k) cases.push_back({16, 1024, 30, k, true});
  Table table{"[Weatherly2002] 5.5: SOR, one loaded node; is it left out?",
              {"nodes", "n", "ratio", "competitors", "with it", "without", "ours", "published", "same, or within 2 %"},
              {},
              "Seconds of a step in units of the communication of a node. Published: which was measured to be faster."};
  int same = 0;
  for (const Case& c : cases) {
    Row row{c.ratio, 1, std::vector<int>(at(c.nodes), 0), 1};
    row.competing[0] = c.competing;
    BalanceRequest r = request_of(row, 1);
    r.rules.gain = 0;
    const Balance b = advise::decide_balance(r);
    const unsigned all = (1U << c.nodes) - 1;
    const double with = row.best(all), without = row.best(all - 1);
    const bool removed = !b.leaves.empty();
    const bool is_good = removed == c.removed || std::abs(with / without - 1) < 0.02;
    same += removed == c.removed ? 1 : 0;
    table.rows.push_back({c.nodes, c.n, Cell(c.ratio, 3), c.competing, Cell(with, 4), Cell(without, 4),
                          removed ? "left out" : "stays", c.removed ? "left out" : "stays", verdict(is_good)});
  }
  report.add(table);
  report.text(fmt::format("{} of {} decisions are those that were measured.", same, cases.size()));
}

/// Three periods, a competitor on one of four nodes in the middle one; a decision at every step.
double jacobi_total(int period, double step_s, double change_s, int most_changes, int& changes) {
  std::vector<std::int64_t> cols(4, 25000);
  double total = 0;
  changes = 0;
  for (int step = 0; step < 3 * period; ++step) {
    const int competing = step / period == 1 ? 1 : 0;
    const Row row{4 * step_s, 1e-9, {competing, 0, 0, 0}};
    BalanceRequest r = request_of(row, 1);
    r.may_remove = false;
    r.cols = cols;
    r.steps_left = 3 * period - step;
    r.change = [&](const advise::BalanceChoice&) { return advise::Cost{{{"exchange", change_s}}}; };
    // five steps pass until a change is believed, as with A-MPI's monitoring period
    if (step % period >= 5 && changes < most_changes) {
      const Balance b = advise::decide_balance(r);
      if (b.action == advise::BalanceAction::rebalance) {
        cols = b.then.cols;
        total += b.then.change.total();
        ++changes;
      }
    }
    double slowest = 0;
    for (int k = 0; k < 4; ++k)
      slowest = std::max(slowest, 4 * step_s * static_cast<double>(cols[at(k)]) / 1e5 * (1 + row.competing[at(k)]));
    total += slowest;
  }
  return total;
}

void jacobi(Report& report) {
  // 2048 x 2048 on 4 nodes: 1.009 s and 0.736 s for the two redistributions, 6.4 % of a short run
  const double change_s = (1.009 + 0.7363) / 2, step_s = 2 * change_s / 0.064 / 150 / (22.0 / 21);
  Table table{
      "[Weatherly2002] Figure 5.4: Jacobi, four nodes, a competitor in the middle third",
      {"steps of a third", "never", "once", "twice", "ours", "changes", "ours over ideal", "bar of 1.05"},
      {},
      "Seconds. Ideal: at once and for nothing. Published: 16.7 % less by one change in the short run, the second "
      "wins less than 1 %;\n25.2 % less by two in the long one. Communication is left out here."};
  for (const int period : {50, 500}) {
    int changes = 0, ignored = 0;
    const double never = jacobi_total(period, step_s, change_s, 0, ignored);
    const double once = period * step_s * (1 + 8.0 / 7 + 8.0 / 7) + change_s,
                 twice = period * step_s * (1 + 8.0 / 7 + 1) + 2 * change_s;
    const double mine = jacobi_total(period, step_s, change_s, 100, changes);
    const double ideal = period * step_s * (1 + 8.0 / 7 + 1);
    for (const auto& [method, seconds] : {std::pair{"never", never}, std::pair{"once", once}, std::pair{"twice", twice},
                                          std::pair{"ours", mine}, std::pair{"ideal", ideal}})
      add_sample(report, "jacobi", fmt::format("{} steps of a third", period), method, seconds);
    // in the short run both changes together cost 5.5 % themselves
    table.rows.push_back(
        {period, Cell(never, 4), Cell(once, 4), Cell(twice, 4), Cell(mine, 4), changes, Cell(mine / ideal, 4),
         period == 500 ? verdict(mine <= 1.05 * ideal) : verdict(mine <= 1.02 * std::min(once, twice) + 5 * step_s)});
  }
  report.add(table);
}

/// Jacobi for 100 iterations, half of the nodes loaded from `iteration` on; a redistribution costs what `price`
/// iterations gain.
struct Figure10 {
  double stay, go; ///< in iterations alone
  bool moves;      ///< as gridmap decides

  Figure10(int nodes, int iteration, double price);
  double lost() const { return (moves ? go : stay) / std::min(go, stay) - 1; } ///< part of the quicker run
};

Figure10::Figure10(int nodes, int iteration, double price) {
  const double left = 100 - iteration, gain = 2 - 4.0 / 3;
  stay = iteration + 2 * left;
  go = iteration + left * (2 - gain) + price * gain;
  BalanceRequest r;
  r.grid = {nodes, 1};
  r.m = 1024;
  r.n = 1;
  r.work_s = nodes;
  r.is_weighted = true;
  r.may_remove = false;
  r.allowed = [](GridShape g) { return g.npcol == 1; };
  r.steps_left = 100 - iteration;
  r.change = [&](const advise::BalanceChoice&) { return advise::Cost{{{"exchange", price * gain}}}; };
  for (int k = 0; k < nodes; ++k) {
    BalanceProcess p;
    p.speed = k < nodes / 2 ? 1 : 0.5;
    p.place = k;
    r.processes.push_back(p);
  }
  moves = advise::decide_balance(r).action != advise::BalanceAction::stay;
}

void nine_decisions(Report& report) {
  Table table{
      "[MorrisLowenthal2001] Figure 10: Jacobi, a competitor on half of the nodes for the rest of 100 iterations",
      {"nodes", "from iteration", "stays", "redistributed", "ours", "lost", "right, or below 2 %"},
      {},
      "In iterations alone. Its seconds are not printed; a redistribution is taken to cost what 36, 37 and 44.2 "
      "iterations gain,\nso that at 60 both are close on 2 and 4 nodes, and on 8 staying is 2 % better, where "
      "SUIF-Adapt redistributed:\nits one wrong decision of nine."};
  int right = 0;
  for (const auto& [nodes, price] : {std::pair{2, 36.0}, std::pair{4, 37.0}, std::pair{8, 44.2}})
    for (const int iteration : {20, 60, 90}) {
      const Figure10 one(nodes, iteration, price);
      right += one.lost() == 0 ? 1 : 0;
      table.rows.push_back({nodes, iteration, Cell(one.stay, 4), Cell(one.go, 4), one.moves ? "redistributes" : "stays",
                            percent(one.lost()), verdict(one.lost() < 0.02)});
    }
  report.add(table);
  double worst = 0;
  int wrong = 0, cases = 0;
  for (const int nodes : {2, 4, 8})
    for (const int iteration : {20, 60, 90})
      for (double price = 0; price <= 100; price += 0.5, ++cases) {
        const double lost = Figure10(nodes, iteration, price).lost();
        worst = std::max(worst, lost);
        wrong += lost > 0 ? 1 : 0;
      }
  report.text(
      fmt::format("{} of 9 decisions are right; of {} at prices from nothing to the gain of 100 iterations {} are "
                  "wrong and lose at most {}.",
                  right, cases, wrong, percent(worst)));
  verdict(right >= 8);
  verdict(worst < 0.02 && wrong < cases / 30);
}

/// 8 nodes with 32 rows of 256 cells each; in the first 16 rows there are `count` particles in a cell, each of which
/// costs `particle` cells, in the others one in a row.
struct Crowd {
  double equal = 0, exact = 0, bound = 0; ///< of the busiest node, in cells: equal rows, the best whole rows, any parts

  Crowd(int count, double particle) {
    advise::ChainRequest chain;
    for (int row = 0; row < 256; ++row) chain.costs.push_back(row < 16 ? 256 * (1 + count * particle) : 256 + particle);
    chain.speeds.assign(8, 1);
    const auto sum = [&](int first, int end) {
      return std::accumulate(chain.costs.begin() + first, chain.costs.begin() + end, 0.0);
    };
    for (int k = 0; k < 8; ++k) equal = std::max(equal, sum(32 * k, 32 * (k + 1)));
    exact = advise::balance_chain(chain).seconds;
    bound = sum(0, 256) / 8;
  }
  double gain() const { return 1 - exact / equal; }
};

/// The least cost of a particle, in thousandths of a cell, with which whole rows can gain so much.
double least_cost(int count, double gain) {
  for (int k = 1; k < 1000; ++k)
    if (Crowd(count, 0.001 * k).gain() >= gain) return 0.001 * k;
  return 1;
}

void particles(Report& report) {
  Table table{
      "[Weatherly2002] 5.6: particles, 256 x 256 cells on 8 nodes, crowded in the first 16 rows",
      {"particles in a cell", "a particle costs (cells)", "equal rows", "exact", "bound", "gain", "published"},
      {},
      "What a particle costs beside its cell is not printed. The two values are the least with which whole rows "
      "can gain what is printed for 10 and for 50; no one value gives both. With the greater one both are "
      "reached."};
  constexpr std::array<std::pair<int, double>, 2> printed{{{50, 0.67}, {10, 0.22}}};
  const double less = least_cost(10, 0.22), more = least_cost(50, 0.67);
  for (const auto& [count, published] : printed)
    for (const double particle : {more, less}) {
      const Crowd crowd(count, particle);
      table.rows.push_back({count, Cell(particle, 3), Cell(crowd.equal, 5), Cell(crowd.exact, 5), Cell(crowd.bound, 5),
                            percent(crowd.gain()), percent(published)});
      if (particle == more) verdict(crowd.gain() >= published);
    }
  report.add(table);
}

} // namespace

int main(int argc, char** argv) {
  base::CommandLine cli(
      "Balance of loaded nodes in figures: gridmap's decisions beside A-MPI's methods and its published "
      "results, on a model of the nodes. Starts nothing. Status 1 when a bar is not held.",
      "bench_balance");
  std::string csv;
  double noise = -1;
  bool is_quick = false;
  cli.add_option("--csv", csv, "write every prediction to this file, one line each").type_name("FILE");
  cli.add_flag("--quick", is_quick, "changes nothing: it is quick");
  cli.add_option("--noise", noise,
                 "instead: the nearest-neighbour cases by the clock, for the BalanceMemory of advise, whose steps are "
                 "off by such "
                 "a part: what comes of what it measures itself")

      .check(base::in_range(0.0, 1.0))
      .type_name("PART");
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  try {
    Report report("bench_balance", csv);
    if (noise >= 0) {
      whole_loop(report, noise);
      return report.finish() && failures == 0 ? 0 : 1;
    }
    successive(report);
    nearest_neighbour(report);
    removal(report);
    jacobi(report);
    nine_decisions(report);
    particles(report);
    return report.finish() && failures == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_balance: %s\n", error.what());
    return 1;
  }
}
