// SPDX-License-Identifier: BSD-3-Clause
// A running application's records for its history: one for each size of its problem, and one for the panels of each
// kind of factorization.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "control/history.hpp"

namespace control {

/// Of changes and balances the last `most_kept` are stored, however long the job runs. Pure.
class JobBook {
public:
  static constexpr std::size_t most_kept = 400;
  const History& known() const { return known_; } ///< of earlier runs and of this one
  void add_step(base::GridShape grid, double step_s);
  /// Before a change: the first step on the old grid counts where there was no other.
  void leave(base::GridShape grid, std::optional<double> cold_s);
  void know_change(const ChangeCost& cost);
  void know_changes_of(const JobBook& other); ///< instead of its own: the cost of a change does not depend on the
                                              ///< record
  void write_change(const ChangeCost& cost);
  /// A balance was carried out. Called again with the same number when its effect is known.
  void add_balance(const BalanceReport& report);
  void add_phase(const PhaseKey& phase, double seconds);

private:
  friend class JobBooks;
  History known_;
  HistoryEntries unsaved_; ///< not in the history's file yet
};

/// Records are never closed: a reference to one stays valid. Pure.
class JobBooks {
public:
  bool has(const std::string& size) const { return books_.count(size) > 0; }
  /// A program that makes and frees matrices all the time has an unlimited number of sizes.
  bool is_full() const { return books_.size() >= most_sizes; }
  /// The record of this size; created from the history of earlier runs where there is none.
  JobBook& open(const std::string& size, History known);
  /// A blank record that is never written, for a size beyond those: one for steps, one for panels. What does not depend
  /// on the size is as in `before`. The reference stays valid, its content until the next call for the same.
  JobBook& scratch(bool is_of_panels, const JobBook& before);
  /// The entries to write now, by size. A balance that is not judged yet waits until the end.
  std::map<std::string, HistoryEntries> take_unsaved(bool is_end);
  /// The write failed: the next take_unsaved() returns it again.
  void put_back(const std::string& size, const HistoryEntries& part);

private:
  static constexpr std::size_t most_sizes = 64;
  std::map<std::string, JobBook> books_;
  std::array<JobBook, 2> scratch_;
};

} // namespace control
