// SPDX-License-Identifier: BSD-3-Clause
// Columns that leave for several ranks at once. Pure, no MPI.
#pragma once
#include <cstddef>
#include <vector>

#include "exec/stream.hpp"
#include "exec/work.hpp"
#include "pack/together.hpp"

namespace redist::detail {

/// Outgoing streams that leave the same columns of the same arrays, and what stays here of these columns.
struct Group {
  std::vector<std::size_t> streams;       ///< in step with each other, column by column
  std::vector<Piece> keeps;               ///< none, or one for each of their pieces
  std::vector<std::vector<CopyRun>> runs; ///< of a column; of one stream alone that keeps nothing: none
  std::vector<std::size_t> runs_of_piece; ///< which of them

  bool is_alone() const { return streams.size() == 1 && keeps.empty(); }
};

/// Streams through shared memory whose pieces take the same columns, one for one, go together, and with them what this
/// rank keeps of the same columns, which is taken out of `work.keeps`. Columns taller than a panel go alone.
/// @param panel_bytes of one panel
/// @param most_members streams of one group, at least 1; each needs a panel of its own at the same time
/// @param with_keeps whether what stays goes along
std::vector<Group> form_groups(Work& work, std::size_t panel_bytes, std::size_t most_members, bool with_keeps = true);

/// Packs what comes next of each stream of the group, no more than of the current step, to `outgoing.packed` as far as
/// there is room, and moves the streams on. Allocates nothing where `outgoing` was reserved for the group.
void fill_panels(const Group& group, Work& work, Outgoing& outgoing);

} // namespace redist::detail
