// SPDX-License-Identifier: BSD-3-Clause
#include "exec/group.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace redist::detail {
namespace {

/// The part of a message that a piece takes.
struct Part {
  const Message& message;
  const Piece& piece;

  std::int64_t height() const { return message.rows->total; }
  bool is_whole_columns() const { return piece.first % height() == 0 && piece.count % height() == 0; }
  bool has_columns_of(const Part& o) const {
    return piece.matrix == o.piece.matrix && message.cols == o.message.cols &&
           piece.first / height() == o.piece.first / o.height() && piece.count / height() == o.piece.count / o.height();
  }
};

Part part_of(const Stream& stream, const Piece& piece) {
  return {stream.message_of(piece), piece};
}

bool goes_in_columns(const Stream& stream, std::size_t panel_bytes) {
  return std::all_of(stream.pieces.begin(), stream.pieces.end(), [&](const Piece& piece) {
    const PackedView view = stream.view_of(piece);
    return can_pack_together(view, nullptr) && part_of(stream, piece).is_whole_columns() &&
           view.rows->total * view.esize <= static_cast<std::int64_t>(panel_bytes);
  });
}

bool takes_same_columns(const Stream& a, const Stream& b) {
  return std::equal(
      a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
      [&](const Piece& x, const Piece& y) { return x.step == y.step && part_of(a, x).has_columns_of(part_of(b, y)); });
}

/// What stays here of the columns of these streams, when there is something for each piece.
void take_keeps(Group& group, const Stream& lead, Work& work) {
  std::vector<Piece>& keeps = work.keeps;
  std::vector<std::size_t> found;
  for (const Piece& piece : lead.pieces) {
    const auto same = std::find_if(keeps.begin(), keeps.end(), [&](const Piece& keep) {
      const LocalCopy copy = work.copy_of(keep);
      const Part kept{work.kept_message_of(keep), keep};
      return can_pack_together(copy.source, &copy.target) && kept.is_whole_columns() &&
             part_of(lead, piece).has_columns_of(kept);
    });
    if (same == keeps.end()) return;
    found.push_back(static_cast<std::size_t>(same - keeps.begin()));
  }
  for (std::size_t k : found) group.keeps.push_back(keeps[k]);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (auto k = found.rbegin(); k != found.rend(); ++k) keeps.erase(keeps.begin() + static_cast<std::ptrdiff_t>(*k));
}

/// What leaves of the i-th piece of a group, and what stays.
void take_piece(const Group& group, const Work& work, std::size_t i, Outgoing& outgoing) {
  outgoing.sources.clear();
  for (std::size_t s : group.streams) outgoing.sources.push_back(work.out[s].view_of(work.out[s].pieces[i]));
  outgoing.target.reset();
  if (group.keeps.empty()) return;
  const LocalCopy copy = work.copy_of(group.keeps[i]);
  outgoing.sources.push_back(copy.source);
  outgoing.target = copy.target;
}

/// The copy runs of each piece; pieces of the same rows and element size share them.
void make_runs(Group& group, const Work& work) {
  std::vector<std::vector<std::pair<const RunList*, int>>> keys;
  const std::size_t pieces = work.out[group.streams.front()].pieces.size();
  Outgoing outgoing;
  for (std::size_t i = 0; i < pieces; ++i) {
    take_piece(group, work, i, outgoing);
    std::vector<std::pair<const RunList*, int>> key;
    for (const PackedView& source : outgoing.sources) key.emplace_back(source.rows, source.esize);
    const auto known = std::find(keys.begin(), keys.end(), key);
    group.runs_of_piece.push_back(static_cast<std::size_t>(known - keys.begin()));
    if (known != keys.end()) continue;
    keys.push_back(std::move(key));
    group.runs.push_back(copy_runs_of(outgoing));
  }
}

} // namespace

std::vector<Group> form_groups(Work& work, std::size_t panel_bytes, std::size_t most_members, bool with_keeps) {
  const std::vector<Stream>& out = work.out;
  std::vector<Group> groups;
  std::vector<bool> joinable; // per group
  for (std::size_t s = 0; s < out.size(); ++s) {
    const Stream& stream = out[s];
    if (!stream.shared || stream.pieces.empty()) continue;
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
    if (joinable[g] && with_keeps) take_keeps(groups[g], out[groups[g].streams.front()], work);
    if (!groups[g].is_alone()) make_runs(groups[g], work);
  }
  return groups;
}

void fill_panels(const Group& group, Work& work, Outgoing& outgoing) {
  std::vector<Stream>& out = work.out;
  Stream& lead = out[group.streams.front()];
  if (group.is_alone()) {
    outgoing.room[0] -= lead.pack(outgoing.packed[0], outgoing.room[0], outgoing.non_temporal, outgoing.staging.get());
    return;
  }
  const int step = lead.step();
  while (!lead.at_end() && lead.step() == step) {
    const std::size_t i = lead.place.piece;
    take_piece(group, work, i, outgoing);
    const auto column_bytes = [&](std::size_t k) {
      return outgoing.sources[k].rows->total * outgoing.sources[k].esize;
    };
    std::int64_t columns = INT64_MAX;
    for (std::size_t k = 0; k < group.streams.size(); ++k) {
      const Stream& stream = out[group.streams[k]];
      columns = std::min({columns, static_cast<std::int64_t>(outgoing.room[k]) / column_bytes(k),
                          (stream.pieces[i].count - stream.place.done) / outgoing.sources[k].rows->total});
    }
    if (columns == 0) break;
    const std::int64_t first = (lead.pieces[i].first + lead.place.done) / outgoing.sources.front().rows->total;
    pack_together(outgoing, group.runs[group.runs_of_piece[i]], first, columns);
    for (std::size_t k = 0; k < group.streams.size(); ++k) {
      const auto bytes = static_cast<std::size_t>(columns * column_bytes(k));
      outgoing.room[k] -= bytes;
      out[group.streams[k]].skip(bytes);
    }
  }
}

} // namespace redist::detail
