// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

#include "dyngrid/layout.h"
#include "redist/layout.hpp"
#include "redist/shared_array.hpp"

namespace blacs_dyn {

/// The allocator of a program for the local arrays of one matrix (dyngrid_matrix_adopt).
struct ProgramMemory {
  dyngrid_allocator allocate = nullptr; ///< null: the arrays are the library's own
  void* data = nullptr;

  /// @throws std::bad_alloc also where the allocator throws
  void* get(std::size_t bytes, redist::LocalSize size) const;
  void give_back(void* array) const noexcept; ///< null where there was none before
};

/// The memory of one local array: the library's own, or the program's.
class LocalArray {
public:
  LocalArray() = default;
  /// None of 0 bytes. @throws std::bad_alloc
  LocalArray(const ProgramMemory& owner, std::size_t bytes, redist::LocalSize size);
  /// What the program has already; null where it has none.
  LocalArray(const ProgramMemory& owner, void* of_program) : owner_(owner), of_program_(of_program) {}
  explicit LocalArray(redist::SharedArray own) : own_(std::move(own)) {}
  LocalArray(LocalArray&& other) noexcept;
  LocalArray& operator=(LocalArray&& other) noexcept;
  ~LocalArray() { clear(); }

  void* data() const { return owner_.allocate ? of_program_ : own_.data(); } ///< null when empty
  bool is_of_program() const { return owner_.allocate != nullptr; }
  void clear() noexcept;                   ///< frees it, or has the program free it
  void* leave_to_program() noexcept;       ///< empty from here on; the program's array is not freed
  redist::SharedArray take_own() noexcept; ///< empty where it is the program's, which stays

private:
  redist::SharedArray own_;
  ProgramMemory owner_;
  void* of_program_ = nullptr;
};

} // namespace blacs_dyn
