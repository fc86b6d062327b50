// SPDX-License-Identifier: BSD-3-Clause
// dyngrid for C++17: objects that own what dyngrid.h hands out. Header only; the library itself exports C, so that a
// program and the library may come from different compilers. Statuses become dyngrid::Error. "Collective" means what it
// means in dyngrid.h.
#ifndef DYNGRID_HPP
#define DYNGRID_HPP

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/calls.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "dyngrid/gridmap.h"
#include "dyngrid/layout.h"
#include "dyngrid/phases.h"
#include "dyngrid/pool.h"
#include "dyngrid/redist.h"

namespace dyngrid {

/// A status below 0 with its text. Of a collective call all processes throw the same one.
class Error : public std::runtime_error {
public:
  Error(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int status() const noexcept { return status_; } ///< DYNGRID_ERR_*

private:
  int status_;
};

namespace detail {
/// The reason of an error that only this process knows: a rule threw, or an argument is wrong here. The C routine
/// reports the error on all processes, and the Error of this one has this text besides.
inline std::string& reason_here() {
  thread_local auto* const text = new std::string; // never destroyed: the program's globals may end after it
  return *text;
}
inline std::string last_message() {
  const std::string text = std::exchange(reason_here(), {});
  return text.empty() ? dyngrid_last_message() : dyngrid_last_message() + (": " + text);
}
} // namespace detail

/// Throws what a C routine reported; otherwise returns its status or outcome.
inline int check(int status) {
  if (status < 0) throw Error(status, detail::last_message());
  detail::reason_here().clear();
  return status;
}

enum class Outcome {
  same = DYNGRID_SAME,
  resized = DYNGRID_RESIZED,
  leave = DYNGRID_LEAVE,
  redirect = DYNGRID_REDIRECT
};
enum class Placement {
  optimal = DYNGRID_OPTIMAL,
  global = DYNGRID_GLOBAL,
  local1 = DYNGRID_LOCAL1,
  local2 = DYNGRID_LOCAL2
};
enum class Schedule {
  automatic = DYNGRID_SCHEDULE_AUTO,
  caterpillar = DYNGRID_SCHEDULE_CATERPILLAR,
  circulant = DYNGRID_SCHEDULE_CIRCULANT,
  matching = DYNGRID_SCHEDULE_MATCHING,
  async = DYNGRID_SCHEDULE_ASYNC
};

/// Shape of the current grid and this process's place in it; all -1 outside.
struct Grid {
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  bool is_mine() const noexcept { return myrow >= 0; }
};

/// The application that this process belongs to, from dyngrid_init to dyngrid_finalize. One at a time, declared before
/// matrices and shared variables, so that it ends after them.
class Application {
public:
  /// Collective over MPI_COMM_WORLD. @throws Error
  Application() { check(dyngrid_init()); }
  Application(int nprow, int npcol) { check(dyngrid_init_grid(nprow, npcol)); }
  /// A pool: see dyngrid_init_on. Collective over comm, which new processes ignore. @throws Error
  Application(MPI_Comm comm, const std::string& pool) { check(dyngrid_init_on(comm, pool.c_str())); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  /// Ends dyngrid when finalize() was not called; not while an exception unwinds, since the other processes may not
  /// come: a leak can be counted, a hang cannot.
  ~Application() {
    if (is_open_ && std::uncaught_exceptions() == exceptions_) dyngrid_finalize();
  }
  /// Collective over the current grid. @throws Error
  void finalize() {
    is_open_ = false;
    check(dyngrid_finalize());
  }

  /// Name of this process's pool, "" where it is in none; on a new process also before the application begins. Local.
  static std::string pool() { return dyngrid_pool(); }
  bool is_newcomer() const { return dyngrid_is_newcomer() != 0; }
  bool is_first() const { return dyngrid_is_first() != 0; } ///< at (0,0): this process prints and has the files open
  int context() const { return dyngrid_context(); } ///< BLACS context, -1 outside the grid; new after every change
  MPI_Comm comm() const { return dyngrid_comm(); }  ///< borrowed, good until the next change
  int depth() const { return dyngrid_depth(); }
  Grid grid() const {
    Grid g;
    check(dyngrid_grid(&g.nprow, &g.npcol, &g.myrow, &g.mycol));
    return g;
  }

  /// The place where the grid may change: the line of the call. Collective. A change that is refused or fails is
  /// Outcome::same: the grid is the old one, with all its data, and last_message() says why. @throws Error for a
  /// mistake of the program's: processes at different resize points, a call inside on_change's routines.
  Outcome resize_point(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return going_on(dyngrid_resize_point_in(file, line));
  }
  /// The same, and last_message() in `refusal`.
  Outcome resize_point(std::string& refusal, int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    const Outcome outcome = resize_point(line, file);
    refusal = last_message();
    return outcome;
  }
  /// A resize point with a name, to which processes that join or wake can be led.
  Outcome resize_point_at(const std::string& name) { return going_on(dyngrid_resize_point_at(name.c_str())); }
  Outcome resize_point_at(const std::string& name, std::string& refusal) {
    const Outcome outcome = resize_point_at(name);
    refusal = last_message();
    return outcome;
  }
  /// Why a change was refused or failed at the last resize point; empty when none was. Local.
  const std::string& last_message() const noexcept { return refusal_; }
  /// The resize point where this process has to go on: of a new process and after Outcome::redirect; otherwise empty.
  /// Declares that this process can be led. Local.
  std::string entry_point() const { return dyngrid_entry_point(); }
  /// Whether the next resize point would try a change. Collective.
  bool pending() const { return check(dyngrid_pending()) != 0; }
  /// `before` on the old grid when a change is certain, `after` on the new one; either may be empty. Until the end of
  /// the application. Local.
  void on_change(std::function<void()> before, std::function<void()> after) {
    auto both = std::make_unique<Notice>(Notice{std::move(before), std::move(after)});
    check(dyngrid_on_change(
        [](void* notice) {
          if (const auto& f = static_cast<Notice*>(notice)->before) f();
        },
        [](void* notice) {
          if (const auto& f = static_cast<Notice*>(notice)->after) f();
        },
        both.get()));
    notices_.push_back(std::move(both));
  }
  /// After each panel of lu and cholesky; empty: none. See dyngrid_on_panel. Until the end of the application. Local.
  void on_panel(std::function<void(const dyngrid_panel&)> notice) {
    auto kept = std::make_unique<PanelNotice>(std::move(notice));
    check(dyngrid_on_panel(
        [](const dyngrid_panel* panel, void* f) {
          if (const auto& to_be_told = *static_cast<PanelNotice*>(f)) to_be_told(*panel);
        },
        kept.get()));
    panel_notices_.push_back(std::move(kept));
  }
  /// Asks for a change at the next resize point. Local.
  void request(int nprow, int npcol) { check(dyngrid_request(nprow, npcol)); }
  /// Changes the grid now. Collective.
  Outcome resize(int nprow, int npcol, Placement placement = Placement::optimal) {
    return static_cast<Outcome>(check(dyngrid_resize(nprow, npcol, static_cast<int>(placement))));
  }
  /// The same without some processes: "3,5", "host:NAME", "slowest"; see dyngrid_resize_without. Collective.
  Outcome resize_without(int nprow, int npcol, const std::string& without, Placement placement = Placement::optimal) {
    return static_cast<Outcome>(
        check(dyngrid_resize_without(nprow, npcol, static_cast<int>(placement), without.c_str())));
  }
  /// At the next resize point. Local.
  void request_without(int nprow, int npcol, const std::string& without) {
    check(dyngrid_request_without(nprow, npcol, without.c_str()));
  }
  /// Sleeps until the scheduler grants one of these grids: "8:32"; see dyngrid_need. Collective. @throws Error
  Outcome need(const std::string& grids) { return static_cast<Outcome>(check(dyngrid_need(grids.c_str()))); }
  /// The number by which others name this process; -1 on a new process before its first resize point. Local.
  int process_id() const { return dyngrid_process_id(); }
  /// How fast this process is, relative to the others; see dyngrid_set_speed. Collective. @throws Error
  void set_speed(double speed) { check(dyngrid_set_speed(speed)); }
  double speed() const { return dyngrid_speed(); }
  /// Asks the rules of all matrices again, on the current grid; see dyngrid_relayout. Collective.
  Outcome relayout() { return static_cast<Outcome>(check(dyngrid_relayout())); }
  /// Back to the grid before the last growth. Collective.
  Outcome pop() { return static_cast<Outcome>(check(dyngrid_pop())); }
  void set_placement(Placement placement) { check(dyngrid_set_placement(static_cast<int>(placement))); }
  /// How new processes come: DYNGRID_BACKGROUND, DYNGRID_BLOCKING or DYNGRID_JOIN. Collective, before any growth.
  void set_processes(int way) { check(dyngrid_set_processes(way)); }
  /// All matrices and shared variables into one file, whole or not at all; an empty path: DYNGRID_CHECKPOINT's.
  /// Collective.
  void checkpoint(const std::string& path = {}) { check(dyngrid_checkpoint(path.empty() ? nullptr : path.c_str())); }
  /// Reads them back, on the current grid of any shape; an empty path: DYNGRID_RESTORE's. Collective. @throws Error,
  /// with nothing changed.
  void restore(const std::string& path = {}) { check(dyngrid_restore(path.empty() ? nullptr : path.c_str())); }
  bool is_restarted() const { return dyngrid_is_restarted() != 0; }
  /// The grids that this application can use, for requests from outside: "4:32:*2; aspect 2". Local.
  void allow(const std::string& grids) { check(dyngrid_allow(grids.c_str())); }
  /// Steps of the whole run, so that a growth that costs more than it saves is declined. Local.
  void set_steps(std::int64_t steps) { check(dyngrid_set_steps(steps)); }
  /// Tries these grids in the first steps and goes to the quickest: "2x2,2x3,3x3@3". Local.
  void experiment(const std::string& grids) { check(dyngrid_experiment(grids.c_str())); }
  /// The name for `dyngrid resize JOB 3x3`, on process 0. Local.
  std::string job() const { return dyngrid_job(); }
  void set_schedule(Schedule schedule) { check(dyngrid_set_schedule(static_cast<int>(schedule))); }
  /// The action for processes that get less of their processor than others: DYNGRID_BALANCE_OFF, _ADVISE, _AUTO.
  /// Collective.
  void set_balance(int mode) { check(dyngrid_set_balance(mode)); }
  /// Marks work of this process until it ends; see dyngrid_work_begin. units: how much it was.
  class Work {
  public:
    explicit Work(double units = 0) : units_(units) { check(dyngrid_work_begin()); }
    ~Work() { dyngrid_work_end(units_); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    void set_units(double units) { units_ = units; }

  private:
    double units_;
  };
  /// Looks now whether giving out the work anew is worth it, and does what is; see dyngrid_rebalance. Collective.
  Outcome rebalance() { return static_cast<Outcome>(check(dyngrid_rebalance())); }
  /// The last decision about loaded processes, with predicted and measured times. Local.
  dyngrid_balance_report last_balance() const {
    dyngrid_balance_report report{};
    check(dyngrid_last_balance(&report));
    return report;
  }
  /// The loads of the grid's processes, row by row, as they were last gathered; see dyngrid_loads. Local.
  std::vector<dyngrid_load> loads() const {
    int count = 0;
    check(dyngrid_loads(nullptr, 0, &count));
    std::vector<dyngrid_load> loads(static_cast<std::size_t>(count));
    check(dyngrid_loads(loads.data(), count, &count));
    return loads;
  }
  dyngrid_resize_report last_resize() const {
    dyngrid_resize_report report{};
    check(dyngrid_last_resize(&report));
    return report;
  }

private:
  struct Notice {
    std::function<void()> before, after;
  };
  using PanelNotice = std::function<void(const dyngrid_panel&)>;
  Outcome going_on(int outcome) {
    const bool was_refused = dyngrid_was_refused() != 0;
    refusal_ = was_refused ? detail::last_message() : "";
    return was_refused && outcome < 0 ? Outcome::same : static_cast<Outcome>(check(outcome));
  }
  std::string refusal_;
  std::vector<std::unique_ptr<Notice>> notices_;            ///< their addresses are known to dyngrid
  std::vector<std::unique_ptr<PanelNotice>> panel_notices_; ///< likewise; one may be replaced while it runs
  bool is_open_ = true;
  int exceptions_ = std::uncaught_exceptions();
};

/// How a matrix is dealt out by the speeds of the processes.
enum class Order { block = DYNGRID_ORDER_BLOCK, cyclic = DYNGRID_ORDER_CYCLIC, factor = DYNGRID_ORDER_FACTOR };

/// On which processes of the grid a matrix lies; see DYNGRID_ON_* in dyngrid/layout.h.
enum class On {
  grid = DYNGRID_ON_GRID,
  row = DYNGRID_ON_ROW,
  column = DYNGRID_ON_COLUMN,
  first = DYNGRID_ON_FIRST,
  all = DYNGRID_ON_ALL,
  each_row = DYNGRID_ON_EACH_ROW,
  each_column = DYNGRID_ON_EACH_COLUMN
};

/// The first rows and columns of the grid, at most nprow x npcol.
struct Part {
  int nprow = 1, npcol = 1;
};

/// Neighbouring rows or columns first <= i < last, from 0, that a process has.
struct Range {
  std::int64_t first = 0, last = 0;
};

enum class Axis : char { rows = 'R', columns = 'C' };

/// How one axis of a matrix lies on a grid: sizes of blocks that repeat, block j on grid row j mod nprow (column j mod
/// npcol); nprow (npcol) sizes that add up to `length` are one block for each. Asked at the creation of the matrix and
/// in every change of the grid; gives the same on all processes. It may throw: the creation, or the change, is refused
/// then with its words in the Error.
using Rule = std::function<std::vector<std::int64_t>(Axis axis, std::int64_t length, int nprow, int npcol)>;

/// Blocks and the grid row (column) of each, from 0.
struct Owned {
  std::vector<std::int64_t> sizes; ///< add up to the length of the axis
  std::vector<int> owners;         ///< as many
};
/// As Rule, with any owner for any block; see dyngrid_matrix_create_owned.
using OwnerRule = std::function<Owned(Axis axis, std::int64_t length, int nprow, int npcol)>;

/// Inside a rule: the speed of the process at (row, col) of the grid that it is asked for; see dyngrid_rule_speed.
inline double rule_speed(int row, int col) {
  return dyngrid_rule_speed(row, col);
}

/// One block for each process; its size follows the grid (dyngrid_block_rule).
inline Rule block() {
  return [](Axis axis, std::int64_t length, int nprow, int npcol) {
    std::vector<std::int64_t> size(1);
    dyngrid_block_rule(nullptr, static_cast<char>(axis), length, nprow, npcol, size.data());
    return size;
  };
}

/// One block for each process, rows and columns such that the slowest product of rows and columns over speed is small
/// (dyngrid_map_in_place). speeds(nprow, npcol): one number above 0 for each process of that grid, row by row, without
/// a unit.
template <class Speeds, std::enable_if_t<std::is_invocable_r_v<std::vector<double>, Speeds&, int, int>, int> = 0>
Rule by_speed(Speeds speeds) {
  return [speeds = std::move(speeds)](Axis axis, std::int64_t length, int nprow, int npcol) mutable {
    const std::vector<double> given = speeds(nprow, npcol);
    const std::size_t p = static_cast<std::size_t>(nprow), q = static_cast<std::size_t>(npcol);
    if (given.size() != p * q)
      throw Error(DYNGRID_ERR_SHAPE, "dyngrid::by_speed: got " + std::to_string(given.size()) + " speeds, expected " +
                                         std::to_string(p * q) + ", one for each process of the " +
                                         std::to_string(nprow) + " x " + std::to_string(npcol) + " grid");
    std::vector<double> r(p), c(q);
    check(dyngrid_map_in_place(nprow, npcol, given.data(), nprow, npcol, DYNGRID_MAP_BEST, r.data(), c.data(), nullptr,
                               nullptr, nullptr, nullptr));
    const std::vector<double>& shares = axis == Axis::rows ? r : c;
    std::vector<std::int64_t> sizes(shares.size());
    check(dyngrid_natural_blocks(length, static_cast<int>(shares.size()), shares.data(), sizes.data()));
    return sizes;
  };
}
/// The same for a program whose grids all have as many processes as there are speeds; any other is refused.
inline Rule by_speed(std::vector<double> speeds) {
  return by_speed([speeds = std::move(speeds)](int, int) { return speeds; });
}

namespace detail {
/// A rule of either kind and its answer between the two questions of dyngrid_distribution: how many sizes, then which.
struct RuleInUse {
  Rule rule;
  OwnerRule owner_rule;
  Owned answer;
  static std::int64_t ask(void* context, char axis, std::int64_t length, int nprow, int npcol,
                          std::int64_t* sizes) noexcept {
    return ask_owned(context, axis, length, nprow, npcol, sizes, nullptr);
  }
  static std::int64_t ask_owned(void* context, char axis, std::int64_t length, int nprow, int npcol,
                                std::int64_t* sizes, int* owners) noexcept {
    auto& self = *static_cast<RuleInUse*>(context);
    try {
      if (sizes)
        std::copy(self.answer.sizes.begin(), self.answer.sizes.end(), sizes);
      else if (self.owner_rule)
        self.answer = self.owner_rule(static_cast<Axis>(axis), length, nprow, npcol);
      else
        self.answer.sizes = self.rule(static_cast<Axis>(axis), length, nprow, npcol);
      if (self.owner_rule && self.answer.owners.size() != self.answer.sizes.size())
        throw Error(DYNGRID_ERR_ARGUMENT, std::to_string(self.answer.owners.size()) +
                                              " owners, expected one for each of " +
                                              std::to_string(self.answer.sizes.size()) + " sizes");
      if (owners) std::copy(self.answer.owners.begin(), self.answer.owners.end(), owners);
      return static_cast<std::int64_t>(self.answer.sizes.size());
    } catch (const std::exception& error) {
      note(error.what());
    } catch (...) {
      note("something that is no std::exception");
    }
    return -1;
  }
  static void note(const char* what) noexcept {
    try {
      reason_here() = std::string("the rule threw: ") + what;
    } catch (...) { // no memory for the text: the status says enough
    }
  }
};

/// Memory of the program's own behind a matrix.
struct MemoryInUse {
  virtual ~MemoryInUse() = default;
};
/// A vector of the program, and the one that takes its place in a change.
template <class Vector> struct VectorInUse final : MemoryInUse {
  explicit VectorInUse(Vector& of_program) : local(of_program), next(of_program.get_allocator()) {}
  Vector& local;
  Vector next;
  static void* allocate(void* data, void* old, std::size_t bytes, std::int64_t lld, std::int64_t columns) noexcept {
    auto& self = *static_cast<VectorInUse*>(data);
    Vector& next = self.next;
    if (bytes == 0 && (next.empty() || old != next.data())) self.local.swap(next); // the change is done
    try {
      const auto size = bytes > 0 ? static_cast<std::size_t>(lld * columns) : std::size_t{0};
      Vector(size, next.get_allocator()).swap(next);
    } catch (...) {
      return nullptr;
    }
    return bytes > 0 ? next.data() : nullptr;
  }
};

template <class T> struct TypeLetter;
template <> struct TypeLetter<float> { static constexpr char value = 's'; };
template <> struct TypeLetter<double> { static constexpr char value = 'd'; };
template <> struct TypeLetter<std::complex<float>> { static constexpr char value = 'c'; };
template <> struct TypeLetter<std::complex<double>> { static constexpr char value = 'z'; };
template <> struct TypeLetter<std::int32_t> { static constexpr char value = 'i'; };
} // namespace detail

/// An m x n matrix of T (float, double, their complex types, 32-bit integers) that lives on the grid and follows it.
template <class T> class Matrix {
public:
  /// Collective; see dyngrid_matrix_create. @throws Error
  Matrix(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb) {
    check(dyngrid_matrix_create(name.c_str(), detail::TypeLetter<T>::value, m, n, mb, nb, &matrix_));
  }
  /// Lying as the rule says on every grid it comes to; see dyngrid_matrix_create_by. ScaLAPACK takes it where the rule
  /// gives one size, and a copy() otherwise. The rule, and what it refers to, lives as long as the matrix. @throws
  /// Error
  Matrix(const std::string& name, std::int64_t m, std::int64_t n, Rule rule) {
    const auto ask = rule ? &detail::RuleInUse::ask : nullptr; // refused on all processes
    rule_ = std::make_unique<detail::RuleInUse>(detail::RuleInUse{std::move(rule), {}, {}});
    check(dyngrid_matrix_create_by(name.c_str(), detail::TypeLetter<T>::value, m, n, ask, rule_.get(), &matrix_));
  }
  /// With any owner for any block on every grid it comes to; see dyngrid_matrix_create_owned. The rule, and what it
  /// refers to, lives as long as the matrix. @throws Error
  Matrix(const std::string& name, std::int64_t m, std::int64_t n, OwnerRule rule) {
    const auto ask = rule ? &detail::RuleInUse::ask_owned : nullptr; // refused on all processes
    rule_ = std::make_unique<detail::RuleInUse>(detail::RuleInUse{{}, std::move(rule), {}});
    check(dyngrid_matrix_create_owned(name.c_str(), detail::TypeLetter<T>::value, m, n, ask, rule_.get(), &matrix_));
  }
  /// Dealt out by speed in whole blocks; see dyngrid_matrix_create_weighted. @throws Error
  Matrix(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, Order order) {
    check(dyngrid_matrix_create_weighted(name.c_str(), detail::TypeLetter<T>::value, m, n, mb, nb,
                                         static_cast<int>(order), &matrix_));
  }
  /// On a row, a column or the first of the processes, or with copies; see dyngrid_matrix_create_on. @throws Error
  Matrix(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, On shape) {
    check(dyngrid_matrix_create_on(name.c_str(), detail::TypeLetter<T>::value, m, n, mb, nb, static_cast<int>(shape),
                                   &matrix_));
  }
  /// On a part of the grid; see dyngrid_matrix_create_on_part. @throws Error
  Matrix(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, Part part) {
    check(dyngrid_matrix_create_on_part(name.c_str(), detail::TypeLetter<T>::value, m, n, mb, nb, part.nprow,
                                        part.npcol, &matrix_));
  }
  /// In a vector of the program's; see adopt(). @throws Error
  template <class Allocator> Matrix(const std::string& name, std::vector<T, Allocator>& local, const int* desc) {
    using Kept = detail::VectorInUse<std::vector<T, Allocator>>;
    auto kept = std::make_unique<Kept>(local);
    check(dyngrid_matrix_adopt(name.c_str(), detail::TypeLetter<T>::value, desc, local.data(), local.size() * sizeof(T),
                               &Kept::allocate, kept.get(), &matrix_));
    memory_ = std::move(kept);
  }
  Matrix(Matrix&& other) noexcept
      : matrix_(std::exchange(other.matrix_, nullptr)), rule_(std::move(other.rule_)),
        memory_(std::move(other.memory_)) {}
  Matrix& operator=(Matrix&& other) noexcept {
    if (this != &other) {
      free();
      matrix_ = std::exchange(other.matrix_, nullptr);
      rule_ = std::move(other.rule_);
      memory_ = std::move(other.memory_);
    }
    return *this;
  }
  ~Matrix() { free(); } // sends nothing; refused, and harmless, after the end of the application

  /// In mb x nb blocks from now on; see dyngrid_matrix_reblock. Collective. @throws Error, nothing was changed
  Outcome reblock(std::int64_t mb, std::int64_t nb) {
    const int outcome = check(dyngrid_matrix_reblock(matrix_, mb, nb));
    rule_.reset();
    return static_cast<Outcome>(outcome);
  }
  /// Lying as another rule says from now on; see dyngrid_matrix_set_rule. Collective. @throws Error, nothing was
  /// changed
  Outcome set_rule(Rule rule) {
    auto next = std::make_unique<detail::RuleInUse>(detail::RuleInUse{std::move(rule), {}, {}});
    const dyngrid_distribution ask = next->rule ? &detail::RuleInUse::ask : nullptr;
    const int outcome = check(dyngrid_matrix_set_rule(matrix_, ask, next.get()));
    rule_ = std::move(next);
    return static_cast<Outcome>(outcome);
  }
  /// With any owner for any block from now on; see dyngrid_matrix_set_owner_rule. Collective. @throws Error, nothing
  /// was changed
  Outcome set_rule(OwnerRule rule) {
    auto next = std::make_unique<detail::RuleInUse>(detail::RuleInUse{{}, std::move(rule), {}});
    const dyngrid_owner_rule ask = next->owner_rule ? &detail::RuleInUse::ask_owned : nullptr;
    const int outcome = check(dyngrid_matrix_set_owner_rule(matrix_, ask, next.get()));
    rule_ = std::move(next);
    return static_cast<Outcome>(outcome);
  }

  T* local() const {
    return static_cast<T*>(dyngrid_local(matrix_));
  }                                                         ///< column-major; null outside the grid; changes with it
  const int* desc() const { return dyngrid_desc(matrix_); } ///< ScaLAPACK's nine integers, see dyngrid_desc
  std::int64_t m() const { return descriptor()[2]; }        ///< of the whole matrix
  std::int64_t n() const { return descriptor()[3]; }
  std::int64_t rows() const { return shape(0); } ///< of this process
  std::int64_t columns() const { return shape(1); }
  std::int64_t lld() const { return shape(2); }
  /// Local element, from 0.
  T& operator()(std::int64_t i_loc, std::int64_t j_loc) const { return local()[i_loc + j_loc * descriptor()[8]]; }
  /// My rows or columns, in the order of their local indices: the bounds of loops. Local.
  std::vector<Range> ranges(Axis axis) const {
    std::vector<Range> all;
    Range next;
    for (std::int64_t k = 0; check(dyngrid_my_range(matrix_, static_cast<char>(axis), k, &next.first, &next.last)) == 1;
         ++k)
      all.push_back(next);
    return all;
  }
  /// Reports the time of this process's rows or columns from global index `first` on in a step; see dyngrid_work_items.
  /// Local.
  void work_items(Axis axis, std::int64_t first, const std::vector<double>& seconds) const {
    check(dyngrid_work_items(matrix_, static_cast<char>(axis), first, static_cast<std::int64_t>(seconds.size()),
                             seconds.data()));
  }
  dyngrid_matrix* handle() const { return matrix_; }

protected:
  explicit Matrix(dyngrid_matrix* made) : matrix_(made) {}

private:
  const int* descriptor() const {
    if (const int* desc = dyngrid_desc(matrix_)) return desc;
    throw Error(DYNGRID_ERR_UNSUPPORTED, dyngrid_last_message()); // too many sizes for one
  }
  std::int64_t shape(int which) const {
    std::int64_t sizes[3] = {};
    check(dyngrid_matrix_shape(matrix_, &sizes[0], &sizes[1], &sizes[2]));
    return sizes[which];
  }
  /// A matrix that cannot be freed now, inside on_change, lives on and will ask its rule and its memory: these are left
  /// to it.
  void free() noexcept {
    if (dyngrid_matrix_free(&matrix_) < 0 && dyngrid_comm() != MPI_COMM_NULL) {
      static_cast<void>(rule_.release());
      static_cast<void>(memory_.release());
    }
    rule_.reset();
    memory_.reset();
  }
  dyngrid_matrix* matrix_ = nullptr;
  std::unique_ptr<detail::RuleInUse> rule_;     ///< its address is known to dyngrid
  std::unique_ptr<detail::MemoryInUse> memory_; ///< likewise; null where the memory is dyngrid's
};

/// A matrix whose local array is `local`, of LLD_ x columns elements as ScaLAPACK's descriptor says; see
/// dyngrid_matrix_adopt. After a change the vector has the new local array: LLD_ max(1, local rows), its address is
/// another one. It is empty on a process that leaves the grid or sleeps, and keeps its elements when the matrix ends.
/// It outlives the matrix, and the program does not change its size. On a new process it may be empty. Collective.
/// @throws Error
template <class T, class Allocator>
Matrix<T> adopt(const std::string& name, std::vector<T, Allocator>& local, const int* desc) {
  return Matrix<T>(name, local, desc);
}

/// A local array of a field, good until the next change of the grid.
template <class T> struct FieldView {
  T* data = nullptr;
  std::array<std::int64_t, DYNGRID_FIELD_DIMS> extents{}; ///< 0 beyond the dimensions of the field

  /// One local index for each dimension, from 0, the first running fastest.
  template <class... Index> T& operator()(Index... i) const {
    static_assert(sizeof...(Index) >= 1 && sizeof...(Index) <= DYNGRID_FIELD_DIMS, "a field has 1 to 5 dimensions");
    const std::int64_t index[] = {static_cast<std::int64_t>(i)...};
    std::int64_t at = 0;
    for (std::size_t d = sizeof...(Index); d-- > 0;) at = at * extents[d] + index[d];
    return data[at];
  }
  /// From an element to its neighbour in dimension `dim`.
  std::int64_t stride(int dim) const {
    std::int64_t stride = 1;
    for (int d = 0; d < dim; ++d) stride *= extents[static_cast<std::size_t>(d)];
    return stride;
  }
};

/// A field of one to five dimensions; see dyngrid_field_create. It is a matrix for copy, add and all that takes one.
template <class T> class Field : public Matrix<T> {
public:
  /// Missing blocks and process_dims are 0. Collective. @throws Error
  Field(const std::string& name, std::vector<std::int64_t> extents, std::vector<std::int64_t> blocks = {},
        std::vector<int> process_dims = {})
      : Matrix<T>(create(name, extents, std::move(blocks), std::move(process_dims))), dims_(extents.size()) {}

  FieldView<T> view() const {
    FieldView<T> view{this->local(), {}};
    check(dyngrid_field_shape(this->handle(), view.extents.data(), nullptr, nullptr));
    return view;
  }
  int dims() const { return static_cast<int>(dims_); }
  /// Over how many parts each dimension is cut on the current grid. Local.
  std::vector<int> parts() const {
    std::vector<int> parts(dims_);
    check(dyngrid_field_shape(this->handle(), nullptr, parts.data(), nullptr));
    return parts;
  }
  /// Which part of each dimension this process has, from 0; -1 outside the grid. Local.
  std::vector<int> coordinates() const {
    std::vector<int> coordinates(dims_);
    check(dyngrid_field_shape(this->handle(), nullptr, nullptr, coordinates.data()));
    return coordinates;
  }
  using Matrix<T>::ranges;
  /// My indices of dimension `dim`, from 0, in the order of the local ones. Local.
  std::vector<Range> ranges(int dim) const {
    std::vector<Range> all;
    Range next;
    for (std::int64_t k = 0; check(dyngrid_field_range(this->handle(), dim, k, &next.first, &next.last)) == 1; ++k)
      all.push_back(next);
    return all;
  }

private:
  static dyngrid_matrix* create(const std::string& name, const std::vector<std::int64_t>& extents,
                                std::vector<std::int64_t> blocks, std::vector<int> process_dims) {
    const bool has_too_many = blocks.size() > extents.size() || process_dims.size() > extents.size();
    if (has_too_many)
      detail::reason_here() = "dyngrid::Field: \"" + name + "\" has " + std::to_string(extents.size()) + " extents, " +
                              std::to_string(blocks.size()) + " blocks and " + std::to_string(process_dims.size()) +
                              " process_dims, expected no more blocks or process_dims than extents";
    blocks.resize(extents.size());
    process_dims.resize(extents.size());
    dyngrid_matrix* made = nullptr;
    check(dyngrid_field_create(name.c_str(), detail::TypeLetter<T>::value, static_cast<int>(extents.size()),
                               has_too_many ? nullptr : extents.data(), blocks.data(), process_dims.data(), &made));
    return made;
  }
  std::size_t dims_;
};

/// The neighbours that fill the borders: those across a face alone, or those across edges and corners, too.
enum class Neighbours { faces = DYNGRID_NEIGHBOURS_FOUR, all = DYNGRID_NEIGHBOURS_EIGHT };

/// Elements of this process in a ghosted array that follow each other along the first dimension.
template <class T> struct Line {
  std::array<std::int64_t, DYNGRID_FIELD_DIMS> first{}; ///< where the first one is in the whole matrix or field, from 0
  std::int64_t local = 0;                               ///< and in the local array
  T* x = nullptr;                                       ///< the first one; its neighbours are x[-1], x[-stride], ...
  std::int64_t count = 0;
};

/// A ghosted array of a matrix or a field, which follows every change; see dyngrid_borders_create.
template <class T> class Borders {
public:
  /// lo, hi: elements before and after each stretch, for the rows and the columns of a matrix, or for each dimension of
  /// a field. periodic: empty, or whether each continues at its other end. Collective. @throws Error
  Borders(dyngrid_matrix* matrix, const std::vector<int>& lo, const std::vector<int>& hi,
          Neighbours neighbours = Neighbours::faces, const T& boundary = T{}, const std::vector<int>& periodic = {})
      : matrix_(matrix), dims_(dims_of(matrix)) {
    const bool fits = lo.size() == dims_ && hi.size() == dims_ && (periodic.empty() || periodic.size() == dims_);
    if (!fits)
      detail::reason_here() = "dyngrid::Borders: " + std::to_string(lo.size()) + " lo, " + std::to_string(hi.size()) +
                              " hi and " + std::to_string(periodic.size()) + " periodic, expected one for each of " +
                              std::to_string(dims_) + " dimensions; periodic may be empty";
    check(dyngrid_borders_create(matrix, fits ? lo.data() : nullptr, hi.data(),
                                 periodic.empty() ? nullptr : periodic.data(), static_cast<int>(neighbours), &boundary,
                                 &borders_));
  }
  Borders(const Matrix<T>& matrix, const std::vector<int>& lo, const std::vector<int>& hi,
          Neighbours neighbours = Neighbours::faces, const T& boundary = T{}, const std::vector<int>& periodic = {})
      : Borders(matrix.handle(), lo, hi, neighbours, boundary, periodic) {}
  Borders(const Borders&) = delete;
  Borders& operator=(const Borders&) = delete;
  /// Collective. Not while an exception unwinds, since the other processes may not come; then dyngrid_finalize does it.
  ~Borders() {
    if (std::uncaught_exceptions() == exceptions_) dyngrid_borders_free(&borders_);
  }

  /// Copies the matrix and fills the borders; after a change in a new array. Outside the grid it is empty. Collective.
  /// @throws Error
  FieldView<T> update() {
    void* data = nullptr;
    check(dyngrid_borders_update(borders_, &data));
    array_ = {static_cast<T*>(data), {}};
    if (data) check(dyngrid_halo_extents(halo(), array_.extents.data()));
    return array_;
  }
  /// Fills the borders again. Waits for the neighbours only. @throws Error also where update() is needed first
  void exchange() { check(dyngrid_borders_exchange(borders_)); }
  /// Copies this process's elements, without borders, into the matrix. Local. @throws Error as exchange()
  void store() const { check(dyngrid_borders_store(borders_)); }
  /// As update() where nothing was moved since the last one: waits for the neighbours only. @throws Error as exchange()
  void refresh() {
    dyngrid_halo* const of = halo();
    std::int64_t lld = 1;
    check(dyngrid_matrix_shape(matrix_, nullptr, nullptr, &lld));
    check(dyngrid_halo_to_ghosted(of, dyngrid_local(matrix_), lld, array_.data, 0));
    exchange();
  }
  /// The array of the last update(), with its borders. Local. @throws Error as exchange()
  FieldView<T> view() const {
    static_cast<void>(halo());
    return array_;
  }
  /// For dyngrid/halo.h: an exchange in two halves, stretches. Local. @throws Error as exchange()
  dyngrid_halo* halo() const {
    dyngrid_halo* const halo = dyngrid_borders_halo(borders_);
    if (!halo) throw Error(DYNGRID_ERR_STATE, detail::last_message());
    return halo;
  }
  /// Calls f(line) for all elements of this process, as a Line<T>, in the order of the local array. Local.
  /// @throws Error as exchange()
  template <class F> void for_each_line(F&& f) const {
    constexpr std::size_t most = DYNGRID_FIELD_DIMS;
    const FieldView<T> array = view();
    const std::array<std::int64_t, most> local_extents = extents_of_local();
    std::array<std::vector<Piece>, most> pieces; // of each dimension, mine
    std::int64_t local_stride = 1;
    for (std::size_t d = 0; d < most; ++d) {
      if (d >= dims_) {
        pieces[d] = {Piece{}};
        continue;
      }
      pieces[d] = pieces_of(static_cast<int>(d), local_stride, array.stride(static_cast<int>(d)));
      if (pieces[d].empty()) return;
      local_stride *= local_extents[d];
    }
    std::array<std::size_t, most> at{};
    for (std::size_t d = 0; d < most;) {
      Line<T> line{{}, 0, array.data, pieces[0][at[0]].count};
      for (d = 0; d < most; ++d) {
        const Piece& piece = pieces[d][at[d]];
        line.first[d] = piece.first;
        line.local += piece.local;
        line.x += piece.ghosted;
      }
      f(static_cast<const Line<T>&>(line));
      for (d = 0; d < most && ++at[d] == pieces[d].size(); ++d) at[d] = 0;
    }
  }

private:
  /// Indices of one dimension, and what the first of them adds to a place in each array.
  struct Piece {
    std::int64_t first = 0, local = 0, ghosted = 0, count = 1;
  };
  /// The stretches of the first dimension, and each index of the others.
  std::vector<Piece> pieces_of(int dim, std::int64_t local_stride, std::int64_t stride) const {
    std::vector<Piece> pieces;
    Piece s;
    for (std::int64_t k = 0; check(dyngrid_halo_range(halo(), dim, k, &s.first, &s.local, &s.ghosted, &s.count)) == 1;
         ++k) {
      if (dim == 0) pieces.push_back(s);
      for (std::int64_t i = 0; dim > 0 && i < s.count; ++i)
        pieces.push_back({s.first + i, (s.local + i) * local_stride, (s.ghosted + i) * stride, 1});
    }
    return pieces;
  }
  static std::size_t dims_of(const dyngrid_matrix* matrix) {
    const int dims = dyngrid_field_shape(matrix, nullptr, nullptr, nullptr);
    return dims > 0 ? static_cast<std::size_t>(dims) : 2;
  }
  /// Of a matrix its leading dimension instead of its rows.
  std::array<std::int64_t, DYNGRID_FIELD_DIMS> extents_of_local() const {
    std::array<std::int64_t, DYNGRID_FIELD_DIMS> extents{};
    if (dyngrid_field_shape(matrix_, extents.data(), nullptr, nullptr) < 0)
      check(dyngrid_matrix_shape(matrix_, nullptr, &extents[1], &extents[0]));
    return extents;
  }

  dyngrid_matrix* matrix_;
  std::size_t dims_;
  dyngrid_borders* borders_ = nullptr;
  FieldView<T> array_;
  int exceptions_ = std::uncaught_exceptions();
};

/// All elements into a matrix of the same size that may lie in any other way; see dyngrid_copy. Collective.
/// @throws Error
template <class T> void copy(const Matrix<T>& from, Matrix<T>& to) {
  check(dyngrid_copy(from.handle(), to.handle()));
}

/// What is done to a matrix on the way: nothing, transposition, conjugate transposition.
enum class Op : char { none = 'N', transposed = 'T', adjoint = 'C' };

namespace detail {
template <class T> struct Same { // keeps a number from deciding what T is
  using type = T;
};
} // namespace detail

/// b = alpha op(a) + beta b in one pass, for matrices that may lie in any two ways; see dyngrid_add. Collective.
/// @throws Error
template <class T>
void add(typename detail::Same<T>::type alpha, const Matrix<T>& a, typename detail::Same<T>::type beta, Matrix<T>& b,
         Op op = Op::none) {
  check(dyngrid_add(static_cast<char>(op), &alpha, a.handle(), &beta, b.handle()));
}

/// How a phase uses a matrix.
enum class Use { read = DYNGRID_READ, write = DYNGRID_WRITE, both = DYNGRID_READ | DYNGRID_WRITE };

/// A part of the program's cycle that would like its matrices to lie in a way of its own; see dyngrid_phase_create. The
/// application owns it, so copies of this are the same phase.
class Phase {
public:
  explicit Phase(const std::string& name) { check(dyngrid_phase_create(name.c_str(), &phase_)); }
  template <class T> Phase& uses(const Matrix<T>& matrix, Use use) {
    check(dyngrid_phase_uses(phase_, matrix.handle(), static_cast<int>(use)));
    return *this;
  }
  /// Blocks in which it can use the matrix; several times: the best for the whole cycle is taken.
  template <class T> Phase& layout(const Matrix<T>& matrix, std::int64_t mb, std::int64_t nb) {
    check(dyngrid_phase_layout(phase_, matrix.handle(), mb, nb));
    return *this;
  }
  /// Dealt out by speed in whole blocks. Local. @throws Error
  template <class T> Phase& layout(const Matrix<T>& matrix, std::int64_t mb, std::int64_t nb, Order order) {
    check(dyngrid_phase_layout_weighted(phase_, matrix.handle(), mb, nb, static_cast<int>(order)));
    return *this;
  }
  /// Collective. @throws Error, every matrix is whole
  void begin() { check(dyngrid_phase_begin(phase_)); }
  void end() { check(dyngrid_phase_end(phase_)); }
  /// Begins, calls f, ends. An exception of f is passed on after the phase has ended. Collective.
  template <class F> void run(F&& f) {
    begin();
    try {
      std::forward<F>(f)();
    } catch (...) {
      dyngrid_phase_end(phase_);
      throw;
    }
    end();
  }

private:
  dyngrid_phase* phase_ = nullptr;
};

/// Plans all phases for `cycles` more cycles; 0: for a run without an end. See dyngrid_phases_plan. Collective.
inline void plan_phases(std::int64_t cycles = 0) {
  check(dyngrid_phases_plan(cycles));
}
/// The phase that ended last, or that runs. Local.
inline dyngrid_phase_report last_phase() {
  dyngrid_phase_report report{};
  check(dyngrid_last_phase(&report));
  return report;
}

/// The next call of a routine of ScaLAPACK's runs there; see dyngrid_run_on. Local, alike on all processes.
inline void run_on(int nprow, int npcol, int nb, const std::string& routine) {
  check(dyngrid_run_on(nprow, npcol, nb, routine.c_str()));
}
/// All calls of these routines run there while it lives; the innermost counts. Local, alike on all processes.
class RunOn {
public:
  /// 0 x 0: on the grid that a call has; nb = 0: in its blocks.
  RunOn(int nprow, int npcol, int nb, const std::string& routines = "all") {
    check(dyngrid_run_on_begin(nprow, npcol, nb, routines.c_str()));
  }
  RunOn(const RunOn&) = delete;
  RunOn& operator=(const RunOn&) = delete;
  ~RunOn() { dyngrid_run_on_end(); }
};

namespace detail {
/// My global rows or columns, in the order of their local indices.
inline std::vector<std::int64_t> global_indices(const dyngrid_matrix* matrix, char axis) {
  std::vector<std::int64_t> indices;
  std::int64_t i = 0, last = 0;
  for (std::int64_t k = 0; check(dyngrid_my_range(matrix, axis, k, &i, &last)) == 1; ++k)
    for (; i < last; ++i) indices.push_back(i);
  return indices;
}
} // namespace detail

/// Calls f(i, j, element) for every element of this process, column by column: i and j are its row and column in the
/// whole matrix, from 0, std::int64_t; element is a T&. For matrices in blocks of any sizes on any of the processes;
/// nothing outside the grid. Local.
template <class T, class F> void for_each(const dyngrid_matrix* matrix, F&& f) {
  std::int64_t lld = 1;
  check(dyngrid_matrix_shape(matrix, nullptr, nullptr, &lld));
  T* const local = static_cast<T*>(dyngrid_local(matrix));
  const std::vector<std::int64_t> i = detail::global_indices(matrix, 'R'), j = detail::global_indices(matrix, 'C');
  for (std::size_t j_loc = 0; j_loc < j.size(); ++j_loc) {
    T* const column = local + static_cast<std::int64_t>(j_loc) * lld;
    for (std::size_t i_loc = 0; i_loc < i.size(); ++i_loc) f(i[i_loc], j[j_loc], column[i_loc]);
  }
}
template <class T, class F> void for_each(Matrix<T>& matrix, F&& f) {
  for_each<T>(matrix.handle(), std::forward<F>(f));
}
template <class T, class F> void for_each(const Matrix<T>& matrix, F&& f) {
  for_each<const T>(matrix.handle(), std::forward<F>(f));
}

/// Calls f(i, element) for every element of this process, in the order of the local array: i is its index in each
/// dimension of the whole field, from 0, a std::array<std::int64_t, 5>. Local.
template <class T, class F> void for_each(const Field<T>& field, F&& f) {
  constexpr std::size_t most = DYNGRID_FIELD_DIMS;
  std::array<std::vector<std::int64_t>, most> indices; // of each dimension, mine
  for (std::size_t d = 0; d < most; ++d) {
    if (d >= static_cast<std::size_t>(field.dims())) {
      indices[d] = {0};
      continue;
    }
    for (const Range& range : field.ranges(static_cast<int>(d)))
      for (std::int64_t i = range.first; i < range.last; ++i) indices[d].push_back(i);
    if (indices[d].empty()) return;
  }
  std::array<std::size_t, most> at{};
  for (T* x = field.local();; ++x) {
    std::array<std::int64_t, most> i{};
    for (std::size_t d = 0; d < most; ++d) i[d] = indices[d][at[d]];
    f(i, *x);
    std::size_t d = 0;
    while (d < most && ++at[d] == indices[d].size()) at[d++] = 0;
    if (d == most) return;
  }
}
template <class T, class F> void for_each(Field<T>& field, F&& f) {
  for_each(static_cast<const Field<T>&>(field), std::forward<F>(f));
}

/// A variable that every process has and new processes get at their first resize point. It cannot be moved: the value
/// is written to its address on new processes.
template <class T> class Shared {
  static_assert(std::is_trivially_copyable_v<T>, "a shared variable is sent as bytes: no pointers, strings or vectors");

public:
  /// Collective. @throws Error
  explicit Shared(const std::string& name, T value = T{}) : name_(name), value_(value) {
    check(dyngrid_share(name.c_str(), &value_, sizeof value_));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { dyngrid_unshare(name_.c_str()); }

  Shared& operator=(const T& value) {
    value_ = value;
    return *this;
  }
  operator const T&() const { return value_; }
  T& get() { return value_; }
  const T& get() const { return value_; }

private:
  std::string name_;
  T value_;
};

namespace detail {
struct Destroy {
  void operator()(dyngrid_layout* layout) const { dyngrid_layout_destroy(&layout); }
  void operator()(dyngrid_plan* plan) const { dyngrid_plan_destroy(&plan); }
};
} // namespace detail

/// Any distribution on any processes; see dyngrid/redist.h.
class Layout {
public:
  /// ranks: nprow * npcol of them, row-major; null: 0, 1, ...
  Layout(const int* desc, int nprow, int npcol, const int* ranks = nullptr) {
    dyngrid_layout* made = nullptr;
    check(dyngrid_layout_create(desc, nprow, npcol, ranks, &made));
    layout_.reset(made);
  }
  /// Takes over what one of the C routines made.
  static Layout adopt(dyngrid_layout* layout) { return Layout(layout); }
  const dyngrid_layout* get() const { return layout_.get(); }

private:
  explicit Layout(dyngrid_layout* layout) : layout_(layout) {}
  std::unique_ptr<dyngrid_layout, detail::Destroy> layout_;
};

/// Which process sends what from one layout to another; local, pure.
class Plan {
public:
  Plan(const Layout& from, const Layout& to, char transpose = 'N', Schedule schedule = Schedule::automatic,
       int element_bytes = 8) {
    dyngrid_plan* made = nullptr;
    check(dyngrid_plan_create(from.get(), to.get(), transpose, static_cast<int>(schedule), element_bytes, &made));
    plan_.reset(made);
  }
  dyngrid_plan_figures figures() const {
    dyngrid_plan_figures figures{};
    check(dyngrid_plan_get_figures(plan_.get(), &figures));
    return figures;
  }
  std::string describe() const {
    const char* text = nullptr;
    check(dyngrid_plan_describe(plan_.get(), &text));
    return text;
  }
  const dyngrid_plan* get() const { return plan_.get(); }

private:
  std::unique_ptr<dyngrid_plan, detail::Destroy> plan_;
};

} // namespace dyngrid
#endif
