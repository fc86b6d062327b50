// SPDX-License-Identifier: BSD-3-Clause
#include <time.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "base/process.hpp"
#include "commands.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct SubmitOptions {
  std::string name, allow, folder, finish_by, seconds;
  std::vector<std::string> command, variables;
  int priority = 0;
  std::int64_t steps = 0;
  bool rigid = false, wait = false, json = false;
};

/// "+90m" from now (s, m, h or d), "14:30" today or tomorrow, or "2027-01-31T14:30": seconds since 1970.
double time_of(const std::string& text) {
  const std::time_t now = std::time(nullptr);
  const auto wrong = [&] {
    return Failure(fmt::format("--finish-by is '{}', expected +90m (s, m, h or d), 14:30 or 2027-01-31T14:30", text));
  };
  if (text.size() > 1 && text[0] == '+') {
    char* end = nullptr;
    const double value = std::strtod(text.c_str() + 1, &end);
    const std::string unit = end;
    const double factor = unit == "s" || unit.empty() ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 86400;
    if (end == text.c_str() + 1 || !(value > 0) || value > 1e9 || (factor == 86400 && unit != "d")) throw wrong();
    return static_cast<double>(now) + value * factor;
  }
  std::tm when{};
  localtime_r(&now, &when);
  when.tm_sec = 0;
  const bool has_date = text.find('T') != std::string::npos;
  const char* end = strptime(text.c_str(), has_date ? "%Y-%m-%dT%H:%M" : "%H:%M", &when);
  if (end == nullptr || *end != '\0') throw wrong();
  when.tm_isdst = -1;
  std::time_t at = std::mktime(&when);
  if (!has_date && at <= now) {
    ++when.tm_mday;
    when.tm_isdst = -1;
    at = std::mktime(&when);
  }
  if (at <= now) throw Failure(fmt::format("--finish-by is '{}', which is over", text));
  return static_cast<double>(at);
}

void run(const SubmitOptions& o) {
  base::Json fields{{"command", o.command}, {"priority", o.priority}, {"rigid", o.rigid}};
  if (!o.name.empty()) fields["name"] = o.name;
  if (!o.allow.empty()) fields["allow"] = o.allow;
  if (o.steps > 0) fields["steps"] = o.steps;
  if (!o.seconds.empty()) fields["seconds"] = o.seconds;
  if (!o.finish_by.empty()) fields["finish_by_s"] = time_of(o.finish_by);
  if (!o.variables.empty()) fields["variables"] = o.variables;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error && o.folder.compare(0, 1, "/") != 0) throw Failure("cannot tell where we are", 1);
  const std::string folder = (o.folder.empty() ? here : here / o.folder).string();
  fields["folder"] = folder;
  const std::string& program = o.command[0];
  const bool is_path = program.find('/') != std::string::npos;
  const std::string found = base::search_path(is_path && program[0] != '/' ? folder + "/" + program : program);
  if (found.empty())
    throw Failure(
        fmt::format("there is no program '{}' that can be run {}", program, is_path ? "in " + folder : "in PATH"));
  if (!is_path) fields["command"][0] = std::filesystem::absolute(found).string(); // the scheduler's PATH is another one
  control::Client client = scheduler();
  auto answer = client.call("submit", fields);
  const auto id = answer.at("job").get<std::int64_t>();
  if (!o.wait) {
    if (print_json(o.json, {{"job", id},
                            {"out", answer["out"]},
                            {"err", answer["err"]},
                            {"predicted_procs", answer.value("predicted_procs", 0)},
                            {"predicted_end_s", answer.value("predicted_end_s", 0.0)}}))
      return;
    std::printf("%lld\n", static_cast<long long>(id));
    return;
  }
  if (!o.json) {
    std::printf("%lld\n", static_cast<long long>(id));
    std::fflush(stdout);
  }
  const auto job = client.call("wait", {{"job", id}}, -1).at("job");
  print_json(o.json, job);
  const std::string status = job.value("status", "-");
  if (status == "0") return;
  throw Failure(fmt::format("job {} ended with status {}{}{}", id, status, job.value("why", "").empty() ? "" : ", ",
                            job.value("why", "")),
                1);
}

} // namespace

void add_submit(base::CommandLine& root) {
  base::CommandLine& app =
      root.add_command("submit", "Give a job to the scheduler, dyngrid-sched: submit -- PROGRAM ARGUMENTS");
  auto o = std::make_shared<SubmitOptions>();
  app.add_option("command", o->command, "program and arguments, without mpirun and its options; after --")
      .type_name("WORDS")
      .required();
  app.add_option("--allow", o->allow, "sizes it can use, as dyngrid_allow: 4:16:*2, '2x2,3x3', any").type_name("TEXT");
  app.add_option("--priority", o->priority, "larger goes first").show_default();
  app.add_option("--name", o->name, "for people, without control characters (default: the program's)");
  app.add_option("--steps", o->steps, "number of steps of the job, if it does not report it itself")
      .check(base::non_negative_number());
  app.add_option("--seconds", o->seconds, "what it takes by size: 4=100,8=55; policies qos and tp count with it")
      .type_name("LIST");
  app.add_option("--finish-by", o->finish_by,
                 "when it is to have ended: +90m, 14:30, 2027-01-31T14:30; refused, with the earliest possible time, "
                 "where that is not predicted (policy qos; needs --seconds)")
      .type_name("TIME");
  app.add_option("--folder", o->folder, "where it runs (default: here)").type_name("PATH");
  app.add_option("--env", o->variables, "NAME=value for its environment, which is the scheduler's; may be repeated")
      .type_name("VAR")
      .repeatable();
  app.add_flag("--rigid", o->rigid, "never ask it to change its size");
  app.add_flag("--wait", o->wait, "until it has ended; status 1 when it failed");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer("Prints the number of the job. Its output is in the scheduler's folder, jobs/NUMBER.out and .err.");
  app.action([o] { run(*o); });
}

} // namespace command
