// SPDX-License-Identifier: BSD-3-Clause
// The pages under a matrix: whose they are, getting them, giving them back.
#pragma once
#include <cstddef>

namespace redist::detail {

/// Where an address lies in a SharedArray of this process.
struct SharedPlace {
  int fd = -1; ///< -1: in none
  std::size_t bytes = 0;
  std::size_t offset = 0;
  unsigned long long inode = 0;
};
SharedPlace find_shared(const void* address);
/// Gives back the whole pages of any private or shared mapping of ours among [begin, end); the content is
/// lost.
void release_pages(void* begin, void* end) noexcept;
/// Whether this memory was not written to yet, as far as a few samples show.
bool is_untouched(const void* begin, const void* end) noexcept;
/// Gets pages for memory that will be written all over: huge ones where the kernel gives them, unless the
/// environment says DYNGRID_EXCHANGE=hugepages=off, and the others in one call.
void bring_in(void* begin, void* end) noexcept;

} // namespace redist::detail
