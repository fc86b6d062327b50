// SPDX-License-Identifier: BSD-3-Clause
// dyngrid resize JOB 3x3, JOB +5, JOB -4: sends the request to the job, and prints its answer.
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "advise/without.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "command.hpp"
#include "control/ask.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/selection.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct ResizeOptions {
  std::string job, what; ///< what: the grid or the number, as given
  std::string placement, without, hosts, form;
  double deadline_s = 0, wait_s = -1, tpp = 0;
  bool force = false, no_undo = false, wait = false, json = false, ask_only = false;
};

/// "+5" or "-4"; 0 when it is no number with a sign. @throws Failure for a number that is too large.
std::int64_t signed_count(const std::string& text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return 0;
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 1, end, count);
  if (error == std::errc::result_out_of_range) throw Failure(fmt::format("'{}' processes are too many", text));
  return error != std::errc{} || rest != end || count < 1 ? 0 : text[0] == '-' ? -count : count;
}

/// "; on a:2:1.5, b:1:1 (best); 0.5 left: nothing fits", or "" where no hosts were offered.
std::string chosen_text(const Json& answer) {
  const Json chosen = answer.value("chosen", Json());
  if (!chosen.is_object()) return {};
  std::string text;
  for (const Json& host : chosen.value("hosts", Json::array()))
    text += fmt::format("{}{}:{}:{:g}", text.empty() ? "" : ", ", host.value("name", ""), host.value("slots", 0),
                        host.value("speed", 0.0));
  return base::printable(fmt::format("; on {} ({}); {:g} left: {}", text, chosen.value("form", ""),
                                     chosen.value("power_left", 0.0), chosen.value("left_because", "")));
}

void send(const ResizeOptions& o, const std::string& op, Json fields) {
  control::Client client = connect_to(o.job);
  if (!o.placement.empty()) fields["placement"] = o.placement;
  if (!o.form.empty()) fields["form"] = o.form;
  if (o.deadline_s > 0) fields["deadline_s"] = o.deadline_s;
  if (o.force) fields["force"] = true;
  if (o.no_undo) fields["undo"] = false;
  if (o.wait) fields["wait"] = true;
  Json answer;
  try {
    answer = client.call(op, fields, o.wait ? o.wait_s : 10);
  } catch (const base::Error& error) {
    throw Failure(error.what(), error.status() == base::Status::bad_argument ? 2 : 1);
  }
  const bool is_printed = print_json(o.json, answer);
  const std::string outcome = answer.value("outcome", ""), reason = answer.value("reason", "");
  if (!answer.value("accepted", false)) throw Failure("declined: " + reason, declined_status);
  if (!outcome.empty() && outcome != "done") throw_outcome(answer);
  if (is_printed) return;
  if (outcome == "done" && answer.contains("report")) {
    std::printf("%s%s\n", change_text(answer["report"]).c_str(), chosen_text(answer).c_str());
    return;
  }
  std::printf("%s -> %s%s: %s\n", grid_text(answer["from"]).c_str(), grid_text(answer["grid"]).c_str(),
              outcome == "done"            ? ""
              : answer.contains("request") ? " at the next resize point"
                                           : "",
              (base::printable(answer.value("why", reason)) + chosen_text(answer)).c_str());
}

void refuse(bool is_given, const char* option, const char* expected, const std::string& what) {
  if (is_given) throw Failure(fmt::format("{} is for {}, got {}", option, expected, what));
}

void run(const ResizeOptions& o) {
  constexpr const char *grid_only = "a grid, e.g. 3x3", *growth_only = "more processes, e.g. +5",
                       *not_fewer = "a grid or more processes, e.g. 3x3 or +5";
  const std::int64_t count = signed_count(o.what);
  if (count == 0 && o.what.find('x') == std::string::npos)
    throw Failure(fmt::format("got '{}', expected a grid, e.g. 3x3, or a number of processes from 1 with its sign, "
                              "e.g. +5 or -4",
                              o.what));
  refuse(count <= 0 && !o.hosts.empty(), "--hosts", growth_only, o.what);
  refuse(count <= 0 && o.tpp > 0, "--tpp", growth_only, o.what);
  refuse(count <= 0 && o.ask_only, "--ask", growth_only, o.what);
  refuse(count != 0 && !o.without.empty(), "--without", grid_only, o.what);
  refuse(count < 0 && !o.form.empty(), "--form", not_fewer, o.what);
  refuse(count < 0 && o.force, "--force", not_fewer, o.what);
  refuse(count < 0 && o.no_undo, "--no-undo", not_fewer, o.what);
  if (o.ask_only && (o.force || o.no_undo || o.wait || o.deadline_s > 0 || !o.placement.empty()))
    throw Failure("--ask changes nothing: expected it without --force, --no-undo, --wait, --deadline and --placement");
  if (o.wait_s > 0 && !o.wait) throw Failure("--timeout is given without --wait, expected both");
  if (count < 0) return send(o, "shrink", {{"by", -count}});
  if (count > 0) {
    if (o.hosts.empty() && (o.tpp > 0 || (!o.form.empty() && o.form != "local")))
      throw Failure("--tpp and --form choose among --hosts, which is missing; only --form local needs none");
    Json fields{{o.ask_only ? "procs" : "by", count}};
    if (!o.hosts.empty()) fields["hosts"] = control::to_json(advise::parse_hosts(o.hosts, "--hosts"));
    if (o.tpp > 0) fields["tpp"] = o.tpp;
    return send(o, o.ask_only ? "offer" : "grow", std::move(fields));
  }
  const base::GridShape grid = base::parse_grid_shape(o.what, "GRID");
  Json fields{{"grid", {grid.nprow, grid.npcol}}};
  if (!o.without.empty()) fields["without"] = advise::Without::parse(o.without, "--without").text();
  send(o, "resize", std::move(fields));
}

} // namespace

void add_resize(CommandLine& root) {
  CommandLine& app = root.add_command("resize", "Change the grid of a running job: resize JOB 3x3, JOB +5, JOB -4");
  auto o = std::make_shared<ResizeOptions>();
  app.add_option("JOB", o->job, "name of the job, as dyngrid ps shows it").required();
  app.add_option("GRID", o->what,
                 "the new grid, e.g. 3x3; or +5, at most five processes more; or -4, at least four fewer: then the job "
                 "chooses the grid among those that it allows")
      .type_name("PxQ|+N|-N")
      .required();
  app.add_option("--placement", o->placement, "positions of the old processes in the new grid")
      .check(base::one_of(gridmap::placement_names()));
  app.add_option("--deadline", o->deadline_s,
                 "a growth that has not begun by then is withdrawn; a shrink is reported late")
      .type_name("SECONDS")
      .check(base::positive_number());
  app.add_flag("--wait", o->wait, "wait until it is done, or failed");
  app.add_option("--timeout", o->wait_s, "with --wait: give up waiting after this time; the request stays")
      .type_name("SECONDS")
      .check(base::positive_number());
  app.add_flag("--force", o->force,
               "also a grid that the job does not allow, whose gain is smaller than its cost, or with more processes "
               "than cores; and keep it when it measures slower");
  app.add_flag("--no-undo", o->no_undo, "keep a larger grid also when it measures slower");
  app.add_option("--without", o->without,
                 "with a grid: processes that shall not be in it: ids as dyngrid ps JOB shows them, host:NAME for all "
                 "of a host, slowest or slowest:2; joined by commas. They sleep or leave, and no new ones are started "
                 "for them; never declined for its price")
      .type_name("ID,...|host:NAME|slowest");
  app.add_option("--hosts", o->hosts,
                 "with +N: hosts, processes and speeds that are available: node1:8:1.4,node2:4; the job chooses")
      .type_name("LIST");
  app.add_option("--tpp", o->tpp, "with --hosts: the total speed that the job may take")
      .type_name("SPEED")
      .check(base::positive_number());
  app.add_option(
         "--form", o->form,
         "local: rows and columns are only added to the present grid, and only new processes are arranged. With "
         "a grid or --hosts, where processors differ in speed, also global or mixed: all are arranged; best "
         "(default): as steps and move take less")
      .check(base::one_of(gridmap::strategy_names()));
  app.add_flag("--ask", o->ask_only, "with +N: only ask which grid the job would use");
  app.add_flag("--json", o->json, "print the job's answer");
  app.footer("Status 3: the job declined. Without --wait the answer comes at once; the change comes at the job's next "
             "resize point.\nA larger grid whose steps measure slower than before is left again.");
  app.action([o] { run(*o); });
}

} // namespace command
