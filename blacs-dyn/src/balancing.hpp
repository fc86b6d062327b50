// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/balancer.hpp"
#include "control/load_board.hpp"
#include "control/load_monitor.hpp"
#include "processes/process_set.hpp"

namespace blacs_dyn {

class Application;

/// What the processes get of their processors, and what is done about it: a monitor in each process, its figures handed
/// over at resize points, and on process 0 the decision. docs/decisions/0048.
class Balancing {
public:
  explicit Balancing(Application& app) : app_(app) {}

  /// What all processes do, as process 0 has decided.
  struct Verdict {
    enum class Kind : int { nothing, relayout, change };
    Kind kind = Kind::nothing;
    GridMap to;
    std::vector<int> ids;       ///< of processes that get another speed
    std::vector<double> speeds; ///< theirs
    control::BalanceMode mode = control::BalanceMode::off;
  };

  /// A resize point, from the arrival to its end: what lies between two of them is a step.
  class Point {
  public:
    explicit Point(Balancing& balancing) : balancing_(balancing) { balancing_.point_reached(); }
    ~Point() { balancing_.point_left(); }
    Point(const Point&) = delete;
    Point& operator=(const Point&) = delete;

  private:
    Balancing& balancing_;
  };

  std::uint64_t flags();                    ///< PlaceWord::Flag of this process; local
  Verdict exchange();                       ///< collective over the grid
  int lay_out_anew(const GridMap& to);      ///< collective; a dyngrid_outcome. @throws agreed Error
  void carried_out();                       ///< process 0: the verdict is carried out; local
  void failed(const std::string& why);      ///< the same: it could not be
  void set_mode(control::BalanceMode mode); ///< local, the same on all processes
  void while_asleep();                      ///< a process of group 0 that sleeps, now and then
  void end();                               ///< no thread is left; local

  /// As of the last exchange; who asks wants them to be gathered from here on. Local.
  const std::vector<control::ProcessLoad>& wanted_loads() {
    is_wanted_here_ = true;
    return loads_;
  }

private:
  struct Record;
  void point_reached();
  void point_left();
  void start_monitor();
  control::ProcessLoad own_load() const;
  void hear_sleepers(std::vector<control::ProcessLoad>& loads) const;
  Verdict consider(const std::optional<control::BalanceQuestion>& question);
  control::BalanceSubject subject() const;
  gridmap::Cost price(const gridmap::BalanceChoice& choice) const;
  GridMap map_of(const gridmap::BalanceChoice& choice) const;
  Verdict verdict_of(const gridmap::Balance& balance) const;
  void say(const gridmap::Balance& balance, bool is_done);
  void say_outcome();
  std::vector<int> ids() const;

  Application& app_;
  control::LoadMonitor::Pointer monitor_;
  bool is_monitored_ = false; ///< somebody wants it: the same on all processes of the grid
  std::vector<control::ProcessLoad> loads_;
  bool is_wanted_here_ = false; ///< by this process's program
  bool is_asleep_ = false;
  double told_asleep_s_ = 0; ///< a sleeper's: when it told its load, and which
  control::ProcessLoad told_;

  // of process 0
  control::Balancer balancer_;
  double begun_s_ = -1; ///< of this step
  double gathered_s_ = -1e9;
  std::int64_t revision_ = -1; ///< of the matrices
  GridMap grid_;
  mutable std::vector<control::ProcessLoad> asleep_; ///< what was last heard of those that sleep
  std::optional<gridmap::Balance> doing_;
  std::optional<control::BalanceQuestion> asked_;
  std::string advised_; ///< what was said last
};

template <class Archive> void fields(Archive& a, Balancing::Verdict& verdict) {
  a(verdict.kind, verdict.to, verdict.ids, verdict.speeds, verdict.mode);
}

} // namespace blacs_dyn
