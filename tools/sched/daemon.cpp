// SPDX-License-Identifier: BSD-3-Clause
#include "daemon.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/fnv1a.hpp"
#include "base/host_list.hpp"
#include "base/lines.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "control/history_json.hpp"
#include "control/limits.hpp"
#include "control/runtime_dir.hpp"
#include "talk.hpp"
#include "time.hpp"

namespace sched {
namespace {

using base::Error;
using base::Json;
using base::monotonic_s;
using base::Status;
using base::unix_time_s;
using Phase = JobRecord::Phase;

constexpr double look_every_s = 2;       ///< between queries of a running job's progress
constexpr double try_every_s = 0.2;      ///< between attempts to reach a job that has just begun
constexpr double cancel_patience_s = 10; ///< between the first signal and the kill of a cancelled job
constexpr double room_every_s = 1;       ///< between attempts to write or start something after a lack of space
constexpr double lock_patience_s = 2;
constexpr double signals_patience_s = 20; ///< for hosts, before the scheduler ends
constexpr double load_patience_s = 3;     ///< for the loads of jobs, before the choice of the one that shrinks
constexpr double load_counts_s = 300;     ///< a load that a job reported, where it does not answer

[[noreturn]] void daemon_fails(const std::string& what) {
  throw Error(Status::io_failure, "scheduler: {}: {}", what, std::strerror(errno));
}

void warn(const std::string& text) {
  std::fprintf(stderr, "dyngrid-sched: %s\n", base::printable(text).c_str());
}

/// "hosts" of a job's message; empty where it has none.
std::vector<Host> hosts_in(const Json& fields) {
  std::vector<Host> hosts;
  const auto list = fields.find("hosts");
  if (list == fields.end() || list->is_null()) return hosts;
  for (const Json& host : *list)
    hosts.push_back({host.at("name").get<std::string>(), host.at("slots").get<int>(), host.value("speed", 1.0)});
  return hosts;
}

/// Processes of the grid that a job's message has under this name; 0 where it has none.
int size_in(const Json& fields, const char* name) {
  return control::shape_from(fields.value(name, Json())).size();
}

} // namespace

std::string default_folder() {
  const std::string folder = base::state_directory();
  if (folder.empty())
    throw Error(Status::not_found,
                "scheduler: no folder for the journal: neither XDG_STATE_HOME nor HOME is set, expected --folder");
  return folder + "/sched";
}

std::string scheduler_socket() {
  return control::runtime_directory() + "/sched.sock";
}

int shut_down(bool cancel) {
  auto client = control::Client::to_socket(scheduler_socket());
  return client.call("shutdown", {{"cancel", cancel}}).value("left_running", 0);
}

Daemon::Daemon(DaemonOptions options)
    : options_(std::move(options)), boot_(boot_id()), signals_(options_.shell, warn),
      loads_(std::min(load_patience_s, options_.deadline_s)), began_s_(monotonic_s()) {
  policy_ = make_policy(options_.policy, options_.policy_options);
  options_.launch.scheduler =
      fmt::format("{:016x}", base::Fnv1a().text(base::host_name()).text(":").text(options_.folder).value());
  if (options_.launch.hosts.procs() == 0) cores_ = control::usable_cores(control::CoresOf::caller);
  const std::string folder = options_.folder + "/jobs";
  if (!base::make_directories(folder)) daemon_fails(fmt::format("cannot make '{}'", folder));
  lock_ = Fd(::open((options_.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) daemon_fails(fmt::format("cannot open '{}/lock'", options_.folder));
  // a job that the scheduler released just before it died holds the lock until its program is started
  while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) daemon_fails(fmt::format("cannot lock '{}/lock'", options_.folder));
    if (monotonic_s() > began_s_ + lock_patience_s)
      throw Error(Status::bad_state,
                  "scheduler: another one works in '{}'; end it with dyngrid-sched --stop, or give another --folder",
                  options_.folder);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  table_.set_speeds(speeds_of(options_.launch.hosts));
  open_journal();
  refuse_jobs_elsewhere();
  listen();
  recover();
}

void Daemon::listen() {
  try {
    server_ = std::make_unique<control::LineServer>(
        options_.runtime_folder, "sched.sock",
        control::LineServer::Handler{
            [this](control::LineServer::Client client, std::string_view line) { answer(client, line); },
            [this](control::LineServer::Client client) {
              waiters_.erase(
                  std::remove_if(waiters_.begin(), waiters_.end(), [&](const Waiter& w) { return w.client == client; }),
                  waiters_.end());
            }});
  } catch (const Error& error) {
    if (error.status() != Status::bad_state) throw;
    throw Error(Status::bad_state,
                "{}: another scheduler; end it with dyngrid-sched --stop, or choose another DYNGRID_RUNTIME_DIR",
                error.what());
  }
}

Daemon::~Daemon() = default;

void Daemon::say(const std::string& text) const {
  if (options_.is_verbose) std::fprintf(stderr, "dyngrid-sched: %s\n", text.c_str());
}

std::string Daemon::file_of(std::int64_t job) const {
  return fmt::format("{}/jobs/{}", options_.folder, job);
}
std::string Daemon::socket_name_of(std::int64_t job) const {
  return fmt::format("s{}", job);
}

// ---- the journal

void Daemon::open_journal() {
  ReadJournal read;
  journal_ = JournalFile(options_.folder + "/journal", read);
  for (const Entry& entry : read.entries) table_.apply(entry);
  if (journal_.cut_bytes() > 0) // a crash left it, and it was never acted on
    warn(fmt::format("cut {} bytes off the journal, half a line at its end", journal_.cut_bytes()));
}

/// In a folder that several hosts share: their processes cannot be seen from here, and would count as ended.
void Daemon::refuse_jobs_elsewhere() const {
  const bool is_known = !table_.host().empty() && !table_.boot().empty() && !boot_.empty();
  const bool is_here = base::is_same_host(table_.host(), base::host_name()) || table_.boot() == boot_;
  if (!is_known || is_here || options_.other_host_ended) return;
  const auto& jobs = table_.jobs();
  const auto running = std::count_if(jobs.begin(), jobs.end(), [this](const auto& job) {
    return job.second.phase == Phase::running && base::content_of(file_of(job.first) + ".status").empty();
  });
  if (running > 0)
    throw Error(Status::bad_state,
                "scheduler: {} job(s) of '{}' run on host {}, and this is {}; start it there, or with "
                "--other-host-ended if that host is gone",
                running, options_.folder, table_.host(), base::host_name());
}

/// All of them or, where the disk is full, none.
void Daemon::commit(const std::vector<Entry>& entries) {
  std::string lines;
  for (const Entry& entry : entries) lines += encode(entry);
  journal_.append(lines);
  for (const Entry& entry : entries) table_.apply(entry);
  outlook_.reset();
  is_changed_ = true;
  if (!options_.is_verbose) return;
  for (const Entry& entry : entries) {
    const std::string line = encode(entry);
    std::string shown = line.substr(9, line.size() - 10);
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    say(base::printable(shown));
  }
}

void Daemon::wait_for_room(const NoRoom& why) {
  if (!has_no_room_) warn(fmt::format("{}; tried again every {:g} s", why.what(), room_every_s));
  has_no_room_ = is_changed_ = true;
  next_round_s_ = monotonic_s() + room_every_s;
}

void Daemon::recover() {
  const bool same_boot = table_.boot() == boot_ || boot_.empty() || table_.boot().empty(); // empty: not known
  std::vector<std::int64_t> running;
  for (const auto& [id, job] : table_.jobs()) {
    if (job.phase == Phase::ended) continue;
    set_allowed(live_[id], job.spec.allow, job.spec.seconds);
    if (job.phase == Phase::running) running.push_back(id);
  }
  has_had_job_ = !live_.empty();
  commit(table_.open(unix_time_s(), options_.procs, options_.policy, boot_, base::host_name()));
  for (const std::int64_t id : running) {
    const JobRecord& job = *table_.find(id);
    Live& live = live_.at(id);
    if (same_boot && may_run(job.pid, job.pid_started)) {
      live.process = watch_process(job.pid, job.pid_started);
      say(fmt::format("job {} still runs as process {}", id, job.pid));
      live.may_grow = job.target > job.procs; // until its status is known
      // the earlier scheduler may have died between the line and the signal
      if (job.was_suspended && is_running(job.pid, job.pid_started)) signal(job, job.is_suspended);
    } else if (same_boot && ::access((file_of(id) + ".began").c_str(), F_OK) != 0) {
      commit(table_.requeue(unix_time_s(), id)); // recorded, but it never began
    } else if (!same_boot || !has_left_processes(id)) {
      has_ended(id);
    }
  }
}

// ---- jobs

void Daemon::set_allowed(Live& live, const std::string& text, const std::string& seconds) {
  live.allowed = advise::Allowed::parse(text);
  live.allowed_text = text;
  std::vector<int> sizes;
  for (int n = 1; n <= options_.procs; ++n)
    if (live.allowed.largest(n, n)) sizes.push_back(n);
  live.has_fitting_size = !sizes.empty();
  if (sizes.empty()) sizes.push_back(options_.procs + 1); // never fits
  live.sizes = Sizes(std::move(sizes));
  live.step_s.assign(live.sizes.list().size(), 0);
  live.told_s = seconds_by_size(seconds, live.sizes);
}

void Daemon::start(std::int64_t id, int procs) {
  const JobRecord& job = *table_.find(id);
  Live& live = live_.at(id);
  const auto shape = live.allowed.largest(procs, procs);
  const Launch launch =
      make_launch(job.spec, socket_name_of(id), shape ? to_string(*shape) : "", table_.choose(procs), options_.launch);
  try {
    Leader leader(file_of(id), job.spec.folder, launch.command, launch.variables);
    commit(table_.start(unix_time_s(), id, procs, leader.pid(), leader.started()));
    live.process = watch_process(leader.pid(), leader.started());
    leader.go();
  } catch (const NoRoom&) {
    throw;
  } catch (const Error& error) {
    if (!journal_.why_broken().empty()) throw;
    end_unbegun(id, error.what());
  }
}

void Daemon::end_unbegun(std::int64_t id, const std::string& why) {
  commit(table_.end(unix_time_s(), id, "-", why));
  tell_waiters(*table_.find(id));
}

void Daemon::connect(const JobRecord& job, Live& live) {
  live.next_try_s = monotonic_s() + try_every_s;
  live.ask.reset(); // it sends it again
  try {
    live.client =
        control::Client::to_socket(fmt::format("{}/job-{}.sock", options_.runtime_folder, socket_name_of(job.id)), 0.5);
    send(job.id, live, "watch", {{"steps", false}});
    send(job.id, live, "status", Json::object());
    ask_history(job.id, live);
    live.next_look_s = monotonic_s() + look_every_s;
  } catch (const Error& error) { // not yet, or no program of dyngrid
    live.client.reset();
    const bool may_answer = (live.may_grow && job.target > job.procs) ||
                            (options_.ends_unresponsive && job.target != 0 && job.target < job.procs);
    if (error.status() == Status::not_found && may_answer) give_up(job.id, "the application has ended");
  }
}

void Daemon::send(std::int64_t id, Live& live, const std::string& op, const Json& fields) {
  if (!live.client) return;
  try {
    const auto number = live.client->send(op, fields, 0.2);
    live.sent[number] = op;
  } catch (const Error& error) {
    lose(id, live, error);
  }
}

/// Closes the connection to it.
void Daemon::lose(std::int64_t id, Live& live, const std::exception& why) {
  say(fmt::format("job {}: {}", id, why.what()));
  live.client.reset();
  live.sent.clear();
  if (live.status) live.lost_s = monotonic_s();
  live.status.reset(); // the next one shows whether the request is still pending
  live.request = 0;
  live.is_withdrawing = false; // the reply is lost
  live.asks_history = false;
  live.is_resizable = false;
  loads_.lost(id);
}

void Daemon::listen_to(std::int64_t id, Live& live) {
  try {
    while (live.client) {
      const auto line = live.client->next(0);
      if (!line) return;
      received(id, live, *line);
    }
  } catch (const NoRoom&) {
    throw;
  } catch (const std::exception& error) { // it is gone, or sends invalid lines: its process shows the rest
    if (!journal_.why_broken().empty()) throw;
    lose(id, live, error);
    live.next_try_s = monotonic_s() + 1;
  }
}

void Daemon::received_event(std::int64_t id, Live& live, const Json& line) {
  const std::string event = line.at("event").get<std::string>();
  if (event == "resize") {
    const auto grid = control::shape_from(line.value("grid", Json()));
    const bool is_its_own = line.value("request", Json()) != live.request;
    if (grid.nprow > 0) has_size(id, grid.nprow * grid.npcol, hosts_in(line), live.may_grow && is_its_own);
    ask_history(id, live);
  } else if (event == "asks") {
    received_ask(id, live, line.value("asks", Json()));
  } else if (event == "outcome" && live.request != 0 && line.value("request", std::int64_t{0}) == live.request) {
    const std::string outcome = line.value("outcome", "");
    live.request = 0;
    if (table_.find(id)->target == 0) return;
    if (outcome == "done")
      has_size(id, table_.find(id)->procs); // it had that grid already
    else
      give_up(id, outcome == "cancelled" && live.is_withdrawing
                      ? no_answer()
                      : fmt::format("{}: {}", outcome, line.value("reason", "")));
  }
}

/// The names of sockets repeat in another folder, and jobs outlive their scheduler.
bool Daemon::is_of_another_scheduler(std::int64_t id, const Live& live, const Json& status) const {
  const auto pid = status.value("pid", std::int64_t{0});
  const std::optional<ucred> peer = base::peer_of(live.client->fd());
  const bool is_seen = pid > 0 && peer && pid == peer->pid; // otherwise it runs in a container
  return is_seen && !may_belong_to(pid, table_.find(id)->pid, mark_of(socket_name_of(id), options_.launch));
}

void Daemon::received_status(std::int64_t id, Live& live, const Json& line) {
  const bool is_first = !live.status;
  if (is_first && is_of_another_scheduler(id, live, line)) {
    lose(id, live, Error(Status::bad_state, "a job of another scheduler has the socket"));
    live.next_try_s = monotonic_s() + look_every_s;
    return;
  }
  live.status = std::make_unique<Json>(line);
  live.is_resizable = line.value("resizable", true);
  const std::string allowed = line.value("allowed", "");
  if (!allowed.empty() && allowed != live.allowed_text) set_allowed(live, allowed, table_.find(id)->spec.seconds);
  const auto steps = line.value("steps", std::int64_t{0}), step = line.value("step", std::int64_t{0});
  live.steps_left = steps > 0 ? static_cast<double>(std::max<std::int64_t>(steps - step, 0)) : -1;
  const auto grid = control::shape_from(line.value("grid", Json()));
  const int n = grid.nprow * grid.npcol;
  const JobRecord& job = *table_.find(id);
  const Json pending = line.value("pending", Json()), under_way = line.value("under_way", Json());
  const bool is_pending = pending.is_object() || under_way.is_number_integer();
  if (n > 0 && n != job.procs) has_size(id, n, hosts_in(line), live.may_grow && is_pending);
  received_ask(id, live, line.value("asks", Json()));
  if (is_first && table_.find(id)->target != 0 && !live.ask) { // requested over an earlier connection
    live.may_grow = is_pending;
    if (is_pending)
      live.request = pending.is_object() ? pending.value("request", std::int64_t{0}) : under_way.get<std::int64_t>();
    else if (n == table_.find(id)->target)
      has_size(id, n);
    else
      give_up(id, "the request is no longer pending in the job");
  }
  if (is_first) is_changed_ = true;
}

void Daemon::received(std::int64_t id, Live& live, const Json& line) {
  if (line.contains("event")) {
    if (live.status) received_event(id, live, line); // the status to come contains what an earlier event reports
    return;
  }
  if (!line.contains("id") || !line.at("id").is_number_integer()) return;
  const auto sent = live.sent.find(line.at("id").get<std::int64_t>());
  if (sent == live.sent.end()) return;
  const std::string op = sent->second;
  live.sent.erase(sent);
  const bool ok = line.value("ok", false);
  if (op == "offer" || op == "grow") {
    received_choice(id, live, op, line);
  } else if (op == "shrink") {
    received_shrink(id, live, line);
  } else if (op == "resize") {
    if (ok && line.value("accepted", false))
      live.request = line.value("request", std::int64_t{0});
    else if (table_.find(id)->target != 0)
      give_up(id, line.value(ok ? "reason" : "error", "declined"));
  } else if (op == "cancel") {
    received_cancel(id, live, line);
  } else if (op == "status" && ok) {
    received_status(id, live, line);
  } else if (op == "history" && ok) {
    received_history(id, live, line);
  } else if (op == "history") {
    live.asks_history = false;
  } else if (op == "load") {
    received_load(id, live, line);
  } else if (op == "checkpoint") {
    say(fmt::format("job {}: checkpoint: {} {}", id, line.value("outcome", "failed"), line.value("reason", "")));
  }
}

void Daemon::received_ask(std::int64_t id, Live& live, const Json& asks) {
  if (!asks.is_object()) return end_ask(id, live);
  control::Ask ask{asks.at("ask").get<std::int64_t>(), asks.at("grids").get<std::string>(), asks.at("wait").get<bool>(),
                   0};
  if (asks.at("granted").is_number_integer()) ask.granted = asks.at("granted").get<int>();
  if (live.ask && live.ask->number == ask.number) return;
  end_ask(id, live);
  live.ask = ask;
  live.asked_as = ++asks_received_;
  const JobRecord& job = *table_.find(id);
  if (ask.granted > 0) return; // by the earlier scheduler
  is_changed_ = true;
  if (job.target == 0) return;
  if (job.target < job.procs && !ask.waits)
    return refuse(id, fmt::format("the scheduler has asked it to go on with {} processors", job.target));
  send(id, live, "cancel", Json::object()); // it does not reach it
  live.request = 0;
  commit(table_.answer(unix_time_s(), id, fmt::format("asks for {} by itself", ask.grids), unix_time_s()));
}

/// It has the granted grid, or will not take it.
void Daemon::end_ask(std::int64_t id, Live& live) {
  if (!live.ask) return;
  const bool is_granted = live.ask->granted > 0;
  live.ask.reset();
  is_changed_ = true;
  if (is_granted && table_.find(id)->target > table_.find(id)->procs)
    commit(table_.answer(unix_time_s(), id, "did not grow as it had requested", unix_time_s()));
}

/// Of the offered processors those that the job takes: on the hosts that it names, or, where the scheduler does not
/// know hosts, as many as its grid has more. @throws Error{bad_state} for others
std::vector<int> Daemon::taken_in(const Json& line, const JobRecord& job) const {
  if (options_.launch.hosts.procs() > 0) {
    const std::vector<Host> hosts = hosts_in(line.value("chosen", Json()));
    if (hosts.empty()) throw Error(Status::bad_state, "scheduler: the job takes processors and names no hosts");
    return taken_of(options_.launch.hosts, job.reserved, hosts);
  }
  const int from = size_in(line, "from"), more = size_in(line, "grid") - from;
  const auto offered = static_cast<int>(job.reserved.size());
  if (from != job.procs || more < 1 || more > offered)
    throw Error(Status::bad_state, "scheduler: the job takes {} processors to its {}, expected 1 to {} to its {}", more,
                from, offered, job.procs);
  return {job.reserved.begin(), job.reserved.begin() + more};
}

/// The job's reply to the offer: the processors that it takes are recorded, and the rest is free from here on.
void Daemon::received_choice(std::int64_t id, Live& live, const std::string& op, const Json& line) {
  const JobRecord& job = *table_.find(id);
  if (job.target <= job.procs) { // it was given up meanwhile
    if (op == "grow" && line.value("accepted", false))
      send(id, live, "cancel", {{"request", line.value("request", Json())}});
    return;
  }
  const bool ok = line.value("ok", false);
  if (!ok || !line.value("accepted", false)) {
    give_up(id, line.value(ok ? "reason" : "error", "declined"));
    return;
  }
  try {
    const std::vector<int> taken = taken_in(line, job);
    say(fmt::format("job {} takes {} of {} processors offered: {}", id, taken.size(), job.reserved.size(),
                    line.value("why", "")));
    if (taken.size() < job.reserved.size()) commit(table_.narrow(unix_time_s(), id, taken));
  } catch (const NoRoom&) {
    throw;
  } catch (const std::exception& error) {
    if (!journal_.why_broken().empty()) throw;
    if (op == "grow") send(id, live, "cancel", Json::object());
    give_up(id, error.what());
    return;
  }
  if (op == "grow")
    live.request = line.value("request", std::int64_t{0});
  else
    offer(id, "grow");
}

/// The job's reply to a request to shrink: how many processors it keeps is its choice.
void Daemon::received_shrink(std::int64_t id, Live& live, const Json& line) {
  const JobRecord& job = *table_.find(id);
  const bool was_asked = job.target > 0 && job.target <= job.procs, ok = line.value("ok", false);
  if (!ok || !line.value("accepted", false)) {
    if (was_asked) give_up(id, line.value(ok ? "reason" : "error", "declined"));
    return;
  }
  const int keeps = size_in(line, "grid");
  if (was_asked && size_in(line, "from") == job.procs && keeps > 0 && keeps <= job.target) {
    live.request = line.value("request", std::int64_t{0});
    if (keeps == job.target) return;
    say(fmt::format("job {} keeps {} processors; at most {} were requested: {}", id, keeps, job.target,
                    line.value("why", "")));
    return commit(table_.ask(unix_time_s(), id, keeps));
  }
  // it counts from a grid that it has meanwhile left, or that this scheduler does not know of yet
  send(id, live, "cancel", {{"request", line.value("request", Json())}});
  if (was_asked) commit(table_.answer(unix_time_s(), id, "its grid has changed meanwhile", unix_time_s()));
}

/// A growth that has begun cannot be cancelled, and its processors stay reserved: the job reports how it ends.
void Daemon::received_cancel(std::int64_t id, Live& live, const Json& line) {
  const JobRecord& job = *table_.find(id);
  if (!live.is_withdrawing || job.target <= job.procs) return;
  // without a number the growth was not accepted: its reply would have come before this one
  if (live.request != 0 && line.value("cancelled", Json()) != live.request) return;
  live.request = 0;
  give_up(id, no_answer());
}

std::string Daemon::no_answer() const {
  return fmt::format("no answer within {:g} s", options_.deadline_s);
}

/// `offer`, or `grow` onto what it chose of it.
void Daemon::offer(std::int64_t id, const char* op) {
  const std::vector<int>& reserved = table_.find(id)->reserved;
  const bool is_growth = op == std::string("grow");
  Json fields{{is_growth ? "by" : "procs", reserved.size()}};
  if (options_.launch.hosts.procs() > 0) {
    const std::vector<Host> hosts = offer_of(options_.launch.hosts, reserved);
    fields = {{"hosts", control::to_json(hosts)}, {"tpp", advise::power_of(hosts)}};
  }
  if (is_growth) fields["deadline_s"] = options_.deadline_s;
  live_.at(id).may_grow = is_growth;
  send(id, live_.at(id), op, fields);
}

/// At most one question at a time: a job may change its grid more often than its history can be sent.
void Daemon::ask_history(std::int64_t id, Live& live) {
  if (!live.client) return; // no reply would come, and it would never be asked again
  live.is_history_old = live.asks_history;
  if (live.asks_history) return;
  live.asks_history = true;
  live.history = Json::object();
  send(id, live, "history", Json::object());
}

void Daemon::received_history(std::int64_t id, Live& live, const Json& page) {
  const Json next = control::add_page(live.history, page);
  if (next.is_number_integer()) return send(id, live, "history", {{"from", next}});
  live.asks_history = false;
  const control::History history = control::history_from(std::exchange(live.history, Json()));
  live.cores = page.value("cores", 0);
  const advise::StepModel model(history.steps, live.cores);
  const auto& list = live.sizes.list();
  live.step_s.assign(list.size(), 0);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (const auto shape = live.allowed.largest(list[i], list[i]))
      if (const auto step = model.at(*shape)) live.step_s[i] = step->seconds;
  double total = 0;
  for (const control::ChangeCost& c : history.changes) total += c.spawn_s + c.merge_s + c.plan_s + c.exchange_s;
  if (!history.changes.empty()) live.resize_s = total / static_cast<double>(history.changes.size());
  if (live.is_history_old) ask_history(id, live);
}

void Daemon::received_load(std::int64_t id, Live& live, const Json& line) {
  const LoadReply reply = load_reply(line);
  const double now_s = monotonic_s();
  if (reply.share) {
    live.share = *reply.share;
    live.share_s = now_s;
  }
  loads_.received(id, reply, now_s);
}

/// Asks jobs for their loads while a round goes on. Its end is a reason to decide.
void Daemon::look_at_loads() {
  for (const std::int64_t id : loads_.due(monotonic_s())) {
    const auto live = live_.find(id);
    if (live == live_.end() || !live->second.client)
      loads_.lost(id);
    else
      send(id, live->second, "load", Json::object());
  }
  if (!loads_.close_if_ended(monotonic_s())) return;
  is_changed_ = true;
  for (const std::int64_t id : loads_.silent()) say(fmt::format("job {} did not report its load in time", id));
}

/// The part of its processors that a job gets, as far as it is known.
double Daemon::share_of(const Live& live) const {
  return live.share_s >= 0 && monotonic_s() < live.share_s + load_counts_s ? live.share : 1;
}

/// `hosts`: the hosts of its processes. `may_still_grow`: a growth that was requested may follow.
void Daemon::has_size(std::int64_t id, int n, const std::vector<Host>& hosts, bool may_still_grow) {
  const bool knows_hosts = !hosts.empty() && options_.launch.hosts.procs() > 0;
  std::vector<Entry> entries{
      knows_hosts ? table_.size(unix_time_s(), id, n, booked_of(options_.launch.hosts, table_.candidates(id), hosts, n))
                  : table_.size(unix_time_s(), id, n)};
  const JobRecord& job = *table_.find(id);
  if (may_still_grow && job.target > std::max(job.procs, n)) entries.push_back(table_.ask_on(entries[0]));
  commit(entries);
}

void Daemon::give_up(std::int64_t id, const std::string& why) {
  commit(table_.answer(unix_time_s(), id, why, unix_time_s() + options_.unresponsive_s));
}

void Daemon::has_ended(std::int64_t id) {
  const JobRecord& job = *table_.find(id);
  if (const auto status = reap(job.pid))
    live_.at(id).exit_status = status; // stored, in case there is no space to record it
  std::string status(base::trimmed(base::content_of(file_of(id) + ".status")));
  if (status.empty() && live_.at(id).exit_status) status = std::to_string(*live_.at(id).exit_status);
  std::string why;
  if (job.is_cancelled)
    why = job.why_cancelled;
  else if (status.empty())
    why = "killed";
  else if (status != "0")
    why = "failed";
  const bool was_suspended = job.is_suspended;
  commit(table_.end(unix_time_s(), id, status.empty() ? "-" : status, why));
  const std::string mark = mark_of(socket_name_of(id), options_.launch);
  if (was_suspended) // and nobody has had it go on
    for (const std::string& host : hosts_of(job)) signals_.want(host, mark, false);
  signals_.forget(mark);
  ::unlink((file_of(id) + ".status.new").c_str()); // of one that was killed
  tell_waiters(*table_.find(id));
}

/// A leader that was killed leaves its job's processes behind, on processors that others would get: they are killed,
/// and the job ends when they are gone.
bool Daemon::has_left_processes(std::int64_t id) {
  if (!base::content_of(file_of(id) + ".status").empty()) return false;
  live_.at(id).process.close(); // it is readable from now on
  return signal_session(table_.find(id)->pid, SIGKILL, "DYNGRID_JOB=" + socket_name_of(id));
}

void Daemon::kill_job(std::int64_t id) {
  const JobRecord& job = *table_.find(id);
  Live& live = live_.at(id);
  // the group is the job's own session; its leader is checked, since process numbers are reused
  if (!is_running(job.pid, job.pid_started)) return;
  const bool hard = live.killed_s > 0;
  if (hard)
    signal_session(job.pid, SIGKILL);
  else
    ::kill(static_cast<pid_t>(-job.pid), SIGTERM);
  if (job.is_suspended) signal(job, false); // so that it can end
  live.is_killed_hard = hard;
  live.killed_s = monotonic_s();
}

void Daemon::look_at_jobs() {
  std::vector<std::int64_t> gone, unbegun;
  for (auto& [id, live] : live_) {
    const JobRecord& job = *table_.find(id);
    if (job.phase == Phase::waiting && job.is_cancelled) unbegun.push_back(id);
    if (job.phase != Phase::running) continue;
    if (!may_run(job.pid, job.pid_started)) {
      if (live.client) listen_to(id, live); // its last messages
      if (!has_left_processes(id)) gone.push_back(id);
      continue;
    }
    if (job.is_cancelled &&
        (live.killed_s == 0 || (!live.is_killed_hard && monotonic_s() > live.killed_s + cancel_patience_s)))
      kill_job(id);
    if (live.client) {
      listen_to(id, live);
      if (monotonic_s() >= live.next_look_s && !job.is_suspended) {
        live.next_look_s = monotonic_s() + look_every_s;
        send(id, live, "status", Json::object());
        if (options_.policy == "tp" || options_.policy == "qos") ask_history(id, live);
      }
    } else if (monotonic_s() >= live.next_try_s) {
      connect(job, live);
    }
  }
  for (const std::int64_t id : gone) has_ended(id);
  for (const std::int64_t id : unbegun) end_unbegun(id, "cancelled");
}

void Daemon::look_at_deadlines() {
  if (options_.policy == "qos" && monotonic_s() >= next_decision_s_) {
    next_decision_s_ = monotonic_s() + look_every_s;
    is_changed_ = true;
  }
  const double now_s = unix_time_s(), last_s = std::exchange(last_look_s_, now_s);
  for (auto& [id, live] : live_) {
    const JobRecord& job = *table_.find(id);
    if (job.phase == Phase::running && has_come(job.unresponsive_until_s, last_s, now_s)) is_changed_ = true;
    if (live.ask && live.ask->granted > 0) continue; // the job reports when it gives that up
    if (job.phase != Phase::running || job.target == 0 || now_s < job.asked_s + options_.deadline_s) continue;
    // a growth is withdrawn, its processors go to others; a shrink stays requested: the reason for it remains
    if (job.target > job.procs && live.may_grow) {
      withdraw(id, live);
      continue;
    }
    if (job.target < job.procs && options_.ends_unresponsive) { // until it has ended, no other one shrinks in its place
      if (!job.is_cancelled && !may_have_shrunk(live)) end_unresponsive(id);
      continue;
    }
    if (job.target < job.procs && options_.suspends && !job.is_suspended) {
      suspend(id);
      continue;
    }
    live.request = 0;
    give_up(id, no_answer());
  }
}

/// Its reply decides. A job that cannot be reached may have begun.
void Daemon::withdraw(std::int64_t id, Live& live) {
  if (live.is_withdrawing || !live.client || !live.status) return;
  live.is_withdrawing = true;
  send(id, live, "cancel", live.request != 0 ? Json{{"request", live.request}} : Json::object());
}

/// While it was not connected: its status will show it.
bool Daemon::may_have_shrunk(const Live& live) const {
  return !live.status && monotonic_s() < std::max(began_s_, live.lost_s) + options_.deadline_s;
}

/// As a client's cancel: look_at_jobs() signals its processes, and a later scheduler does.
void Daemon::end_unresponsive(std::int64_t id) {
  commit(table_.cancel(unix_time_s(), id, "ended: " + no_answer()));
  say(fmt::format("job {} did not shrink within {:g} s and is ended", id, options_.deadline_s));
}

/// The processors that it was asked to release are for others until it goes on. The request stays pending: the job may
/// obey then.
void Daemon::suspend(std::int64_t id) {
  const JobRecord& job = *table_.find(id);
  if (!is_running(job.pid, job.pid_started)) return;
  commit(table_.suspend(unix_time_s(), id, job.target)); // first, so that a later scheduler resumes it
  signal(job, true);
  say(fmt::format("job {} did not shrink within {:g} s and is stopped", id, options_.deadline_s));
}

/// All its processes: those of its session here, and those that it started on its hosts.
void Daemon::signal(const JobRecord& job, bool stops) {
  signal_session(job.pid, stops ? SIGSTOP : SIGCONT);
  for (const std::string& host : hosts_of(job))
    signals_.want(host, mark_of(socket_name_of(job.id), options_.launch), stops);
}

/// All hosts that it has used: a process that sleeps since a shrink is there, too.
std::set<std::string> Daemon::hosts_of(const JobRecord& job) const {
  std::vector<int> ids = job.reserved;
  for (const Segment& segment : table_.segments())
    if (segment.job == job.id && segment.begin_s >= job.start_s)
      ids.insert(ids.end(), segment.processors.begin(), segment.processors.end());
  std::set<std::string> names;
  for (const Host& host : offer_of(options_.launch.hosts, ids)) names.insert(host.name);
  return names;
}

/// After the others have taken what they can.
void Daemon::resume_suspended() {
  std::vector<std::int64_t> ready;
  for (const auto& [id, live] : live_)
    if (const JobRecord& job = *table_.find(id); job.phase == Phase::running && table_.can_resume(job))
      ready.push_back(id);
  for (const std::int64_t id : ready) {
    const JobRecord& job = *table_.find(id);
    if (!table_.can_resume(job)) continue; // another one has them again
    commit(table_.resume(unix_time_s(), id));
    if (is_running(job.pid, job.pid_started)) signal(job, false);
    commit(table_.answer(unix_time_s(), id, "was stopped, and goes on", unix_time_s() + options_.unresponsive_s));
  }
}

/// A job declines unless its DYNGRID_CHECKPOINT names the signal.
void Daemon::pass_on(const std::string& signal) {
  if (signal.empty()) return;
  for (auto& [id, live] : live_) send(id, live, "checkpoint", {{"signal", signal}});
}

void Daemon::run(const std::function<bool()>& is_stopped, const std::function<const char*()>& take_signal) {
  while (!stop_ && !is_stopped()) {
    pass_on(take_signal());
    std::vector<pollfd> polled{{server_->fd(), POLLIN, 0}};
    bool has_running = has_no_room_;
    for (const auto& [id, live] : live_) {
      if (has_no_room_) break; // their messages cannot be recorded
      if (live.process) polled.push_back({live.process.get(), POLLIN, 0});
      if (live.client) polled.push_back({live.client->fd(), POLLIN, 0});
      has_running = has_running || table_.find(id)->phase == Phase::running;
    }
    const int patience_ms = !signals_.is_idle() ? 20 : has_running ? 200 : 1000;
    if (!is_changed_ || has_no_room_) ::poll(polled.data(), polled.size(), patience_ms);
    server_->serve(0);
    signals_.progress();
    if (!journal_.why_broken().empty()) break;
    if (has_no_room_ && monotonic_s() < next_round_s_) continue;
    try {
      look_at_jobs();
      look_at_deadlines();
      look_at_loads();
      if (is_changed_ && !stop_) {
        is_changed_ = false;
        schedule();
        resume_suspended();
      }
      if (has_no_room_) warn("there is room again");
      has_no_room_ = false;
    } catch (const NoRoom& why) {
      wait_for_room(why);
    }
    if (options_.until_empty && live_.empty() && has_had_job_) stop_ = true;
  }
  pass_on(take_signal());
  for (const auto& [id, job] : table_.jobs()) // no scheduler would resume them; the next scheduler stops them again
    if (job.phase == Phase::running && job.is_suspended && is_running(job.pid, job.pid_started)) signal(job, false);
  server_->flush(1);
  server_.reset(); // clients need not wait for hosts; another scheduler does, or both would signal its jobs
  if (!signals_.finish(signals_patience_s)) warn("some hosts did not answer; jobs that were stopped there stay so");
  if (!journal_.why_broken().empty()) throw Error(Status::io_failure, journal_.why_broken());
}

} // namespace sched
