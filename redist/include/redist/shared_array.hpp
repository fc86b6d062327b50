// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace redist {

/// Whether other processes can read an array in place. Numbers of dyngrid/redist.h.
enum class Sharing {
  automatic, ///< yes where the kernel gives huge pages to shared memory; otherwise a fresh array would cost
             ///< more than the second copy it saves
  yes,
  no
};

/// Zeroed memory for a local array, on huge pages where the kernel gives them. The Executor recognises a
/// shared one: when the source of a transfer lies in it, ranks on the same host read it in place, and every
/// element is copied once instead of twice.
///
/// Shared means a memfd: it has no name, and nothing of it is left when the process dies. One open file per
/// array while it lives. Where there is no memfd, and when not shared, it is ordinary memory.
class SharedArray {
public:
  SharedArray() = default;
  /// @throws std::bad_alloc
  explicit SharedArray(std::size_t bytes, Sharing sharing = Sharing::automatic);
  SharedArray(SharedArray&& other) noexcept;
  SharedArray& operator=(SharedArray&& other) noexcept;
  ~SharedArray() { clear(); }

  void* data() const { return data_; } ///< null when empty
  std::size_t bytes() const { return bytes_; }
  bool is_shared() const { return fd_ >= 0; }
  /// Gives the memory back at once, also where other processes still have it mapped.
  void clear() noexcept;
  /// The system may take the pages until they are written to again; their contents are lost. False when it does not
  /// do so for this memory, and nothing has happened. Local.
  bool lend() noexcept;

private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int fd_ = -1;
};

} // namespace redist
