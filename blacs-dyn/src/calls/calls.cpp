// SPDX-License-Identifier: BSD-3-Clause
#include "calls/calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/fnv1a.hpp"
#include "base/status.hpp"
#include "calls/account.hpp"
#include "calls/elsewhere.hpp"
#include "calls/place.hpp"
#include "calls/routine.hpp"
#include "calls/run_on.hpp"
#include "calls/workers.hpp"
#include "control/call_speeds_file.hpp"
#include "control/history.hpp"
#include "matrix.hpp"
#include "mpi_util.hpp"
#include "pblas/stock_calls.hpp"
#include "redist/plan.hpp"

extern "C" void Cblacs_abort(int ctxt, int code);

namespace blacs_dyn::calls {
namespace {

using gridmap::CallOption;
using gridmap::CallRule;
using gridmap::CallSample;
using gridmap::CallTally;
using Mode = CallRule::Mode;

struct State {
  gridmap::CallRules rules; ///< of DYNGRID_CALLS
  AskedFor asked;
  bool tells = false; ///< this process does, once for all
  bool is_heard = false;
  bool keeps_speeds = false;
  ProcessSet* first = nullptr;
  std::set<std::tuple<std::string, int, CallPlace, std::int64_t>> measured; ///< Mode::measure: in this run
  std::map<std::pair<std::int64_t, CallPlace>, double> copies;              ///< predicted seconds
};

State& state() {
  static auto* all = new State; // used at exit
  return *all;
}

/// Once for each `what`.
void say_once(const std::string& what, const std::string& text) {
  static auto* said = new std::set<std::string>;
  if (state().tells && said->insert(what).second) std::fprintf(stderr, "dyngrid: %s\n", text.c_str());
}

/// One call, as this process sees it.
struct Call {
  const pblas::StockCall& stock;
  const Routine& routine;
  const std::string& name; ///< pdgetrf
  Problem problem;
  Standing here;
  MPI_Comm comm = MPI_COMM_NULL; ///< of the context
  ProcessSet* set = nullptr;
  bool is_acceptable = false; ///< for this process
  std::int64_t n = 0;         ///< the largest size
  int aspect = 0;
  int nb = 0; ///< of the first operand
  std::int64_t hash = 0;
  std::string size{};

  char type() const { return name[1]; }
  const Arguments& arguments() const { return stock.arguments; }
  CallPlace place() const { return {here.grid, nb}; }
  bool is_wide(const CallPlace& at) const { return at.grid.size() > set->size; } ///< needs workers
  /// Workers talk to the others in another way than these among themselves: what is known of them stands apart.
  int aspect_at(const CallPlace& at) const { return is_wide(at) ? -1 - aspect : aspect; }
  int workers() const { return set == state().first ? Workers::all().count() : 0; }
  Everyone everyone(const CallPlace& at) const {
    return is_wide(at) ? Workers::all().merged().everyone(here) : Everyone{comm, set->size, here.ctxt, here};
  }
  Standing standing_at(const CallPlace& at) const {
    return is_wide(at) ? Workers::all().merged().context(at.grid) : place_context(*set, at.grid, here, comm);
  }
  gridmap::CallTurns& turns() const { return set->turns[{name, aspect, n, place()}]; }
  gridmap::CallExpectation expect(const CallPlace& at, std::int64_t looks_again_below = 0) const {
    return set->speeds.expect(name, aspect_at(at), at, n, problem.work, looks_again_below);
  }
};

/// Sizes over the largest in powers of two, and whether vectors are wanted: problems of one aspect differ in size only.
int aspect_of(const Routine& routine, const Arguments& a, std::int64_t largest) {
  int aspect = 0;
  for (const int at : routine.sizes) {
    const double part = static_cast<double>(std::max(1, integer(a, at))) / static_cast<double>(largest);
    aspect = aspect * 32 + static_cast<int>(std::lround(-std::log2(part)));
  }
  return aspect * 2 + (routine.alignment == Alignment::same && letter(a, 0) == 'N' ? 1 : 0);
}

/// What calls are told apart by: all but their data. Every call pays for it, so it takes a number at a time. Local.
std::int64_t hash_of(const Call& call) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t number) { hash = ((hash << 23 | hash >> 41) ^ number) * 0x9e3779b97f4a7c15u; };
  const auto add_int = [&](int number) { add(static_cast<std::uint32_t>(number)); };
  for (const char c : call.name) add(static_cast<unsigned char>(c));
  add_int(call.here.grid.nprow), add_int(call.here.grid.npcol);
  for (const int at : call.routine.letters) add(static_cast<unsigned char>(letter(call.arguments(), at)));
  for (const int at : call.routine.sizes) add_int(integer(call.arguments(), at));
  for (const Operand& operand : call.problem.operands) {
    const Given x = given(call.arguments(), operand);
    add_int(x.i), add_int(x.j), add_int(operand.at), add_int(static_cast<int>(operand.use));
    for (int entry = m_at; entry < lld_at; ++entry) add_int(x.desc[entry]);
  }
  return static_cast<std::int64_t>(hash >> 1); // for MPI's minimum and maximum
}

/// What decides on its own where a call is looked at no further: it is quick. Local.
Call look_at(const pblas::StockCall& stock, const Routine& routine, const std::string& name) {
  Call call{stock, routine, name, routine.read(stock.arguments, name[1]), {}};
  const Given first = given(call.arguments(), call.problem.operands.front());
  call.here = standing_in(first.desc[ctxt_at]);
  if (!call.here.is_inside()) return call;
  call.nb = first.desc[nb_at];
  for (const int at : routine.sizes) call.n = std::max<std::int64_t>(call.n, integer(call.arguments(), at));
  call.hash = hash_of(call);
  call.comm = comm_of_context(call.here.ctxt);
  call.set = &set_of(call.comm);
  if (state().first == nullptr) state().first = call.set;
  return call;
}

/// The rest. Local.
void look_closer(Call& call) {
  for (const int at : call.routine.sizes)
    call.size += fmt::format("{}{}", call.size.empty() ? "" : "x", integer(call.arguments(), at));
  call.is_acceptable = is_acceptable(call.routine, call.problem, call.arguments(), call.here);
  if (call.n > 0) call.aspect = aspect_of(call.routine, call.arguments(), call.n);
}

/// A question for the work space, or one with wrong lengths that may be one.
bool is_query(const Routine& routine, const Arguments& a) {
  for (const int at : {routine.work, routine.rwork, routine.iwork})
    if (at != Routine::none && integer(a, at + 1) == -1) return true;
  return false;
}

void add_tally(const Call& call, const std::string& place, double seconds, double other_s, double moved_bytes) {
  const bool is_known = std::isfinite(other_s);
  counts().add({call.name, call.size, 1, {{place, 1}}, seconds, is_known ? other_s : 0, is_known ? 1 : 0, moved_bytes});
}

/// ScaLAPACK's routine where the caller has it: seconds.
double seconds_of_direct(const Call& call) {
  const double begin = MPI_Wtime();
  const Nested nested;
  pblas::invoke(call.stock.routine, call.arguments());
  return MPI_Wtime() - begin;
}

/// What it took becomes known with the next agreement, which all come to that made the one of this call.
void keep_for_agreement(const Call& call, double seconds) {
  call.set->last = {{call.name, call.aspect, call.place(), call.n, call.problem.work, seconds, 1}, 0, 0};
}

/// Where the caller has it.
void run_directly(const Call& call, bool is_agreed) {
  const double seconds = seconds_of_direct(call);
  add_tally(call, "-", seconds, seconds, 0);
  if (is_agreed) keep_for_agreement(call, seconds);
}

// ---- what all processes must know alike

void load(ProcessSet& set, MPI_Comm comm) {
  if (set.is_loaded) return;
  set.is_loaded = true;
  if (!state().keeps_speeds) return;
  std::string lines;
  if (set.rank == 0)
    lines = control::lines_of(
        control::call_samples_in(base::content_of(control::call_speeds_file()), control::machine_name()),
        control::machine_name());
  auto length = static_cast<int>(lines.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, comm), "MPI_Bcast");
  lines.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(lines.data(), length, MPI_CHAR, 0, comm), "MPI_Bcast");
  const std::size_t first = lines.find('\n');
  if (first == std::string::npos) return;
  std::string machine = lines.substr(0, first); // behind the seventh blank
  for (int blank = 0; blank < 7; ++blank) machine = machine.substr(machine.find(' ') + 1);
  for (const CallSample& sample : control::call_samples_in(lines, machine)) set.speeds.add(sample);
}

/// Whether the call cannot be decided on before the workers are there.
bool waits_for_workers(const Call& call, const CallRule& rule) {
  return rule.mode == Mode::forced || rule.mode == Mode::measure ||
         (rule.mode == Mode::fixed && rule.place.grid.size() > call.set->size);
}

struct Agreement {
  bool is_same = false;       ///< all processes of the context make the same call
  bool is_acceptable = false; ///< and each can see nothing wrong with it
  bool is_first = false;      ///< they are those that called first
  bool holds() const { return is_same && is_acceptable; }
};

/// What the last call took becomes known, and whether there are workers. `unsaid_s`: of such calls, which nothing was
/// agreed on; it becomes what it was for the slowest process. Collective.
Agreement agree_on_call(const Call& call, const CallRule& rule, double* unsaid_s = nullptr) {
  enum { acceptable, hash, minus_hash, first, run, copy, workers, unsaid, count };
  constexpr double per_second = 1e9;
  std::array<std::int64_t, count> said{};
  const bool has_set = !call.set->is_one_of_many;
  said[acceptable] = has_set && call.is_acceptable ? 1 : 0;
  base::Fnv1a what;
  what.number(call.hash).number(static_cast<int>(rule.mode)).number(rule.place.nb);
  said[hash] = what.number(rule.place.grid.nprow).number(rule.place.grid.npcol).positive();
  said[minus_hash] = -said[hash];
  said[first] = has_set && call.set == state().first ? 1 : 0;
  said[workers] = Workers::in;
  if (said[first] == 1 && call.set->rank == 0 && said[acceptable] == 1)
    said[workers] = Workers::all().look(waits_for_workers(call, rule));
  if (has_set && call.set->last.sample.count > 0) {
    said[run] = -static_cast<std::int64_t>(call.set->last.sample.seconds * per_second);
    said[copy] = -static_cast<std::int64_t>(call.set->last.copy_s * per_second);
  }
  if (unsaid_s != nullptr) said[unsaid] = -static_cast<std::int64_t>(*unsaid_s * per_second);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, said.data(), count, MPI_INT64_T, MPI_MIN, call.comm), "MPI_Allreduce");
  const Agreement agreed{said[hash] == -said[minus_hash], said[acceptable] == 1, said[first] == 1};
  if (unsaid_s != nullptr) *unsaid_s = static_cast<double>(-said[unsaid]) / per_second;
  if (agreed.is_first) Workers::all().go_by(said[workers], call.comm);
  if (has_set && call.set->last.sample.count > 0) {
    ProcessSet::Last& last = call.set->last;
    last.sample.seconds = static_cast<double>(-said[run]) / per_second;
    call.set->speeds.add(last.sample);
    call.set->spent_s[{last.sample.routine, std::max(last.sample.aspect, -1 - last.sample.aspect)}] +=
        last.sample.seconds;
    if (last.predicted_copy_s > 0)
      call.set->copy_factors.add(static_cast<double>(-said[copy]) / per_second / last.predicted_copy_s);
    last = {};
  }
  return agreed;
}

// ---- measuring

WorkOrder order_to(const Call& call, WorkOrder::What what, const Problem& problem, const Arguments& a,
                   const CallPlace& place) {
  WorkOrder order = order_for(call.stock.name, call.routine, problem, a, call.type(), place);
  order.what = what;
  return order;
}

/// The call scaled down to its largest size n, at a place: seconds of the slowest process. Collective.
double measure(const Call& call, const CallPlace& place, std::int64_t n) {
  std::vector<int> sizes;
  for (const int at : call.routine.sizes)
    sizes.push_back(static_cast<int>(
        std::max<std::int64_t>(1, std::llround(static_cast<double>(integer(call.arguments(), at)) *
                                               static_cast<double>(n) / static_cast<double>(call.n)))));
  Arguments scaled = call.arguments();
  for (std::size_t k = 0; k < sizes.size(); ++k) scaled[static_cast<std::size_t>(call.routine.sizes[k])] = &sizes[k];
  const Problem problem = call.routine.read(scaled, call.type());
  const bool is_wide = call.is_wide(place);
  if (is_wide && !all_agree(Workers::all().wake(), call.comm)) return std::nan("");
  if (is_wide) Workers::all().tell(order_to(call, WorkOrder::What::measure, problem, scaled, place));
  const Everyone all = call.everyone(place);
  const Standing there = call.standing_at(place);
  Elsewhere small(call.routine, problem, scaled, call.type(), there, place.nb);
  const double least =
      measure_there(small, call.stock.routine, there, all, call.set->measured_s[{call.name, call.aspect}]);
  if (is_wide) Workers::all().rest();
  call.set->speeds.add({call.name, call.aspect_at(place), place, n, problem.work, least, 1});
  return least;
}

/// The call as it is, at each place that it may go to, once in a run: for the table. Collective.
void measure_whole(const Call& call) {
  std::vector<CallPlace> places = gridmap::call_places(call.here.grid, call.nb, call.workers());
  places.insert(places.begin(), call.place());
  for (const CallPlace& place : places) {
    if (!state().measured.insert({call.name, call.aspect, place, call.n}).second) continue;
    measure(call, place, call.n);
    counts().measured_place();
  }
}

/// Two sizes at each place of which nothing is known; again, where that takes less than a hundredth of the calls, when
/// places are looked at again. Collective.
void measure_places(const Call& call, const std::vector<CallPlace>& places) {
  const auto key = std::make_pair(call.name, call.aspect);
  const bool is_again =
      call.turns().looks_again_below() > 0 && call.set->measured_s[key] < 0.01 * call.set->spent_s[key];
  constexpr double most_work = 3e8, most_n = 768; // some 10 ms each
  const double by_work = static_cast<double>(call.n) * std::cbrt(most_work / std::max(1.0, call.problem.work));
  const auto n = static_cast<std::int64_t>(std::max(8.0, std::min({most_n, by_work, static_cast<double>(call.n) - 1})));
  for (const CallPlace& place : places) {
    if (!is_again && call.set->speeds.knows(call.name, call.aspect_at(place), place)) continue;
    measure(call, place, n / 3 + 1);
    measure(call, place, n);
    counts().measured_place();
  }
}

// ---- deciding

/// Predicted seconds to a place and back, as planned. The same on every process.
double predicted_copies(const Call& call, const CallPlace& place) {
  const auto key = std::make_pair(call.hash, place);
  if (const auto known = state().copies.find(key); known != state().copies.end()) return known->second;
  redist::Machine machine;
  machine.cores = std::max(call.set->size, place.grid.size());
  double seconds = 0;
  for (const Operand& operand : call.problem.operands) {
    const Given x = given(call.arguments(), operand);
    const redist::Layout from{rows_of(x.desc, call.here.grid), cols_of(x.desc, call.here.grid),
                              redist::Grid::row_major(call.here.grid.nprow, call.here.grid.npcol)};
    const redist::Layout to{gridmap::Axis::block_cyclic(operand.m, place.nb, place.grid.nprow),
                            gridmap::Axis::block_cyclic(operand.n, place.nb, place.grid.npcol),
                            redist::Grid::row_major(place.grid.nprow, place.grid.npcol)};
    redist::PlanOptions options;
    options.schedule = redist::Schedule::async;
    options.from = {x.i - 1, x.j - 1, operand.m, operand.n};
    const double once =
        redist::Plan(from, to, options).predicted_seconds(machine, static_cast<int>(element_bytes(call.type())));
    seconds += once * (operand.use == Use::both ? 2 : 1);
  }
  state().copies[key] = seconds;
  return seconds;
}

struct Decision {
  bool is_moved = false;
  CallPlace place;
  double stay_s = std::nan(""), best_s = std::nan(""), copy_s = 0;
};

/// The ways to carry out a call, the first of them to stay. Places of which nothing is known are measured where that is
/// worth it. Collective.
std::vector<CallOption> options_for(const Call& call) {
  const std::vector<CallPlace> places = gridmap::call_places(call.here.grid, call.nb, call.workers());
  // a few short calls are not worth measuring others for
  constexpr double worth_measuring_s = 0.3, slowest_per_s = 1e9;
  const double expected_s =
      std::max(call.problem.work / (slowest_per_s * call.set->size), call.set->spent_s[{call.name, call.aspect}]);
  if (expected_s > worth_measuring_s) {
    std::vector<CallPlace> all = places;
    all.insert(all.begin(), call.place());
    measure_places(call, all);
  }
  const gridmap::CallExpectation stay = call.expect(call.place());
  std::vector<CallOption> options{{call.place(), stay.seconds, 0, stay.spread_s}};
  for (const CallPlace& place : places) {
    const gridmap::CallExpectation there = call.expect(place, call.turns().looks_again_below());
    const double copy_s = std::isnan(there.seconds) ? 0 : call.set->copy_factor() * predicted_copies(call, place);
    options.push_back({place, there.seconds, copy_s, there.spread_s});
  }
  return options;
}

/// Collective, and the same on all processes.
Decision decide(const Call& call) {
  const std::vector<CallOption> options = options_for(call);
  const std::size_t chosen = gridmap::choose_call(options);
  const double stay_s = options[0].seconds(), best_s = options[chosen].seconds();
  return {chosen != 0 && !call.turns().checks_staying(stay_s - best_s), options[chosen].place, stay_s, best_s,
          options[chosen].copy_s / call.set->copy_factor()};
}

Decision fixed(const Call& call, const CallRule& rule) {
  Decision decision;
  decision.place = {rule.place.grid.size() == 0 ? call.here.grid : rule.place.grid,
                    rule.place.nb == 0 ? call.nb : rule.place.nb};
  decision.is_moved = !(decision.place == call.place());
  const int workers = call.workers();
  if (decision.place.grid.size() > call.set->size + workers) {
    say_once(call.name + " too large",
             fmt::format("{} is sent to a grid of {}, but its caller has {} processes{}: it stays where it is",
                         call.name, to_string(decision.place.grid), call.set->size,
                         workers > 0 ? fmt::format(" and {} workers", workers) : ""));
    decision.is_moved = false;
  }
  return decision;
}

// ---- moving

/// What the caller's own work space must be; asked of the routine, which writes it where the caller looks for it.
/// Collective over the context.
bool has_own_work(const Call& call) {
  if (call.routine.work == Routine::none) return true;
  Arguments query = call.arguments();
  const int minus_one = -1;
  int info = 0;
  const auto ask = [&](int at) {
    if (at != Routine::none) query[static_cast<std::size_t>(at + 1)] = const_cast<int*>(&minus_one);
  };
  ask(call.routine.work), ask(call.routine.rwork), ask(call.routine.iwork);
  query[static_cast<std::size_t>(call.routine.info)] = &info;
  const Nested nested;
  pblas::invoke(call.stock.routine, query);
  const auto real = [&](int at) {
    const void* value = call.arguments()[static_cast<std::size_t>(at)];
    return call.type() == 's' || call.type() == 'c' ? double{*static_cast<const float*>(value)}
                                                    : *static_cast<const double*>(value);
  };
  const auto enough = [&](int at, auto&& needed) {
    return at == Routine::none || integer(call.arguments(), at + 1) >= needed(at);
  };
  return info == 0 && enough(call.routine.work, real) && enough(call.routine.rwork, real) &&
         enough(call.routine.iwork, [&](int at) { return double(integer(call.arguments(), at)); });
}

/// What is no number chooses pivots by where it lies, so info and pivots would not be those of the direct call. Local.
bool has_only_numbers(const Call& call) {
  if (call.routine.pivots == Routine::none || call.routine.pivots_use == Use::in) return true;
  const Operand& operand = call.problem.operands.front();
  const Given x = given(call.arguments(), operand);
  const gridmap::Axis rows = rows_of(x.desc, call.here.grid), cols = cols_of(x.desc, call.here.grid);
  const int reals = call.type() == 'c' || call.type() == 'z' ? 2 : 1;
  const auto local = [](const gridmap::Axis& axis, int mine, std::int64_t i) { return axis.count_before(mine, i); };
  const std::int64_t top = reals * local(rows, call.here.row, x.i - 1),
                     bottom = reals * local(rows, call.here.row, x.i - 1 + operand.m),
                     right = local(cols, call.here.col, x.j - 1 + operand.n);
  const auto zero = [&](const auto* data) { // a sum of zeros, but for infinities and NaN
    double sum = 0;
    for (std::int64_t j = local(cols, call.here.col, x.j - 1); j < right; ++j) {
      const auto* column = data + j * x.desc[lld_at] * reals;
      std::remove_cv_t<std::remove_reference_t<decltype(*column)>> of_column = 0;
      for (std::int64_t i = top; i < bottom; ++i) of_column += column[i] * 0;
      sum += of_column;
    }
    return sum == 0;
  };
  return call.type() == 's' || call.type() == 'c' ? zero(static_cast<const float*>(x.data))
                                                  : zero(static_cast<const double*>(x.data));
}

/// "2x2/64", with the number of workers in it.
std::string place_text(const Call& call, const CallPlace& place) {
  const int more = place.grid.size() - call.set->size;
  return more > 0 ? fmt::format("{} ({} worker{})", to_string(place), more, more == 1 ? "" : "s") : to_string(place);
}

/// False where it was not moved: there was no memory, or the routine did not want it there, or workers have gone. The
/// caller's operands are untouched then. Collective over the context.
bool run_elsewhere(const Call& call, const Decision& decision) {
  const double begin = MPI_Wtime();
  const bool is_wide = call.is_wide(decision.place);
  const bool may_move = has_own_work(call) && has_only_numbers(call);
  const bool is_awake = !is_wide || Workers::all().wake();
  if (!all_agree(may_move && is_awake, call.comm)) {
    if (is_wide) Workers::all().rest();
    return false;
  }
  if (is_wide)
    Workers::all().tell(order_to(call, WorkOrder::What::run, call.problem, call.arguments(), decision.place));
  const Everyone all = call.everyone(decision.place);
  const Standing there = call.standing_at(decision.place);
  Elsewhere elsewhere(call.routine, call.problem, call.arguments(), call.type(), there, decision.place.nb);
  const Run run = run_there(elsewhere, call.routine, call.stock.routine, there, all);
  if (is_wide) Workers::all().rest();
  if (run.outcome == Run::Outcome::no_memory) {
    counts().had_no_memory();
    say_once("no memory", fmt::format("there is no memory for a copy of the operands of {} of {}: it stays where it "
                                      "is; more such calls are counted in the report",
                                      call.name, call.size));
  }
  if (run.outcome != Run::Outcome::done) return false;
  if (call.routine.info != Routine::none)
    *static_cast<int*>(call.arguments()[static_cast<std::size_t>(call.routine.info)]) = run.info;
  const double seconds = MPI_Wtime() - begin;
  add_tally(call, place_text(call, decision.place), seconds, decision.stay_s, elsewhere.moved_bytes());
  call.set->last = {
      {call.name, call.aspect_at(decision.place), decision.place, call.n, call.problem.work, run.run_s, 1},
      seconds - run.run_s,
      decision.copy_s};
  return true;
}

/// True when all agree that it is to be looked at. Collective.
bool look_at_reported(Call& call, const CallRule& rule, ReportedCalls& like) {
  look_closer(call);
  like.row = &counts().row(call.name, call.size);
  const Agreement agreed = agree_on_call(call, rule, &like.unsaid_s);
  const bool holds = agreed.holds();
  like.is_left_alone = holds && !agreed.is_first;
  if (holds && agreed.is_first) {
    load(*call.set, call.comm);
    call.set->spent_s[{call.name, call.aspect}] += like.unsaid_s;
    like.gain.look_at(options_for(call));
  }
  like.unsaid_s = 0;
  like.is_settled = !holds || !agreed.is_first || like.gain.is_known();
  if (!agreed.is_same) { // not all of them know this one now
    ReportedCalls unknown;
    unknown.row = like.row;
    like = unknown;
  }
  return holds;
}

/// The first call of a size is looked at, and until places are known the 2nd, the 4th, the 8th, ... as well: measuring
/// may be worth it then. Nothing is said about the others. Collective.
void report_on(Call& call, const CallRule& rule) {
  ReportedCalls& like = call.set->reported[call.hash];
  const bool is_turn = (like.calls & (like.calls + 1)) == 0;
  ++like.calls;
  const bool is_agreed = is_turn && !like.is_settled && look_at_reported(call, rule, like);
  const double seconds = seconds_of_direct(call);
  if (is_agreed)
    keep_for_agreement(call, seconds);
  else
    like.unsaid_s += seconds;
  if (like.is_left_alone) counts().left_alone();
  like.gain.add(seconds);
  const bool is_known = like.gain.is_known();
  const double best_s = is_known ? like.gain.best_s() : 0; // of all of them so far
  const std::int64_t known = is_known ? like.gain.calls() : 0;
  counts().add_to(*like.row, seconds, best_s - like.told_s, known - like.told);
  like.told_s = best_s, like.told = known;
  if (is_known && (like.best.nb == 0 || !(like.gain.best() == like.best))) {
    like.best = like.gain.best();
    counts().best_is(*like.row, like.gain.is_to_move() ? place_text(call, like.best) : "-");
  }
}

void carry_out_by(const CallRule& rule, Call& call) {
  if (rule.mode == Mode::report) return report_on(call, rule);
  look_closer(call);
  const Agreement agreed = agree_on_call(call, rule);
  if (!agreed.holds()) return run_directly(call, false);
  load(*call.set, call.comm);
  if (!agreed.is_first && (rule.mode == Mode::automatic || rule.mode == Mode::measure)) {
    counts().left_alone();
    return run_directly(call, true);
  }
  if (rule.mode == Mode::measure) {
    measure_whole(call);
    return run_directly(call, true);
  }
  Decision decision;
  if (rule.mode == Mode::forced)
    decision = {true, gridmap::forced_place(call.here.grid, call.nb, call.set->forced++, call.workers())};
  else
    decision = rule.mode == Mode::fixed ? fixed(call, rule) : decide(call);
  const bool is_moved = decision.is_moved && run_elsewhere(call, decision);
  if (!is_moved) run_directly(call, true);
  call.turns().count(is_moved, decision.best_s);
}

// ---- the beginning and the end

void tell() {
  State& all = state();
  if (!all.tells) return;
  if (all.rules.empty()) return; // the program itself knows where it sent its calls
  tell_and_keep();
  if (!all.keeps_speeds || all.first == nullptr) return;
  if (all.first->last.sample.count > 0) all.first->speeds.add(all.first->last.sample);
  control::save_call_samples(control::call_speeds_file(), all.first->speeds.samples(), control::machine_name());
}

/// A routine by the name that calls of it come with; that stays where it is.
struct Named {
  std::string name;         ///< pdgetrf
  const Routine* routine{}; ///< null: none that can be moved
  CallRule rule{};          ///< of DYNGRID_CALLS
};
const Named& named(const char* stock_name) {
  static auto* all = new std::map<const char*, Named>;
  const auto [found, is_new] = all->try_emplace(stock_name);
  if (is_new) {
    const std::string_view text = stock_name;
    Named& one = found->second;
    one.name = text.substr(0, text.size() - 1);
    one.routine = routine_named(text);
    if (const auto rule = state().rules.find(one.name); rule != state().rules.end()) one.rule = rule->second;
  }
  return found->second;
}

void carry_out(const pblas::StockCall& stock) {
  State& all = state();
  const Named& called = named(stock.name);
  const Routine* routine = Nested::depth() == 0 ? called.routine : nullptr;
  if (routine != nullptr && is_query(*routine, stock.arguments)) routine = nullptr;
  CallRule rule;
  if (routine != nullptr) rule = all.asked.take(called.name).value_or(called.rule);
  if (rule.mode == Mode::direct) {
    const Nested nested;
    return pblas::invoke(stock.routine, stock.arguments);
  }
  try {
    static const bool is_begun = [&] {
      all.tells = is_first_process();
      counts().begin(!all.rules.empty() && std::all_of(all.rules.begin(), all.rules.end(), [](const auto& entry) {
        return entry.second.mode == Mode::report || entry.second.mode == Mode::direct;
      }));
      std::atexit(tell);
      return true;
    }();
    (void)is_begun;
    Call call = look_at(stock, *routine, called.name);
    if (all.tells && !all.rules.empty() && !std::exchange(all.is_heard, true))
      listen(call.here.is_inside() ? call.here.grid : GridShape{1, 1});
    if (call.here.is_inside()) return carry_out_by(rule, call);
    const Nested nested;
    pblas::invoke(stock.routine, stock.arguments);
  } catch (const std::exception& error) { // in the middle of a collective call
    std::fprintf(stderr, "dyngrid: %s: %s\n", called.name.c_str(), error.what());
    std::fflush(stderr);
    Cblacs_abort(0, 2);
    std::abort();
  }
}

/// Before main: where nothing is asked for, the names lead straight to ScaLAPACK.
[[maybe_unused]] const bool is_routed = [] {
  const char* text = base::environment("DYNGRID_CALLS");
  if (text == nullptr) return false;
  try {
    state().rules = gridmap::parse_call_rules(text, "DYNGRID_CALLS");
    Workers::all().ask_for(gridmap::call_workers(text, "DYNGRID_CALLS"));
  } catch (const base::Error& error) {
    std::fprintf(stderr, "dyngrid: %s\n", error.what());
    std::exit(1);
  }
  for (const auto& entry : state().rules)
    for (const Mode mode : {Mode::automatic, Mode::report, Mode::measure})
      state().keeps_speeds = state().keeps_speeds || entry.second.mode == mode;
  if (!state().rules.empty()) pblas::route_stock_calls(carry_out);
  return true;
}();

} // namespace

void run_on(int nprow, int npcol, int nb, const char* routines) {
  state().asked.next(rules_at(nprow, npcol, nb, routines, "blacs-dyn: dyngrid_run_on"));
  pblas::route_stock_calls(carry_out);
}

void run_on_begin(int nprow, int npcol, int nb, const char* routines) {
  state().asked.begin(rules_at(nprow, npcol, nb, routines, "blacs-dyn: dyngrid_run_on_begin"));
  pblas::route_stock_calls(carry_out);
}

void run_on_end() {
  state().asked.end();
}

void contexts_are_closed() {
  Workers::all().close_contexts();
  forget_places();
}

} // namespace blacs_dyn::calls
