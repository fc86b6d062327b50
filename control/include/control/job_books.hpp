// SPDX-License-Identifier: BSD-3-Clause
// What a running application keeps for its history: a book for each size of its problem, and for the panels of each
// kind of factorization.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/history.hpp"

namespace control {

/// What the history's file does not have yet of one book.
struct UnsavedHistory {
  std::string size; ///< of the problem, as in HistoryKey
  std::map<std::pair<int, int>, StepTimes> steps;
  std::vector<ChangeCost> changes;
  std::vector<BalanceReport> balances;
  PhaseTimes phases;
};

/// Of changes and balances the last `most_kept` are kept, however long the job runs. Pure.
class JobBook {
public:
  static constexpr std::size_t most_kept = 400;
  const History& known() const { return known_; } ///< of earlier runs and of this one
  void add_step(gridmap::GridShape grid, double step_s);
  /// Before a change: the first step on the grid that is left counts where there was no other.
  void leave(gridmap::GridShape grid, std::optional<double> cold_s);
  void know_change(const ChangeCost& cost);
  void know_changes_of(const JobBook& other); ///< instead of its own: a change costs what it costs
  void write_change(const ChangeCost& cost);
  /// A balance was carried out; again with the same number when it is known what it brought.
  void add_balance(const BalanceReport& report);
  void add_phase(const PhaseKey& phase, double seconds);

private:
  friend class JobBooks;
  History known_;
  UnsavedHistory unsaved_;
};

/// Books are never closed: a reference to one stays good. Pure.
class JobBooks {
public:
  bool has(const std::string& size) const { return books_.count(size) > 0; }
  /// A program that makes and frees matrices all the time has no end of sizes.
  bool is_full() const { return books_.size() >= most_sizes; }
  /// The one of this size; made of what earlier runs knew where there is none.
  JobBook& open(const std::string& size, History known);
  /// What is to be written now. A balance that is not judged yet stays until the end.
  std::vector<UnsavedHistory> take_unsaved(bool is_end);
  /// It could not be written: the next take_unsaved() has it again.
  void put_back(const UnsavedHistory& part);

private:
  static constexpr std::size_t most_sizes = 64;
  std::map<std::string, JobBook> books_;
};

} // namespace control
