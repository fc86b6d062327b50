// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

namespace redist::detail {

/// Of the kernel: 4 KiB on most machines, 64 KiB on some ARM ones.
std::size_t small_page() noexcept;

inline std::size_t round_up(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

/// A mapped memfd: mine, or another process's found through /proc/<pid>/fd. Huge pages where the kernel gives
/// them. Nothing of it has a name, so nothing is left behind when a process dies.
class Segment {
public:
  Segment() = default;
  /// A new one of `bytes`, all zero. @throws std::bad_alloc
  static Segment create(std::size_t bytes);
  /// Private memory of that size, aligned alike. @throws std::bad_alloc
  static Segment create_private(std::size_t bytes);
  /// The one that process `pid` has open as `fd`, with that inode number when one is given; an empty segment
  /// when it cannot be had.
  static Segment open(std::int64_t pid, int fd, std::size_t bytes, std::uint64_t inode = 0) noexcept;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int fd() const { return fd_; }
  void close_fd() noexcept;
  /// Leaves mapping and descriptor to another owner.
  void forget() noexcept { data_ = nullptr, bytes_ = 0, fd_ = -1; }
  explicit operator bool() const { return data_ != nullptr; }

private:
  static Segment map(int fd, std::size_t bytes) noexcept;
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  int fd_ = -1;
};

} // namespace redist::detail
