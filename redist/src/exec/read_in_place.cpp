// SPDX-License-Identifier: BSD-3-Clause
// Sources in SharedArrays that the other ranks of the host read where they are, instead of being sent panels.
#include <algorithm>

#include "exec/pages.hpp"
#include "exec/prepared.hpp"

namespace redist::detail {
namespace {

SharedHost::Offer offered(const SharedHost& host, int rank_of_source, int matrix) {
  if (matrix >= SharedHost::offers_at_most) return {};
  return host.offer_of(rank_of_source, matrix);
}

/// A bit for each matrix. Beyond offers_at_most there are none.
std::uint64_t bit_of(int matrix) {
  static_assert(SharedHost::offers_at_most <= 64, "one bit each");
  return std::uint64_t{1} << matrix;
}

} // namespace

/// What the senders of my incoming streams could offer; the last one is done first, so the rank after me is the last.
void Prepared::find_pulls() {
  for (const Stream& stream : work.in)
    if (stream.shared) pulls.insert(pulls.end(), stream.pieces.begin(), stream.pieces.end());
  const auto distance = [this](const Piece& pull) {
    return (pulled_message_of(pull).peer - work.rank + work.size) % work.size;
  };
  std::stable_sort(pulls.begin(), pulls.end(),
                   [&](const Piece& a, const Piece& b) { return distance(a) > distance(b); });
  pulls_left.assign(static_cast<std::size_t>(work.size), 0);
  matrices_read.assign(static_cast<std::size_t>(work.size), 0);
}

const Message& Prepared::pulled_message_of(const Piece& pull) const {
  return work.plan_of(pull).recvs[static_cast<std::size_t>(pull.message)];
}

/// Tells the others where they can read my sources; they may look after the agreement. True when there is anything to
/// read. Local.
bool Prepared::offer() {
  if (!ranks->host) return false;
  std::uint64_t& mine = matrices_read[static_cast<std::size_t>(work.rank)];
  mine = 0;
  const std::size_t count = std::min(work.plans.size(), static_cast<std::size_t>(SharedHost::offers_at_most));
  for (std::size_t t = 0; t < count; ++t) {
    SharedHost::Offer offer;
    const SharedPlace place = work.plans[t]->sends.empty() ? SharedPlace{} : find_shared(work.pointers[t].from);
    if (place.fd >= 0)
      offer = {place.fd, static_cast<std::int64_t>(place.bytes), static_cast<std::int64_t>(place.offset),
               work.pointers[t].lld_from, place.inode};
    ranks->host->offer(static_cast<int>(t), offer);
    if (place.fd >= 0) mine |= bit_of(static_cast<int>(t));
  }
  return mine != 0;
}

void Prepared::read_in_place() {
  std::int64_t all[SharedHost::numbers_at_once] = {!ranks->host || map_pulls() ? 1 : 0, 0, 0, 0};
  ranks->minimum_of(all);
  if (!ranks->host) return;
  if (all[0] != 0) return leave_to_readers();
  copies.clear();
  add_keeps();
}

/// Puts what is offered to me into `copies`, alone, and notes it: after the agreement a rank that nobody reads from may
/// be offering for its next exchange already. False when some of it cannot be mapped. Local.
bool Prepared::map_pulls() {
  copies.clear();
  for (const Stream& stream : work.in) matrices_read[static_cast<std::size_t>(stream.peer)] = 0;
  for (const Piece& pull : pulls) {
    const Message& message = pulled_message_of(pull);
    const SharedHost::Offer offer = offered(*ranks->host, message.peer, pull.matrix);
    if (offer.fd < 0) continue;
    LocalCopy copy{work.source_of(pull, message), work.target_of(pull, message), pull.first, pull.count, message.peer};
    copy.source.base = const_cast<char*>(ranks->host->map_offer(message.peer, offer)); // only read
    copy.source.lld = offer.lld;
    if (copy.source.base == nullptr) return false;
    copies.push_back(copy);
    matrices_read[static_cast<std::size_t>(message.peer)] |= bit_of(pull.matrix);
  }
  return true;
}

/// Takes out of the streams what is read in place, mine and the others', and puts what I keep after the pulls. What
/// would have left my columns with them goes alone.
void Prepared::leave_to_readers() {
  for (const LocalCopy& pull : copies) ++pulls_left[static_cast<std::size_t>(pull.peer)];
  const auto leave_out = [this](Stream& stream, int source) {
    return stream.shared && stream.leave_out(matrices_read[static_cast<std::size_t>(source)]);
  };
  for (Stream& stream : work.in) leave_out(stream, stream.peer);
  bool any_left_out = false;
  for (Stream& stream : work.out)
    if (leave_out(stream, ranks->rank)) {
      ++ranks->readers_expected;
      any_left_out = true;
    }
  if (any_left_out) host_turn.begin();
  for (const Group& group : groups) {
    const Stream& lead = work.out[group.streams.front()];
    for (std::size_t i = 0; i < group.keeps.size(); ++i)
      if (lead.is_read_in_place(lead.pieces[i])) copies.push_back(work.copy_of(group.keeps[i]));
  }
  add_keeps();
}

} // namespace redist::detail
