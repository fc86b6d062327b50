// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/balance.hpp"
#include "advise/balance_memory.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/history.hpp"
#include "job_balance.hpp"
#include "json_reader.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using advise::BalanceChoice;
using advise::BalanceProcess;
using advise::BalanceRequest;

struct BalanceOptions {
  std::string job;
  std::string speeds, loads, asleep, stay, grid, file;
  double change_s = 0;
  bool json = false;
  BalanceRequest request;
};

std::vector<std::int64_t> whole_numbers(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& word : base::split(text, ',')) numbers.push_back(base::parse_whole_number(word, option));
  return numbers;
}

/// "3:2,5:1": 2 processes compete with process 3, 1 with process 5.
void add_loads(const std::string& text, std::vector<BalanceProcess>& processes) {
  for (const std::string& entry : base::split(text, ',')) {
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos)
      throw Failure(fmt::format("--load: got '{}', expected process:competitors as in 3:2", entry));
    const std::int64_t k = base::parse_whole_number(entry.substr(0, colon), "--load: process", 0,
                                                    static_cast<std::int64_t>(processes.size()) - 1);
    const std::int64_t competing = base::parse_whole_number(entry.substr(colon + 1), "--load: competitors", 0, 1000);
    BalanceProcess& process = processes[static_cast<std::size_t>(k)];
    process.share /= static_cast<double>(1 + competing);
    process.speed /= static_cast<double>(1 + competing);
  }
}

void read_file(const std::string& name, BalanceOptions& o) {
  const Json all = json_file(name);
  BalanceRequest& r = o.request;
  Json processes = Json::array();
  Reader reader(all, name);
  reader.take("grid", o.grid).take("m", r.m).take("n", r.n).take("mb", r.mb).take("nb", r.nb);
  reader.take("rows", r.rows).take("cols", r.cols).take("weighted", r.is_weighted);
  reader.take("fixed_s", r.fixed_s).take("work_s", r.work_s).take("border_s", r.border_s);
  reader.take("volume_s", r.volume_s)
      .take("messages_s", r.messages_s)
      .take("processor_part", r.processor_part)
      .take("step_s", r.step_s);
  reader.take("steps_left", r.steps_left).take("held_s", r.held_s).take("max_aspect", r.max_aspect);
  reader.take("may_remove", r.may_remove).take("may_return", r.may_return).take("change_s", o.change_s);
  reader.take("element_bytes", r.element_bytes).take("processes", processes);
  reader.refuse_others();
  for (const Json& each : processes) {
    BalanceProcess p;
    p.place = static_cast<int>(r.processes.size());
    Reader one(each, fmt::format("process {}", r.processes.size()));
    bool is_asleep = false;
    one.take("speed", p.speed).take("share", p.share).take("place", p.place).take("may_leave", p.may_leave);
    one.take("away_s", p.away_s).take("calm_s", p.calm_s).take("waits_s", p.waits_s).take("asleep", is_asleep);
    one.refuse_others();
    if (is_asleep) p.place = -1;
    r.processes.push_back(p);
  }
}

/// The command line's entries about the processes.
void take_processes(const BalanceOptions& o, std::vector<BalanceProcess>& processes) {
  if (!o.speeds.empty()) {
    processes.clear();
    for (const double speed : parse_numbers("--speeds", o.speeds)) {
      BalanceProcess p;
      p.speed = speed;
      p.place = static_cast<int>(processes.size());
      processes.push_back(p);
    }
  }
  if (processes.empty()) throw Failure("no process is given, expected --speeds 1,1,1,0.5 or --file FILE");
  for (const double speed : parse_numbers("--asleep", o.asleep)) {
    BalanceProcess p;
    p.speed = speed;
    processes.push_back(p);
  }
  add_loads(o.loads, processes);
  for (const std::int64_t k : whole_numbers("--stay", o.stay)) {
    if (k >= static_cast<std::int64_t>(processes.size()))
      throw Failure(fmt::format("--stay: got {}, expected a process 0 .. {}", k, processes.size() - 1));
    processes[static_cast<std::size_t>(k)].may_leave = false;
  }
}

/// Its other entries, where given.
void take_figures(const BalanceOptions& o, const CommandLine& app, BalanceRequest& r) {
  const auto given = [&](const char* option, auto& to, const auto& value) {
    if (app.count(option) > 0) to = value;
  };
  given("--m", r.m, o.request.m);
  given("--n", r.n, o.request.n);
  given("--mb", r.mb, o.request.mb);
  given("--nb", r.nb, o.request.nb);
  given("--weighted", r.is_weighted, o.request.is_weighted);
  given("--work", r.work_s, o.request.work_s);
  given("--steps-left", r.steps_left, o.request.steps_left);
}

BalanceRequest request_of(const BalanceOptions& o, const CommandLine& app) {
  // the file first, then the command line
  BalanceOptions from_file;
  BalanceRequest& r = from_file.request;
  if (!o.file.empty()) read_file(o.file, from_file);
  take_processes(o, r.processes);
  const int in_grid = std::max(1, static_cast<int>(std::count_if(r.processes.begin(), r.processes.end(),
                                                                 [](const auto& p) { return p.place >= 0; })));
  const std::string& grid = !o.grid.empty() ? o.grid : from_file.grid;
  r.grid = grid.empty() ? base::squarest(in_grid) : base::parse_grid_shape(grid, "--grid");
  take_figures(o, app, r);
  if (r.m == 0) r.m = r.n;
  if (r.n == 0) r.n = r.m;
  if (r.m == 0) throw Failure("no matrix is given, expected --m ROWS and --n COLUMNS");
  // no terms: all of a step is work, a second of it for each process
  if (r.fixed_s + r.work_s + r.border_s + r.volume_s + r.messages_s == 0) r.work_s = in_grid;
  r.machine = control::known_machine();
  const double price = app.count("--change") > 0 ? o.change_s : from_file.change_s;
  if (app.count("--change") > 0 || from_file.change_s > 0)
    r.change = [price](const BalanceChoice&) { return advise::Cost{{{"change", price}}}; };
  return r;
}

/// In the form of a running job's answer, but with the processes row by row.
Json json_of(const advise::Balance& balance) {
  Json json = control::to_json(balance, {});
  const auto row_by_row = [&](const char* name, const BalanceChoice& choice) {
    if (!json[name].is_object()) return;
    json[name].erase("processes");
    json[name]["order"] = rows_of(choice.order, choice.grid.npcol);
  };
  row_by_row("now", balance.now);
  row_by_row("then", balance.then);
  if (balance.refused) row_by_row("refused", *balance.refused);
  return json;
}

std::string terms_text(const advise::Cost& cost) {
  std::string text;
  for (const advise::Term& term : cost.terms)
    if (term.seconds > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", term.name, duration_text(term.seconds));
  return text.empty() ? "" : " (" + text + ")";
}

void print(const char* title, const BalanceChoice& choice, const std::vector<BalanceProcess>& processes) {
  std::printf("%s%dx%d, power %.4g, a step of %s%s\n", title, choice.grid.nprow, choice.grid.npcol, choice.power,
              duration_text(choice.step_s()).c_str(), terms_text(choice.step).c_str());
  if (choice.grid.size() > 64) return;
  std::vector<std::vector<std::string>> rows(1, {"rows\\cols"});
  for (const std::int64_t cols : choice.cols) rows[0].push_back(std::to_string(cols));
  for (int i = 0; i < choice.grid.nprow; ++i) {
    rows.push_back({std::to_string(choice.rows[static_cast<std::size_t>(i)])});
    for (int j = 0; j < choice.grid.npcol; ++j) {
      const int k = choice.order[static_cast<std::size_t>(i * choice.grid.npcol + j)];
      rows.back().push_back(fmt::format("{} ({:.3g})", k, processes[static_cast<std::size_t>(k)].speed));
    }
  }
  std::printf("%s", table(rows).c_str());
}

void run(const BalanceOptions& o, const CommandLine& app) {
  if (!o.job.empty()) {
    for (const base::OptionText& option : app.options())
      for (const std::string& name : option.names)
        if (name != "--json" && app.count(name) > 0)
          throw Failure(
              fmt::format("got job {} and {}, expected one of them: a job has figures of its own", o.job, name));
    ask_for_balance({o.job, "", 60, o.json});
    return;
  }
  const BalanceRequest request = request_of(o, app);
  const advise::Balance b = advise::decide_balance(request);
  const bool stays = b.action == advise::BalanceAction::stay;
  if (print_json(o.json, json_of(b))) return;
  std::printf("%s: %s\n", to_string(b.action), b.why.c_str());
  print("now     ", b.now, request.processes);
  const BalanceChoice& other = stays && b.refused ? *b.refused : b.then;
  if (stays && !b.refused) return;
  print(stays ? "refused " : "then    ", other, request.processes);
  std::printf("moves   %s elements in %s%s\n", grouped(other.moved_elements).c_str(),
              duration_text(other.change.total()).c_str(), terms_text(other.change).c_str());
  for (const auto& [title, list] : {std::pair{"sleeps ", &b.leaves}, std::pair{"wakes  ", &b.comes}})
    if (!list->empty()) std::printf("%s %s\n", title, fmt::format("{}", fmt::join(*list, ", ")).c_str());
}

void add_grid_options(CommandLine& app, BalanceOptions& o) {
  BalanceRequest& r = o.request;
  app.add_option("--speeds", o.speeds, "of the processes in the grid, row by row: 1,1,1,0.5, or @file")
      .type_name("LIST");
  app.add_option("--load", o.loads, "processes that compete with one of them: 3:2 is two with process 3")
      .type_name("P:K,...");
  app.add_option("--asleep", o.asleep, "speeds of processes that sleep and could come back").type_name("LIST");
  app.add_option("--stay", o.stay, "processes that may not leave, by number").type_name("LIST");
  app.add_option("--grid", o.grid, "the grid there is (default: the squarest)").type_name("PxQ");
  app.add_option("--m", r.m, "rows of the matrix").check(base::positive_number());
  app.add_option("--n", r.n, "columns of the matrix").check(base::positive_number());
  app.add_option("--mb", r.mb, "rows of a block; without it one block for each process").check(base::positive_number());
  app.add_option("--nb", r.nb, "columns of a block").check(base::positive_number());
  app.add_flag("--weighted", r.is_weighted, "the program's matrices can be dealt out by speed");
}

void add_time_options(CommandLine& app, BalanceOptions& o) {
  BalanceRequest& r = o.request;
  app.add_option("--steps-left", r.steps_left, "steps that are left (default: 50 are counted on)")
      .check(base::non_negative_number());
  app.add_option("--work", r.work_s, "seconds of work of a step at speed 1, all together (default: 1 per process)")
      .check(base::non_negative_number());
  app.add_option("--change", o.change_s, "seconds that any change takes (default: by what moves)")
      .check(base::non_negative_number());
}

} // namespace

void add_plan_balance(CommandLine& plan) {
  CommandLine& app =
      plan.add_command("balance", "Processes of changed speed: new shares, which should sleep or come back");
  auto o = std::make_shared<BalanceOptions>();
  app.add_option("JOB", o->job,
                 "a running job: what would help it by what was measured; without it, as the options say");
  add_grid_options(app, *o);
  add_time_options(app, *o);
  app.add_option("--file", o->file, "these and more figures as JSON; - is stdin. An option overrides it")
      .type_name("FILE");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer(
      "Examples:\n"
      "  dyngrid plan balance JOB           # what would help this job; dyngrid load JOB --balance now does it\n"
      "  dyngrid plan balance --speeds 1,1,1,0.5 --m 8000 --n 8000 --steps-left 200\n"
      "  dyngrid plan balance --speeds 1,1,1,1 --load 3:2 --n 8000 --weighted --work 12\n"
      "  dyngrid plan balance --speeds 1,1,1 --grid 1x3 --asleep 1 --n 8000\n"
      "  echo '{\"n\": 8000, \"processes\": [{}, {\"speed\": 0.25, \"share\": 0.25}]}' | dyngrid plan balance --file "
      "-\n"
      "Members of FILE: grid m n mb nb rows cols weighted work_s fixed_s border_s volume_s messages_s processor_part "
      "step_s\n"
      "steps_left held_s change_s element_bytes max_aspect may_remove may_return, and processes, a list of objects\n"
      "with `speed share place asleep may_leave away_s calm_s waits_s`. In brackets: the speed of a process.\n"
      "A change must save 5 % of a step and, with its own price, 1 % of the time left; where the steps are a guess, "
      "it\n"
      "must save its cost within half of them. A process that left less than 60 s ago comes back for twice as much, "
      "and "
      "only"
      "\nafter 10 s "
      "without a competitor.\nWith JOB: status 3 where the job declined.");
  app.action([o, &app] { run(*o, app); });
}

} // namespace command
