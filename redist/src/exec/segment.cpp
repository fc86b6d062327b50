// SPDX-License-Identifier: BSD-3-Clause
#include "exec/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

namespace redist::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

} // namespace

std::size_t small_page() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  return *this;
}

Segment::~Segment() {
  if (data_ != nullptr) munmap(data_, bytes_);
  close_fd();
}

void Segment::close_fd() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Segment Segment::map(int fd, std::size_t bytes) noexcept {
  Segment s;
  s.fd_ = fd;
  const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  // A huge page needs an address that is a multiple of it: reserve more, keep the aligned part.
  const std::size_t reserve = bytes + huge_page;
  void* space = mmap(nullptr, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return s;
  const auto begin = reinterpret_cast<std::uintptr_t>(space);
  const std::uintptr_t at = round_up(begin, huge_page);
  void* data = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, fd, 0);
  if (data == MAP_FAILED) {
    munmap(space, reserve);
    return s;
  }
  if (at > begin) munmap(space, at - begin);
  const std::uintptr_t end = at + round_up(bytes, small_page());
  if (begin + reserve > end) munmap(reinterpret_cast<void*>(end), begin + reserve - end);
  madvise(data, bytes, MADV_HUGEPAGE); // a request: the kernel may decline
  s.data_ = static_cast<char*>(data);
  s.bytes_ = bytes;
  return s;
}

Segment Segment::create(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), small_page());
  const int fd = memfd_create("dyngrid", MFD_CLOEXEC);
  if (fd < 0) return {};
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    ::close(fd);
    throw std::bad_alloc();
  }
  Segment s = map(fd, bytes);
  if (!s) throw std::bad_alloc();
  return s;
}

Segment Segment::create_private(std::size_t bytes) {
  Segment s = map(-1, round_up(std::max<std::size_t>(bytes, 1), small_page()));
  if (!s) throw std::bad_alloc();
  return s;
}

Segment Segment::open(std::int64_t pid, int fd, std::size_t bytes, std::uint64_t inode) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(pid), fd);
  const int mine = ::open(path, O_RDWR | O_CLOEXEC);
  if (mine < 0) return {};
  struct stat what;
  if (fstat(mine, &what) != 0 || !S_ISREG(what.st_mode) || what.st_size < static_cast<off_t>(bytes) ||
      (inode != 0 && what.st_ino != inode)) {
    ::close(mine);
    return {};
  }
  Segment s = map(mine, bytes);
  s.close_fd();
  return s;
}

} // namespace redist::detail
