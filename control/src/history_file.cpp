// SPDX-License-Identifier: BSD-3-Clause
// The history on disk: JSON lines that are only ever appended, so that jobs that end at the same time, or are killed
// while they write, do no harm.
#include "base/parse_json.hpp"
#include "control/history.hpp"
#include "control/history_json.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "base/printable.hpp"
#include "control/protocol.hpp"
#include "keep_last.hpp"

namespace control {

using base::environment;
using Fd = base::FileDescriptor;
using base::printable;
using base::state_directory;
namespace {

using base::GridShape;

constexpr off_t largest_file = 512 << 10;
constexpr std::size_t most_keys = 1000;
constexpr std::size_t most_changes = 200;
constexpr std::size_t most_call_reports = 5, most_calls = 60;

std::int64_t now_s() {
  return static_cast<std::int64_t>(base::unix_time_s());
}

/// members: of an entry of that kind.
std::string line_with(const Json& members, const char* kind, const HistoryKey& key, std::int64_t when) {
  Json line{{"kind", kind}, {"app", key.app}, {"size", key.size}, {"machine", key.machine}, {"when", when}};
  line.update(members);
  return to_line(line);
}

std::string line_of(const HistoryKey& key, GridShape shape, const StepTimes& t, std::int64_t when) {
  Json members = members_of(t);
  members["grid"] = to_json(shape);
  return line_with(members, "steps", key, when);
}

std::string line_of(const HistoryKey& key, const ChangeCost& c, std::int64_t when) {
  Json members = members_of(c);
  members.erase("grid"); // its name in the file is "to"
  members["to"] = to_json(c.to);
  return line_with(members, "resize", key, when);
}

std::string line_of(const HistoryKey& key, const BalanceReport& b, std::int64_t when) {
  return line_with(members_of(b), "balance", key, when);
}

std::string line_of(const HistoryKey& key, const CallReport& r, std::int64_t when) {
  Json members = members_of(r, most_calls);
  members["job"] = r.job;
  return line_with(members, "calls", key, when);
}

std::string line_of(const HistoryKey& key, const PhaseKey& phase, const StepTimes& times, std::int64_t when) {
  return line_with(members_of(phase, times), "phase", key, when);
}

std::string line_of(const HistoryKey& key, const advise::Machine& m, std::int64_t when) {
  return line_with(members_of(m), "machine", key, when);
}

/// @throws std::out_of_range for a grid without processes.
GridShape shape_of(const Json& line, const char* name) {
  const GridShape shape = shape_from(line.at(name));
  if (shape.nprow < 1 || shape.npcol < 1) throw std::out_of_range(name);
  return shape;
}

/// @throws std::out_of_range for what is not a number of at least 0.
double figure_of(const Json& line, const char* name) {
  const double value = line.at(name).get<double>();
  if (!std::isfinite(value) || value < 0) throw std::out_of_range(name);
  return value;
}

ChangeCost change_of(const Json& line) {
  shape_of(line, "from");
  for (const char* name :
       {"spawned", "spawn_s", "merge_s", "plan_s", "exchange_s", "moved_bytes", "planned_exchange_s"})
    figure_of(line, name);
  ChangeCost change = change_from(line);
  change.to = shape_of(line, "to");
  return change;
}

BalanceReport balance_of(const Json& line) {
  shape_of(line, "from");
  shape_of(line, "grid");
  for (const char* name : {"before_s", "after_s", "change_s"}) figure_of(line, name);
  return balance_report_from(line);
}

/// Only regular files: a read from a FIFO would block, a device never ends. Reported once, and then there is no
/// history.
Fd open_regular(const std::string& path, int flags) {
  Fd fd(open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  struct stat found {};
  const bool is_other =
      fd.get() < 0 ? errno == ENXIO || errno == EISDIR : fstat(fd.get(), &found) == 0 && !S_ISREG(found.st_mode);
  if (!is_other) return fd;
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true))
    std::fprintf(
        stderr,
        "dyngrid: no history is kept: '%s' (DYNGRID_HISTORY) is no regular file, expected the path of one, or off\n",
        printable(path).c_str());
  return Fd(-1);
}

struct Book {
  History history;
  std::int64_t last = 0;
};

/// Of all lines of a file.
struct Books {
  std::map<HistoryKey, Book> by_key;
  std::map<std::string, std::vector<ChangeCost>> spawns; ///< by machine
  std::map<std::string, advise::Machine> machines;       ///< by name
};

/// Adds it to the records, unless it is of a later version.
/// @throws std::exception for a line that is not whole or has impossible values: nothing is added
void read_line(const Json& line, Books& books) {
  const HistoryKey key{line.at("app").get<std::string>(), line.at("size").get<std::string>(),
                       line.at("machine").get<std::string>()};
  const auto when = line.at("when").get<std::int64_t>();
  const auto history = [&]() -> History& {
    Book& book = books.by_key[key];
    book.last = std::max(book.last, when);
    return book.history;
  };
  const auto kind = line.at("kind").get<std::string>();
  if (kind == "steps") {
    const GridShape shape = shape_of(line, "grid");
    const StepTimes times = step_times_from(line);
    StepTimes& known = history().steps[shape];
    known.forget_beyond(remembered_steps);
    known.add(times);
  } else if (kind == "phase") {
    const auto [phase, times] = phase_times_from(line);
    PhaseTimes& phases = history().phases;
    if (phases.size() >= most_phase_times && phases.count(phase) == 0) return;
    StepTimes& known = phases[phase];
    known.forget_beyond(remembered_steps);
    known.add(times);
  } else if (kind == "balance") {
    const BalanceReport balance = balance_of(line);
    add_last(history().balances, balance, most_changes);
  } else if (kind == "calls") {
    CallReport report = call_report_from(line);
    report.when = when;
    add_last(history().calls, std::move(report), most_call_reports);
  } else if (kind == "resize") {
    const ChangeCost change = change_of(line);
    add_last(history().changes, change, most_changes);
    if (change.spawned != 0) add_last(books.spawns[key.machine], change, most_changes);
  } else if (kind == "machine") {
    const advise::Machine figures = machine_from(line);
    history();
    books.machines[key.machine] = figures;
  }
}

std::map<HistoryKey, Book> books_of(const std::string& file) {
  Books books;
  std::istringstream lines(base::content_of(open_regular(file, O_RDONLY).get()));
  for (std::string text; std::getline(lines, text);) {
    try {
      if (const Json line = base::parse_json_or_null(text); line.is_object()) read_line(line, books);
    } catch (const std::exception&) { // it counts as empty
    }
  }
  for (auto& [key, book] : books.by_key) {
    book.history.spawns = books.spawns[key.machine];
    if (const auto at = books.machines.find(key.machine); at != books.machines.end()) book.history.machine = at->second;
  }
  return std::move(books.by_key);
}

/// One line per grid and the last changes, of the keys used last. The caller has the lock.
void put_together(const std::string& file) {
  const std::map<HistoryKey, Book> books = books_of(file);
  std::vector<const std::pair<const HistoryKey, Book>*> order;
  for (const auto& entry : books) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->second.last < b->second.last; });
  if (order.size() > most_keys) order.erase(order.begin(), order.end() - static_cast<std::ptrdiff_t>(most_keys));
  std::string text;
  for (const auto* entry : order) {
    for (const auto& [shape, times] : entry->second.history.steps)
      text += line_of(entry->first, shape, times, entry->second.last);
    // so that a rewritten file is well below the size of the next rewrite
    const auto last_of = [&](const auto& list) {
      for (std::size_t i = list.size() > 20 ? list.size() - 20 : 0; i < list.size(); ++i)
        text += line_of(entry->first, list[i], entry->second.last);
    };
    last_of(entry->second.history.changes);
    last_of(entry->second.history.balances);
    if (const auto& runs = entry->second.history.calls; !runs.empty())
      text += line_of(entry->first, runs.back(), runs.back().when);
    for (const auto& [phase, times] : entry->second.history.phases)
      text += line_of(entry->first, phase, times, entry->second.last);
  }
  std::map<std::string, std::string> machines; // by name the line of the key used last
  for (const auto* entry : order)
    if (const auto& figures = entry->second.history.machine)
      machines[entry->first.machine] = line_of(entry->first, *figures, entry->second.last);
  for (const auto& [machine, line] : machines) text += line;
  while (text.size() > static_cast<std::size_t>(largest_file) / 2) text.erase(0, text.find('\n') + 1); // oldest first
  const std::string part = file + ".new";
  const Fd out = base::new_file(part, 0600);
  if (!out) return;
  if (!base::write_all(out.get(), text) || rename(part.c_str(), file.c_str()) != 0) unlink(part.c_str());
}

} // namespace

std::string machine_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string model = "unknown";
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      model = line.substr(line.find(": ") + 2);
      break;
    }
  return fmt::format("{} x {}", model, std::thread::hardware_concurrency());
}

std::string history_file() {
  if (const char* given = environment("DYNGRID_HISTORY")) {
    const std::string_view word = given;
    return word == "off" || word == "0" ? "" : std::string(word);
  }
  const std::string folder = state_directory();
  return folder.empty() ? folder : folder + "/history.jsonl";
}

History read_history(const std::string& file, const HistoryKey& key) {
  if (file.empty()) return {};
  std::map<HistoryKey, Book> books = books_of(file);
  History history = std::move(books[key].history);
  for (auto& [shape, times] : history.steps) times.forget_beyond(remembered_steps);
  for (const auto& [other, book] : books) { // a program without a run here still learns what others measured
    if (other.machine != key.machine) continue;
    if (history.spawns.empty()) history.spawns = book.history.spawns;
    if (!history.machine) history.machine = book.history.machine;
  }
  return history;
}

advise::Machine known_machine() {
  return read_history(history_file(), {"", "", machine_name()}).machine.value_or(advise::Machine{});
}

std::vector<std::pair<HistoryKey, History>> read_all_history(const std::string& file) {
  std::vector<std::pair<HistoryKey, History>> all;
  if (file.empty()) return all;
  for (auto& [key, book] : books_of(file)) all.emplace_back(key, std::move(book.history));
  return all;
}

namespace {

bool append_lines(const std::string& file, std::string text, double wait_s) {
  if (text.empty() || file.empty()) return true;
  if (!base::make_directories(base::folder_of(file))) return false;
  // the lock is a file of its own, since the rewrite replaces the other
  const Fd lock = open_regular(file + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW);
  if (lock.get() < 0) return false;
  const base::Deadline deadline(std::max(0.0, wait_s));
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (deadline.is_over()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  off_t size = 0;
  {
    const Fd out = open_regular(file, O_RDWR | O_APPEND | O_CREAT);
    if (out.get() < 0) return false;
    size = lseek(out.get(), 0, SEEK_END);
    char last = '\n';
    if (size > 0 && pread(out.get(), &last, 1, size - 1) == 1 && last != '\n')
      text.insert(0, "\n"); // a process was killed in the middle of a line
    if (!base::write_all(out.get(), text)) {
      (void)!ftruncate(out.get(), size); // the caller tries again with all lines
      return false;
    }
  }
  if (size > largest_file) put_together(file);
  return true;
}

} // namespace

bool append_history(const std::string& file, const HistoryKey& key, const HistoryEntries& entries, double wait_s) {
  std::string text;
  const std::int64_t when = now_s();
  for (const auto& [shape, times] : entries.steps)
    if (times.count > 0) text += line_of(key, shape, times, when);
  for (const ChangeCost& change : entries.changes) text += line_of(key, change, when);
  for (const BalanceReport& balance : entries.balances) text += line_of(key, balance, when);
  for (const auto& [phase, times] : entries.phases)
    if (times.count > 0) text += line_of(key, phase, times, when);
  return append_lines(file, std::move(text), wait_s);
}

bool append_machine(const std::string& file, const HistoryKey& key, const advise::Machine& figures, double wait_s) {
  return append_lines(file, line_of(key, figures, now_s()), wait_s);
}

bool append_calls(const std::string& file, const HistoryKey& key, const CallReport& report, double wait_s) {
  return append_lines(file, line_of(key, report, now_s()), wait_s);
}

} // namespace control
