// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "pack/copy.hpp"

namespace redist::detail {

/// Fills packed memory from its beginning to its end. With non-temporal stores line by line: what does not make up
/// whole lines waits in `stage_` for what comes after it.
class PackedWriter {
public:
  PackedWriter(char* at, bool non_temporal) : at_(at), non_temporal_(non_temporal) {}

  void put(const char* from, std::size_t bytes) {
    if (!non_temporal_) {
      std::memcpy(at_, from, bytes);
      at_ += bytes;
      return;
    }
    if (used_ == 0 &&
        (bytes | reinterpret_cast<std::uintptr_t>(at_)) % 64 == 0) { // as with blocks of a multiple of eight doubles
      copy_lines(at_, from, bytes / 64);
      at_ += bytes;
      return;
    }
    if (bytes < non_temporal_from) {
      if (used_ + bytes > sizeof stage_) drain();
      std::memcpy(stage_ + used_, from, bytes);
      used_ += bytes;
      return;
    }
    const std::size_t fill = (64 - (reinterpret_cast<std::uintptr_t>(at_) + used_) % 64) % 64;
    if (used_ + fill > sizeof stage_) drain();
    std::memcpy(stage_ + used_, from, fill);
    used_ += fill;
    drain();
    const std::size_t lines = (bytes - fill) / 64;
    copy_lines(at_, from + fill, lines);
    at_ += lines * 64;
    used_ = bytes - fill - lines * 64;
    std::memcpy(stage_, from + fill + lines * 64, used_);
  }
  /// `count` pieces of `bytes` bytes, together at most room_at_once.
  void put_pieces(const char* from, std::int64_t step, std::int64_t count, std::size_t bytes) {
    const auto all = static_cast<std::size_t>(count) * bytes;
    if (non_temporal_ && used_ + all > sizeof stage_) drain();
    copy_pieces({non_temporal_ ? stage_ + used_ : at_, static_cast<std::int64_t>(bytes)}, {from, step}, count, bytes);
    if (non_temporal_)
      used_ += all;
    else
      at_ += all;
  }
  static constexpr std::size_t room_at_once = 1024;
  /// Writes what still waits.
  void end() {
    drain();
    std::memcpy(at_, stage_, used_);
    at_ += used_;
    used_ = 0;
  }

private:
  /// Writes what is whole lines of it, and the part of a line that it may begin with.
  void drain() {
    const std::size_t head = std::min(used_, (64 - reinterpret_cast<std::uintptr_t>(at_) % 64) % 64);
    std::memcpy(at_, stage_, head);
    const std::size_t lines = (used_ - head) / 64, done = head + lines * 64;
    copy_lines(at_ + head, stage_ + head, lines);
    at_ += done;
    used_ -= done;
    std::memmove(stage_, stage_ + done, used_);
  }

  char* at_;
  bool non_temporal_;
  std::size_t used_ = 0;
  alignas(64) char stage_[2 * room_at_once];
};

} // namespace redist::detail
