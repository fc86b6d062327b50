// SPDX-License-Identifier: BSD-3-Clause
#include "grid/calls/call.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "base/status.hpp"
#include "base/thread.hpp"
#include "grid/calls/account.hpp"
#include "grid/contexts.hpp"
#include "grid/matrix.hpp"
#include "processes/mpi_util.hpp"
#include "redist/executor.hpp"
#include "redist/measure.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn::calls {
namespace {

/// Sizes over the largest in powers of two, and whether vectors are requested: problems of one aspect differ in size
/// only.
int aspect_of(const Routine& routine, const Arguments& a, std::int64_t largest) {
  int aspect = 0;
  for (const int at : routine.sizes) {
    const double part = static_cast<double>(std::max(1, integer(a, at))) / static_cast<double>(largest);
    aspect = aspect * 32 + static_cast<int>(std::lround(-std::log2(part)));
  }
  return aspect * 2 + (routine.alignment == Alignment::same && letter(a, 0) == 'N' ? 1 : 0);
}

/// While the others are waited for. A process on which the program did not say where the call runs may be in
/// ScaLAPACK's routine already, and never comes: a message says so once it takes long.
class Watch {
public:
  explicit Watch(const std::string& routine) {
    try {
      thread_ = base::thread_without_signals([this, &routine] { watch(routine); });
    } catch (const std::system_error&) { // no more threads can be had: the message alone is missing then
    }
  }
  ~Watch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

private:
  void watch(const std::string& routine) {
    std::unique_lock<std::mutex> lock(mutex_);
    constexpr int long_s = 10;
    if (!over_.wait_for(lock, std::chrono::seconds(long_s), [this] { return is_over_; }))
      std::fprintf(stderr,
                   "dyngrid: %s: since %d s this process waits for the others of the context, to agree on where "
                   "the call runs. dyngrid_run_on was called on this process, expected on all that make the call\n",
                   routine.c_str(), long_s);
  }

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

} // namespace

// ---- looked at; local

/// All but the data of a call. Every call pays for it, so it takes a number at a time.
std::int64_t Call::hash_of_arguments() const {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t number) { hash = ((hash << 23 | hash >> 41) ^ number) * 0x9e3779b97f4a7c15u; };
  const auto add_int = [&](int number) { add(static_cast<std::uint32_t>(number)); };
  for (const char c : name_) add(static_cast<unsigned char>(c));
  add_int(here_.grid.nprow), add_int(here_.grid.npcol);
  for (const int at : routine_.letters) add(static_cast<unsigned char>(letter(arguments(), at)));
  for (const int at : routine_.sizes) add_int(integer(arguments(), at));
  for (const Operand& operand : what_.operands) {
    const Given x = given(arguments(), operand);
    add_int(x.i), add_int(x.j), add_int(operand.at), add_int(static_cast<int>(operand.use));
    for (int entry = m_at; entry < lld_at; ++entry) add_int(x.desc[entry]);
  }
  return static_cast<std::int64_t>(hash >> 1); // for MPI's minimum and maximum
}

Call::Call(const pblas::StockCall& stock, const Routine& routine, const std::string& name, bool is_asked)
    : stock_(stock), routine_(routine), name_(name), is_asked_(is_asked),
      what_(routine.read(stock.arguments, name[1])) {
  const Given first = given(arguments(), what_.operands.front());
  here_ = standing_in(first.desc[ctxt_at]);
  if (!here_.is_inside()) return;
  for (const int at : routine_.sizes) n_ = std::max<std::int64_t>(n_, integer(arguments(), at));
  hash_ = hash_of_arguments();
  comm_ = contexts::comm_of(here_.ctxt);
  callers_ = &callers_of(comm_);
}

const CallProblem& Call::problem() {
  if (problem_) return *problem_;
  CallProblem& p = problem_.emplace();
  for (const int at : routine_.sizes)
    p.size += fmt::format("{}{}", p.size.empty() ? "" : "x", integer(arguments(), at));
  p.place = {here_.grid, given(arguments(), what_.operands.front()).desc[nb_at]};
  p.n = n_;
  if (n_ > 0) p.aspect = aspect_of(routine_, arguments(), n_);
  p.work = what_.work;
  p.processes = callers_->size;
  return p;
}

bool Call::lies_at(const CallPlace& place) const {
  return place.grid == here_.grid &&
         std::all_of(what_.operands.begin(), what_.operands.end(), [&](const Operand& operand) {
           const auto& desc = given(arguments(), operand).desc;
           return desc[mb_at] == place.nb && desc[nb_at] == place.nb;
         });
}

bool is_query(const Routine& routine, const Arguments& a) {
  for (const int at : {routine.work, routine.rwork, routine.iwork})
    if (at != Routine::none && integer(a, at + 1) == -1) return true;
  return false;
}

// ---- what all processes know alike

CallAgreement Call::agree(const advise::CallRule& rule, CallTimes& times) {
  enum { acceptable, hash, minus_hash, first, run, copy, undecided, count };
  constexpr double per_second = 1e9;
  std::array<std::int64_t, count> values{};
  const bool are_known = !callers_->is_one_of_many;
  values[acceptable] = are_known && is_acceptable(routine_, what_, arguments(), here_) ? 1 : 0;
  base::Fnv1a what;
  what.number(hash_).number(static_cast<int>(rule.mode)).number(rule.place.nb);
  values[hash] = what.number(rule.place.grid.nprow).number(rule.place.grid.npcol).positive();
  values[minus_hash] = -values[hash];
  values[first] = are_known && callers_->is_first ? 1 : 0;
  const auto kept = [&](double seconds) { return -static_cast<std::int64_t>(seconds * per_second); };
  values[run] = kept(times.run_s), values[copy] = kept(times.copy_s), values[undecided] = kept(times.undecided_s);
  {
    std::optional<Watch> watch;
    if (is_asked_) watch.emplace(name_);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_INT64_T, MPI_MIN, comm_), "MPI_Allreduce");
  }
  const auto slowest = [&](int at) { return static_cast<double>(-values[static_cast<std::size_t>(at)]) / per_second; };
  times = {slowest(run), slowest(copy), slowest(undecided)};
  return {values[hash] == -values[minus_hash], values[acceptable] == 1, values[first] == 1};
}

// ---- carried out

/// The size of the caller's own work space; queried from the routine, which writes it where the caller looks for it.
/// Collective over the context.
bool Call::has_own_work() const {
  if (routine_.work == Routine::none) return true;
  Arguments query = arguments();
  const int minus_one = -1;
  int info = 0;
  for (const int at : {routine_.work, routine_.rwork, routine_.iwork})
    if (at != Routine::none) query[static_cast<std::size_t>(at + 1)] = const_cast<int*>(&minus_one);
  query[static_cast<std::size_t>(routine_.info)] = &info;
  const Nested nested;
  pblas::invoke(stock_.routine, query);
  const auto real = [&](int at) {
    const void* value = arguments()[static_cast<std::size_t>(at)];
    return type() == 's' || type() == 'c' ? double{*static_cast<const float*>(value)}
                                          : *static_cast<const double*>(value);
  };
  const auto enough = [&](int at, auto&& needed) {
    return at == Routine::none || integer(arguments(), at + 1) >= needed(at);
  };
  return info == 0 && enough(routine_.work, real) && enough(routine_.rwork, real) &&
         enough(routine_.iwork, [&](int at) { return double(integer(arguments(), at)); });
}

/// A NaN or infinity influences the choice of pivots by its position, so info and pivots would not be those of the
/// direct call. Local.
bool Call::has_only_numbers() const {
  if (routine_.pivots == Routine::none || routine_.pivots_use == Use::in) return true;
  const Operand& operand = what_.operands.front();
  const Given x = given(arguments(), operand);
  const gridmap::Axis rows = rows_of(x.desc, here_.grid), cols = cols_of(x.desc, here_.grid);
  const int reals = type() == 'c' || type() == 'z' ? 2 : 1;
  const auto local = [](const gridmap::Axis& axis, int mine, std::int64_t i) { return axis.count_before(mine, i); };
  const std::int64_t top = reals * local(rows, here_.row, x.i - 1),
                     bottom = reals * local(rows, here_.row, x.i - 1 + operand.m),
                     right = local(cols, here_.col, x.j - 1 + operand.n);
  const auto zero = [&](const auto* data) { // a sum of zeros, but for infinities and NaN
    double sum = 0;
    for (std::int64_t j = local(cols, here_.col, x.j - 1); j < right; ++j) {
      const auto* column = data + j * x.desc[lld_at] * reals;
      std::remove_cv_t<std::remove_reference_t<decltype(*column)>> of_column = 0;
      for (std::int64_t i = top; i < bottom; ++i) of_column += column[i] * 0;
      sum += of_column;
    }
    return sum == 0;
  };
  return type() == 's' || type() == 'c' ? zero(static_cast<const float*>(x.data))
                                        : zero(static_cast<const double*>(x.data));
}

double Call::run_here() {
  const double begin = MPI_Wtime();
  const Nested nested;
  pblas::invoke(stock_.routine, arguments());
  return MPI_Wtime() - begin;
}

std::optional<MovedCall> Call::run_at(const CallPlace& place) {
  if (place.grid.size() > callers_->size) {
    print_once(name_ + " too large",
               fmt::format("{} is sent to a grid of {}, but its caller has {} processes: it stays where it is", name_,
                           to_string(place.grid), callers_->size));
    return std::nullopt;
  }
  const double begin = MPI_Wtime();
  const bool may_move = has_own_work() && has_only_numbers();
  if (!all_agree(may_move, comm_)) return std::nullopt;
  const Standing there = standing_at(place);
  Elsewhere elsewhere(routine_, what_, arguments(), type(), there, place.nb);
  const Run run = run_there(elsewhere, routine_, stock_.routine, there, everyone());
  if (run.outcome == Run::Outcome::no_memory) {
    counts().had_no_memory();
    print_once("no memory", fmt::format("there is no memory for a copy of the operands of {} of {}: it stays where it "
                                        "is; more such calls are counted in the report",
                                        name_, problem().size));
  }
  if (run.outcome != Run::Outcome::done) return std::nullopt;
  if (routine_.info != Routine::none)
    *static_cast<int*>(arguments()[static_cast<std::size_t>(routine_.info)]) = run.info;
  return MovedCall{MPI_Wtime() - begin, run.run_s, elsewhere.moved_bytes()};
}

CallInHand::Measured Call::measure_at(const CallPlace& place, std::int64_t n) {
  std::vector<int> sizes;
  for (const int at : routine_.sizes)
    sizes.push_back(
        static_cast<int>(std::max<std::int64_t>(1, std::llround(static_cast<double>(integer(arguments(), at)) *
                                                                static_cast<double>(n) / static_cast<double>(n_)))));
  Arguments scaled = arguments();
  for (std::size_t k = 0; k < sizes.size(); ++k) scaled[static_cast<std::size_t>(routine_.sizes[k])] = &sizes[k];
  const Problem problem = routine_.read(scaled, type());
  const Standing there = standing_at(place);
  Elsewhere small(routine_, problem, scaled, type(), there, place.nb);
  Measured measured;
  measured.seconds = measure_there(small, stock_.routine, there, everyone(), measured.spent_s);
  measured.work = problem.work;
  return measured;
}

advise::Machine Call::measure_machine() const {
  try {
    redist::Executor executor(comm_);
    const advise::Machine machine = redist::measure_machine(comm_, executor);
    executor.close();
    return machine;
  } catch (const base::Error& error) {
    if (error.status() != base::Status::out_of_memory) throw; // which all processes have agreed on
    return {};
  }
}

double Call::predicted_copies(const CallPlace& place, const advise::Machine& machine) const {
  double seconds = 0;
  for (const Operand& operand : what_.operands) {
    const Given x = given(arguments(), operand);
    const redist::Layout from{rows_of(x.desc, here_.grid), cols_of(x.desc, here_.grid),
                              redist::Grid::row_major(here_.grid.nprow, here_.grid.npcol)};
    const redist::Layout to{gridmap::Axis::block_cyclic(operand.m, place.nb, place.grid.nprow),
                            gridmap::Axis::block_cyclic(operand.n, place.nb, place.grid.npcol),
                            redist::Grid::row_major(place.grid.nprow, place.grid.npcol)};
    redist::PlanOptions options;
    options.schedule = redist::Schedule::async;
    options.from = {x.i - 1, x.j - 1, operand.m, operand.n};
    const double once =
        redist::Plan(from, to, options).predicted_seconds(machine, static_cast<int>(element_bytes(type())));
    seconds += once * (operand.use == Use::both ? 2 : 1);
  }
  return seconds;
}

void run_as_asked(Call& call, const advise::CallRule& rule) {
  CallTimes times;
  const bool holds = call.agree(rule, times).holds();
  const CallProblem& problem = call.problem();
  const CallPlace place = advise::place_asked(rule.place, problem.place);
  std::optional<MovedCall> moved;
  if (holds && !call.lies_at(place)) moved = call.run_at(place);
  const double seconds = moved ? moved->seconds : call.run_here();
  counts().add({call.routine(),
                problem.size,
                1,
                {{moved ? to_string(place) : "-", 1}},
                seconds,
                moved ? 0 : seconds,
                moved ? 0 : 1,
                moved ? moved->moved_bytes : 0});
}

} // namespace blacs_dyn::calls
