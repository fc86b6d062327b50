// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/offer.hpp"
#include "advise/usual_time.hpp"
#include "advise/without.hpp"
#include "base/grid_shape.hpp"
#include "base/status.hpp"
#include "control/protocol.hpp"
#include "gridmap/placement.hpp"

namespace control {

class JobState;
struct ChangeReport;

/// What is requested, and by which side.
struct RequestedResize {
  enum class Origin { outside, experiment, undo };

  std::int64_t number = 0; ///< its identifier in other requests; 0: not from a client
  Origin origin = Origin::outside;
  Operation op = Operation::resize; ///< resize, grow, shrink, leave
  base::GridShape from, to;
  std::int64_t by = 0;                    ///< grow, shrink
  std::optional<advise::Offer> offer;     ///< grow: processors that may be taken
  std::vector<advise::OfferedHost> hosts; ///< those that are taken
  std::optional<gridmap::Strategy> form;  ///< the places of processors of different speed; advise::Form
  std::vector<std::int64_t> groups;       ///< leave: numbers of the groups that must not be in the grid
  advise::Without without;                ///< resize: processes that must not be in the grid
  bool force = false;
  bool undo = true; ///< a growth that measures slower is undone
  std::optional<gridmap::Placement> placement;
  std::optional<double> deadline; ///< on the clock of the caller
  std::string why;                ///< of Origin::undo, in words for people
  /// The last steps before it was taken for the first time: steps are longer while new processes start.
  advise::UsualTime steps_before;
};

/// A request for another grid, from its arrival to its answer. It comes from a client, from the job's own experiment,
/// or undoes a change that measured slower. While it waits, RequestQueue holds it. JobState::want returns it, and its
/// holder answers it once; one destroyed without an answer answers 'given up'. Answers are given on the application's
/// thread; the JobState outlives its requests.
class ResizeRequest : public RequestedResize {
public:
  ResizeRequest() = default;
  ResizeRequest(ResizeRequest&& other) noexcept;
  ResizeRequest& operator=(ResizeRequest&& other) noexcept;
  ~ResizeRequest();

  bool is_late() const { return is_late_; } ///< its deadline has passed, and that was reported
  bool is_growth() const { return to.size() > from.size(); }

  // ---- the answers
  void done(const ChangeReport& report, int parked, double now);
  void done_already(); ///< it is the present grid
  void refused(base::Status status, const std::string& why);
  void superseded(std::int64_t by_number);
  /// A request of the program itself comes first: this one waits for the next resize point.
  void put_off();

private:
  friend class JobState;
  friend class RequestQueue;
  /// The JobState that receives the answer; null when there is nothing to answer any more.
  JobState* answered() { return std::exchange(job_, nullptr); }

  bool is_late_ = false;
  JobState* job_ = nullptr; ///< while it is taken and has no answer
};

} // namespace control
