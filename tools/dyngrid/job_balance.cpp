// SPDX-License-Identifier: BSD-3-Clause
#include "job_balance.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/parse_json.hpp"
#include "base/status.hpp"
#include "job_text.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

/// The job's answer, once it has enough steps for a judgement.
Json asked(const JobBalance& o) {
  const std::string job = job_or_only(o.job);
  control::Client client = connect_to(job);
  const base::Deadline end(o.timeout_s);
  base::Json fields{{"now", o.action == "now"}};
  if (!o.action.empty() && o.action != "now") fields["mode"] = o.action;
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
    if (!answer.value("too_early", false) || end.is_over()) return answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

} // namespace

void ask_for_balance(const JobBalance& o) {
  const Json answer = asked(o);
  const std::string outcome = answer.value("outcome", "");
  const bool is_printed = print_json(o.json, answer);
  if (outcome == "declined" || !answer.contains("balance")) throw_outcome(answer);
  if (is_printed) return;
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

} // namespace command
