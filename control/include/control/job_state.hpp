// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "advise/decide.hpp"
#include "advise/trial.hpp"
#include "control/ask.hpp"
#include "control/call_report.hpp"
#include "control/event_log.hpp"
#include "control/job_books.hpp"
#include "control/load_board.hpp"
#include "control/protocol.hpp"
#include "control/request_queue.hpp"

namespace control {

struct JobInfo {
  std::string job, app, host, version;
  int pid = 0;
  std::string machine;      ///< machine_name()
  std::string history_file; ///< empty: no history
  int cores = 0;            ///< as Situation's
  int per_core = 0;
  bool undoes = true;                             ///< DYNGRID_DECIDE=undo=on|off
  std::string why_fixed;                          ///< why no client can change its grid; empty: clients can
  std::string checkpoint_file, checkpoint_signal; ///< of DYNGRID_CHECKPOINT; empty: not set
};

/// A change that was carried out, as the application reports it.
struct ChangeReport {
  ChangeCost cost;
  int woken = 0, released = 0, parked = 0;
  double total_s = 0;
  std::int64_t kept_bytes = 0;
};
Json to_json(const ChangeReport& report);

/// A checkpoint that a client requests at the next resize point.
struct CheckpointRequest {
  std::int64_t number = 0;
  bool ends = false; ///< and then the run ends
};

/// The properties of the matrices: change when the program makes or frees one.
struct Matrices {
  std::string size; ///< of the problem, for the history: "3*d2000x2000/64x64"
  std::int64_t bytes = 0;
  std::function<advise::Cost(base::GridShape, base::GridShape)> planned_exchange;
  std::function<base::GridShape(base::GridShape)> used_grid = {}; ///< see Situation
  std::string each = {}; ///< "2*d2000x2000/64x64+d2000x1/64x1@column": size, and where they lie; empty: as size
};

/// The time of a step; for a panel of a factorization also its size relative to the first one. It ended at `t`, in
/// seconds since the application began.
struct TimedStep {
  double step_s, size, t;
};

/// The state of this application on its process 0, shared by the application's thread and the listener's thread. The
/// first never waits for more than a few copies of the second. No MPI, no sockets: times are passed in, in seconds on
/// one clock.
class JobState {
public:
  JobState(JobInfo info, base::GridShape first_grid, double now);
  ~JobState();
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  // ---- the application's thread ----
  /// A resize point was reached: the step that began at the last one (or after the last change) has ended.
  void step_ended(double now);
  /// The next step begins: the resize point had nothing to do, or a change has ended.
  void step_begins(double now) {
    begun_ = now;
    is_in_step_ = true;
  }
  /// Steps of another kind follow until end_panels(): panels of a factorization. Each is recorded as one as long as the
  /// first, separate from the program's steps on each grid. The steps left are panels. of: the factorization, by which
  /// the records of the history are separated.
  void begin_panels(const std::string& of);
  /// Of the panel that ends next: its size relative to the first one, and how many panels as long as the first follow
  /// it; -1: not known.
  void panel(double size, std::int64_t left);
  void end_panels(); ///< the program's step that contains them goes on, unless the grid has changed
  /// Whether want() has a request. One atomic load.
  bool is_pending() const noexcept { return pending_.load(std::memory_order_acquire); }
  /// The request to carry out at this resize point, if any; its holder answers it.
  std::optional<ResizeRequest> want(double now);
  /// A change that no client requested: it was carried out, or failed.
  void changed(const ChangeReport& report, int parked, double now) { end_change(nullptr, report, parked, now); }
  void failed(base::GridShape to, base::Status status, const std::string& why) { end_failed(nullptr, to, status, why); }
  void set_matrices(Matrices matrices);
  /// The times of messages and copies, as measured in this run. Written to the history.
  void set_machine(const advise::Machine& figures);
  /// The same, of this run or else of earlier ones on this machine; else the default figures. Any thread.
  advise::Machine machine() const;
  void set_groups(std::vector<advise::GroupInfo> groups);
  /// Spare processes: `asleep` of them sleep, `starting` are being started.
  void set_warm(int asleep, int starting);
  /// npcol: of the grid that contains their places.
  void set_processes(std::vector<advise::ProcessInfo> processes, int npcol);
  void set_allowed(advise::Allowed allowed);
  void set_steps(std::int64_t steps);
  /// The program goes on from a checkpoint, written after that many steps.
  void restored(std::int64_t steps);
  void set_experiment(advise::Experiment experiment);
  /// A balance was carried out. Called again with the same number when its effect is known.
  void balanced(const BalanceReport& report);
  /// The time of a phase, or of a move between its layouts.
  void phase_took(const PhaseKey& phase, double seconds);
  /// The plan of the next cycles has changed, or is the first: members of the event "phases".
  void phases_planned(Json plan);
  PhaseTimes phases() const; ///< all recorded: of earlier runs and this one
  /// Requests one of these grids from the scheduler that watches, and sleeps until the reply. Empty: no reply within
  /// `patience_s` (below 0: no limit), or none can arrive any more. A granted grid stays requested until a change was
  /// carried out, or asks_no_more().
  std::optional<Grant> ask(const std::string& grids, bool waits, double patience_s);
  void asks_no_more();
  /// Writes the entries that are not in the history yet; a balance that is not judged yet only at the end. Any thread.
  void save_history(bool is_end = false);

  /// The number of steps left, -1: not known; and whether a grid is permitted. For the application's own decisions.
  std::int64_t steps_left() const;
  double seconds_left() const; ///< the time of the steps left on this grid; -1: not known
  advise::Allowed allowed() const;
  /// As advise::change_cost, with the planned time of the exchange.
  advise::Cost change_cost(base::GridShape to, const advise::Cost& planned) const;
  /// The requested checkpoint; it stays until it is taken. One atomic load where there is none.
  std::optional<CheckpointRequest> requested_checkpoint() const;
  std::optional<CheckpointRequest> take_checkpoint();
  void checkpointed(const CheckpointRequest& request, const std::string& path, const std::string& failure);
  LoadBoard board; ///< loads and balances: both threads
  /// Called before the listener's thread starts. `calls` outlives this.
  void show_calls(const CallsBoard& calls) { calls_ = &calls; }

  // ---- the listener's thread ----
  /// with_processes: also the position of each process.
  Json status(double now, bool with_processes = false) const;
  /// One page of it, from this entry on: "next" is the first entry of the next page, null after the last.
  Json history(std::int64_t from = 0) const;
  Json calls() const;
  /// resize, grow, shrink, leave: reply fields. When accepted, "request" is the number.
  Json submit(const Request& request, double now);
  Json offer(const Request& request) const;
  /// A scheduler's reply to this job's request for a grid.
  /// @throws Error{bad_state} when there is no request, or it has a reply already.
  Json grant(const Request& request);
  Json cancel(const Request& request);
  /// Requests a decision whether to redistribute the work: "request" is the number of the later answer.
  Json balance(const Request& request);
  /// A checkpoint at the next resize point: the same.
  Json checkpoint(const Request& request);
  void look_at_deadlines(double now);
  /// The next deadline, on the clock; empty when there is none.
  std::optional<double> next_deadline() const;
  /// Events since the last call, oldest first. Steps only when a client `wants_steps`.
  std::vector<Json> take_events();
  void want_steps(bool requested);
  /// The listener's thread ends before the application: ask() returns empty, one that waits too.
  void answers_no_more();
  const JobInfo& info() const { return info_; }
  /// Called, from the application's thread, when there are events to send at once.
  std::function<void()> wake;

private:
  friend class ResizeRequest; // its answers
  void end_change(const ResizeRequest* request, const ChangeReport& report, int parked, double now);
  void end_failed(const ResizeRequest* request, base::GridShape to, base::Status status, const std::string& why);
  void end_unchanged(const ResizeRequest& request);
  void end_superseded(const ResizeRequest& request, std::int64_t by);
  void take_back(ResizeRequest request);
  void give_up(const ResizeRequest& request) noexcept;

  /// With the first step on this grid where there is no other. The caller has the lock
  advise::StepTable steps_by_grid() const;
  std::optional<advise::Machine> figures() const; ///< of this run or else of earlier ones; the same
  advise::Situation situation() const;            ///< the caller has the lock
  void refuse_undone(const advise::Situation& here, advise::Decision& decision) const;
  void post(Json event);  ///< the same
  void drop_ask();        ///< the same
  int kept() const;       ///< the same
  void tell_of_waiting(); ///< the same
  void outcome(std::int64_t number, const char* what, Json more);
  ResizeRequest hand_out(ResizeRequest request);
  std::optional<ResizeRequest> own_request(ResizeRequest::Origin origin, base::GridShape to);
  /// Calls it with the lock, then wakes the listener's thread.
  template <class Report> void tell(Report&& report);
  void no_longer_under_way(std::int64_t number); ///< the caller has the lock
  std::optional<ResizeRequest> experiment_wants();
  void experiment_goes_on(const ResizeRequest& request);
  void judge_trial();
  void end_trial();
  void add_owed();
  void add_step(const TimedStep& step);
  void open_book(const std::string& size, const std::string& panels_of);
  JobBook& book_of_changes() { return outside_ ? *outside_->book : *book_; }
  std::int64_t left() const; ///< the caller has the lock
  void settle();             ///< sets is_pending()

  const JobInfo info_;
  const base::GridShape first_grid_;
  const double started_;
  double begun_ = 0; ///< of this step; the application's thread only
  bool is_in_step_ = false;
  const CallsBoard* calls_ = nullptr;
  std::atomic<bool> pending_{false};
  std::atomic<bool> is_checkpoint_requested_{false};

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  bool has_no_listener_ = false; ///< any more
  std::optional<Ask> ask_;
  std::optional<Grant> grant_; ///< the answer to it
  std::int64_t last_ask_ = 0;
  base::GridShape grid_;
  int parked_ = 0;
  std::int64_t step_ = 0; ///< steps ended, those before a restart too
  std::optional<double> last_step_s_;
  advise::Stay stay_;
  advise::UsualTime recent_{advise::TrialRules().most}; ///< its steps that count
  std::optional<advise::Trial> trial_;                  ///< a growth that may be undone
  struct Back {
    base::GridShape to;
    std::string why;
  };
  std::optional<Back> back_; ///< the planned way back
  /// Numbers of clients' requests that the application carries out: a newer one may arrive at a resize point while a
  /// growth waits for its processes.
  std::vector<std::int64_t> under_way_;
  struct Undone {
    double step_s = 0; ///< on that grid
    std::string why;
  };
  std::map<base::GridShape, Undone> undone_; ///< grids that were undone as slower in this run
  /// Steps that could not be added because the other thread had the lock; the application's thread only.
  std::vector<TimedStep> owed_;
  std::int64_t steps_ = 0;
  advise::Allowed allowed_;
  std::vector<advise::GroupInfo> groups_;
  int warm_ = 0, warm_starting_ = 0;
  std::vector<advise::ProcessInfo> processes_;
  int npcol_ = 1; ///< of their grid
  RequestQueue queue_;
  std::optional<CheckpointRequest> checkpoint_;
  std::string size_ = "-";
  std::int64_t matrix_bytes_ = 0;
  std::string each_matrix_ = "-";           ///< Matrices::each
  std::optional<advise::Machine> measured_; ///< in this run
  std::optional<advise::Machine> unsaved_machine_;
  std::function<advise::Cost(base::GridShape, base::GridShape)> planned_exchange_;
  std::function<base::GridShape(base::GridShape)> used_grid_;
  JobBooks books_;
  JobBook* book_; ///< the one of size_ and panels_of_
  /// Of the program's steps, during panels.
  struct Outside {
    JobBook* book;
    bool is_same_grid;
    double begun;
    bool is_in_step;
    advise::Stay stay;
  };
  std::optional<Outside> outside_;
  std::string panels_of_;
  double panel_size_ = 1;         ///< the application's thread only
  std::int64_t panels_left_ = -1; ///< in panels as long as the first
  struct LastChange {
    ChangeReport report;
    double at; ///< seconds after the beginning
  };
  std::optional<LastChange> last_change_;
  std::optional<advise::Experiment> experiment_;
  std::size_t tried_ = 0;
  bool has_asked_ = false; ///< for the present grid of the experiment
  bool is_moving_ = false; ///< its last request has no answer yet
  struct Tried {
    base::GridShape grid;
    double step_s = 0; ///< on average, in the experiment
  };
  std::optional<Tried> quickest_; ///< of the grids that were tried
  EventLog events_;
};

} // namespace control
