// SPDX-License-Identifier: BSD-3-Clause
#include "redist/shared_array.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/environment.hpp"
#include "exec/pages.hpp"
#include "exec/segment.hpp"

namespace redist {
namespace {

std::mutex lock;
/// By their addresses.
std::map<std::uintptr_t, detail::SharedPlace>& registry() {
  using Registry = std::map<std::uintptr_t, detail::SharedPlace>;
  alignas(Registry) static char room[sizeof(Registry)];
  static auto* all =
      new (room) Registry; // outlives static arrays; no heap: a run of an exchange may be the first to ask
  return *all;
}

/// Whether huge pages can be had as this file of the kernel says: it is there, and what it has chosen is none of these.
bool has_huge_pages(const char* path, std::initializer_list<const char*> refusals) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return false;
  char text[128] = {};
  const bool got = std::fgets(text, sizeof text, file) != nullptr;
  std::fclose(file);
  return got && std::none_of(refusals.begin(), refusals.end(),
                             [&](const char* refusal) { return std::strstr(text, refusal) != nullptr; });
}

/// Otherwise arrays are private: to fill fresh shared memory on small pages takes several times as long as private
/// memory on huge pages (docs/results.md).
bool huge_pages_for_shared_memory() {
  static const bool can = has_huge_pages("/sys/kernel/mm/transparent_hugepage/shmem_enabled", {"[never]", "[deny]"});
  return can;
}

bool huge_pages_on_demand() {
  static const bool can = has_huge_pages("/sys/kernel/mm/transparent_hugepage/enabled", {"[never]"});
  return can;
}

/// The pages of [first, last) in one call, without a fault for each.
void populate([[maybe_unused]] std::uintptr_t first, [[maybe_unused]] std::uintptr_t last) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (first < last)
    madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE); // older kernels refuse: one by one
#endif
}

} // namespace

SharedArray::SharedArray(std::size_t bytes, Sharing sharing) {
  if (bytes == 0) return;
  detail::Segment segment;
  if (sharing == Sharing::yes || (sharing == Sharing::automatic && huge_pages_for_shared_memory()))
    segment = detail::Segment::create(bytes);
  if (segment) {
    struct stat what;
    if (fstat(segment.fd(), &what) != 0) throw std::bad_alloc();
    const std::lock_guard<std::mutex> guard(lock);
    registry()[reinterpret_cast<std::uintptr_t>(segment.data())] = {segment.fd(), segment.bytes(), 0, what.st_ino};
  } else {
    segment = detail::Segment::create_private(bytes);
  }
  data_ = segment.data();
  bytes_ = segment.bytes();
  fd_ = segment.fd();
  segment.forget();
}

SharedArray::SharedArray(SharedArray&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

SharedArray& SharedArray::operator=(SharedArray&& other) noexcept {
  if (this != &other) {
    clear();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void SharedArray::clear() noexcept {
  if (data_ == nullptr) return;
  if (fd_ >= 0) {
    {
      const std::lock_guard<std::mutex> guard(lock);
      registry().erase(reinterpret_cast<std::uintptr_t>(data_));
    }
    // Another process may keep its mapping until its next exchange: the memory is freed now anyway.
    if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes_)) !=
        0) { /* it goes with the last mapping */
    }
    ::close(fd_);
  }
  munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
  fd_ = -1;
}

bool SharedArray::lend() noexcept {
  return data_ != nullptr && fd_ < 0 && madvise(data_, bytes_, MADV_FREE) == 0;
}

namespace detail {

SharedPlace find_shared(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard<std::mutex> guard(lock);
  auto next = registry().upper_bound(at);
  if (next == registry().begin()) return {};
  auto [begin, place] = *--next;
  place.offset = at - begin;
  return place.offset < place.bytes ? place : SharedPlace{};
}

void release_pages(void* begin, void* end) noexcept {
  const std::size_t page = small_page(); // the kernel takes a length that is no multiple of it for the next larger one
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first >= last) return;
  const SharedPlace place = find_shared(reinterpret_cast<void*>(first));
  if (place.fd >= 0) {
    if (fallocate(place.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(place.offset),
                  static_cast<off_t>(last - first)) != 0) { /* kept */
    }
  } else {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

bool is_untouched(const void* begin, const void* end) noexcept {
  const std::size_t page = small_page();
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first >= last) return false;
  constexpr std::uintptr_t looks = 8;
  for (std::uintptr_t k = 0; k < looks; ++k) {
    const std::uintptr_t at = first + (last - first) / page * k / looks * page;
    unsigned char there = 1;
    if (mincore(reinterpret_cast<void*>(at), page, &there) != 0 || (there & 1) != 0) return false;
  }
  return true;
}

void bring_in(void* begin, void* end) noexcept {
  const std::size_t page = small_page();
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first >= last) return;
  const bool wants_huge = base::environment("DYNGRID_EXCHANGE", "hugepages").value_or("on") != "off";
  const std::uintptr_t first_huge = (first + huge - 1) / huge * huge, last_huge = last / huge * huge;
  if (wants_huge && first_huge < last_huge && huge_pages_on_demand() &&
      madvise(reinterpret_cast<void*>(first_huge), last_huge - first_huge, MADV_HUGEPAGE) == 0) {
    populate(first, first_huge);
    populate(last_huge, last);
    return;
  }
  populate(first, last);
}

} // namespace detail
} // namespace redist
