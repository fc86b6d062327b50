// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "control/checkpoint_file.hpp"

namespace blacs_dyn {

using control::SavedShared;

/// State that every process has (dyngrid_share): the program's memory, or what came before the program gave the place
/// where it goes.
class SharedState {
public:
  /// Collective over `grid`; MPI_COMM_NULL on a process that waits to join, which declares alone. Local where the
  /// content came with the join: the others have long done theirs.
  /// has_gaps: a section of an array in Fortran, which is refused.
  void share(const char* name, void* data, std::size_t bytes, MPI_Comm grid, bool has_gaps = false);
  void unshare(const char* name);         ///< local
  bool has_early(const char* name) const; ///< local: content came with the join, and waits for its place
  void clear() { items_.clear(); }

  std::vector<SavedShared> list() const;
  /// Local: room for what the others have; nothing of it is here yet. is_newcomer: it has no more than the others.
  /// @throws Error{rank_mismatch}, std::bad_alloc
  void expect(const std::vector<SavedShared>& items, bool is_newcomer);
  /// For a checkpoint: what the program shares must be in it, in the same size. @throws Error{not_found, rank_mismatch}
  void check(const std::vector<SavedShared>& saved) const;

  /// The content of all items in `items` goes from root, where `items` has the addresses, to those that take it and
  /// expect() it. Collective; only MPI can fail. buffer: as long on all, `buffer_for(items)`.
  void spread(MPI_Comm comm, int root, const std::vector<SavedShared>& items, bool takes, std::vector<char>& buffer);
  static std::vector<char> buffer_for(const std::vector<SavedShared>& items);
  /// All contents in a row where they are so short that they go along with another message, else nothing. Local.
  static std::vector<char> short_content(const std::vector<SavedShared>& items);
  // Bytes from `at` on, of all contents in a row. Local.
  static void gather(const std::vector<SavedShared>& items, std::int64_t at, std::vector<char>& buffer);
  void scatter(const std::vector<SavedShared>& items, std::int64_t at, const std::vector<char>& buffer);

  std::size_t count() const { return items_.size(); }
  void forget_from(std::size_t first) { items_.resize(first); } ///< local: those that were expected and do not come

private:
  struct Item {
    std::string name;
    bool has_place = false; ///< the program has given its place: `data`, which is null only for 0 bytes
    void* data = nullptr;
    std::size_t bytes = 0;
    std::vector<char> early; ///< content that waits for dyngrid_share

    void* where() { return has_place ? data : early.data(); }
  };
  Item* find(const std::string& name);
  void check_place(const std::vector<SavedShared>& saved) const;
  void check_share(const char* name, const void* data, std::size_t bytes, bool has_gaps);

  std::vector<Item> items_;
};

} // namespace blacs_dyn
