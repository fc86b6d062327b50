// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "grid/balancing.hpp"
#include "grid/matrices.hpp"
#include "grid/resize_points.hpp"
#include "pblas/factorization.hpp"

namespace blacs_dyn {

class Checkpoints;

/// dyngrid_lu and dyngrid_cholesky: a factorization of a registered matrix, each of whose panels is a resize point.
/// What is known of it between two panels is shared state while it runs, so those that join or wake take it up.
///
/// A panel is factored while the matrix is still updated with the one before. Where a resize point finds something to
/// do, that panel is finished first, without another one ahead: a step later the matrix is whole and may move.
class Factoring {
public:
  struct Asked {
    const char* routine;
    Matrix* matrix;
    pblas::FactorKind kind;
    int options;           ///< DYNGRID_GIVE_BACK
    bool has_place = true; ///< for what comes out
  };
  /// What it works on.
  struct Parts {
    const Grid& grid;
    Registered& registered;
    Checkpoints& checkpoints;
    Balancing& balancing;
    Changes& changes;
    ResizePoints& points;
  };
  Factoring(const Parts& parts, const Asked& asked);

  /// Collective over the grid. @return a dyngrid_outcome: resized when the grid is another one than at the beginning.
  /// @throws agreed Error before anything was factored. A change that fails is printed, and the factorization goes on.
  int run();
  const pblas::Progress& progress() const { return progress_; }

private:
  class InShared;
  void check() const;
  void make_room();
  void agree();
  bool come_to_panel();
  void save_if_due();
  bool act(ResizePoints::Findings found);
  void give_back();
  void do_panel();
  void step();
  bool is_whole() const { return !steps_ || steps_->is_whole(); }
  bool is_done() const;
  void write_shared();
  void read_shared();

  const Parts parts_;
  Asked asked_;
  Place place_;
  pblas::Progress progress_;
  std::vector<std::int64_t> shared_state_; ///< sent to those that join, by Slot
  std::unique_ptr<pblas::Factorization> steps_;
  bool has_looked_ = false; ///< whether something is requested before this panel
  int came_of_point_ = 0;   ///< of the one before this panel: an outcome, or a status
  bool must_save_ = false;  ///< a checkpoint is due when the matrix is whole
  std::optional<Balancing::Panels> panels_;
  std::optional<ResizePoints::Findings> found_; ///< to be done when the matrix is whole
  Shape given_back_;                            ///< down to which grid, asked for last
  int outcome_ = 0;
};

} // namespace blacs_dyn
