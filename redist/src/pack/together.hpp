// SPDX-License-Identifier: BSD-3-Clause
// Columns that leave for several ranks at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pack/packed_view.hpp"
#include "pack/packed_writer.hpp"

namespace redist::detail {

/// Messages that leave the same columns of one array, each into packed memory of its own. The last one may stay on this
/// rank: it goes straight to its place in the target.
struct Outgoing {
  std::vector<PackedView> sources;   ///< with the same `cols`, base, lld and esize
  std::optional<PackedView> target;  ///< of the last source when it stays here; none: all leave
  std::vector<char*> packed;         ///< of those that leave: where their next columns go
  std::vector<std::size_t> room;     ///< bytes that are left there
  bool non_temporal = false;         ///< how they are stored there
  std::vector<PackedWriter> writers; ///< scratch of pack_together()
  std::unique_ptr<char[]> staging;   ///< a panel's size where non-temporal stores meet rearranged elements

  std::size_t leaving() const { return sources.size() - (target ? 1 : 0); }
  /// For at most `members` messages that leave and one that stays: what follows allocates nothing.
  void reserve(std::size_t members);
};

/// Whether columns of this source can leave in pack_together().
bool can_pack_together(const PackedView& source, const PackedView* target) noexcept;

/// Bytes of a column that are copied in one go.
struct CopyRun {
  std::size_t message; ///< its index among the sources
  std::int64_t from;   ///< bytes from the beginning of the array's column
  std::int64_t to;     ///< the same in the target's column, when the message stays here
  std::size_t bytes;
};

/// The pieces of a column in the order in which pack_together() copies them: as they lie in the array, whichever rank
/// gets them, so that the processor's own prefetching sees one stream. Empty where that cannot be (a message whose
/// packed order is another one) or does not pay (very small pieces): then message by message. Of the messages it looks
/// at rows and element size only, so the same runs serve all columns of an exchange.
std::vector<CopyRun> copy_runs_of(const Outgoing& all);

/// Packed columns first .. first+count-1 of all of them, column by column, so that the array is read once and
/// in its own order: every other piece of a column alone reads little faster than all of it. Moves `packed` on.
/// @param runs copy_runs_of() them
void pack_together(Outgoing& all, const std::vector<CopyRun>& runs, std::int64_t first, std::int64_t count);

} // namespace redist::detail
