// SPDX-License-Identifier: BSD-3-Clause
#include "job_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "advise/without.hpp"
#include "base/command_line.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "command.hpp"
#include "control/offer_json.hpp"
#include "control/runtime_dir.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/selection.hpp"
#include "shared/text.hpp"

namespace command {

using base::Json;

control::Client connect_to(std::string& job) {
  if (job.empty()) {
    std::string names;
    int count = 0;
    for (const control::FoundJob& found : control::find_jobs()) {
      if (!found.is_alive) continue;
      job = found.name;
      names += (count++ == 0 ? "" : ", ") + found.name;
    }
    if (count == 0) throw Failure("no job is running in " + control::runtime_directory(), 1);
    if (count > 1) throw Failure("several jobs are running, expected one of " + names);
  }
  try {
    return control::Client::to_job(job);
  } catch (const base::Error& error) {
    throw Failure(error.what(), error.status() == base::Status::bad_argument ? 2 : 1);
  }
}

std::string grid_text(const Json& grid) {
  if (!grid.is_array() || grid.size() != 2) return "-";
  return fmt::format("{}x{}", grid[0].get<int>(), grid[1].get<int>());
}

std::string seconds_text(const Json& value) {
  return value.is_number() ? duration_text(value.get<double>()) : "-";
}

std::string bytes_text(const Json& value) {
  if (!value.is_number()) return "-";
  const double bytes = value.get<double>();
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  return fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string waiting_text(const Json& status) {
  const int kept = status.value("kept", 0), asleep = std::max(status.value("parked", 0), kept);
  std::string text = asleep > 0 ? fmt::format("{} asleep", asleep) : "";
  if (kept > 0) text += fmt::format(" ({} kept)", kept);
  for (const char* kind : {"warm", "starting"})
    if (const int count = status.value(kind, 0); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text;
}

std::string change_text(const Json& r) {
  const auto part = [&](const char* name) {
    return r.contains(name) ? duration_text(r.at(name).get<double>()) : duration_text(0);
  };
  double other_s = r.value("total_s", 0.0);
  for (const char* name : {"spawn_s", "merge_s", "plan_s", "exchange_s"}) other_s -= r.value(name, 0.0);
  return fmt::format("{} -> {} in {}, {} moved: spawn {}, merge {}, plan {}, exchange {}, other {}",
                     grid_text(r.value("from", Json())), grid_text(r.value("grid", Json())), part("total_s"),
                     bytes_text(r.value("moved_bytes", Json())), part("spawn_s"), part("merge_s"), part("plan_s"),
                     part("exchange_s"), duration_text(std::max(0.0, other_s)));
}

std::string balance_text(const Json& e) {
  const std::string action = e.value("action", "");
  if (e.value("event", "") == "balanced")
    return fmt::format("balanced by {} in {} (predicted {}): a step took {}, takes {} (predicted {})", action,
                       seconds_text(e.value("change_s", Json())), seconds_text(e.value("predicted_change_s", Json())),
                       seconds_text(e.value("before_s", Json())), seconds_text(e.value("after_s", Json())),
                       seconds_text(e.value("predicted_after_s", Json())));
  const auto list = [&](const char* word, const char* member) {
    std::string text;
    for (const Json& id : e.value(member, Json::array())) text += (text.empty() ? "" : ", ") + base::json_text(id);
    return text.empty() ? text : fmt::format("; {} {}", word, text);
  };
  return fmt::format("{}{}: {}{}{}", e.value("done", true) || action == "stay" ? "" : "would ", action,
                     e.value("why", ""), list("sleeps", "leaves"), list("wakes", "comes"));
}

std::string phases_text(const Json& e) {
  std::string text = fmt::format("phases planned: {} a cycle", duration_text(e.value("cycle_s", 0.0)));
  for (const Json& step : e.value("steps", Json::array()))
    text +=
        fmt::format("; {} on {}", base::printable(step.value("phase", "")), base::printable(step.value("layouts", "")));
  return text;
}

std::shared_ptr<Wish> add_wish(CommandLine& app, const char* name_of_what, const char* help_of_what) {
  auto w = std::make_shared<Wish>();
  app.add_option("JOB", w->job, "name of the job, as dyngrid ps shows it").required();
  app.add_option(name_of_what, w->what, help_of_what).required();
  app.add_option("--placement", w->placement, "where processes go: optimal, global, local1, local2")
      .check(base::one_of(gridmap::placement_names()));
  app.add_option("--deadline", w->deadline_s,
                 "a growth that has not begun by then is withdrawn; a shrink is reported late")
      .type_name("SECONDS")
      .check(base::positive_number());
  app.add_flag("--wait", w->wait, "wait until it is done, or failed");
  app.add_option("--timeout", w->wait_s, "with --wait: give up waiting after so long; the request stays")
      .type_name("SECONDS")
      .check(base::positive_number());
  app.add_flag("--json", w->json, "print the job's answer");
  return w;
}

void add_form(CommandLine& app, const std::shared_ptr<Wish>& wish, const char* help) {
  app.add_option("--form", wish->form, help).check(base::one_of(gridmap::strategy_names()));
}

std::int64_t parse_count(const std::string& text) {
  std::int64_t count = 0;
  const char* first = text.data() + (!text.empty() && text[0] == '+' ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(first, end, count);
  if (first == end || error != std::errc{} || rest != end || count < 1)
    throw Failure(fmt::format("got '{}', expected a number of processes from 1, e.g. +5", text));
  return count;
}

namespace {

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

void send(const Wish& wish, const std::string& op, Json fields) {
  std::string job = wish.job;
  control::Client client = connect_to(job);
  if (!wish.placement.empty()) fields["placement"] = wish.placement;
  if (wish.deadline_s > 0) fields["deadline_s"] = wish.deadline_s;
  if (wish.force) fields["force"] = true;
  if (wish.no_undo) fields["undo"] = false;
  if (wish.wait) fields["wait"] = true;
  Json answer;
  try {
    answer = client.call(op, fields, wish.wait ? wish.wait_s : 10);
  } catch (const base::Error& error) {
    throw Failure(error.what(), error.status() == base::Status::bad_argument ? 2 : 1);
  }
  if (wish.json) std::printf("%s\n", base::json_text(answer).c_str());
  const std::string outcome = answer.value("outcome", ""), reason = answer.value("reason", "");
  if (!answer.value("accepted", false) || outcome == "declined") throw Failure("declined: " + reason, declined_status);
  if (!outcome.empty() && outcome != "done") throw Failure(outcome + (reason.empty() ? "" : ": " + reason), 1);
  if (wish.json) return;
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

} // namespace

void ask_for_grid(const Wish& wish, base::GridShape grid) {
  Json fields{{"grid", {grid.nprow, grid.npcol}}};
  if (!wish.form.empty()) fields["form"] = wish.form;
  if (!wish.without.empty()) fields["without"] = advise::Without::parse(wish.without, "--without").text();
  send(wish, "resize", std::move(fields));
}

void ask_for_processes(const Wish& wish, const std::string& op, std::int64_t count) {
  Json fields{{op == "offer" ? "procs" : "by", count}};
  if (wish.hosts.empty() && (wish.tpp > 0 || !wish.form.empty()))
    throw Failure("--tpp and --form choose among --hosts, which is missing");
  if (!wish.hosts.empty()) fields["hosts"] = control::to_json(advise::parse_hosts(wish.hosts, "--hosts"));
  if (wish.tpp > 0) fields["tpp"] = wish.tpp;
  if (!wish.form.empty()) fields["form"] = wish.form;
  send(wish, op, std::move(fields));
}

} // namespace command
