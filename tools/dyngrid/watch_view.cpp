// SPDX-License-Identifier: BSD-3-Clause
#include "watch_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "control/protocol.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using base::Json;

/// The last step times as bars, the longest the highest.
std::string bars(const std::deque<double>& times, std::size_t most_bars) {
  static const char* const heights[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  const std::size_t first = times.size() > most_bars ? times.size() - most_bars : 0;
  double most = 0;
  for (std::size_t i = first; i < times.size(); ++i) most = std::max(most, times[i]);
  std::string text;
  for (std::size_t i = first; i < times.size(); ++i)
    text += heights[most > 0 ? std::min(7, static_cast<int>(8 * times[i] / most)) : 0];
  return text;
}

/// Bytes of the first `columns` characters.
std::size_t bytes_of(const std::string& text, int columns) {
  std::size_t bytes = 0;
  for (int c = 0; c < columns && bytes < text.size(); ++c) {
    do ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80);
  }
  return bytes;
}

std::string repeated(const char* text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string border(const char* left, const char* middle, const char* right, int boxes, int width) {
  std::string line = left;
  for (int j = 0; j < boxes; ++j) line += repeated("\u2500", width) + (j + 1 < boxes ? middle : right);
  return line;
}

/// 0, 1, ..., shown - 2, -1 for dots, n - 1: the visible part of n where not all fits.
std::vector<int> shown_of(int n, int room) {
  std::vector<int> list;
  const int all = std::min(n, std::max(room, 1));
  for (int i = 0; i < all; ++i) list.push_back(i);
  if (all < n && all >= 3) {
    list[static_cast<std::size_t>(all) - 2] = -1;
    list[static_cast<std::size_t>(all) - 1] = n - 1;
  }
  return list;
}

constexpr int label_width = 9;

/// "1.00 1.00 0.50 0.99; parked 1.00": the share of a processor of each process, by rank; empty where it is not known.
std::string shares_text(const Json& answer) {
  std::string awake, parked;
  if (!answer.is_object()) return awake;
  for (const Json& load : answer.value("loads", Json::array())) {
    const Json share = load.value("share", Json());
    std::string& text = load.value("place", Json()).is_null() ? parked : awake;
    text += (text.empty() ? "" : " ") + (share.is_number() ? fmt::format("{:.2f}", share.get<double>()) : "-");
  }
  return awake + (parked.empty() ? "" : "; parked " + parked);
}

} // namespace

std::string drawn(const ViewLine& line, const Screen& screen) {
  const std::string text = base::printable(line.text);
  const std::string clipped = text.substr(0, bytes_of(text, screen.width - 1)); // a line that is full may wrap
  if (!screen.has_colour || clipped.empty()) return clipped;
  const auto in = [](const char* code, const std::string& what) {
    return what.empty() ? what : fmt::format("\033[{}m{}\033[0m", code, what);
  };
  const std::size_t label = bytes_of(clipped, label_width);
  using Style = ViewLine::Style;
  switch (line.style) {
  case Style::plain:
    return clipped;
  case Style::title:
    return in("1", clipped);
  case Style::label:
    return in("2", clipped.substr(0, label)) + clipped.substr(label);
  case Style::good:
    return in("2", clipped.substr(0, label)) + in("36", clipped.substr(label));
  case Style::warning:
    return in("2", clipped.substr(0, label)) + in("33", clipped.substr(label));
  case Style::faint:
    return in("2", clipped);
  case Style::chosen:
    return in("7", clipped);
  }
  return clipped;
}

std::vector<std::string> grid_picture(int nprow, int npcol, int width, int height) {
  std::vector<std::string> lines;
  if (nprow < 1 || npcol < 1 || width < 1 || height < 1) return lines;
  const int inside = static_cast<int>(std::to_string(nprow * npcol - 1).size()) + 2;
  if (2 * nprow + 1 <= height && npcol * (inside + 1) + 1 <= width) {
    lines.push_back(border("\u250c", "\u252c", "\u2510", npcol, inside));
    for (int i = 0; i < nprow; ++i) {
      std::string line = "\u2502";
      for (int j = 0; j < npcol; ++j) line += fmt::format(" {:>{}} \u2502", i * npcol + j, inside - 2);
      lines.push_back(line);
      lines.push_back(i + 1 < nprow ? border("\u251c", "\u253c", "\u2524", npcol, inside)
                                    : border("\u2514", "\u2534", "\u2518", npcol, inside));
    }
    return lines;
  }
  const auto columns = shown_of(npcol, width / 2);
  for (const int i : shown_of(nprow, height)) {
    std::string line;
    for (const int j : columns) line += i < 0 || j < 0 ? "\u00b7 " : "\u25a0 ";
    lines.push_back(line);
  }
  return lines;
}

void JobView::take(const Json& line) {
  const std::string event = line.value("event", "");
  if (event == "step") {
    status_["step"] = line.at("step").get<std::int64_t>() + 1;
    status_["grid"] = line.value("grid", Json());
    status_["step_s"] = line.value("step_s", Json());
    if (line.contains("rss_bytes")) status_["rss_bytes"] = line.at("rss_bytes");
    times_.push_back(line.at("step_s").get<double>());
    if (times_.size() > 200) times_.pop_front();
  } else if (event == "resize") {
    status_["grid"] = line.value("grid", Json());
    status_["last_resize"] = line.value("report", Json());
    status_["pending"] = nullptr;
    if (!is_taken_back_) last_word_.clear(); // it is the reason for the change
    is_taken_back_ = false;
    times_.clear();
  } else if (event == "undo") {
    is_taken_back_ = true;
    last_word_ =
        fmt::format("{} is taken back: {} a step, {} on {}", grid_text(line.value("from", Json())),
                    duration_text(line.at("step_s").get<double>()),
                    duration_text(line.at("before_step_s").get<double>()), grid_text(line.value("grid", Json())));
  } else if (event == "request") {
    status_["pending"] = line;
    last_word_.clear();
  } else if (event == "outcome" && line.value("outcome", "") != "done") {
    last_word_ = line.value("outcome", "") + ": " + line.value("reason", "");
    status_["pending"] = nullptr;
  } else if (event.empty() && line.contains("loads")) {
    loads_ = line;
  } else if (event == "waiting") {
    for (const char* kind : {"warm", "starting", "kept"}) status_[kind] = line.value(kind, Json());
  } else if (event == "balance" || event == "balanced") {
    last_word_ = balance_text(line);
  } else if (event == "phases") {
    last_word_ = phases_text(line);
  } else if (event.empty() && line.contains("uptime_s")) {
    status_ = line;
  }
}

int JobView::processes() const {
  return control::shape_from(status_.value("grid", Json())).size();
}

int JobView::least_step() const {
  const auto [p, q] = control::shape_from(status_.value("grid", Json()));
  return std::max(1, std::min(p, q));
}

std::vector<ViewLine> JobView::lines(const Screen& screen, const std::string& keys) const {
  using Style = ViewLine::Style;
  if (!is_known()) return {};
  const Json& s = status_;
  const auto value = [&](const char* name) { return s.value(name, Json()); };
  const auto steps = s.value("steps", std::int64_t{0}), step = s.value("step", std::int64_t{0});
  const auto [nprow, npcol] = control::shape_from(value("grid"));
  const Json pending = value("pending"), change = value("last_resize");
  std::vector<ViewLine> above, below;
  above.push_back({fmt::format("job {}  {}  {}  on {}  {:.0f} s", s.value("job", ""), s.value("app", ""),
                               s.value("size", ""), s.value("host", ""), s.value("uptime_s", 0.0)),
                   Style::title});
  const std::string waiting = waiting_text(s);
  const int released = change.is_object() ? change.value("released", 0) : 0;
  above.push_back({fmt::format("grid     {}, {} process{}{}{}", grid_text(value("grid")), processes(),
                               processes() == 1 ? "" : "es", waiting.empty() ? "" : ", " + waiting,
                               released > 0 ? fmt::format(", {} released at the last change", released) : ""),
                   Style::good});
  below.push_back({fmt::format("step     {}{}, the last {}, {} on average on this grid", step,
                               steps > 0 ? fmt::format(" of {} ({} %)", steps, 100 * step / steps) : "",
                               seconds_text(value("step_s")), seconds_text(value("mean_step_s"))),
                   Style::label});
  below.push_back(
      {"         " + bars(times_, static_cast<std::size_t>(std::clamp(screen.width - 10, 10, 120))), Style::good});
  std::string changed = "change   " + (change.is_object() ? change_text(change) : std::string("none yet"));
  if (const auto parts = changed.find(": ");
      parts != std::string::npos && changed.size() >= static_cast<std::size_t>(std::max(screen.width, 1))) {
    below.push_back({changed.substr(0, parts), Style::label});
    changed = "         " + changed.substr(parts + 2);
  }
  below.push_back({changed, Style::label});
  below.push_back({fmt::format("memory   {} in matrices, {} in process 0", bytes_text(value("matrix_bytes")),
                               bytes_text(value("rss_bytes"))),
                   Style::label});
  if (const std::string shares = shares_text(loads_); !shares.empty())
    below.push_back({"shares   " + shares, Style::label});
  if (pending.is_object())
    below.push_back({fmt::format("asked    {}{}", grid_text(pending.value("grid", Json())),
                                 pending.value("late", false) ? ", late" : ""),
                     Style::warning});
  else if (!last_word_.empty())
    below.push_back({"asked    " + last_word_, Style::warning});
  else
    below.push_back({"asked    nothing", Style::label});
  if (!keys.empty()) below.push_back({keys, Style::faint});
  const int room = screen.height - static_cast<int>(above.size() + below.size()) - 1; // the cursor occupies a line too
  for (const std::string& row : grid_picture(nprow, npcol, screen.width - label_width - 1, std::min(room, 17)))
    above.push_back({"         " + row, Style::good});
  above.insert(above.end(), below.begin(), below.end());
  if (screen.height > 1 && above.size() > static_cast<std::size_t>(screen.height) - 1)
    above.resize(static_cast<std::size_t>(screen.height) - 1);
  return above;
}

std::vector<ViewLine> chooser_lines(const std::vector<Json>& statuses, std::size_t chosen, const Screen& screen) {
  using Style = ViewLine::Style;
  std::vector<ViewLine> lines{{"Which job?", Style::title}};
  // as many around the chosen one as fit
  const std::size_t room = static_cast<std::size_t>(std::max(1, screen.height - 3)), count = statuses.size();
  const std::size_t first = count <= room ? 0 : std::min(chosen >= room / 2 ? chosen - room / 2 : 0, count - room);
  for (std::size_t i = first; i < count && i < first + room; ++i) {
    const Json& s = statuses[i];
    const std::string about = s.contains("error")
                                  ? "no answer"
                                  : fmt::format("{}  {}  {}  step {}", s.value("app", ""), s.value("size", ""),
                                                grid_text(s.value("grid", Json())), s.value("step", std::int64_t{0}));
    lines.push_back({fmt::format("{} {}  {}  {}", i == chosen ? ">" : " ", i + 1 < 10 ? std::to_string(i + 1) : " ",
                                 s.value("job", ""), about),
                     i == chosen ? Style::chosen : Style::plain});
  }
  lines.push_back({"up, down or a number; enter takes it, q quits", Style::faint});
  return lines;
}

std::vector<KeyPress> keys_of(std::string& bytes) {
  std::vector<KeyPress> keys;
  std::size_t i = 0;
  for (; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\033') {
      std::size_t last = i + 1; // ESC [ numbers letter, or ESC O letter
      if (last < bytes.size() && bytes[last] != '[' && bytes[last] != 'O') continue;
      ++last;
      while (last < bytes.size() && bytes[last] >= '0' && bytes[last] <= '?') ++last;
      if (last >= bytes.size()) break; // the rest has not arrived yet
      if (last == i + 2 && bytes[last] == 'A') keys.push_back({Key::up, 0});
      if (last == i + 2 && bytes[last] == 'B') keys.push_back({Key::down, 0});
      i = last;
    } else if (c >= '1' && c <= '9')
      keys.push_back({Key::digit, c - '0'});
    else if (c == 'q' || c == 'Q' || c == '\004')
      keys.push_back({Key::quit, 0});
    else if (c == '\r' || c == '\n')
      keys.push_back({Key::enter, 0});
    else if (c == '+' || c == '=')
      keys.push_back({Key::grow, 0});
    else if (c == '-')
      keys.push_back({Key::shrink, 0});
    else if (c == 'p' || c == ' ')
      keys.push_back({Key::pause, 0});
    else if (c == 'k')
      keys.push_back({Key::up, 0});
    else if (c == 'j')
      keys.push_back({Key::down, 0});
    else if (c == 'J')
      keys.push_back({Key::jobs, 0});
  }
  bytes.erase(0, i);
  return keys;
}

std::string event_line(const base::Json& e) {
  const std::string event = e.value("event", "");
  if (event == "step")
    return fmt::format("step {} {} {} {}", e.at("step").get<std::int64_t>(), grid_text(e.value("grid", Json())),
                       seconds_text(e.value("step_s", Json())), bytes_text(e.value("rss_bytes", Json())));
  if (event == "resize") return "resize " + change_text(e.value("report", Json()));
  if (event == "request")
    return fmt::format("request {} {} -> {}", e.at("request").get<std::int64_t>(), grid_text(e.value("from", Json())),
                       grid_text(e.value("grid", Json())));
  if (event == "outcome") {
    const std::string reason = e.value("reason", "");
    return fmt::format("outcome {} {}{}", e.at("request").get<std::int64_t>(), e.value("outcome", ""),
                       reason.empty() ? "" : ": " + reason);
  }
  if (event == "balance" || event == "balanced") return balance_text(e);
  if (event == "phases") return phases_text(e);
  if (event == "waiting") return "waiting " + (waiting_text(e).empty() ? "nobody" : waiting_text(e));
  if (event == "late") return fmt::format("late {}", e.at("request").get<std::int64_t>());
  if (event == "skipped")
    return fmt::format("skipped {} {}", e.at("events").get<std::int64_t>(),
                       e.contains("of") ? "other events" : "steps");
  return event + (e.contains("reason") ? ": " + e.at("reason").get<std::string>() : "");
}

} // namespace command
