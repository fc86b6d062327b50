// SPDX-License-Identifier: BSD-3-Clause
#include "control/job_books.hpp"

#include <utility>

#include "keep_last.hpp"

namespace control {
void JobBook::add_step(base::GridShape grid, double step_s) {
  known_.steps[grid].add(step_s);
  unsaved_.steps[grid].add(step_s);
}

void JobBook::leave(base::GridShape grid, std::optional<double> cold_s) {
  if (cold_s && known_.steps[grid].count == 0) add_step(grid, *cold_s);
  const auto at = known_.steps.find(grid);
  if (at != known_.steps.end() && at->second.count == 0) known_.steps.erase(at);
}

void JobBook::know_change(const ChangeCost& cost) {
  known_.totals.add(cost);
  add_last(known_.changes, cost, most_kept);
  if (cost.spawned != 0) add_last(known_.spawns, cost, most_kept);
}

void JobBook::write_change(const ChangeCost& cost) {
  add_last(unsaved_.changes, cost, most_kept);
}

void JobBook::know_changes_of(const JobBook& other) {
  known_.changes = other.known_.changes;
  known_.spawns = other.known_.spawns;
  known_.totals = other.known_.totals;
}

void JobBook::add_balance(const BalanceReport& report) {
  for (std::vector<BalanceReport>* list : {&unsaved_.balances, &known_.balances}) {
    if (report.measured_steps == 0)
      list->push_back(report);
    else if (!list->empty() && list->back().number == report.number && list->back().measured_steps == 0)
      list->back() = report;
    keep_last(*list, JobBook::most_kept);
  }
}

void JobBook::add_phase(const PhaseKey& phase, double seconds) {
  if (known_.phases.size() >= most_phase_times && known_.phases.count(phase) == 0) return;
  StepTimes& known = known_.phases[phase];
  known.forget_beyond(remembered_steps);
  known.add(seconds);
  unsaved_.phases[phase].add(seconds);
}

JobBook& JobBooks::open(const std::string& size, History known) {
  const auto [at, is_new] = books_.try_emplace(size);
  if (is_new) at->second.known_ = std::move(known);
  return at->second;
}

JobBook& JobBooks::scratch(bool is_of_panels, const JobBook& before) {
  JobBook blank;
  blank.known_.spawns = before.known_.spawns;
  blank.known_.machine = before.known_.machine;
  return scratch_[is_of_panels ? 1 : 0] = std::move(blank);
}

std::map<std::string, HistoryEntries> JobBooks::take_unsaved(bool is_end) {
  std::map<std::string, HistoryEntries> parts;
  for (auto& [size, book] : books_) {
    HistoryEntries& unsaved = book.unsaved_;
    const bool is_open = !is_end && !unsaved.balances.empty() && unsaved.balances.back().measured_steps == 0;
    const auto open = unsaved.balances.end() - (is_open ? 1 : 0);
    if (unsaved.steps.empty() && unsaved.changes.empty() && unsaved.phases.empty() && open == unsaved.balances.begin())
      continue;
    std::vector<BalanceReport> still_open(open, unsaved.balances.end());
    unsaved.balances.erase(open, unsaved.balances.end());
    parts[size] = std::exchange(unsaved, {{}, {}, std::move(still_open), {}});
  }
  return parts;
}

void JobBooks::put_back(const std::string& size, const HistoryEntries& part) {
  HistoryEntries& unsaved = books_[size].unsaved_;
  for (const auto& [shape, times] : part.steps) unsaved.steps[shape].add(times);
  for (const auto& [phase, times] : part.phases) unsaved.phases[phase].add(times);
  auto& changes = unsaved.changes;
  changes.insert(changes.begin(), part.changes.begin(), part.changes.end());
  keep_last(changes, JobBook::most_kept);
  auto& balances = unsaved.balances;
  balances.insert(balances.begin(), part.balances.begin(), part.balances.end());
  keep_last(balances, JobBook::most_kept);
}

} // namespace control
