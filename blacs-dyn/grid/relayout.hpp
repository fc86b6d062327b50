// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <vector>

#include "grid/resize.hpp"

namespace blacs_dyn {

class Copier;
class ProgramPosition;

/// New layouts on the current grid: matrices move, no process joins or leaves, and contexts stay open. Collective over
/// the grid; on a process that is not in it yet, a change of what it declared. @return a dyngrid_outcome. @throws
/// agreed Error, all as before.
class Relayout {
public:
  Relayout(const Resize::Parts& parts, ProgramPosition& program_position, Copier& copier)
      : parts_(parts), program_position_(program_position), copier_(copier) {}

  int all(); ///< asks all rules again
  /// The matrix in these blocks, or by these rules, from here on, on every grid; its lengths stay. wants_rule: blocks
  /// alone are refused.
  int one(const char* routine, Matrix* matrix, AxisRule rows, AxisRule cols, bool wants_rule = false);
  /// Frees what is kept for the next time on this grid. Local.
  void forget() { spare_.clear(); }

private:
  std::vector<Matrix*> those_that_move(const char* routine, const std::vector<Matrix*>& asked,
                                       const std::function<void()>& check) const;
  int carry_out(const char* routine, const std::vector<Matrix*>& asked, const std::function<void()>& check);
  void move(std::vector<Matrix*> moving);

  const Resize::Parts parts_;
  ProgramPosition& program_position_;
  Copier& copier_;
  redist::SharedArray spare_; ///< layouts that change often would wait for fresh pages longer than for their data
};

} // namespace blacs_dyn
