// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "redist/rank_plan.hpp"

namespace redist::detail {

/// Bytes of one element of type s d c z i; 0 for any other letter.
int element_size(char type) noexcept;

/// True when this processor can store past its cache (non-temporal).
bool non_temporal_is_possible() noexcept;

/// One end of a message: where its packed elements lie in this process's array. Pure, no MPI.
struct PackedView {
  const RunList* rows = nullptr;
  const RunList* cols = nullptr;
  char* base = nullptr;    ///< the local array
  std::int64_t lld = 1;    ///< elements
  int esize = 8;           ///< bytes
  bool is_source = true;   ///< the runs' `from` indices, otherwise their `to`
  bool transposed = false; ///< of the source only: packed column j is row j of the array
  const std::int64_t* row_limits =
      nullptr; ///< of the target only: begin and end of the local rows that may be written, per local column
  bool non_temporal = false; ///< of the target only: stored so, because the array is larger than the cache
  int conj_size = 0;         ///< bytes of a real component whose odd ones change sign while packing, 0: none

  std::int64_t elements() const { return rows->total * cols->total; }
  /// Packed elements first .. first+count-1 from the array into `packed`; with non-temporal stores when another core
  /// will read them there.
  void pack(std::int64_t first, std::int64_t count, char* packed, bool stores_non_temporal = false) const;
  /// The same, the other way.
  void unpack(std::int64_t first, std::int64_t count, const char* packed) const;
  /// Where packed element `first` lies, and in `count` how many packed elements from there on lie one after
  /// the other in the array. Null when bytes cannot be used as they are (transposed, conjugated).
  char* contiguous(std::int64_t first, std::int64_t& count) const;
};

/// Packed elements first .. first+count-1 straight from one array into another: the two ends of one message.
/// With a transposed or conjugated source the elements pass through a buffer that fits the first-level cache.
void copy_direct(const PackedView& source, const PackedView& target, std::int64_t first, std::int64_t count);

/// One of several messages that leave the same columns of one array: into packed memory, or, when the
/// receiver is the sender, straight to its place in the target.
struct Outgoing {
  const PackedView* source = nullptr;
  const PackedView* target = nullptr; ///< null: packed
  char* packed = nullptr;
  bool non_temporal = false; ///< when packed
};

/// Whether columns of this source can leave in pack_together().
bool can_pack_together(const PackedView& source, const PackedView* target) noexcept;

/// In which order pack_together() takes the pieces of a column: as they lie in the array, whoever gets them, so that
/// the processor's own prefetching sees one stream. Empty where that cannot be (a message whose packed order is another
/// one) or does not pay (very small pieces): then message by message. Of the messages it looks at rows and element size
/// only, so one serves all columns of an exchange.
class ColumnOrder {
public:
  struct CopyRun {
    std::size_t who;   ///< index of the message
    std::int64_t from; ///< bytes from the beginning of the array's column
    std::int64_t to;   ///< the same in the target's column, when the message stays here
    std::size_t bytes;
  };
  ColumnOrder() = default;
  explicit ColumnOrder(const std::vector<Outgoing>& all);
  const std::vector<CopyRun>& runs() const { return runs_; }

private:
  std::vector<CopyRun> runs_;
};

/// Packed columns first .. first+count-1 of all of them, column by column, so that the array is read once and
/// in its own order: every other piece of a column alone reads little faster than all of it. All have the
/// same `cols`, base, lld and esize.
void pack_together(const std::vector<Outgoing>& all, const ColumnOrder& order, std::int64_t first, std::int64_t count);

} // namespace redist::detail
