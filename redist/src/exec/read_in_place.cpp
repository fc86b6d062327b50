// SPDX-License-Identifier: BSD-3-Clause
// Sources in SharedArrays that the other ranks of the host read where they are, instead of being sent panels.
#include <algorithm>

#include "exec/pages.hpp"
#include "exec/prepared.hpp"

namespace redist::detail {
namespace {

SharedHost::Offer offered(const SharedHost& host, int rank_of_source, int transfer) {
  if (transfer >= SharedHost::offers_at_most) return {};
  return host.offer_of(rank_of_source, transfer);
}

} // namespace

/// What the senders of my incoming streams could offer; the last one is done first, so the rank after me is the last.
void Prepared::find_pulls() {
  for (const Stream& stream : work.in) {
    if (!stream.shared) continue;
    for (const Item& item : stream.items) {
      LocalCopy pull;
      pull.target = item.view;
      pull.source = item.view;
      pull.source.is_source = true;
      pull.source.row_limits = nullptr;
      pull.source.non_temporal = false;
      pull.source.transposed = item.source_transposed;
      pull.source.conj_size = item.source_conj_size;
      pull.first = item.first;
      pull.count = item.count;
      pull.transfer = item.transfer;
      pull.peer = stream.peer;
      pulls.push_back(pull);
    }
  }
  const int rank = ranks->rank, size = ranks->size;
  std::stable_sort(pulls.begin(), pulls.end(), [rank, size](const LocalCopy& a, const LocalCopy& b) {
    return (a.peer - rank + size) % size > (b.peer - rank + size) % size;
  });
  pulls_left.assign(static_cast<std::size_t>(size), 0);
}

/// Tells the others where they can read my sources; they may look after the agreement. True when there is anything to
/// read. Local.
bool Prepared::offer(const std::vector<Pointers>& pointers) {
  if (!ranks->host) return false;
  bool any = false;
  const std::size_t count = std::min(plans.size(), static_cast<std::size_t>(SharedHost::offers_at_most));
  for (std::size_t t = 0; t < count; ++t) {
    SharedHost::Offer offer;
    const SharedPlace place = plans[t]->sends.empty() ? SharedPlace{} : find_shared(pointers[t].from);
    if (place.fd >= 0)
      offer = {place.fd, static_cast<std::int64_t>(place.bytes), static_cast<std::int64_t>(place.offset),
               pointers[t].lld_from, place.inode};
    ranks->host->offer(static_cast<int>(t), offer);
    any |= place.fd >= 0;
  }
  return any;
}

void Prepared::read_in_place() {
  std::int64_t all[SharedHost::numbers_at_once] = {!ranks->host || map_pulls() ? 1 : 0, 0, 0, 0};
  ranks->minimum_of(all);
  if (all[0] != 0 && ranks->host) leave_to_readers();
}

/// False when some of what is offered to me cannot be mapped. Local.
bool Prepared::map_pulls() {
  for (LocalCopy& pull : pulls) {
    const SharedHost::Offer offer = offered(*ranks->host, pull.peer, pull.transfer);
    if (offer.fd < 0) continue;
    pull.source.base = const_cast<char*>(ranks->host->map_offer(pull.peer, offer)); // only read
    pull.source.lld = offer.lld;
    if (pull.source.base == nullptr) return false;
  }
  return true;
}

/// Takes out of the streams what is read in place, mine and the others', and puts the pulls before what I keep. What
/// would have left my columns with them goes alone.
void Prepared::leave_to_readers() {
  const SharedHost& host = *ranks->host;
  copies.clear();
  for (const LocalCopy& pull : pulls)
    if (pull.source.base != nullptr) {
      copies.push_back(pull);
      ++pulls_left[static_cast<std::size_t>(pull.peer)];
    }
  const auto leave_out = [&host](Stream& stream, int source) {
    if (!stream.shared) return false;
    bool any = false; // if not, the stream may be on its way already
    for (Item& item : stream.items) any |= item.is_read_in_place = offered(host, source, item.transfer).fd >= 0;
    return any && stream.leave_out();
  };
  for (Stream& stream : work.in) leave_out(stream, stream.peer);
  bool any_left_out = false;
  for (Stream& stream : work.out)
    if (leave_out(stream, ranks->rank)) {
      ++ranks->readers_expected;
      any_left_out = true;
    }
  if (any_left_out) host_turn.begin();
  for (const Group& group : groups)
    for (std::size_t i = 0; i < group.copies.size(); ++i)
      if (work.out[group.streams.front()].items[i].is_read_in_place) copies.push_back(group.copies[i]);
  copies.insert(copies.end(), work.copies.begin(), work.copies.end());
}

} // namespace redist::detail
