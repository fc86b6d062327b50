// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "dyngrid.h"
#include "dyngrid/factor.h"

namespace blacs_dyn {

/// The program's own routines, called before and after each change of the grid (dyngrid_on_change), and after each
/// panel of a factorization (dyngrid_on_panel).
class ChangeRoutines {
public:
  enum class Inside { nothing, before, after, panel };

  /// Both null: forgets those that were given with this data. @throws Error{not_found}
  void add(dyngrid_change_routine before, dyngrid_change_routine after, void* data);
  void set_on_panel(dyngrid_panel_routine routine, void* data) { on_panel_ = {routine, data}; }
  void clear();

  /// An error that a routine throws is printed, and stops nothing: the other processes go on.
  void call_before(); ///< the latest first
  void call_after();
  void call_on_panel(const dyngrid_panel& panel);
  /// `before` was called and `after` not yet: what was taken down has to be built again.
  bool owes_after() const { return owes_after_; }

  /// Refuses a call that is not allowed inside a routine of these kinds. @throws Error{bad_state}
  void refuse_inside(const char* what,
                     std::initializer_list<Inside> kinds = {Inside::before, Inside::after, Inside::panel}) const;

private:
  struct Routine {
    dyngrid_change_routine before, after;
    void* data;
    std::int64_t number; ///< of no other one, known or forgotten
  };
  struct PanelRoutine {
    dyngrid_panel_routine routine = nullptr;
    void* data = nullptr;
  };

  bool is_known(const Routine& routine) const;

  std::vector<Routine> routines_;
  std::int64_t last_number_ = 0;
  PanelRoutine on_panel_;
  Inside inside_ = Inside::nothing; ///< which of them is running
  bool owes_after_ = false;
};

} // namespace blacs_dyn
