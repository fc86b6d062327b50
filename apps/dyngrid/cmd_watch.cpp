// SPDX-License-Identifier: BSD-3-Clause
// A job live: a few lines that are drawn again and again on a terminal, one line per event in a pipe, the events themselves with --json.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>

#include <sys/ioctl.h>
#include <unistd.h>

#include "command.hpp"
#include "common/command_line.hpp"
#include "control/printable.hpp"
#include "job_text.hpp"
#include "gridmap/status.hpp"
#include "text.hpp"

namespace command {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string job;
  double seconds = 0;
  std::int64_t events = 0;
  bool json = false, lines = false;
};

/// The last step times as bars, the longest the highest.
std::string bars(const std::deque<double>& times) {
  static const char* const heights[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  const double most = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
  std::string text;
  for (const double t : times) text += heights[most > 0 ? std::min(7, static_cast<int>(8 * t / most)) : 0];
  return text;
}

class View {
public:
  void take(const json& line) {
    const std::string event = line.value("event", "");
    if (event == "step") {
      status_["step"] = line["step"].get<std::int64_t>() + 1;
      status_["grid"] = line["grid"];
      status_["step_s"] = line["step_s"];
      if (line.contains("rss_bytes")) status_["rss_bytes"] = line["rss_bytes"];
      times_.push_back(line["step_s"]);
      if (times_.size() > 60) times_.pop_front();
    } else if (event == "resize") {
      status_["grid"] = line["grid"];
      status_["last_resize"] = line["report"];
      status_["pending"] = nullptr;
      times_.clear();
    } else if (event == "request") {
      status_["pending"] = line;
    } else if (event == "outcome" && line.value("outcome", "") != "done") {
      last_word_ = line.value("outcome", "") + ": " + line.value("reason", "");
      status_["pending"] = nullptr;
    } else if (event.empty() && line.contains("uptime_s")) {
      status_ = line;
    }
  }

  void draw(bool is_last) {
    if (!status_.is_object()) return;
    const json& s = status_;
    winsize size{};
    const std::size_t width = ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
    const auto steps = s.value("steps", std::int64_t{0});
    const auto& pending = s["pending"];
    std::vector<std::string> lines;
    lines.push_back(fmt::format("job {}  {}  {}  on {}  {:.0f} s", s.value("job", ""), s.value("app", ""), s.value("size", ""), s.value("host", ""),
                                s.value("uptime_s", 0.0)));
    const json& grid = s["grid"];
    lines.push_back(fmt::format("grid     {}, {} processes{}", grid_text(grid), grid[0].get<int>() * grid[1].get<int>(),
                                s.value("parked", 0) > 0 ? fmt::format(", {} parked", s.value("parked", 0)) : ""));
    lines.push_back(fmt::format("step     {}{}, the last {}, {} on average on this grid", s.value("step", std::int64_t{0}),
                                steps > 0 ? fmt::format(" of {}", steps) : "", seconds_text(s["step_s"]), seconds_text(s["mean_step_s"])));
    lines.push_back("         " + bars(times_));
    lines.push_back("change   " + (s["last_resize"].is_object() ? change_text(s["last_resize"]) : std::string("none yet")));
    lines.push_back(fmt::format("memory   {} in matrices, {} in process 0", bytes_text(s["matrix_bytes"]), bytes_text(s["rss_bytes"])));
    lines.push_back("asked    " + (pending.is_object() ? grid_text(pending["grid"]) + (pending.value("late", false) ? ", late" : "")
                                   : last_word_.empty()  ? std::string("nothing")
                                                         : last_word_));
    std::string text = drawn_ > 0 ? fmt::format("\033[{}A", drawn_) : "";
    for (const std::string& raw : lines) {
      const std::string line = control::printable(raw);
      // columns are counted by characters, and a line must not wrap
      std::size_t columns = 0, bytes = 0;
      while (bytes < line.size() && columns < width - 1) {
        do ++bytes;
        while (bytes < line.size() && (static_cast<unsigned char>(line[bytes]) & 0xc0) == 0x80);
        ++columns;
      }
      text += "\r\033[K" + line.substr(0, bytes) + "\n";
    }
    drawn_ = lines.size();
    if (is_last) text += "the job has ended\n";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

private:
  json status_;
  std::deque<double> times_;
  std::string last_word_;
  std::size_t drawn_ = 0;
};

std::string line_of(const json& e) {
  const std::string event = e.value("event", "");
  if (event == "step") return fmt::format("step {} {} {} {}", e["step"].get<std::int64_t>(), grid_text(e["grid"]), seconds_text(e["step_s"]), bytes_text(e.value("rss_bytes", json())));
  if (event == "resize") return "resize " + change_text(e["report"]);
  if (event == "request") return fmt::format("request {} {} -> {}", e["request"].get<std::int64_t>(), grid_text(e["from"]), grid_text(e["grid"]));
  if (event == "outcome") {
    const std::string reason = e.value("reason", "");
    return fmt::format("outcome {} {}{}", e["request"].get<std::int64_t>(), e.value("outcome", ""), reason.empty() ? "" : ": " + reason);
  }
  if (event == "late") return fmt::format("late {}", e["request"].get<std::int64_t>());
  if (event == "skipped") return fmt::format("skipped {} steps", e["events"].get<std::int64_t>());
  return event + (e.contains("reason") ? ": " + e["reason"].get<std::string>() : "");
}

void run(Options o) {
  control::Client client = connect_to(o.job);
  const bool draws = !o.json && !o.lines && isatty(1) == 1;
  View view;
  if (draws) view.take(client.call("status", {}));
  client.call("watch", {});
  const auto begun = Clock::now();
  auto drawn = begun - std::chrono::hours(1), asked = begun;
  std::int64_t seen = 0;
  for (;;) {
    const auto now = Clock::now();
    const double gone = std::chrono::duration<double>(now - begun).count();
    if (o.seconds > 0 && gone >= o.seconds) return;
    if (draws && now - drawn > std::chrono::milliseconds(100)) {
      view.draw(false);
      drawn = now;
    }
    if (draws && now - asked > std::chrono::seconds(1)) { // what no event tells
      client.send("status", {});
      asked = now;
    }
    double wait = draws ? 0.1 : 3600;
    if (o.seconds > 0) wait = std::min(wait, o.seconds - gone);
    std::optional<json> line;
    try {
      line = client.next(wait);
    } catch (const gridmap::Error& error) {
      throw Failure(error.what(), 1); // killed: it did not say good-bye
    }
    if (!line) continue;
    const bool is_end = line->value("event", "") == "end";
    if (draws) {
      view.take(*line);
      if (is_end) view.draw(true);
    } else if (line->contains("event")) {
      const std::string text = o.json ? line->dump(-1, ' ', false, json::error_handler_t::replace)
                                      : control::printable(line_of(*line));
      std::printf("%s\n", text.c_str());
      std::fflush(stdout);
    }
    if (is_end) return;
    if (line->contains("event") && o.events > 0 && ++seen >= o.events) return;
  }
}

} // namespace

void add_watch(CLI::App& root) {
  auto* app = root.add_subcommand("watch", "A running job live: grid, step, step time, last change, memory");
  auto o = std::make_shared<Options>();
  app->add_option("JOB", o->job, "name of the job; without it, the only one that runs");
  app->add_option("--for", o->seconds, "stop after so long")->type_name("SECONDS")->check(apps::positive_number());
  app->add_option("--events", o->events, "stop after so many events")->check(apps::positive_number());
  app->add_flag("--lines", o->lines, "one line per event also on a terminal");
  app->add_flag("--json", o->json, "the events as they come, one JSON object per line (docs/protocol.md)");
  app->footer("Ends with the job: status 0, or 1 when the job was killed.");
  app->callback([o] { run(*o); });
}

} // namespace command
