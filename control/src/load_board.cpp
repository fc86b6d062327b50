// SPDX-License-Identifier: BSD-3-Clause
#include "control/load_board.hpp"

#include "advise/rules.hpp"
#include "base/parse_json.hpp"
#include "control/balance_report.hpp"

namespace control {

using Lock = std::lock_guard<std::mutex>;

LoadBoard::LoadBoard() = default;

LoadBoard::~LoadBoard() = default;

void LoadBoard::set_mode(BalanceMode mode) {
  const Lock lock(mutex_);
  mode_ = mode;
}

std::optional<BalanceQuestion> LoadBoard::take_question() {
  const Lock lock(mutex_);
  has_question_.store(false, std::memory_order_release);
  return std::exchange(question_, std::nullopt);
}

void LoadBoard::show(const std::vector<advise::ProcessLoad>& loads, double now_s) {
  std::vector<Json> list;
  for (const advise::ProcessLoad& load : loads) list.push_back(to_json(load));
  const Lock lock(mutex_);
  loads_ = std::move(list);
  shown_s_ = now_s;
}

void LoadBoard::answer(const BalanceQuestion& question, Json fields) {
  fields["event"] = "outcome";
  fields["request"] = question.number;
  {
    const Lock lock(mutex_);
    events_.push_back(std::move(fields));
  }
  if (wake) wake();
}

void LoadBoard::post(Json event) {
  constexpr std::size_t most = 1000;
  {
    const Lock lock(mutex_);
    last_balance_ = std::make_unique<const Json>(event);
    if (events_.size() < most) events_.push_back(std::move(event));
  }
  if (wake) wake();
}

Json LoadBoard::loads(double now_s) {
  requested_until_s_.store(now_s + advise::LoadRules().asked_s, std::memory_order_relaxed);
  const Lock lock(mutex_);
  Json json{{"mode", to_string(mode_)}, {"loads", loads_}, {"last_balance", last_balance_ ? *last_balance_ : Json()}};
  json["age_s"] = shown_s_ >= 0 ? Json(now_s - shown_s_) : Json(nullptr);
  return json;
}

std::optional<BalanceQuestion> LoadBoard::ask(const Request& request, std::int64_t number) {
  BalanceQuestion question;
  question.number = number;
  question.now = flag(request, "now");
  if (const std::string mode = text(request, "mode", ""); !mode.empty())
    question.mode = balance_mode_from(mode, "control: balance: \"mode\"");
  const Lock lock(mutex_);
  auto before = std::exchange(question_, question);
  if (before && before->mode && !question_->mode) question_->mode = before->mode;
  has_question_.store(true, std::memory_order_release);
  return before;
}

std::vector<Json> LoadBoard::take_events() {
  const Lock lock(mutex_);
  return std::exchange(events_, {});
}

} // namespace control
