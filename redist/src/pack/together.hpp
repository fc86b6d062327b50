// SPDX-License-Identifier: BSD-3-Clause
// Columns that leave for several ranks at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pack/packed_view.hpp"
#include "pack/packed_writer.hpp"

namespace redist::detail {

/// One of several messages that leave the same columns of one array: into packed memory, or, when the
/// receiver is the sender, straight to its place in the target.
struct Outgoing {
  PackedView source;
  std::optional<PackedView> target; ///< none: packed
  char* packed = nullptr;
  bool non_temporal = false; ///< when packed
};

/// Whether columns of this source can leave in pack_together().
bool can_pack_together(const PackedView& source, const PackedView* target) noexcept;

/// Bytes of a column that are copied in one go.
struct CopyRun {
  std::size_t message; ///< its index
  std::int64_t from;   ///< bytes from the beginning of the array's column
  std::int64_t to;     ///< the same in the target's column, when the message stays here
  std::size_t bytes;
};

/// The pieces of a column in the order in which pack_together() copies them: as they lie in the array, whichever rank
/// gets them, so that the processor's own prefetching sees one stream. Empty where that cannot be (a message whose
/// packed order is another one) or does not pay (very small pieces): then message by message. Of the messages it looks
/// at rows and element size only, so the same runs serve all columns of an exchange.
std::vector<CopyRun> copy_runs_of(const std::vector<Outgoing>& all);

/// Packed columns first .. first+count-1 of all of them, column by column, so that the array is read once and
/// in its own order: every other piece of a column alone reads little faster than all of it. All have the
/// same `cols`, base, lld and esize.
/// @param writers scratch: allocates nothing when it has room for as many as there are messages
/// @param runs    copy_runs_of() them
void pack_together(const std::vector<Outgoing>& all, const std::vector<CopyRun>& runs, std::int64_t first,
                   std::int64_t count, std::vector<PackedWriter>& writers);

} // namespace redist::detail
