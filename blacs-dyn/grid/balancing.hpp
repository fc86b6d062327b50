// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/balance_memory.hpp"
#include "control/balance_report.hpp"
#include "control/job_state.hpp"
#include "control/load_board.hpp"
#include "grid/control.hpp"
#include "grid/grid.hpp"
#include "grid/item_times.hpp"
#include "grid/load_reports.hpp"
#include "grid/machine_figures.hpp"
#include "grid/matrices.hpp"
#include "grid/matrix.hpp"
#include "grid/place.hpp"
#include "grid/settings.hpp"
#include "processes/names.hpp"
#include "processes/packet.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// Balances the processes by the shares of their processors that they get. Each process observes, the observations are
/// gathered at resize points, process 0 decides (advise::decide_balance), and all get its decision, which ResizePoints
/// carries out. docs/decisions/0048.
class Balancing {
public:
  /// control: of process 0; null on others.
  Balancing(Processes& processes, Settings& settings, Grid& grid, Matrices& matrices, const MachineFigures& machine,
            const std::unique_ptr<Control>& control)
      : processes_(processes), settings_(settings), grid_(grid), matrices_(matrices), machine_(machine),
        control_(control) {}

  /// The action of all processes, as process 0 has decided.
  struct Decision {
    enum class Kind : int { nothing, relayout, change };
    Kind kind = Kind::nothing;
    GridMap to;
    std::vector<int> ids;       ///< of processes that get another speed
    std::vector<double> speeds; ///< theirs
    std::string for_factors;    ///< name of a matrix that is being factored, which gets DYNGRID_ORDER_FACTOR
    control::BalanceMode mode = control::BalanceMode::off;
    control::BalanceReport report; ///< the last one that there is
  };

  /// A resize point. A step begins where it ends, and ends in the next one when all have come.
  class Point {
  public:
    explicit Point(Balancing& balancing) : balancing_(balancing) {}
    ~Point() { balancing_.point_left(); }
    Point(const Point&) = delete;
    Point& operator=(const Point&) = delete;

  private:
    Balancing& balancing_;
  };

  /// What steps are measured on.
  struct Seen {
    std::int64_t revision = -1; ///< of the matrices
    GridMap grid;
  };

  /// A factorization, from before its first resize point to its end. A step is one of its panels. Its length is scaled
  /// so that it equals that of the first panel where nothing has changed: panels get shorter as less of the matrix is
  /// left. Local.
  class Panels {
  public:
    Panels(Balancing& balancing, Matrix& matrix, const Place& place);
    ~Panels();
    Panels(const Panels&) = delete;
    Panels& operator=(const Panels&) = delete;
    void done(std::int64_t first, std::int64_t end); ///< a panel of these columns, since the last resize point
    /// All have come to the resize point after it: no process measures the panel shorter than the slowest one.
    void all_came();

  private:
    friend class Balancing;
    Balancing& balancing_;
    Matrix& matrix_;
    double size_ = 1;                  ///< of the last panel, in such panels
    std::int64_t left_ = -1;           ///< panels as long as the first one; -1: not known
    std::int64_t last_ = 0, next_ = 0; ///< columns: of the last panel, after it
    double first_ = 0;                 ///< work of the first panel; 0: none is done yet
    double begun_s_;                   ///< on process 0: of the step of the program that it is in
    Seen there_;                       ///< as of that
    std::int64_t known_;               ///< Balancing::seen_.revision, as of that
  };

  /// To the resize point that this process is in: the step has ended, which was that of the slowest. Local; once for
  /// each point, the first time counts.
  void all_came();
  std::uint64_t flags(); ///< PlaceWord::Flag of this process; local
  /// Collective over the grid. is_asked: the program wants a balance now, whatever the mode is.
  Decision exchange(bool is_asked = false);
  /// The decision is carried out, in change_s seconds. Local, on all that were asked.
  void carried_out(double change_s);
  void failed(const std::string& why);             ///< the same: it could not be
  void set_mode(control::BalanceMode mode);        ///< local, the same on all processes
  void while_asleep() { reports_.while_asleep(); } ///< a process of group 0 that sleeps, now and then
  void end() { reports_.end(); }                   ///< no thread is left; local
  // marked work of this process. @throws Error{bad_state, bad_argument}
  void work_begins() { reports_.work_begins(); }
  void work_ends(double units) { reports_.work_ends(units); }
  /// Records the times of rows or columns of this process. Local. @throws Error{bad_argument, not_found, unsupported}
  void work_items(const Matrix* a, const ItemTimes::Report& report);

  /// The last decision, with predicted and measured times; as of the last exchange. Local.
  const control::BalanceReport& last() const { return last_; }
  // for those that join
  void write(Packet& packet) const;
  void read(Packet& packet);
  void joined(double change_s); ///< the change that this process came by is done

  /// As of the last exchange. A process that calls this requests the gathering from here on. Local.
  const std::vector<advise::ProcessLoad>& requested_loads() {
    is_requested_here_ = true;
    return loads_;
  }
  Shape grid_of_loads() const { return grid_of_loads_; } ///< the grid then

private:
  struct Record;
  struct Asked { ///< on process 0: the processes that asked, and what came with it
    bool by_program = false;
    std::vector<std::vector<char>> items; ///< what rows and columns took, by place
    std::optional<control::BalanceQuestion> question;
    explicit operator bool() const { return by_program || question; }
    bool is_now() const { return by_program || (question && question->now); }
  };
  void point_left();
  void step_ended(double size);
  Seen seen_now() const { return {matrices_.revision(), processes_.process_set().grid}; }
  bool is_now(const Seen& seen) const;
  /// Each with the host of its process.
  std::vector<advise::ProcessLoad> with_hosts(const std::vector<advise::LoadFigures>& loads) const;
  /// Those of all on process 0, by place; none where it has no memory for them. Collective over the grid.
  std::vector<std::vector<char>> gather(const std::vector<char>& mine, const std::vector<std::int64_t>& sizes) const;
  void take_items(const std::vector<std::vector<char>>& items);
  Decision decide(const Asked& asked);
  void note(const advise::BalanceDecision& decided);
  void note_nothing(const std::string& why);
  advise::BalanceRequest subject() const;
  advise::Cost price(const advise::BalanceChoice& choice, std::int64_t mb, std::int64_t nb) const;
  const Matrix* may_get_factor_order() const;
  std::vector<double> speeds_on(const GridMap& map) const;
  std::optional<advise::Balance> factor_order(const advise::BalanceDecision& stays) const;
  GridMap map_of(const advise::BalanceChoice& choice, std::int64_t mb, std::int64_t nb) const;
  Decision decision_of(const advise::BalanceDecision& decided) const;
  Decision decision_for_factors() const;
  void publish(const advise::BalanceDecision& decided, bool is_done, bool is_asked);
  void publish_outcome();
  void print_unmeasured();
  void print_stopped();
  std::vector<int> ids() const;

  Processes& processes_;
  Settings& settings_;
  Grid& grid_;
  Matrices& matrices_;
  const MachineFigures& machine_;
  const std::unique_ptr<Control>& control_;
  LoadReports reports_{processes_, settings_};
  std::vector<advise::ProcessLoad> loads_; ///< of the grid; on process 0 of those that sleep, too
  Shape grid_of_loads_{};
  bool is_requested_here_ = false; ///< requested by this process's program
  control::BalanceReport last_;
  ItemTimes items_;
  Panels* panels_ = nullptr; ///< of the factorization that is under way
  bool is_doing_ = false;    ///< the decision of the last exchange is being carried out, and last_ is of it

  // of process 0
  advise::BalanceMemory memory_;
  double begun_s_ = -1; ///< of this step
  double gathered_s_ = -1e9;
  bool is_decision_near_ = false; ///< it may be another one in less than a second
  Seen seen_;
  std::optional<advise::BalanceDecision> doing_;
  control::BalanceReport tried_; ///< that was carried out last
  std::optional<control::BalanceQuestion> asked_;
  std::string advised_; ///< the last advice that was printed
  bool has_printed_unmeasured_ = false;
  std::map<int, double> printed_stop_s_; ///< seconds that were printed, by process
};

template <class Archive> void fields(Archive& a, Balancing::Decision& decision) {
  a(decision.kind, decision.to, decision.ids, decision.speeds, decision.for_factors, decision.mode, decision.report);
}

} // namespace blacs_dyn

namespace control {

template <class Archive> void fields(Archive& a, BalanceReport& r) {
  a(r.number, r.action, r.is_done, r.from, r.to, r.leaves, r.comes, r.before_s, r.after_s, r.change_s);
  a(r.measured_before_s, r.measured_after_s, r.measured_change_s, r.measured_steps, r.moved_elements, r.payoff_steps,
    r.steps, r.why);
}

} // namespace control
