// SPDX-License-Identifier: BSD-3-Clause
#include "decide.hpp"

#include <algorithm>

namespace slurm {
namespace {

constexpr int most_failures = 3; ///< then the node is the cause

bool has(const std::vector<std::int64_t>& ids, std::int64_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool has(const std::vector<Dismissal>& all, std::int64_t id) {
  return std::any_of(all.begin(), all.end(), [id](const Dismissal& d) { return d.id == id; });
}

} // namespace

Plan decide(const Situation& s) {
  Plan plan;

  // The nodes that must go. At once when nothing of the application is there, otherwise by a change of the grid. A
  // group on its way is waited for: it joins, or is given up.
  for (const Node& n : s.nodes) {
    if (!n.must_leave) continue;
    if (n.stage == Stage::idle) plan.dismiss.push_back({n.id, "Slurm takes it back"});
    if (n.stage == Stage::working) plan.leave.push_back(n.id);
  }
  const bool all_asked =
      std::all_of(plan.leave.begin(), plan.leave.end(), [&](std::int64_t id) { return has(s.asked_to_leave, id); });
  if (all_asked || !s.can_ask) plan.leave.clear();

  // unusable nodes
  const bool may_grow = s.now >= s.no_growth_before;
  const double answer_s = s.can_ask ? std::max(s.patience_s, s.step_s) : s.patience_s;
  const bool is_silent = s.silent_since && s.now - *s.silent_since >= answer_s;
  for (const Node& n : s.nodes) {
    if (n.stage != Stage::idle || n.must_leave || n.is_base) continue;
    const double idle_s = s.now - n.since;
    if (n.failures >= most_failures)
      plan.dismiss.push_back({n.id, "process groups do not join the grid from there"});
    else if (!may_grow && idle_s >= s.patience_s)
      plan.dismiss.push_back({n.id, "the application does not grow at present"});
    else if (is_silent && idle_s >= answer_s)
      plan.dismiss.push_back({n.id, "the application does not answer; more nodes are requested when it does"});
  }

  // more of them
  int queued = 0, there = 1;
  std::vector<const Node*> waiting;
  for (const Node& n : s.nodes) {
    if (n.stage == Stage::leaving || n.must_leave || has(plan.dismiss, n.id)) continue;
    if (n.stage == Stage::queued) {
      ++queued;
      waiting.push_back(&n);
    } else {
      ++there;
    }
  }
  const int room = s.max_nodes - there;
  if (queued > std::max(0, room)) {
    std::sort(waiting.begin(), waiting.end(), [](const Node* a, const Node* b) {
      return a->since > b->since || (a->since == b->since && a->id > b->id);
    });
    for (int k = 0; k < queued - std::max(0, room); ++k)
      plan.cancel.push_back(waiting[static_cast<std::size_t>(k)]->id);
  } else if (may_grow && !is_silent && s.now >= s.no_submission_before) {
    plan.submit = std::max(0, std::min(room, s.queued_at_most) - queued);
  }

  // into the grid, several at a time where they arrive together: each change of the grid has its cost
  if (!s.can_ask || s.is_growing || !may_grow || !plan.leave.empty() || !s.asked_to_leave.empty()) return plan;
  int idle = 0;
  bool are_all_there = true;
  double newest = 0;
  for (const Node& n : s.nodes) {
    are_all_there = are_all_there && n.stage != Stage::awaited && n.stage != Stage::queued;
    if (n.stage != Stage::idle || n.must_leave || has(plan.dismiss, n.id)) continue;
    ++idle;
    newest = std::max(newest, n.since);
  }
  if (idle > 0 && ((are_all_there && plan.submit == 0) || s.now - newest >= s.settle_s))
    plan.grow_by = idle * s.processes_per_node;
  return plan;
}

std::optional<std::int64_t> node_for_group(const Situation& s, int processes) {
  const Node* best = nullptr;
  if (processes > s.processes_per_node) return std::nullopt;
  for (const Node& n : s.nodes) {
    if (n.stage != Stage::idle || n.must_leave) continue;
    const bool is_better =
        !best || (n.is_base && !best->is_base) || (n.is_base == best->is_base && n.since < best->since);
    if (is_better) best = &n;
  }
  return best ? std::optional(best->id) : std::nullopt;
}

} // namespace slurm
