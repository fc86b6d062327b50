// SPDX-License-Identifier: BSD-3-Clause
#include "exec/offers.hpp"

#include <algorithm>
#include <utility>

#include "exec/pages.hpp"

namespace redist::detail {
namespace {

SharedHost::Offer offered(const SharedHost& host, int rank_of_source, const Item& item) {
  if (item.transfer >= SharedHost::offers_at_most) return {};
  return host.offer_of(rank_of_source, item.transfer);
}

} // namespace

bool make_offers(SharedHost& host, const std::vector<Transfer>& transfers) {
  bool any = false;
  const std::size_t count = std::min(transfers.size(), static_cast<std::size_t>(SharedHost::offers_at_most));
  for (std::size_t t = 0; t < count; ++t) {
    SharedHost::Offer offer;
    const Transfer& x = transfers[t];
    const SharedPlace place = x.plan == nullptr || x.plan->sends.empty() ? SharedPlace{} : find_shared(x.from);
    if (place.fd >= 0)
      offer = {place.fd, static_cast<std::int64_t>(place.bytes), static_cast<std::int64_t>(place.offset), x.lld_from,
               place.inode};
    host.offer(static_cast<int>(t), offer);
    any |= place.fd >= 0;
  }
  return any;
}

std::optional<std::vector<LocalCopy>> find_pulls(SharedHost& host, const Work& work) {
  std::vector<LocalCopy> pulls;
  for (const Stream& stream : work.in) {
    if (!stream.shared) continue;
    for (const Item& item : stream.items) {
      const SharedHost::Offer offer = offered(host, stream.peer, item);
      if (offer.fd < 0) continue;
      LocalCopy pull;
      pull.target = item.view;
      pull.source = item.view;
      pull.source.base = const_cast<char*>(host.map_offer(stream.peer, offer)); // only read
      pull.source.lld = offer.lld;
      pull.source.is_source = true;
      pull.source.row_limits = nullptr;
      pull.source.non_temporal = false;
      pull.source.transposed = item.source_transposed;
      pull.source.conj_size = item.source_conj_size;
      pull.first = item.first;
      pull.count = item.count;
      pull.peer = stream.peer;
      if (pull.source.base == nullptr) return std::nullopt;
      pulls.push_back(pull);
    }
  }
  return pulls;
}

int take_out_offered(const SharedHost& host, Work& work, std::vector<LocalCopy> pulls, int rank, int size) {
  const auto take_out = [&](Stream& stream, int source) {
    if (!stream.shared) return false;
    const auto gone = std::remove_if(stream.items.begin(), stream.items.end(),
                                     [&](const Item& item) { return offered(host, source, item).fd >= 0; });
    const bool any = gone != stream.items.end();
    stream.items.erase(gone, stream.items.end());
    stream.bytes_left = 0;
    for (const Item& item : stream.items) stream.bytes_left += item.count * item.view.esize;
    return any;
  };
  int readers = 0;
  for (Stream& stream : work.in) take_out(stream, stream.peer);
  for (Stream& stream : work.out)
    if (take_out(stream, rank)) ++readers;
  // the last one is done first: begin with the rank after me
  std::stable_sort(pulls.begin(), pulls.end(), [rank, size](const LocalCopy& a, const LocalCopy& b) {
    return (a.peer - rank + size) % size > (b.peer - rank + size) % size;
  });
  pulls.insert(pulls.end(), work.copies.begin(), work.copies.end());
  work.copies = std::move(pulls);
  return readers;
}

} // namespace redist::detail
