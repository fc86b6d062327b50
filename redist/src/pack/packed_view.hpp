// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "redist/element.hpp"
#include "redist/rank_plan.hpp"

namespace redist::detail {

struct Scaling;

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
  const Scaling* scaling = nullptr; ///< of the target only: what becomes of its elements; null: a copy
  bool non_temporal = false;        ///< of the target only: stored so, because the array is larger than the cache
  int conj_size = 0;                ///< bytes of a real component whose odd ones change sign while packing, 0: none

  std::int64_t elements() const { return rows->total * cols->total; }
  /// Local column j of the array.
  char* column(std::int64_t j) const { return base + j * lld * esize; }
  /// Whether packed bytes are not those of the array in their order.
  bool is_rearranged() const { return transposed || conj_size != 0; }
  /// Packed elements first .. first+count-1 from the array into `packed`; with non-temporal stores when another core
  /// will read them there. @param staging room for them, needed for non-temporal stores where is_rearranged()
  void pack(std::int64_t first, std::int64_t count, char* packed, bool stores_non_temporal = false,
            char* staging = nullptr) const;
  /// The same, the other way.
  void unpack(std::int64_t first, std::int64_t count, const char* packed) const;
  /// Where packed element `first` lies, and in `count` how many packed elements from there on lie one after
  /// the other in the array. Null when bytes cannot be used as they are (transposed, conjugated, scaled).
  char* contiguous(std::int64_t first, std::int64_t& count) const;
};

/// Packed elements first .. first+count-1 straight from one array into another: the two ends of one message.
/// With a transposed or conjugated source the elements pass through a buffer that fits the first-level cache.
void copy_direct(const PackedView& source, const PackedView& target, std::int64_t first, std::int64_t count);

} // namespace redist::detail
