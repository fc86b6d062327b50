// SPDX-License-Identifier: BSD-3-Clause
#include "grid/control.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "control/runtime_dir.hpp"
#include "grid/calls/account.hpp"
#include "grid/place.hpp"
#include "grid/stock_blacs.hpp"
#include "processes/preflight.hpp"
#include "redist/predict.hpp"

namespace blacs_dyn {
namespace {

/// For predictions. One whose blocks follow the program's own rule is taken as one block per process: the rule is not
/// asked on another thread.
redist::MatrixSize size_of(const Matrix& a) {
  return {a.rows.n,
          a.cols.n,
          a.has_rule() ? 0 : a.rows.nb,
          a.has_rule() ? 0 : a.cols.nb,
          static_cast<int>(element_bytes(a.type)),
          a.lies_on.kind,
          a.lies_on.most};
}

/// "3*d2000x2000/64x64+i2000x1/64x1": what decides the time of a step, as far as it can be seen. has_place: with "@row"
/// and the like behind matrices that are not over the whole grid.
std::string text_of(const Matrices& matrices, bool has_place, std::size_t longest) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const auto& a : matrices.all()) {
    const redist::MatrixSize size = size_of(*a);
    std::string kind = fmt::format("{}{}x{}", a->type, size.m, size.n);
    if (!a->has_rule()) kind += fmt::format("/{}x{}", size.mb, size.nb);
    if (has_place && size.over != redist::Over::grid)
      kind += fmt::format("@{}", base::name_of(size.over, redist::over_names()));
    if (has_place && size.over == redist::Over::first) kind += ":" + to_string(size.most);
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
    if (known == kinds.end())
      kinds.emplace_back(kind, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [kind, count] : kinds)
    text += (text.empty() ? "" : "+") + (count > 1 ? std::to_string(count) + "*" : "") + kind;
  if (text.size() > longest) text = fmt::format("{} matrices of {} kinds", matrices.all().size(), kinds.size());
  return text.empty() ? "-" : text;
}

/// As they are called outside.
std::vector<advise::GroupInfo> groups_of(const Processes& processes) {
  std::vector<advise::GroupInfo> all;
  for (const SpawnGroup& group : processes.process_set().groups)
    if (group.id != 0)
      all.push_back({processes.number_of(group.id), static_cast<int>(group.members.size()), group.active()});
  return all;
}

} // namespace

Control::Control(const Settings& settings, Shape first_grid, const std::string& why_fixed)
    : may_allow_(settings.allowed.text().empty()), may_set_steps_(settings.steps == 0),
      may_experiment_(!settings.experiment) {
  control::JobInfo info;
  info.pid = getpid();
  info.job = settings.job.empty() ? std::to_string(info.pid) : settings.job;
  if (!settings.pool.empty()) info.job += "/" + settings.pool;
  info.app = base::file_name(own_program());
  info.host = base::host_name();
  info.version = DYNGRID_VERSION;
  info.machine = control::machine_name();
  info.history_file = control::history_file();
  info.why_fixed = why_fixed;
  info.checkpoint_file = settings.checkpoint;
  info.checkpoint_signal = settings.checkpoint_signal == SIGTERM   ? "TERM"
                           : settings.checkpoint_signal == SIGUSR1 ? "USR1"
                                                                   : "";
  info.cores = settings.known_cores;
  info.per_core = settings.per_core;
  info.undoes = settings.undoes;
  name_ = info.job;
  state_ = std::make_unique<control::JobState>(std::move(info), first_grid, base::monotonic_s());
  state_->set_allowed(settings.allowed);
  state_->show_calls(calls::counts());
  if (settings.steps > 0) state_->set_steps(settings.steps);
  if (settings.experiment) state_->set_experiment(*settings.experiment);
  if (!settings.is_controlled) return;
  try {
    server_ = std::make_unique<control::JobServer>(*state_, control::runtime_directory(), base::monotonic_s);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "dyngrid: job %s cannot be controlled from outside: %s\n", name_.c_str(), error.what());
  }
}

void Control::know(const Processes& processes) {
  const ProcessSet& set = processes.process_set();
  std::vector<advise::ProcessInfo> all = set.everybody();
  for (advise::ProcessInfo& process : all)
    if (process.unit != 0) process.unit = processes.number_of(static_cast<int>(process.unit));
  state_->set_processes(std::move(all), set.grid.shape.npcol);
  state_->set_groups(groups_of(processes));
}

void Control::hang_up() {
  server_.reset();
}

Control::~Control() {
  hang_up();
  if (getpid() != state_->info().pid) return; // a fork of the application, which writes its own
  try {
    state_->save_history(true);
  } catch (const std::exception&) { // a history that cannot be written is lost
  }
}

void Control::know(const Matrices& matrices) {
  if (matrices.revision() == seen_) return;
  seen_ = matrices.revision();
  std::vector<redist::MatrixSize> sizes;
  std::int64_t bytes = 0;
  for (const auto& a : matrices.all()) {
    sizes.push_back(size_of(*a));
    bytes += a->rows.n * a->cols.n * sizes.back().element_bytes;
  }
  planned_exchange_ = [sizes, state = state_.get()](base::GridShape from, base::GridShape to) {
    return redist::predict_exchange(sizes, from, to, state->machine());
  };
  constexpr std::size_t longest_size = 200, longest_list = 4000;
  state_->set_matrices({text_of(matrices, false, longest_size), bytes, planned_exchange_,
                        [sizes](base::GridShape grid) { return redist::used_grid(sizes, grid); },
                        text_of(matrices, true, longest_list)});
}

void Control::allow(const advise::Allowed& allowed) {
  if (may_allow_) state_->set_allowed(allowed);
}

void Control::set_steps(std::int64_t steps) {
  if (may_set_steps_) state_->set_steps(steps);
}

void Control::set_experiment(const advise::Experiment& experiment) {
  if (may_experiment_) state_->set_experiment(experiment);
}

std::optional<control::Grant> Control::ask(const std::string& grids, bool waits, double patience_s) {
  if (!server_)
    throw base::Error(base::Status::unsupported,
                      "blacs-dyn: grid {} cannot be requested from the scheduler: job {} has no socket", grids, name_);
  return state_->ask(grids, waits, patience_s);
}

std::optional<control::ResizeRequest> Control::resize_point(const Matrices& matrices, bool wants_itself) {
  const double t = base::monotonic_s();
  know(matrices);
  state_->step_ended(t);
  state_->step_begins(t);
  if (wants_itself || !state_->is_pending()) return std::nullopt;
  return state_->want(t);
}

std::uint64_t Control::checkpoint_flags() const {
  const auto requested = state_->requested_checkpoint();
  if (!requested) return 0;
  return PlaceWord::checkpoint | (requested->ends ? std::uint64_t{PlaceWord::ends_after_it} : 0);
}

void Control::checkpointed(const std::optional<control::CheckpointRequest>& request, const std::string& path,
                           const std::string& failure) {
  std::error_code no_folder; // the working folder may have been deleted: then the path as it was given
  const std::string full = std::filesystem::absolute(path, no_folder).string();
  if (request) state_->checkpointed(*request, no_folder ? path : full, failure);
  state_->step_begins(base::monotonic_s());
}

void Control::relaid() {
  state_->step_begins(base::monotonic_s());
}

void Control::failed(Shape to, base::Status status, const std::string& why,
                     std::optional<control::ResizeRequest>& request) {
  if (request)
    request->refused(status, why);
  else
    state_->failed(to, status, why);
  state_->step_begins(base::monotonic_s());
}

void Control::changed(const dyngrid_resize_report& report, int parked, std::optional<control::ResizeRequest>& request) {
  control::ChangeReport r;
  r.cost.from = {report.from_nprow, report.from_npcol};
  r.cost.to = {report.to_nprow, report.to_npcol};
  r.cost.spawned = report.spawned;
  r.cost.spawn_s = report.spawn_s;
  r.cost.merge_s = report.merge_s;
  r.cost.plan_s = report.plan_s;
  r.cost.exchange_s = report.exchange_s;
  r.cost.moved_bytes = report.moved_bytes;
  r.cost.asked_at_step = report.asked_at_step;
  r.cost.changed_at_step = report.changed_at_step;
  if (planned_exchange_) r.cost.predicted_exchange_s = planned_exchange_(r.cost.from, r.cost.to).total();
  r.woken = report.woken;
  r.released = report.released;
  r.parked = report.parked;
  r.total_s = report.total_s;
  r.kept_bytes = report.kept_bytes;
  if (request)
    request->done(r, parked, base::monotonic_s());
  else
    state_->changed(r, parked, base::monotonic_s());
  if (!server_) state_->save_history(); // otherwise the other thread does it
  state_->step_begins(base::monotonic_s());
}

// ---- a program without an application of ours

namespace {
std::unique_ptr<Control> stock_program;
} // namespace

void show_stock_program(Shape grid, bool always) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); // there is no application of ours with another one
  if (rank != 0 || environment("DYNGRID_NEWCOMER")) return;
  say_whose_copier();
  static bool is_shown = false;
  if (is_shown || (!always && !environment("DYNGRID_CHECKED"))) return;
  is_shown = true;
  try {
    stock_program = std::make_unique<Control>(
        Settings::from_environment(), grid,
        "this program has no resize points: it never called dyngrid_init, so its grid cannot be changed (dyngrid(7))");
    std::atexit(hide_stock_program);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "dyngrid: %s\n", error.what());
  }
}

const Control* shown_stock_program() {
  return stock_program.get();
}

void hide_stock_program() {
  stock_program.reset();
}

} // namespace blacs_dyn
