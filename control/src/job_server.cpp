// SPDX-License-Identifier: BSD-3-Clause
#include "control/job_server.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include <unistd.h>

#include "base/parse_json.hpp"
#include "base/thread.hpp"
#include "control/runtime_dir.hpp"

namespace control {
namespace {

using base::Error;
using base::Status;

constexpr double step_delay_s = 0.05; ///< the longest delay of reported steps
constexpr double save_every_s = 30;   ///< the part of its history that a killed job loses
constexpr double last_words_s = 0.5;

std::int64_t resident_bytes() {
  long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<std::int64_t>(pages) * sysconf(_SC_PAGESIZE);
}

} // namespace

JobServer::JobServer(JobState& state, const std::string& directory, std::function<double()> clock)
    : state_(state), clock_(std::move(clock)),
      server_(directory, job_file(state.info().job),
              {[this](LineServer::Client client, std::string_view line) { answer(client, line); },
               [this](LineServer::Client client) {
                 watchers_.erase(client);
                 for (auto at = waiters_.begin(); at != waiters_.end();)
                   at = at->second.client == client ? waiters_.erase(at) : std::next(at);
                 state_.want_steps(wants_steps());
               }}),
      owner_(getpid()) {
  state_.wake = [this] { server_.interrupt(); };
  try {
    thread_ = base::thread_without_signals([this] { run(); });
  } catch (const std::exception& error) {
    state_.wake = {};
    throw Error(Status::io_failure, "control: cannot start a thread: {}", error.what());
  }
}

JobServer::~JobServer() {
  if (getpid() != owner_) {              // a fork of the application: the thread is not in it
    new std::thread(std::move(thread_)); // leaked on purpose
    return;
  }
  state_.wake = {};
  stop_ = true;
  server_.interrupt();
  thread_.join();
}

void JobServer::run() {
  double saved = clock_();
  while (!stop_) {
    try {
      double wait = save_every_s;
      if (const auto deadline = state_.next_deadline()) wait = std::min(wait, *deadline - clock_());
      if (wants_steps()) wait = std::min(wait, step_delay_s);
      server_.serve(std::max(0.0, wait));
      state_.look_at_deadlines(clock_());
      const bool has_changed = send_events();
      if (has_changed || clock_() - saved >= save_every_s) {
        state_.save_history();
        saved = clock_();
      }
    } catch (const std::exception& error) { // out of memory, most likely: the application matters more than this thread
      std::fprintf(stderr, "dyngrid: the job's socket is closed: %s\n", error.what());
      server_.close();
      state_.want_steps(false);
      state_.answers_no_more();
      return;
    }
  }
  try {
    send_events();
    for (const auto& [number, waiter] : waiters_) {
      Json answer = *waiter.answer;
      answer.update({{"outcome", "ended"}, {"reason", "the application ended before it carried out the request"}});
      server_.send(waiter.client, to_line(reply(waiter.id, std::move(answer))));
    }
    for (const auto& watcher : watchers_) server_.send(watcher.first, to_line({{"event", "end"}}));
    server_.flush(last_words_s);
  } catch (const std::exception&) { // they will see that the connection ends
  }
}

void JobServer::answer(LineServer::Client client, std::string_view line) {
  Request request;
  try {
    request = parse_request(line);
    serve_request(client, request);
  } catch (const std::exception& error) {
    server_.send(client, to_line(failure(request.id, error)));
  }
}

void JobServer::serve_request(LineServer::Client client, const Request& request) {
  const auto answer = [&](Json fields) { server_.send(client, to_line(reply(request.id, std::move(fields)))); };
  const double now = clock_();
  switch (operation_of(request)) {
  case Operation::status: {
    Json status = state_.status(now, flag(request, "processes"));
    status["rss_bytes"] = resident_bytes();
    return answer(std::move(status));
  }
  case Operation::resize:
  case Operation::grow:
  case Operation::shrink:
  case Operation::leave: { // the decision is sent at once, or, if the client waits, with the outcome
    const bool waits = flag(request, "wait");
    Json given = state_.submit(request, now);
    return waits ? await(client, request, std::move(given)) : answer(std::move(given));
  }
  case Operation::offer:
    return answer(state_.offer(request));
  case Operation::cancel:
    return answer(state_.cancel(request));
  case Operation::history:
    return answer(state_.history(request.body->contains("from") ? whole_number(request, "from", 0, INT64_MAX) : 0));
  case Operation::load:
    return answer(state_.board.loads(now));
  case Operation::calls:
    return answer(state_.calls());
  case Operation::grant:
    return answer(state_.grant(request));
  case Operation::balance:
    return await(client, request, state_.balance(request));
  case Operation::checkpoint:
    return await(client, request, state_.checkpoint(request));
  case Operation::watch: {
    const bool steps = request.body->contains("steps") ? flag(request, "steps") : true;
    server_.hold(client, true);
    watchers_[client] = steps;
    state_.want_steps(wants_steps());
    return answer({{"watching", true}});
  }
  }
}

/// The answer comes with the outcome, unless it was declined.
void JobServer::await(LineServer::Client client, const Request& request, Json given) {
  if (given["accepted"].get<bool>()) {
    server_.hold(client, true);
    const auto number = given["request"].get<std::int64_t>();
    waiters_[number] = {client, request.id, std::make_unique<Json>(std::move(given))};
    return;
  }
  given["outcome"] = "declined";
  server_.send(client, to_line(reply(request.id, std::move(given))));
}

bool JobServer::wants_steps() const {
  return std::any_of(watchers_.begin(), watchers_.end(), [](const auto& watcher) { return watcher.second; });
}

bool JobServer::send_events() {
  bool has_changed = false;
  std::vector<Json> events = state_.take_events();
  for (Json& event : events) {
    has_changed = has_changed || event["event"] == "resize";
    const bool is_step = event["event"] == "step" || (event["event"] == "skipped" && !event.contains("of"));
    if (is_step) event["rss_bytes"] = resident_bytes();
    const std::string line = to_line(event);
    std::vector<LineServer::Client> to; // a client that is dropped during a send is removed from the list
    for (const auto& [client, steps] : watchers_)
      if (!is_step || steps) to.push_back(client);
    for (const LineServer::Client client : to) server_.send(client, line);
    if (event["event"] != "outcome") continue;
    const auto waiter = waiters_.find(event["request"].get<std::int64_t>());
    if (waiter == waiters_.end()) continue;
    Json answer = std::move(*waiter->second.answer);
    for (const auto& [name, value] : event.items())
      if (name != "event") answer[name] = value;
    const LineServer::Client client = waiter->second.client;
    const RequestId id = waiter->second.id;
    waiters_.erase(waiter);
    server_.send(client, to_line(reply(id, std::move(answer))));
    const bool owed = watchers_.count(client) > 0 || std::any_of(waiters_.begin(), waiters_.end(), [&](const auto& w) {
                        return w.second.client == client;
                      });
    if (!owed) server_.hold(client, false);
  }
  return has_changed;
}

} // namespace control
