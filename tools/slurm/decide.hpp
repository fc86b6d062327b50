// SPDX-License-Identifier: BSD-3-Clause
// Which nodes to ask Slurm for, which to bring into the grid, which to let go: pure, times are the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace slurm {

/// How far a node has come. The application's first node is none of these: it is there from the beginning to the end.
enum class Stage {
  queued,  ///< its job waits
  awaited, ///< its job has begun, or is about to, and nothing was heard of it
  idle,    ///< it said that it is ready
  handed,  ///< it was given a group, which is on its way into the grid
  working, ///< its group is in the grid
  leaving  ///< its group is in the grid no more and ends
};

struct Node {
  std::int64_t id = 0; ///< the caller's name for it
  Stage stage = Stage::queued;
  bool is_base = false;    ///< of the application's own job: never asked for, never given back
  bool must_leave = false; ///< Slurm wants it back
  double since = 0;        ///< when it came to this stage
  int failures = 0;        ///< groups that were given to it and did not come into the grid
};

struct Situation {
  double now = 0;
  int max_nodes = 1; ///< the first one counts
  int queued_at_most = 4;
  int processes_per_node = 1;
  double settle_s = 2, patience_s = 120;
  std::vector<Node> nodes;
  bool can_ask = false;                     ///< the application answers
  bool is_growing = false;                  ///< a growth was asked for and is not over
  std::vector<std::int64_t> asked_to_leave; ///< nodes whose leaving was asked for and is not over
  double no_growth_before = 0;              ///< after one that was declined or failed
  double no_submission_before = 0;          ///< after one that Slurm refused
};

struct Plan {
  int submit = 0;                    ///< so many jobs for a node
  std::vector<std::int64_t> cancel;  ///< of those that wait
  std::vector<std::int64_t> dismiss; ///< nodes that are of no use, or wanted back and not in the grid
  int grow_by = 0;                   ///< processes
  std::vector<std::int64_t> leave;   ///< nodes whose groups are to leave the grid; all of them, newly and before
};

/// What there is to be done now. A second call with what came of it has nothing more to say.
Plan decide(const Situation& s);

/// The node for a group of so many processes: an idle one, those of the base first, then the one that has waited
/// longest.
std::optional<std::int64_t> node_for_group(const Situation& s, int processes);

} // namespace slurm
