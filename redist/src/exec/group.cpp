// SPDX-License-Identifier: BSD-3-Clause
#include "exec/group.hpp"

#include <algorithm>
#include <cstdint>

namespace redist::detail {

std::vector<Group> form_groups(Work& work, std::size_t panel_bytes, std::size_t most_members) {
  const std::vector<Stream>& out = work.out;
  std::vector<LocalCopy>& copies = work.copies;
  std::vector<Group> groups;
  const auto alike = [](const PackedView& a, std::int64_t a_first, std::int64_t a_count, const PackedView& b,
                        std::int64_t b_first, std::int64_t b_count) {
    return a.cols == b.cols && a.base == b.base && a_first / a.rows->total == b_first / b.rows->total &&
           a_count / a.rows->total == b_count / b.rows->total;
  };
  const auto whole = [&](const PackedView& view, std::int64_t first, std::int64_t count) {
    const std::int64_t height = view.rows->total;
    return first % height == 0 && count % height == 0 && height * view.esize <= static_cast<std::int64_t>(panel_bytes);
  };
  const auto in_columns = [&](const Stream& stream) {
    return std::all_of(stream.items.begin(), stream.items.end(), [&](const Item& item) {
      return can_pack_together(item.view, nullptr) && whole(item.view, item.first, item.count);
    });
  };
  std::vector<bool> joinable; // per group
  for (std::size_t s = 0; s < out.size(); ++s) {
    const Stream& stream = out[s];
    if (!stream.shared || stream.at_end()) continue;
    const bool joins = in_columns(stream);
    const auto same = [&](const Group& group) {
      const Stream& lead = out[group.streams.front()];
      if (group.streams.size() >= most_members || lead.items.size() != stream.items.size()) return false;
      for (std::size_t i = 0; i < lead.items.size(); ++i) {
        const Item &a = lead.items[i], &b = stream.items[i];
        if (a.step != b.step || a.transfer != b.transfer || !alike(a.view, a.first, a.count, b.view, b.first, b.count))
          return false;
      }
      return true;
    };
    std::size_t g = 0;
    while (g < groups.size() && !(joins && joinable[g] && same(groups[g]))) ++g;
    if (g == groups.size()) {
      groups.emplace_back();
      joinable.push_back(joins);
    }
    groups[g].streams.push_back(s);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!joinable[g]) continue;
    const Stream& lead = out[groups[g].streams.front()];
    std::vector<std::size_t> found;
    for (const Item& item : lead.items)
      for (std::size_t k = 0; k < copies.size(); ++k)
        if (copies[k].peer < 0 && can_pack_together(copies[k].source, &copies[k].target) &&
            copies[k].first % copies[k].source.rows->total == 0 &&
            copies[k].count % copies[k].source.rows->total == 0 &&
            alike(item.view, item.first, item.count, copies[k].source, copies[k].first, copies[k].count)) {
          found.push_back(k);
          break;
        }
    if (found.size() != lead.items.size()) continue;
    for (std::size_t k : found) groups[g].copies.push_back(copies[k]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (auto k = found.rbegin(); k != found.rend(); ++k)
      copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(*k));
  }
  return groups;
}

std::vector<std::size_t> fill_panels(Group& group, std::vector<Stream>& out, const std::vector<char*>& panels,
                                     std::size_t panel_bytes, bool non_temporal) {
  Stream& lead = out[group.streams.front()];
  if (group.streams.size() == 1 && group.copies.empty()) return {lead.pack(panels.front(), panel_bytes, non_temporal)};
  const int step = lead.step();
  const std::size_t members = group.streams.size();
  std::vector<std::size_t> used(members, 0);
  std::vector<Outgoing> outgoing(members);
  while (!lead.at_end() && lead.step() == step) {
    std::int64_t columns = INT64_MAX;
    for (std::size_t k = 0; k < members; ++k) {
      const Stream& stream = out[group.streams[k]];
      const Item& item = stream.items[stream.place.item];
      const std::int64_t column_bytes = item.view.rows->total * item.view.esize;
      const auto room = static_cast<std::int64_t>(panel_bytes - used[k]);
      columns = std::min({columns, room / column_bytes, (item.count - stream.place.done) / item.view.rows->total});
      outgoing[k] = {&item.view, nullptr, panels[k] + used[k], non_temporal};
    }
    if (columns == 0) break;
    const Item& item = lead.items[lead.place.item];
    if (!group.copies.empty()) {
      const LocalCopy& copy = group.copies[lead.place.item];
      outgoing.push_back({&copy.source, &copy.target, nullptr, false});
    }
    const auto is_of = [](const Outgoing& one, const std::pair<const RunList*, int>& known) {
      return one.source->rows == known.first && one.source->esize == known.second;
    };
    if (!std::equal(outgoing.begin(), outgoing.end(), group.order_of.begin(), group.order_of.end(), is_of)) {
      group.order = ColumnOrder(outgoing);
      group.order_of.clear();
      for (const Outgoing& one : outgoing) group.order_of.emplace_back(one.source->rows, one.source->esize);
    }
    pack_together(outgoing, group.order, (item.first + lead.place.done) / item.view.rows->total, columns);
    outgoing.resize(members);
    for (std::size_t k = 0; k < members; ++k) {
      Stream& stream = out[group.streams[k]];
      const Item& own = stream.items[stream.place.item];
      const auto bytes = static_cast<std::size_t>(columns * own.view.rows->total * own.view.esize);
      used[k] += bytes;
      stream.skip(bytes);
    }
  }
  return used;
}

} // namespace redist::detail
