// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace blacs_dyn {

/// Zeroed memory straight from the system, on huge pages where there are any: a new local array is written once from end to end, and page faults
/// on 4 KiB pages would cost several times the copy.
class LocalArray {
public:
  LocalArray() = default;
  /// @throws std::bad_alloc
  explicit LocalArray(std::size_t bytes);
  LocalArray(LocalArray&& other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; other.bytes_ = 0; }
  LocalArray& operator=(LocalArray&& other) noexcept;
  ~LocalArray() { clear(); }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  void clear() noexcept;

private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace blacs_dyn
