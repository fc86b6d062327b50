// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/balance.hpp"
#include "advise/balancer.hpp"
#include "base/clock.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/balance_mode.hpp"
#include "control/history.hpp"
#include "job_text.hpp"
#include "json_reader.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using advise::BalanceChoice;
using advise::BalanceProcess;
using advise::BalanceRequest;

struct BalanceOptions {
  std::string job, mode;
  bool now = false;
  double timeout_s = 60;
  std::string speeds, loads, asleep, stay, grid, file, rows, cols;
  double change_s = 0;
  bool no_remove = false, no_return = false, json = false;
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
  given("--fixed", r.fixed_s, o.request.fixed_s);
  given("--work", r.work_s, o.request.work_s);
  given("--border", r.border_s, o.request.border_s);
  given("--volume", r.volume_s, o.request.volume_s);
  given("--messages", r.messages_s, o.request.messages_s);
  given("--processor-part", r.processor_part, o.request.processor_part);
  given("--step", r.step_s, o.request.step_s);
  given("--steps-left", r.steps_left, o.request.steps_left);
  given("--held", r.held_s, o.request.held_s);
  given("--max-aspect", r.max_aspect, o.request.max_aspect);
  given("--element-bytes", r.element_bytes, o.request.element_bytes);
  given("--rows", r.rows, whole_numbers("--rows", o.rows));
  given("--cols", r.cols, whole_numbers("--cols", o.cols));
  if (o.no_remove) r.may_remove = false;
  if (o.no_return) r.may_return = false;
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

/// The job's answer, once it has enough steps for a judgement.
Json asked(const BalanceOptions& o, std::string job) {
  control::Client client = connect_to(job);
  const base::Deadline end(o.timeout_s);
  base::Json fields{{"now", o.now}};
  if (!o.mode.empty()) fields["mode"] = o.mode;
  for (;;) {
    Json answer;
    try {
      answer = client.call("balance", fields, std::max(0.1, end.left_s()));
    } catch (const base::Error& error) {
      throw Failure(error.status() == base::Status::timeout
                        ? fmt::format("job {} did not come to a resize point within {:g} s", job, o.timeout_s)
                        : error.what(),
                    1);
    }
    const std::string reason = answer.value("reason", "");
    if (answer.value("outcome", "") != "failed" || reason.find("ask again") == std::string::npos || end.is_over())
      return answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

void ask_job(const BalanceOptions& o) {
  const Json answer = asked(o, o.job);
  const std::string outcome = answer.value("outcome", ""), reason = answer.value("reason", "");
  if (print_json(o.json, answer)) return;
  if (outcome == "declined") throw Failure("declined: " + reason, declined_status);
  if (!answer.contains("balance")) throw Failure(outcome + (reason.empty() ? "" : ": " + reason), 1);
  Json event = answer.value("balance", Json());
  event["event"] = "balance";
  event["done"] = outcome == "done";
  const bool stays = event["action"] == "stay";
  std::printf("%s\n", balance_text(event).c_str());
  for (const auto& [title, choice] : {std::pair{"now     ", event["now"]},
                                      std::pair{stays ? "refused " : "then    ", event[stays ? "refused" : "then"]}})
    if (choice.is_object())
      std::printf("%s%s, power %.4g, a step of %s; change %s, %s elements move\n", title,
                  grid_text(choice.value("grid", Json())).c_str(), choice.at("power").get<double>(),
                  duration_text(choice.at("step_s").get<double>()).c_str(),
                  duration_text(choice.at("change_s").get<double>()).c_str(),
                  grouped(choice.at("moved_elements").get<std::int64_t>()).c_str());
  std::printf("balance %s\n", answer.value("mode", "").c_str());
}

void run(const BalanceOptions& o, const CommandLine& app) {
  if (!o.job.empty()) {
    ask_job(o);
    return;
  }
  if (o.now || !o.mode.empty()) throw Failure("--now and --mode are for a running job, expected its name");
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

void add_job_options(CommandLine& app, BalanceOptions& o) {
  app.add_option("JOB", o.job,
                 "a running job: what would help it by what was measured; without it, as the options say");
  app.add_flag("--now", o.now, "of a job: do it at the next resize point, if it is worth it");
  app.add_option("--mode", o.mode, "of a job: from here on off, advise or auto")
      .check(base::one_of(control::balance_mode_names()));
  app.add_option("--timeout", o.timeout_s, "of a job: so long it is waited for")
      .type_name("SECONDS")
      .check(base::positive_number())
      .show_default();
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
  app.add_option("--rows", o.rows, "rows of each grid row now, where they are unequal").type_name("LIST");
  app.add_option("--cols", o.cols, "columns of each grid column now").type_name("LIST");
  app.add_flag("--weighted", r.is_weighted, "the program's matrices can be dealt out by speed");
}

void add_time_options(CommandLine& app, BalanceOptions& o) {
  BalanceRequest& r = o.request;
  app.add_option("--steps-left", r.steps_left, "steps that are left (default: 50 are counted on)")
      .check(base::non_negative_number());
  app.add_option("--held", r.held_s, "seconds that the speeds have been so: a load is expected to last as long again")
      .check(base::non_negative_number());
  app.add_option("--work", r.work_s, "seconds of work of a step at speed 1, all together (default: 1 per process)")
      .check(base::non_negative_number());
  app.add_option("--fixed", r.fixed_s, "seconds of a step that no grid makes shorter")
      .check(base::non_negative_number());
  app.add_option("--border", r.border_s, "seconds of messages that are the same on every grid")
      .check(base::non_negative_number());
  app.add_option("--volume", r.volume_s, "seconds of messages: times 1/p + 1/q").check(base::non_negative_number());
  app.add_option("--messages", r.messages_s, "seconds of messages: times p + q").check(base::non_negative_number());
  app.add_option("--processor-part", r.processor_part, "part of messages that a loaded processor is slower at, 0 .. 1")
      .check(base::in_range(0.0, 1.0));
  app.add_option("--step", r.step_s, "measured seconds of a step now; corrects all predictions")
      .check(base::positive_number());
  app.add_option("--change", o.change_s, "seconds that any change takes (default: by what moves)")
      .check(base::non_negative_number());
  app.add_option("--element-bytes", r.element_bytes, "bytes of an element of all matrices together")
      .check(base::positive_number())
      .show_default();
  app.add_option("--max-aspect", r.max_aspect, "longer side of a new grid over its shorter one; 0: any")
      .check(base::non_negative_number())
      .show_default();
}

} // namespace

void add_balance(CommandLine& root) {
  CommandLine& app =
      root.add_command("balance", "Processes of changed speed: new shares, which should sleep or come back");
  auto o = std::make_shared<BalanceOptions>();
  add_job_options(app, *o);
  add_grid_options(app, *o);
  add_time_options(app, *o);
  app.add_flag("--no-remove", o->no_remove, "nobody leaves");
  app.add_flag("--no-return", o->no_return, "nobody comes back");
  app.add_option("--file", o->file, "all this as JSON; - is stdin. An option overrides it").type_name("FILE");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer(
      "Examples:\n"
      "  dyngrid balance JOB                # what would help this job, and why\n"
      "  dyngrid balance JOB --now          # do it; --mode auto does it from here on\n"
      "  dyngrid balance --speeds 1,1,1,0.5 --m 8000 --n 8000 --steps-left 200\n"
      "  dyngrid balance --speeds 1,1,1,1 --load 3:2 --n 8000 --weighted --work 12 --volume 0.2\n"
      "  dyngrid balance --speeds 1,1,1 --grid 1x3 --asleep 1 --n 8000\n"
      "  echo '{\"n\": 8000, \"processes\": [{}, {\"speed\": 0.25, \"share\": 0.25}]}' | dyngrid balance --file -\n"
      "Members of FILE: grid m n mb nb rows cols weighted work_s fixed_s border_s volume_s messages_s processor_part "
      "step_s\n"
      "steps_left held_s change_s element_bytes max_aspect may_remove may_return, and processes, a list of objects\n"
      "with speed share place asleep may_leave away_s calm_s waits_s. In brackets: the speed of a process.\n"
      "A change must save 5 % of a step and, with its own price, 1 % of the time left; where the steps are a guess, "
      "it\n"
      "must pay off within half of them. A process that left less than 60 s ago comes back for twice as much, and only"
      "\nafter 10 s "
      "without a competitor.");
  app.action([o, &app] { run(*o, app); });
}

} // namespace command
