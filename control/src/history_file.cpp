// SPDX-License-Identifier: BSD-3-Clause
// The history on disk: JSON lines that are only ever appended, so that jobs that end at the same time, or are killed
// while they write, do no harm.
#include "base/parse_json.hpp"
#include "control/history.hpp"
#include "control/history_json.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <tuple>
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

Json named(const HistoryKey& key, const char* kind, std::int64_t when) {
  return {{"kind", kind}, {"app", key.app}, {"size", key.size}, {"machine", key.machine}, {"when", when}};
}

std::string line_of(const HistoryKey& key, std::pair<int, int> shape, const StepTimes& t, std::int64_t when) {
  Json line = named(key, "steps", when);
  line.update({{"grid", to_json(base::GridShape{shape.first, shape.second})},
               {"count", t.count},
               {"mean_s", t.mean},
               {"squares", t.squares},
               {"least_s", t.least}});
  return to_line(line);
}

std::string line_of(const HistoryKey& key, const ChangeCost& c, std::int64_t when) {
  Json line = named(key, "resize", when);
  line.update(members_of(c));
  line["to"] = to_json(c.to);
  return to_line(line);
}

std::string line_of(const HistoryKey& key, const BalanceReport& b, std::int64_t when) {
  Json line = named(key, "balance", when);
  line.update(members_of(b));
  return to_line(line);
}

std::string line_of(const HistoryKey& key, const CallReport& r, std::int64_t when) {
  Json line = named(key, "calls", when);
  line.update(members_of(r, most_calls));
  line["job"] = r.job;
  return to_line(line);
}

std::string line_of(const HistoryKey& key, const PhaseKey& phase, const StepTimes& times, std::int64_t when) {
  Json line = named(key, "phase", when);
  line.update(members_of(phase, times));
  return to_line(line);
}

std::string line_of(const HistoryKey& key, const advise::Machine& m, std::int64_t when) {
  Json line = named(key, "machine", when);
  line.update(members_of(m));
  return to_line(line);
}

struct Record {
  HistoryKey key;
  std::int64_t when = 0;
  enum class Kind { steps, change, balance, calls, phase, machine } kind = Kind::steps;
  std::pair<int, int> grid;
  StepTimes times;
  ChangeCost change;
  BalanceReport balance;
  CallReport calls;
  PhaseKey phase; ///< with `times`
  advise::Machine figures;
};

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

StepTimes step_times_of(const Json& line) {
  StepTimes times;
  times.count = line.at("count").get<std::int64_t>();
  times.mean = figure_of(line, "mean_s");
  times.squares = figure_of(line, "squares");
  times.least = figure_of(line, "least_s");
  if (times.count < 1) throw std::out_of_range("count");
  return times;
}

ChangeCost change_of(const Json& line) {
  ChangeCost change;
  change.from = shape_of(line, "from");
  change.to = shape_of(line, "to");
  change.spawned = line.at("spawned").get<int>();
  change.spawn_s = figure_of(line, "spawn_s");
  change.merge_s = figure_of(line, "merge_s");
  change.plan_s = figure_of(line, "plan_s");
  change.exchange_s = figure_of(line, "exchange_s");
  change.moved_bytes = line.at("moved_bytes").get<std::int64_t>();
  change.predicted_exchange_s = figure_of(line, "planned_exchange_s");
  change.asked_at_step = line.value("asked_at_step", std::int64_t{-1}); // not in lines of earlier versions
  change.changed_at_step = line.value("changed_at_step", std::int64_t{-1});
  return change;
}

BalanceReport balance_of(const Json& line) {
  shape_of(line, "from");
  shape_of(line, "grid");
  for (const char* name : {"before_s", "after_s", "change_s"}) figure_of(line, name);
  return balance_report_from(line);
}

/// Empty for a line that is not whole, has impossible values, or is of a later version.
std::optional<Record> record_of(const std::string& text) {
  const Json line = base::parse_json_or_null(text);
  if (!line.is_object()) return std::nullopt;
  try {
    Record r;
    r.key = {line.at("app").get<std::string>(), line.at("size").get<std::string>(),
             line.at("machine").get<std::string>()};
    r.when = line.at("when").get<std::int64_t>();
    if (line.at("kind") == "steps") {
      const GridShape shape = shape_of(line, "grid");
      r.grid = {shape.nprow, shape.npcol};
      r.times = step_times_of(line);
    } else if (line.at("kind") == "resize") {
      r.kind = Record::Kind::change;
      r.change = change_of(line);
    } else if (line.at("kind") == "balance") {
      r.kind = Record::Kind::balance;
      r.balance = balance_of(line);
    } else if (line.at("kind") == "calls") {
      r.kind = Record::Kind::calls;
      r.calls = call_report_from(line);
      r.calls.when = r.when;
    } else if (line.at("kind") == "phase") {
      r.kind = Record::Kind::phase;
      std::tie(r.phase, r.times) = phase_times_from(line);
    } else if (line.at("kind") == "machine") {
      r.kind = Record::Kind::machine;
      r.figures = machine_from(line);
    } else {
      return std::nullopt;
    }
    return r;
  } catch (const std::exception&) {
    return std::nullopt;
  }
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

std::string content_of(const std::string& path) {
  std::string text;
  const Fd in = open_regular(path, O_RDONLY);
  std::array<char, 65536> buffer;
  while (in.get() >= 0) {
    const ssize_t n = read(in.get(), buffer.data(), buffer.size());
    if (n > 0)
      text.append(buffer.data(), static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      break;
  }
  return text;
}

template <class Each> void each_record(const std::string& file, Each&& each) {
  std::istringstream in(content_of(file));
  for (std::string line; std::getline(in, line);)
    if (const auto record = record_of(line)) each(*record);
}

struct Book {
  History history;
  std::int64_t last = 0;
};

std::map<HistoryKey, Book> books_of(const std::string& file) {
  std::map<HistoryKey, Book> books;
  std::map<std::string, std::vector<ChangeCost>> spawns; // by machine
  std::map<std::string, advise::Machine> machines;       // by name
  each_record(file, [&](const Record& r) {
    Book& book = books[r.key];
    book.last = std::max(book.last, r.when);
    if (r.kind == Record::Kind::machine) {
      machines[r.key.machine] = r.figures;
      return;
    }
    if (r.kind == Record::Kind::steps) {
      StepTimes& known = book.history.steps[r.grid];
      known.forget_beyond(remembered_steps);
      known.add(r.times);
      return;
    }
    if (r.kind == Record::Kind::phase) {
      PhaseTimes& phases = book.history.phases;
      if (phases.size() >= most_phase_times && phases.count(r.phase) == 0) return;
      phases[r.phase].forget_beyond(remembered_steps);
      phases[r.phase].add(r.times);
      return;
    }
    if (r.kind == Record::Kind::balance) {
      book.history.balances.push_back(r.balance);
      keep_last(book.history.balances, most_changes);
      return;
    }
    if (r.kind == Record::Kind::calls) {
      book.history.calls.push_back(r.calls);
      keep_last(book.history.calls, most_call_reports);
      return;
    }
    book.history.changes.push_back(r.change);
    keep_last(book.history.changes, most_changes);
    if (r.change.spawned == 0) return;
    spawns[r.key.machine].push_back(r.change);
    keep_last(spawns[r.key.machine], most_changes);
  });
  for (auto& [key, book] : books) {
    book.history.spawns = spawns[key.machine];
    if (const auto at = machines.find(key.machine); at != machines.end()) book.history.machine = at->second;
  }
  return books;
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
    if (!base::write_all(out.get(), text)) return false;
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
