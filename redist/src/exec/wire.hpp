// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "exec/mpi_check.hpp"
#include "exec/stream.hpp"

namespace redist::detail {

/// Tags on the duplicate communicator: one per exchange, in turn, so that a fast rank's next exchange is not
/// taken for this one.
using base::tag_exchange_count, base::tag_exchange_first;

/// Panels in flight over MPI. Senders cut as they like; receivers take the messages of each sender in their
/// order (matching probes) from whoever comes, so that no order of steps can block for ever and the buffers
/// stay the same few whatever the number of peers.
class Wire {
public:
  /// @param extra_bytes all buffers together; the same on all ranks. Contiguous stretches travel without
  /// packing, in pieces of a panel.
  Wire(MPI_Comm comm, std::size_t extra_bytes);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Gets the buffers, once. May throw std::bad_alloc.
  void reserve();
  /// A new exchange, in which `bytes_in` will come over MPI.
  void begin(std::uint64_t round, std::int64_t bytes_in);
  /// Sends the next panel of a stream when a slot is free and the steps before it have all but gone.
  bool try_send(Stream& out);
  /// Takes what has come; `stream_of_rank(rank)` is the incoming stream of a rank. True when something moved.
  template <class StreamOfRank> bool try_receive(StreamOfRank&& stream_of_rank);
  /// Frees the slots of finished sends, unpacks finished receives. True when something moved.
  bool poll();
  bool idle() const { return bytes_in_left_ == 0 && busy_sends_ == 0 && busy_receives_ == 0; }
  bool is_under_way() const { return busy_sends_ > 0 || busy_receives_ > 0; }
  std::size_t buffer_bytes() const { return memory_.size(); }

  double pack_s = 0; ///< of this exchange, packing and unpacking

private:
  struct Slot {
    char* panel = nullptr;
    bool busy = false;
    Stream* stream = nullptr; ///< receives: where to unpack, null when the bytes went to their place
    Stream::Place place;
    std::size_t bytes = 0;
    int step = 0; ///< sends
  };
  static constexpr int slots_each_way = 8;

  void post(Slot& slot, MPI_Request& request, MPI_Message& message, Stream& stream, std::size_t bytes);
  bool is_turn_of(int step) const;

  MPI_Comm comm_;
  std::size_t panel_bytes_;
  std::vector<char> memory_;
  std::vector<Slot> slots_;           ///< sends, then receives
  std::vector<MPI_Request> requests_; ///< of the slots, MPI_REQUEST_NULL when free
  std::vector<int> done_;
  int busy_sends_ = 0, busy_receives_ = 0;
  int tag_ = tag_exchange_first;
  std::int64_t bytes_in_left_ = 0; ///< of this exchange, not matched yet
};

template <class StreamOfRank> bool Wire::try_receive(StreamOfRank&& stream_of_rank) {
  bool moved = false;
  while (bytes_in_left_ > 0 && busy_receives_ < slots_each_way) {
    int flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &flag, &message, &status), "MPI_Improbe");
    if (flag == 0) break;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::size_t s = slots_each_way;
    while (slots_[s].busy) ++s;
    post(slots_[s], requests_[s], message, stream_of_rank(status.MPI_SOURCE), static_cast<std::size_t>(bytes));
    moved = true;
  }
  return moved;
}

} // namespace redist::detail
