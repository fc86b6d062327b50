// SPDX-License-Identifier: BSD-3-Clause
#include "local_array.hpp"

#include <new>

#include <sys/mman.h>

namespace blacs_dyn {

LocalArray::LocalArray(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    bytes_ = 0;
    throw std::bad_alloc();
  }
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  if (bytes >= huge_page) madvise(data_, bytes, MADV_HUGEPAGE); // a wish: nothing is lost without
}

LocalArray& LocalArray::operator=(LocalArray&& other) noexcept {
  if (this != &other) {
    clear();
    data_ = other.data_;
    bytes_ = other.bytes_;
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  return *this;
}

void LocalArray::clear() noexcept {
  if (data_) munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
}

} // namespace blacs_dyn
