// SPDX-License-Identifier: BSD-3-Clause
#include "grid/local_array.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace blacs_dyn {

void* ProgramMemory::get(std::size_t bytes, redist::LocalSize size) const {
  void* array = nullptr;
  try {
    array = allocate(data, nullptr, bytes, size.lld(), std::max<std::int64_t>(1, size.cols));
  } catch (...) { // as operator new does without memory
  }
  if (!array) throw std::bad_alloc();
  return array;
}

void ProgramMemory::give_back(void* array) const noexcept {
  try {
    allocate(data, array, 0, 0, 0);
  } catch (...) { // the change is done: what the program has not freed stays its own
  }
}

LocalArray::LocalArray(const ProgramMemory& owner, std::size_t bytes, redist::LocalSize size) : owner_(owner) {
  if (!is_of_program())
    own_ = redist::SharedArray(bytes);
  else if (bytes > 0)
    of_program_ = owner_.get(bytes, size);
}

LocalArray::LocalArray(LocalArray&& other) noexcept
    : own_(std::move(other.own_)), owner_(other.owner_), of_program_(std::exchange(other.of_program_, nullptr)) {}

LocalArray& LocalArray::operator=(LocalArray&& other) noexcept {
  if (this != &other) {
    clear();
    own_ = std::move(other.own_);
    owner_ = other.owner_;
    of_program_ = std::exchange(other.of_program_, nullptr);
  }
  return *this;
}

void LocalArray::clear() noexcept {
  own_.clear();
  if (void* const array = leave_to_program()) owner_.give_back(array);
}

void* LocalArray::leave_to_program() noexcept {
  return std::exchange(of_program_, nullptr);
}

redist::SharedArray LocalArray::take_own() noexcept {
  return std::move(own_);
}

} // namespace blacs_dyn
