// SPDX-License-Identifier: BSD-3-Clause
// A job live: a few lines redrawn on a terminal, one line per event in a pipe, the events themselves with --json.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "command.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"
#include "terminal.hpp"
#include "watch_view.hpp"

namespace command {
namespace {

using base::Json;
using base::monotonic_s;

struct WatchOptions {
  std::string job;
  double seconds = 0;
  std::int64_t events = 0;
  bool json = false, lines = false, no_color = false;
};

/// The events as lines, for a pipe.
void print_events(const WatchOptions& o) {
  control::Client client = connect_to(o.job);
  client.call("watch", {});
  const double begun_s = monotonic_s();
  std::int64_t seen = 0;
  for (;;) {
    const double gone = monotonic_s() - begun_s;
    if (o.seconds > 0 && gone >= o.seconds) return;
    std::optional<Json> line;
    try {
      line = client.next(o.seconds > 0 ? std::min(3600.0, o.seconds - gone) : 3600);
    } catch (const base::Error& error) {
      throw Failure(error.what(), 1); // killed: it sent no message of its end
    }
    if (!line || !line->contains("event")) continue;
    const std::string text = o.json ? base::json_text(*line) : base::printable(event_line(*line));
    std::printf("%s\n", text.c_str());
    if (std::fflush(stdout) != 0) // a pipe without a reader, where SIGPIPE is ignored; a full disk
      throw Failure(fmt::format("cannot write to standard output: {}", std::strerror(errno)), 1);
    if (line->value("event", "") == "end") return;
    if (o.events > 0 && ++seen >= o.events) return;
  }
}

/// The running jobs, queried as by `ps`.
std::vector<Json> jobs_to_choose() {
  std::vector<Json> jobs;
  for (const std::string& job : running_jobs()) jobs.push_back(status_of(job));
  return jobs;
}

/// The chosen one of several; empty when the user chose none. The list is renewed every second.
std::string choose(Terminal& terminal) {
  std::vector<Json> jobs = jobs_to_choose();
  double asked_s = monotonic_s();
  std::size_t chosen = 0;
  for (;;) {
    if (jobs.empty()) throw Failure("no job is running any more", 1);
    chosen = std::min(chosen, jobs.size() - 1);
    terminal.draw(chooser_lines(jobs, chosen, terminal.screen()));
    const KeyPress press = terminal.wait(-1, 1);
    if (press.key == Key::quit) return "";
    if (press.key == Key::up && chosen > 0) --chosen;
    if (press.key == Key::down && chosen + 1 < jobs.size()) ++chosen;
    if (press.key == Key::enter) return jobs[chosen].value("job", "");
    if (press.key == Key::digit && static_cast<std::size_t>(press.digit) <= jobs.size())
      return jobs[static_cast<std::size_t>(press.digit) - 1].value("job", "");
    if (monotonic_s() - asked_s < 1) continue;
    const std::string name = jobs[chosen].value("job", "");
    jobs = jobs_to_choose();
    asked_s = monotonic_s();
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].value("job", "") == name) chosen = i;
  }
}

enum class Left { ended, quit, for_another };

/// One job on the terminal.
class Watched {
public:
  Watched(const WatchOptions& o, const std::string& job, Terminal& terminal)
      : o_(o), terminal_(terminal), client_(connect_to(job)) {
    view_.take(client_.call("status", {}));
    client_.call("watch", {});
  }

  /// Until it or the user ends it.
  Left show() {
    for (;;) {
      const double now_s = monotonic_s(), gone_s = now_s - begun_s_;
      if (o_.seconds > 0 && gone_s >= o_.seconds) return Left::quit;
      if (!is_paused_ && now_s - drawn_s_ > 0.1) draw(keys());
      if (now_s - asked_s_ > 1) { // for the values that no event reports
        client_.send("status", {});
        client_.send("load", {});
        asked_s_ = now_s;
      }
      const std::optional<Json> line = next_line();
      if (!line || now_s - looked_s_ > 0.1) { // keys too, where events come without a pause
        looked_s_ = now_s;
        const double rest_s = o_.seconds > 0 ? std::clamp(o_.seconds - gone_s, 0.001, 0.1) : 0.1;
        if (const auto left = obey(terminal_.wait(line ? -1 : client_.fd(), line ? 0 : rest_s))) return *left;
      }
      if (!line) continue;
      view_.take(*line);
      if (request_ > 0 && line->value("id", std::int64_t{0}) == request_) take_answer(*line);
      const bool is_end = line->value("event", "") == "end";
      if (!is_end && !(line->contains("event") && o_.events > 0 && ++seen_ >= o_.events)) continue;
      draw("");
      return is_end ? Left::ended : Left::quit;
    }
  }

private:
  std::string keys() const {
    if (!terminal_.has_keys()) return "";
    return is_paused_ ? "p goes on, q quits; the job runs meanwhile"
                      : "+ larger  - smaller  p holds the picture  J another job  q quits";
  }
  void draw(const std::string& keys) {
    terminal_.draw(view_.lines(terminal_.screen(), keys));
    drawn_s_ = monotonic_s();
  }
  std::optional<Json> next_line() {
    try {
      return client_.next(0);
    } catch (const base::Error& error) {
      throw Failure(error.what(), 1); // killed: it did not say good-bye
    }
  }
  void ask(const char* what, int by) {
    op_ = what;
    request_ = client_.send(op_, {{"by", by}});
    view_.say(op_ == "grow" ? "a larger grid" : "a smaller grid");
  }
  std::optional<Left> obey(const KeyPress& press) {
    if (press.key == Key::quit) return Left::quit;
    if (press.key == Key::jobs) return Left::for_another;
    if (press.key == Key::grow || press.key == Key::shrink) {
      was_tried_again_ = false;
      if (press.key == Key::grow)
        ask("grow", view_.least_step());
      else
        ask("shrink", 1);
    }
    if (press.key == Key::pause) {
      is_paused_ = !is_paused_;
      draw(keys());
    }
    return std::nullopt;
  }
  void take_answer(const Json& line) {
    request_ = 0;
    if (!line.value("ok", false))
      view_.say(line.value("error", ""));
    else if (line.value("accepted", false))
      view_.say("");
    else if (op_ == "grow" && !was_tried_again_ && view_.processes() > view_.least_step()) {
      // the next of the sizes that it can use may be further: up to twice as many processes
      was_tried_again_ = true;
      ask("grow", view_.processes());
    } else
      view_.say("declined: " + line.value("reason", ""));
  }

  const WatchOptions& o_;
  Terminal& terminal_;
  control::Client client_;
  JobView view_;
  double begun_s_ = monotonic_s(), drawn_s_ = begun_s_ - 3600, asked_s_ = begun_s_, looked_s_ = begun_s_;
  std::int64_t seen_ = 0, request_ = 0; ///< `request_`: the id of the request of a key
  std::string op_;
  bool is_paused_ = false, was_tried_again_ = false;
};

void run(const WatchOptions& o) {
  const char* term = std::getenv("TERM");
  if (o.json || o.lines || isatty(1) != 1 || term == nullptr || std::string(term) == "dumb") {
    print_events(o);
    return;
  }
  std::string job = o.job, word;
  {
    Terminal terminal(!o.no_color);
    if (job.empty() && terminal.has_keys() && jobs_to_choose().size() > 1 && (job = choose(terminal)).empty()) return;
    for (;;) {
      const Left left = Watched(o, job, terminal).show();
      if (left == Left::ended) word = "the job has ended\n";
      if (left != Left::for_another) break;
      const std::string other = choose(terminal);
      if (other.empty()) break;
      job = other;
    }
  }
  std::fputs(word.c_str(), stdout);
}

} // namespace

void add_watch(CommandLine& root) {
  CommandLine& app = root.add_command("watch", "A running job live: grid, step, step time, last change, memory");
  auto o = std::make_shared<WatchOptions>();
  app.add_option("JOB", o->job, "name of the job; without it, the only one that runs, or a choice on a terminal");
  app.add_option("--for", o->seconds, "stop after so long").type_name("SECONDS").check(base::positive_number());
  app.add_option("--events", o->events, "stop after N events").check(base::positive_number());
  app.add_flag("--lines", o->lines, "one line per event also on a terminal");
  app.add_flag("--no-color", o->no_color, "no colours on a terminal; so does the environment's NO_COLOR");
  app.add_flag("--json", o->json, "the events, one JSON object per line (docs/protocol.md)");
  app.footer("On a terminal the grid is drawn with the rank of each process, and keys are taken: + and - ask for the "
             "next larger or\n"
             "smaller grid that the job can use, p holds the picture, J chooses another job, q quits. Ends with the "
             "job: status 0, or 1\n"
             "when the job was killed.");
  app.action([o] { run(*o); });
}

} // namespace command
