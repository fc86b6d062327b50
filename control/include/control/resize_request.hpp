// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "control/offer.hpp"
#include "control/protocol.hpp"
#include "control/without.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/topology.hpp"

namespace control {

class JobState;
struct ChangeReport;

/// A request for another grid, from its arrival to its answer: of somebody outside, of the job's own experiment, or to
/// take a change back that measured slower. While it waits it is RequestQueue's. JobState::want hands it out, and who
/// has it then answers it once; one that dies without an answer answers 'given up'. Answers are given on the
/// application's thread; the JobState outlives its requests.
class ResizeRequest {
public:
  enum class Origin { outside, experiment, undo };
  enum class State { waiting, taken, answered };

  ResizeRequest() = default;
  ResizeRequest(ResizeRequest&& other) noexcept;
  ResizeRequest& operator=(ResizeRequest&& other) noexcept;
  ~ResizeRequest();

  std::int64_t number = 0; ///< by which others speak of it; 0: not from outside
  Origin origin = Origin::outside;
  Operation op = Operation::resize; ///< resize, grow, shrink, leave
  gridmap::GridShape from, to;
  std::int64_t by = 0;                   ///< grow, shrink
  std::optional<Offer> offer;            ///< grow: processors that may be taken
  std::vector<OfferedHost> hosts;        ///< of them those that are
  std::optional<gridmap::Strategy> form; ///< who stands where among processors of different speed
  std::vector<std::int64_t> groups;      ///< leave: numbers of the groups that must not be in the grid
  Without without;                       ///< resize: processes that must not be in the grid
  bool force = false;
  bool undo = true; ///< a growth that measures slower is taken back
  std::optional<gridmap::Placement> placement;
  std::optional<double> deadline; ///< on the clock of the caller
  std::string why;                ///< of Origin::undo, in words for people
  /// The last steps before it was taken for the first time: those that new processes start beside are longer.
  std::vector<double> steps_before;

  State state() const { return state_; }
  bool is_late() const { return is_late_; } ///< its deadline has passed, and that was told
  bool is_growth() const { return to.size() > from.size(); }

  // ---- the answers
  void done(const ChangeReport& report, int parked, double now);
  void done_already(); ///< the grid is that one
  void refused(base::Status status, const std::string& why);
  void superseded(std::int64_t by_number);
  /// The program itself wanted something else first: it waits for the next resize point.
  void put_off();

private:
  friend class JobState;
  friend class RequestQueue;
  JobState* answered(); ///< whom to tell; null when that was done before

  State state_ = State::waiting;
  bool is_late_ = false;
  JobState* job_ = nullptr; ///< while it is taken
};

} // namespace control
