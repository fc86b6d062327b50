// SPDX-License-Identifier: BSD-3-Clause
// Which nodes to request from Slurm, which to bring into the grid, which to release: pure, times are the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slurm {

/// The stage of a node. The application's first node has none: it is there from the beginning to the end.
enum class Stage {
  queued,  ///< its job waits
  awaited, ///< its job has begun, or is about to, and has not reported yet
  idle,    ///< it reported that it is ready
  handed,  ///< it was given a group, which is on its way into the grid
  working, ///< its group is in the grid
  leaving  ///< its group is in the grid no more and ends
};

struct Node {
  std::int64_t id = 0; ///< the caller's name for it
  Stage stage = Stage::queued;
  bool is_base = false;    ///< of the application's own job: never requested, never given back
  bool must_leave = false; ///< Slurm wants it back
  double since = 0;        ///< when it reached this stage
  int failures = 0;        ///< groups that were given to it and did not join the grid
};

struct Situation {
  double now = 0;
  int max_nodes = 1; ///< the first one counts
  int queued_at_most = 4;
  int processes_per_node = 1;
  double settle_s = 2, patience_s = 120;
  double step_s = 0; ///< the longest step that the application may have: a sign of it may take as long
  std::vector<Node> nodes;
  bool can_ask = false;                     ///< the application answers
  bool is_growing = false;                  ///< a growth was requested and is not over
  std::vector<std::int64_t> asked_to_leave; ///< nodes whose release was requested and is not over
  std::optional<double> silent_since;       ///< the application owes an answer, or there is no connection to it; a
                                            ///< growth counts anew from each group that is handed over
  double no_growth_before = 0;              ///< after one that was declined or failed
  double no_submission_before = 0;          ///< after one that Slurm refused
};

struct Dismissal {
  std::int64_t id = 0;
  const char* why = ""; ///< for the user
};

struct Plan {
  int submit = 0;                   ///< number of jobs for one node each
  std::vector<std::int64_t> cancel; ///< of those that wait
  std::vector<Dismissal> dismiss;   ///< unusable nodes, or requested back and not in the grid
  int grow_by = 0;                  ///< processes
  std::vector<std::int64_t> leave;  ///< nodes whose groups are to leave the grid; all of them, new and earlier
};

/// The actions to take now. A second call with their results returns nothing more.
Plan decide(const Situation& s);

/// The node for a group of that many processes: an idle one, those of the base first, then the one that has waited
/// longest.
std::optional<std::int64_t> node_for_group(const Situation& s, int processes);

} // namespace slurm
