// SPDX-License-Identifier: BSD-3-Clause
// Columns that leave for several ranks at once. Pure, no MPI.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "exec/packer.hpp"
#include "exec/stream.hpp"
#include "exec/work.hpp"

namespace redist::detail {

/// Outgoing streams that leave the same columns of the same arrays, and what stays here of these columns.
struct Group {
  std::vector<std::size_t> streams; ///< in step with each other, column by column
  std::vector<LocalCopy> copies;    ///< none, or one for each of their items
  ColumnOrder order;                ///< of messages with these rows, of elements of these bytes
  std::vector<std::pair<const RunList*, int>> order_of;
};

/// Streams through shared memory whose items take the same columns, one for one, go together, and with them what this
/// rank keeps of the same columns, which is taken out of `work.copies`. Columns taller than a panel go alone.
/// @param panel_bytes of one panel
/// @param most_members streams of one group, at least 1; each needs a panel of its own at the same time
std::vector<Group> form_groups(Work& work, std::size_t panel_bytes, std::size_t most_members);

/// Packs what comes next of each stream of the group, no more than of the current step, into a panel of its own, and
/// moves the streams on.
/// @param panels as many as the group has streams
/// @return the bytes in each
std::vector<std::size_t> fill_panels(Group& group, std::vector<Stream>& out, const std::vector<char*>& panels,
                                     std::size_t panel_bytes, bool non_temporal);

} // namespace redist::detail
