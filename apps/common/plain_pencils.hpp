// SPDX-License-Identifier: BSD-3-Clause
// The pencils of adi by MPI alone, on one grid: what its times are compared with.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace apps {

using Extents = std::array<std::int64_t, 3>;

/// n x n x n elements on p x q processes, three times: whole along x, y or z, the two other dimensions in one block for
/// each process. The earlier one of these is cut over p.
class PlainPencils {
public:
  /// Collective over `comm`, whose processes are the grid row by row.
  PlainPencils(MPI_Comm comm, int nprow, int npcol, std::int64_t n) : comm_(comm), nprow_(nprow), npcol_(npcol), n_(n) {
    MPI_Comm_rank(comm, &rank_);
    for (int along = 0; along < 3; ++along) make_turn(along, (along + 1) % 3);
    make_borders();
  }
  PlainPencils(const PlainPencils&) = delete;
  PlainPencils& operator=(const PlainPencils&) = delete;
  ~PlainPencils() {
    for (Turn& turn : turns_)
      for (auto* types : {&turn.sent, &turn.received})
        for (MPI_Datatype& type : *types) MPI_Type_free(&type);
    for (Border& border : borders_) {
      MPI_Type_free(&border.mine);
      MPI_Type_free(&border.theirs);
    }
  }

  Extents extents(int along) const { return box(along, rank_).size; }

  /// From the pencils along x, y or z to those along the next one. Collective.
  void turn(int along, const double* from, double* to) const {
    const Turn& turn = turns_[static_cast<std::size_t>(along)];
    MPI_Alltoallw(from, turn.sent_count.data(), turn.zeros.data(), turn.sent.data(), to, turn.received_count.data(),
                  turn.zeros.data(), turn.received.data(), comm_);
  }
  /// Of an array along x with a border of one element on every side: the borders towards other processes. Collective.
  void exchange(double* ghosted) const {
    std::vector<MPI_Request> requests;
    for (const Border& border : borders_) {
      requests.resize(requests.size() + 2);
      MPI_Irecv(ghosted, 1, border.theirs, border.neighbour, 0, comm_, &requests[requests.size() - 2]);
      MPI_Isend(ghosted, 1, border.mine, border.neighbour, 0, comm_, &requests[requests.size() - 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

private:
  struct Box {
    Extents first, size;
  };
  struct Turn {
    std::vector<int> sent_count, received_count, zeros;
    std::vector<MPI_Datatype> sent, received; ///< for each process
  };
  struct Border {
    int neighbour;
    MPI_Datatype mine, theirs;
  };

  Box box(int along, int rank) const {
    Box result{{}, {n_, n_, n_}};
    int which = 0;
    for (int d = 0; d < 3; ++d) {
      if (d == along) continue;
      const std::int64_t parts = which == 0 ? nprow_ : npcol_, part = which == 0 ? rank / npcol_ : rank % npcol_;
      const std::int64_t block = (n_ + parts - 1) / parts, first = std::min(n_, part * block);
      result.first[static_cast<std::size_t>(d)] = first;
      result.size[static_cast<std::size_t>(d)] = std::min(n_ - first, block);
      ++which;
    }
    return result;
  }

  /// A part of a dense array in Fortran's order.
  static MPI_Datatype part_of(const Extents& all, const Extents& size, const Extents& first) {
    int of_all[3], of_part[3], start[3];
    for (std::size_t d = 0; d < 3; ++d) {
      of_all[d] = static_cast<int>(all[d]);
      of_part[d] = static_cast<int>(size[d]);
      start[d] = static_cast<int>(first[d]);
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(3, of_all, of_part, start, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  static bool overlap(const Box& of, const Box& with, MPI_Datatype& type) {
    Extents size, start;
    bool is_empty = false;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t first = std::max(of.first[d], with.first[d]);
      size[d] = std::min(of.first[d] + of.size[d], with.first[d] + with.size[d]) - first;
      start[d] = first - of.first[d];
      is_empty = is_empty || size[d] <= 0;
    }
    if (is_empty)
      MPI_Type_dup(MPI_DOUBLE, &type); // of which none is sent
    else
      type = part_of(of.size, size, start);
    return !is_empty;
  }

  void make_turn(int from, int to) {
    Turn& turn = turns_[static_cast<std::size_t>(from)];
    const int processes = nprow_ * npcol_;
    turn.zeros.assign(static_cast<std::size_t>(processes), 0);
    for (int other = 0; other < processes; ++other) {
      MPI_Datatype type;
      turn.sent_count.push_back(overlap(box(from, rank_), box(to, other), type) ? 1 : 0);
      turn.sent.push_back(type);
      turn.received_count.push_back(overlap(box(to, rank_), box(from, other), type) ? 1 : 0);
      turn.received.push_back(type);
    }
  }

  void make_borders() {
    const int row = rank_ / npcol_, col = rank_ % npcol_;
    const Box mine = box(0, rank_);
    if (mine.size[1] == 0 || mine.size[2] == 0) return;
    for (const int side : {-1, 1}) {
      if (row + side >= 0 && row + side < nprow_) add_border((row + side) * npcol_ + col, 1, side);
      if (col + side >= 0 && col + side < npcol_) add_border(row * npcol_ + col + side, 2, side);
    }
  }

  void add_border(int neighbour, std::size_t dim, int side) {
    const Box mine = box(0, rank_), theirs = box(0, neighbour);
    if (theirs.size[1] == 0 || theirs.size[2] == 0) return;
    Extents all, size = mine.size, first{1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) all[d] = mine.size[d] + 2;
    size[dim] = 1;
    Border border{neighbour, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    first[dim] = side < 0 ? 1 : mine.size[dim];
    border.mine = part_of(all, size, first);
    first[dim] = side < 0 ? 0 : mine.size[dim] + 1;
    border.theirs = part_of(all, size, first);
    borders_.push_back(border);
  }

  MPI_Comm comm_;
  int nprow_, npcol_, rank_ = 0;
  std::int64_t n_;
  std::array<Turn, 3> turns_;
  std::vector<Border> borders_;
};

} // namespace apps
