// SPDX-License-Identifier: BSD-3-Clause
#include "exec/group.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace redist::detail {
namespace {

/// The part of a message that an item or a local copy takes.
struct Part {
  const PackedView& view;
  int transfer;
  std::int64_t first, count;

  std::int64_t height() const { return view.rows->total; }
  bool is_whole_columns() const { return first % height() == 0 && count % height() == 0; }
  bool has_columns_of(const Part& o) const {
    return transfer == o.transfer && view.cols == o.view.cols && first / height() == o.first / o.height() &&
           count / height() == o.count / o.height();
  }
};

Part part_of(const Item& item) {
  return {item.view, item.transfer, item.first, item.count};
}
Part part_of(const LocalCopy& copy) {
  return {copy.source, copy.transfer, copy.first, copy.count};
}

bool goes_in_columns(const Stream& stream, std::size_t panel_bytes) {
  return std::all_of(stream.items.begin(), stream.items.end(), [&](const Item& item) {
    return can_pack_together(item.view, nullptr) && part_of(item).is_whole_columns() &&
           item.view.rows->total * item.view.esize <= static_cast<std::int64_t>(panel_bytes);
  });
}

bool takes_same_columns(const Stream& a, const Stream& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), [](const Item& x, const Item& y) {
    return x.step == y.step && part_of(x).has_columns_of(part_of(y));
  });
}

/// What stays here of the columns of these streams, when there is something for each item.
void take_copies(Group& group, const Stream& lead, std::vector<LocalCopy>& copies) {
  std::vector<std::size_t> found;
  for (const Item& item : lead.items) {
    const auto same = std::find_if(copies.begin(), copies.end(), [&](const LocalCopy& copy) {
      return copy.peer < 0 && can_pack_together(copy.source, &copy.target) && part_of(copy).is_whole_columns() &&
             part_of(item).has_columns_of(part_of(copy));
    });
    if (same == copies.end()) return;
    found.push_back(static_cast<std::size_t>(same - copies.begin()));
  }
  for (std::size_t k : found) group.copies.push_back(copies[k]);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (auto k = found.rbegin(); k != found.rend(); ++k) copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(*k));
}

/// The copy runs of each item; items of the same rows and element size share them.
void make_runs(Group& group, const std::vector<Stream>& out) {
  std::vector<std::vector<std::pair<const RunList*, int>>> keys;
  const std::size_t items = out[group.streams.front()].items.size();
  for (std::size_t i = 0; i < items; ++i) {
    std::vector<Outgoing> outgoing;
    for (std::size_t s : group.streams) outgoing.push_back({&out[s].items[i].view});
    if (!group.copies.empty()) outgoing.push_back({&group.copies[i].source, &group.copies[i].target});
    std::vector<std::pair<const RunList*, int>> key;
    for (const Outgoing& one : outgoing) key.emplace_back(one.source->rows, one.source->esize);
    const auto known = std::find(keys.begin(), keys.end(), key);
    group.runs_of_item.push_back(static_cast<std::size_t>(known - keys.begin()));
    if (known != keys.end()) continue;
    keys.push_back(std::move(key));
    group.runs.push_back(copy_runs_of(outgoing));
  }
}

} // namespace

std::vector<Group> form_groups(Work& work, std::size_t panel_bytes, std::size_t most_members, bool with_copies) {
  const std::vector<Stream>& out = work.out;
  std::vector<Group> groups;
  std::vector<bool> joinable; // per group
  for (std::size_t s = 0; s < out.size(); ++s) {
    const Stream& stream = out[s];
    if (!stream.shared || stream.items.empty()) continue;
    const bool joins = goes_in_columns(stream, panel_bytes);
    std::size_t g = 0;
    while (g < groups.size() && !(joins && joinable[g] && groups[g].streams.size() < most_members &&
                                  takes_same_columns(out[groups[g].streams.front()], stream)))
      ++g;
    if (g == groups.size()) {
      groups.emplace_back();
      joinable.push_back(joins);
    }
    groups[g].streams.push_back(s);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (joinable[g] && with_copies) take_copies(groups[g], out[groups[g].streams.front()], work.copies);
    if (!groups[g].is_alone()) make_runs(groups[g], out);
  }
  return groups;
}

void Fill::reserve(std::size_t members) {
  panels.reserve(members);
  bytes.reserve(members);
  outgoing.reserve(members + 1); // and what stays here
  writers.reserve(members + 1);
}

void fill_panels(const Group& group, std::vector<Stream>& out, Fill& fill, std::size_t panel_bytes, bool non_temporal) {
  Stream& lead = out[group.streams.front()];
  const std::size_t members = group.streams.size();
  fill.bytes.assign(members, 0);
  if (group.is_alone()) {
    fill.bytes[0] = lead.pack(fill.panels.front(), panel_bytes, non_temporal, fill.staging.get());
    return;
  }
  const int step = lead.step();
  while (!lead.at_end() && lead.step() == step) {
    const std::size_t i = lead.place.item;
    std::int64_t columns = INT64_MAX;
    fill.outgoing.clear();
    for (std::size_t k = 0; k < members; ++k) {
      const Stream& stream = out[group.streams[k]];
      const Item& item = stream.items[i];
      const std::int64_t column_bytes = item.view.rows->total * item.view.esize;
      const auto room = static_cast<std::int64_t>(panel_bytes - fill.bytes[k]);
      columns = std::min({columns, room / column_bytes, (item.count - stream.place.done) / item.view.rows->total});
      fill.outgoing.push_back({&item.view, nullptr, fill.panels[k] + fill.bytes[k], non_temporal});
    }
    if (columns == 0) break;
    if (!group.copies.empty()) fill.outgoing.push_back({&group.copies[i].source, &group.copies[i].target});
    const Item& item = lead.items[i];
    pack_together(fill.outgoing, group.runs[group.runs_of_item[i]],
                  (item.first + lead.place.done) / item.view.rows->total, columns, fill.writers);
    for (std::size_t k = 0; k < members; ++k) {
      Stream& stream = out[group.streams[k]];
      const PackedView& view = stream.items[i].view;
      const auto bytes = static_cast<std::size_t>(columns * view.rows->total * view.esize);
      fill.bytes[k] += bytes;
      stream.skip(bytes);
    }
  }
}

} // namespace redist::detail
