// SPDX-License-Identifier: BSD-3-Clause
#include "exec/wire.hpp"

#include <algorithm>

namespace redist::detail {
namespace {
constexpr std::size_t largest_panel = std::size_t{256} << 10;
constexpr std::size_t panels_over_a_step = 3;
constexpr std::size_t smallest_panel = std::size_t{1} << 10;
} // namespace

Wire::Wire(MPI_Comm comm, std::size_t extra_bytes)
    : comm_(comm),
      panel_bytes_(std::clamp(extra_bytes / (2 * slots_each_way) / 64 * 64, smallest_panel, largest_panel)) {}

Wire::~Wire() {
  // A buffer must not go while MPI may still write to it; after an error or MPI_Finalize it is left to the
  // process's end instead.
  if (busy_sends_ + busy_receives_ > 0) new std::vector<char>(std::move(memory_));
}

void Wire::reserve() {
  if (!memory_.empty()) return;
  slots_.resize(2 * slots_each_way);
  requests_.assign(2 * slots_each_way, MPI_REQUEST_NULL);
  done_.resize(2 * slots_each_way);
  memory_.resize(2 * slots_each_way * panel_bytes_);
  for (std::size_t s = 0; s < slots_.size(); ++s) slots_[s].panel = memory_.data() + s * panel_bytes_;
}

void Wire::begin(std::uint64_t round, std::int64_t bytes_in) {
  tag_ = tag_exchange_first + static_cast<int>(round % tag_exchange_count);
  bytes_in_left_ = bytes_in;
  pack_s = 0;
}

/// A sender that serves two receivers at once serves each of them at half the speed of its link, and the one whose turn
/// it is begins its own next step late. So a step begins when little of the earlier ones is still under way: enough to
/// keep the link busy over the change.
bool Wire::is_turn_of(int step) const {
  std::size_t before = 0;
  for (std::size_t s = 0; s < slots_each_way; ++s)
    if (slots_[s].busy && slots_[s].step < step) before += slots_[s].bytes;
  return before <= panels_over_a_step * panel_bytes_;
}

bool Wire::try_send(Stream& out) {
  if (busy_sends_ == slots_each_way || !is_turn_of(out.step())) return false;
  const int step = out.step();
  std::size_t s = 0;
  while (slots_[s].busy) ++s;
  std::size_t bytes = 0;
  char* data = out.contiguous(bytes);
  const int peer = out.peer;
  if (data != nullptr && bytes >= panel_bytes_ / 2) {
    bytes =
        std::min(bytes, panel_bytes_); // never more than the receiver has room for, should its end not be contiguous
    out.skip(bytes);
  } else {
    const double t = MPI_Wtime();
    data = slots_[s].panel;
    bytes = out.pack(data, panel_bytes_);
    pack_s += MPI_Wtime() - t;
  }
  check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag_, comm_, &requests_[s]), "MPI_Isend");
  slots_[s].busy = true;
  slots_[s].bytes = bytes;
  slots_[s].step = step;
  ++busy_sends_;
  return true;
}

void Wire::post(Slot& slot, MPI_Request& request, MPI_Message& message, Stream& stream, std::size_t bytes) {
  slot.stream = &stream;
  slot.place = stream.place;
  slot.bytes = bytes;
  std::size_t together = 0;
  char* to = stream.contiguous(together);
  if (to != nullptr && together >= bytes)
    slot.stream = nullptr; // it lands where it belongs
  else
    to = slot.panel;
  check(MPI_Imrecv(to, static_cast<int>(bytes), MPI_BYTE, &message, &request), "MPI_Imrecv");
  stream.skip(bytes);
  bytes_in_left_ -= static_cast<std::int64_t>(bytes);
  slot.busy = true;
  ++busy_receives_;
}

bool Wire::poll() {
  if (busy_sends_ + busy_receives_ == 0) return false;
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  if (count == MPI_UNDEFINED) count = 0;
  for (int d = 0; d < count; ++d) {
    const auto s = static_cast<std::size_t>(done_[static_cast<std::size_t>(d)]);
    Slot& slot = slots_[s];
    slot.busy = false;
    if (s < slots_each_way) {
      --busy_sends_;
      continue;
    }
    --busy_receives_;
    if (slot.stream == nullptr) continue;
    const double t = MPI_Wtime();
    slot.stream->unpack(slot.place, slot.panel, slot.bytes);
    pack_s += MPI_Wtime() - t;
  }
  return count > 0;
}

} // namespace redist::detail
