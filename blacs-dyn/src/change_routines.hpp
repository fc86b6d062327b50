// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "dyngrid.h"

namespace blacs_dyn {

/// The program's own routines, called before and after each change of the grid (dyngrid_on_change).
class ChangeRoutines {
public:
  /// Both null: forgets those that were given with this data. @throws Error{not_found}
  void add(dyngrid_change_routine before, dyngrid_change_routine after, void* data);
  void clear() { routines_.clear(); }

  /// What a routine throws is said, and stops nothing: the other processes go on.
  void call_before(); ///< the latest first
  void call_after();
  /// `before` was called and `after` not yet: what was taken down has to be built again.
  bool owes_after() const { return owes_after_; }

  /// What cannot be done inside a routine, or only not before the change. @throws Error{bad_state}
  void refuse_inside(const char* what, bool only_before = false) const;

private:
  struct Routine {
    dyngrid_change_routine before, after;
    void* data;
  };
  enum class Inside { nothing, before, after };

  std::vector<Routine> routines_;
  Inside inside_ = Inside::nothing; ///< which of them is running
  bool owes_after_ = false;
};

} // namespace blacs_dyn
