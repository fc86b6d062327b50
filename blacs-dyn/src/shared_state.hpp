// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

#include "checkpoint/file.hpp"
#include "packet.hpp"

namespace blacs_dyn {

/// State that every process has (dyngrid_share): the program's memory, or what came before the program said where it
/// goes.
class SharedState {
public:
  /// How the names begin of what routines of ours share while they run: their state, without which nobody can go on.
  static constexpr const char* within = "dyngrid_";

  /// Collective over `grid`; MPI_COMM_NULL on a process that waits to join, which declares alone. Local where the
  /// content came with the join: the others have long done theirs.
  void share(const char* name, void* data, std::size_t bytes, MPI_Comm grid);
  void unshare(const char* name); ///< local
  void clear() { items_.clear(); }

  /// For those that join.
  void write(Packet& packet) const;
  void read(Packet& packet); ///< local. @throws Error{rank_mismatch}

  /// For a checkpoint, and from one. check first: what the program shares must be there, in the same size. @throws
  /// Error{not_found, rank_mismatch}
  std::vector<SavedShared> saved() const;
  void check(const std::vector<SavedShared>& saved) const;
  void take(const std::vector<SavedShared>& saved);

  std::size_t count() const { return items_.size(); }

private:
  struct Item {
    std::string name;
    bool has_place = false; ///< the program has said where it is: `data`, which is null only for 0 bytes
    void* data = nullptr;
    std::size_t bytes = 0;
    std::vector<char> early; ///< content that waits for dyngrid_share

    std::vector<char> content() const;
    void take(const std::vector<char>& content); ///< to its place, or to wait for one
  };
  Item* find(const std::string& name);
  void check_place(const std::vector<SavedShared>& saved) const;
  void check_share(const char* name, const void* data, std::size_t bytes);

  std::vector<Item> items_;
};

} // namespace blacs_dyn
