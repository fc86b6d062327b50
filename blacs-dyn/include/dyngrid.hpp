// SPDX-License-Identifier: BSD-3-Clause
// dyngrid for C++17: objects that own what dyngrid.h hands out. Header only; the library itself exports C, so that a program and the library
// may come from different compilers. Statuses become dyngrid::Error. "Collective" means what it means in dyngrid.h.
#ifndef DYNGRID_HPP
#define DYNGRID_HPP

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

namespace dyngrid {

/// A status below 0 with its text. Of a collective call all processes throw the same one.
class Error : public std::runtime_error {
public:
  Error(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int status() const noexcept { return status_; } ///< DYNGRID_ERR_*

private:
  int status_;
};

/// Throws what a C routine reported; otherwise returns its status or outcome.
inline int check(int status) {
  if (status < 0) throw Error(status, dyngrid_last_message());
  return status;
}

enum class Outcome {
  same = DYNGRID_SAME,
  resized = DYNGRID_RESIZED,
  leave = DYNGRID_LEAVE,
  redirect = DYNGRID_REDIRECT
};
enum class Placement { optimal = DYNGRID_OPTIMAL, global = DYNGRID_GLOBAL, local1 = DYNGRID_LOCAL1, local2 = DYNGRID_LOCAL2 };
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

/// The application that this process belongs to, from dyngrid_init to dyngrid_finalize. One at a time, declared before matrices and shared
/// variables, so that it ends after them.
class Application {
public:
  /// Collective over MPI_COMM_WORLD. @throws Error
  Application() { check(dyngrid_init()); }
  Application(int nprow, int npcol) { check(dyngrid_init_grid(nprow, npcol)); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  /// Ends dyngrid when finalize() was not called; not while an exception unwinds, since the other processes may not come: a leak can be
  /// counted, a hang cannot.
  ~Application() {
    if (is_open_ && std::uncaught_exceptions() == exceptions_) dyngrid_finalize();
  }
  /// Collective over the current grid. @throws Error
  void finalize() {
    is_open_ = false;
    check(dyngrid_finalize());
  }

  bool is_newcomer() const { return dyngrid_is_newcomer() != 0; }
  bool is_first() const { return dyngrid_is_first() != 0; } ///< at (0,0): who prints and has the files open
  int context() const { return dyngrid_context(); } ///< BLACS context, -1 outside the grid; new after every change
  MPI_Comm comm() const { return dyngrid_comm(); }  ///< borrowed, good until the next change
  int depth() const { return dyngrid_depth(); }
  Grid grid() const {
    Grid g;
    check(dyngrid_grid(&g.nprow, &g.npcol, &g.myrow, &g.mycol));
    return g;
  }

  /// The place where the grid may change: the line of the call. Collective. @throws Error when a change was refused:
  /// the grid is the old one, with all its data.
  Outcome resize_point(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return static_cast<Outcome>(check(dyngrid_resize_point_in(file, line)));
  }
  /// The same for programs that go on when a change is refused: Outcome::same then, and the reason in `refusal`, otherwise empty.
  Outcome resize_point(std::string& refusal, int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return going_on(dyngrid_resize_point_in(file, line), refusal);
  }
  /// A resize point with a name, to which processes that join or wake can be led.
  Outcome resize_point_at(const std::string& name) {
    return static_cast<Outcome>(check(dyngrid_resize_point_at(name.c_str())));
  }
  Outcome resize_point_at(const std::string& name, std::string& refusal) {
    return going_on(dyngrid_resize_point_at(name.c_str()), refusal);
  }
  /// Where this process is to go on: of a newcomer and after Outcome::redirect; otherwise empty. Says that this process
  /// can be led. Local.
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
  /// Asks for a change at the next resize point. Local.
  void request(int nprow, int npcol) { check(dyngrid_request(nprow, npcol)); }
  /// Changes the grid now. Collective.
  Outcome resize(int nprow, int npcol, Placement placement = Placement::optimal) {
    return static_cast<Outcome>(check(dyngrid_resize(nprow, npcol, static_cast<int>(placement))));
  }
  /// Back to the grid before the last growth. Collective.
  Outcome pop() { return static_cast<Outcome>(check(dyngrid_pop())); }
  void set_placement(Placement placement) { check(dyngrid_set_placement(static_cast<int>(placement))); }
  /// How new processes come: DYNGRID_SPAWN or DYNGRID_JOIN. Collective, before any growth.
  void set_processes(int way) { check(dyngrid_set_processes(way)); }
  /// All matrices and shared variables into one file, whole or not at all; an empty path: DYNGRID_CHECKPOINT's. Collective.
  void checkpoint(const std::string& path = {}) { check(dyngrid_checkpoint(path.empty() ? nullptr : path.c_str())); }
  /// And back, on whatever grid there is; an empty path: DYNGRID_RESTORE's. Collective. @throws Error, with nothing changed.
  void restore(const std::string& path = {}) { check(dyngrid_restore(path.empty() ? nullptr : path.c_str())); }
  bool is_restarted() const { return dyngrid_is_restarted() != 0; }
  /// The grids that this application can use, for requests from outside: "4:32:*2; aspect 2". Local.
  void allow(const std::string& grids) { check(dyngrid_allow(grids.c_str())); }
  /// Steps of the whole run, so that a growth that cannot pay off is declined. Local.
  void set_steps(std::int64_t steps) { check(dyngrid_set_steps(steps)); }
  /// Tries these grids in the first steps and goes to the quickest: "2x2,2x3,3x3@3". Local.
  void experiment(const std::string& grids) { check(dyngrid_experiment(grids.c_str())); }
  /// The name for `dyngrid resize JOB 3x3`, on process 0. Local.
  std::string job() const { return dyngrid_job(); }
  void set_schedule(Schedule schedule) { check(dyngrid_set_schedule(static_cast<int>(schedule))); }
  dyngrid_resize_report last_resize() const {
    dyngrid_resize_report report{};
    check(dyngrid_last_resize(&report));
    return report;
  }

private:
  struct Notice {
    std::function<void()> before, after;
  };
  static Outcome going_on(int outcome, std::string& refusal) {
    refusal = outcome < 0 ? dyngrid_last_message() : "";
    return outcome < 0 ? Outcome::same : static_cast<Outcome>(outcome);
  }
  std::vector<std::unique_ptr<Notice>> notices_; ///< their addresses are known to dyngrid
  bool is_open_ = true;
  int exceptions_ = std::uncaught_exceptions();
};

namespace detail {
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
  Matrix(Matrix&& other) noexcept : matrix_(std::exchange(other.matrix_, nullptr)) {}
  Matrix& operator=(Matrix&& other) noexcept {
    if (this != &other) {
      dyngrid_matrix_free(&matrix_);
      matrix_ = std::exchange(other.matrix_, nullptr);
    }
    return *this;
  }
  ~Matrix() { dyngrid_matrix_free(&matrix_); } // sends nothing; refused, and harmless, after the end of the application

  T* local() const { return static_cast<T*>(dyngrid_local(matrix_)); } ///< column-major; null outside the grid; changes with it
  const int* desc() const { return dyngrid_desc(matrix_); }            ///< ScaLAPACK's nine integers; the pointer stays the same
  std::int64_t rows() const { return shape(0); }                       ///< of this process
  std::int64_t columns() const { return shape(1); }
  std::int64_t lld() const { return shape(2); }
  /// Local element, from 0.
  T& operator()(std::int64_t i_loc, std::int64_t j_loc) const { return local()[i_loc + j_loc * desc()[8]]; }
  dyngrid_matrix* handle() const { return matrix_; }

private:
  std::int64_t shape(int which) const {
    std::int64_t sizes[3] = {};
    check(dyngrid_matrix_shape(matrix_, &sizes[0], &sizes[1], &sizes[2]));
    return sizes[which];
  }
  dyngrid_matrix* matrix_ = nullptr;
};

/// All elements into a matrix of the same size that may lie in any other way; see dyngrid_copy. Collective.
/// @throws Error
template <class T> void copy(const Matrix<T>& from, Matrix<T>& to) { check(dyngrid_copy(from.handle(), to.handle())); }

/// A variable that every process has and newcomers get at their first resize point. It cannot be moved: newcomers' copies are written to
/// its address.
template <class T> class Shared {
  static_assert(std::is_trivially_copyable_v<T>, "a shared variable is sent as bytes: no pointers, strings or vectors");

public:
  /// Collective. @throws Error
  explicit Shared(const std::string& name, T value = T{}) : name_(name), value_(value) { check(dyngrid_share(name.c_str(), &value_, sizeof value_)); }
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

/// Who sends what from one layout to another; local, pure.
class Plan {
public:
  Plan(const Layout& from, const Layout& to, char transpose = 'N', Schedule schedule = Schedule::automatic, int element_bytes = 8) {
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
