// SPDX-License-Identifier: BSD-3-Clause
#include "exec/prepared.hpp"

#include <algorithm>

#include "pack/copy.hpp"

namespace redist::detail {
namespace {

/// Up to this size filling the panels takes so little time that no rank waits for one that fills them before it
/// arrives.
constexpr std::int64_t short_exchange_bytes = std::int64_t{512} << 10;

std::int64_t signature_of(const std::vector<const RankPlan*>& plans, Slab slab) {
  std::int64_t signature = static_cast<std::int64_t>(plans.size()) * 65537 + slab.of;
  for (const RankPlan* plan : plans) signature = ((signature * 31 + plan->type) * 31 + plan->steps) & 0xffffffffff;
  return signature;
}

/// Whether panels are written past the cache.
bool stores_non_temporal(const Work& work, PanelWrites how) {
  if (!non_temporal_is_possible() || how == PanelWrites::cached) return false;
  std::int64_t to_panels = 0;
  for (const Stream& stream : work.out)
    if (stream.shared) to_panels += stream.bytes;
  return how == PanelWrites::non_temporal || to_panels >= non_temporal_bytes;
}

bool has_rearranged(const std::vector<Stream>& streams) {
  return std::any_of(streams.begin(), streams.end(), [](const Stream& stream) {
    return stream.shared && std::any_of(stream.pieces.begin(), stream.pieces.end(),
                                        [&](const Piece& piece) { return stream.view_of(piece).is_rearranged(); });
  });
}

Slab valid(Slab slab, const Connections& ranks) {
  if (slab.of < 1)
    throw base::Error(base::Status::bad_argument,
                      "redist: in-place exchange: slabs is {}, expected at least 1 [rank {} of {}]", slab.of,
                      ranks.rank, ranks.size);
  return slab;
}

} // namespace

Prepared::Prepared(std::shared_ptr<Connections> with, std::vector<const RankPlan*> plans, Slab part)
    : ranks(std::move(with)), slab(valid(part, *ranks)),
      work(std::move(plans), slab, ranks->rank, ranks->size, [this](int peer) { return ranks->reaches(peer); }) {
  signature = signature_of(work.plans, slab);
  outgoing.non_temporal = stores_non_temporal(work, ranks->options.panel_writes);
  if (ranks->host) {
    is_short = ranks->host->everybody() && work.bytes_out() <= short_exchange_bytes;
    find_pulls();
    // what stays would be written to the target with its group, before the agreement
    groups = form_groups(work, ranks->host->panel_bytes(),
                         static_cast<std::size_t>(std::max(1, ranks->host->panel_count() * 3 / 4)), !is_short);
    if (outgoing.non_temporal && has_rearranged(work.out)) outgoing.staging.reset(new char[ranks->host->panel_bytes()]);
  }
  make_turns();
  const auto goes_by_wire = [](const Stream& stream) { return !stream.shared; };
  if (std::any_of(work.out.begin(), work.out.end(), goes_by_wire) ||
      std::any_of(work.in.begin(), work.in.end(), goes_by_wire))
    ranks->wire->reserve();
}

/// And room for what a run puts down.
void Prepared::make_turns() {
  std::vector<std::size_t> by_wire, leads;
  for (std::size_t s = 0; s < work.out.size(); ++s)
    if (!work.out[s].shared) by_wire.push_back(s);
  group_of_lead.assign(work.out.size(), 0);
  std::size_t members = 0, grouped_keeps = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t lead = groups[g].streams.front();
    group_of_lead[lead] = g;
    leads.push_back(lead);
    members = std::max(members, groups[g].streams.size());
    grouped_keeps += groups[g].keeps.size();
  }
  wire_turn = Turn(&work.out, std::move(by_wire));
  host_turn = Turn(&work.out, std::move(leads));
  outgoing.reserve(members);
  taken.reserve(members);
  copies.reserve(pulls.size() + grouped_keeps + work.keeps.size());
  host_in.reserve(work.in.size());
  for (const Stream& stream : work.in)
    if (!stream.shared) wire_in += stream.bytes;
}

} // namespace redist::detail
