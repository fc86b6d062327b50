// SPDX-License-Identifier: BSD-3-Clause
// Slices of other processes of this host, read where they are.
#pragma once
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "base/tags.hpp"
#include "room.hpp"

namespace pblas {

/// Of all processes of comm, by rank, where each can read the memory of every other and MPI may take a longer way
/// between some of them: those of different worlds, after a growth. Empty otherwise. Collective.
std::vector<std::int64_t> processes_to_read(MPI_Comm comm);

/// On all processes alike, before their contexts are used: reads also where all are of one world. For tests.
void always_read_in_place(bool is_on);

enum class Round { last, before_last };

/// As Ring, but each process fetches each slice from its owner. The owner sends a short message with the address, and
/// gets an empty one when the slice was read, by tags that nothing else on comm uses meanwhile.
class InPlace {
public:
  InPlace(MPI_Comm comm, int rank, const std::vector<std::int64_t>& processes, int tag_address = base::tag_panel,
          int tag_read = base::tag_panel_read);
  ~InPlace(); ///< waits until all have read what is mine, unless an exception is under way
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  /// As Ring::start, in bytes. mine: stays as it is until it has been read; null: it is in the buffer, and is copied.
  void start(char* buffer, const std::int64_t* offsets, std::int64_t element_bytes, const void* mine = nullptr);
  bool has_been_read(Round round, bool waits);
  void advance() { look(false); }
  void finish() { look(true); }
  bool is_done() const { return left_ == 0; }
  int rank() const { return static_cast<int>(rank_); }

private:
  struct Turn {
    Room mine; ///< a copy: others read it while the buffer is used for the next panel
    std::uint64_t address = 0;
    std::vector<MPI_Request> requests; ///< its announcement, and that it was read
  };
  void look(bool waits);
  void fetch(std::size_t owner);
  static bool is_read(Turn& turn, bool waits);

  MPI_Comm comm_;
  std::size_t rank_;
  const std::vector<std::int64_t>& processes_;
  int tag_address_, tag_read_;
  Turn turns_[2];
  int turn_ = 0, left_ = 0;
  char* buffer_ = nullptr;
  const std::int64_t* offsets_ = nullptr;
  std::int64_t element_bytes_ = 1;
  std::vector<std::uint64_t> addresses_;
  std::vector<MPI_Request> told_; ///< where the slice of each owner is
  std::vector<MPI_Request> read_; ///< what says to owners that it was read
};

} // namespace pblas
