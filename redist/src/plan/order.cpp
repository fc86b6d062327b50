// SPDX-License-Identifier: BSD-3-Clause
// In which order one rank goes through its messages, read off the timetable.
#include <algorithm>

#include "base/index.hpp"
#include "plan/tables.hpp"

namespace redist::detail {
namespace {

using base::at;

/// From the next higher neighbour on, so that not all ranks begin with rank 0.
std::vector<Piece> all_at_once(int rank, const std::vector<Message>& messages) {
  std::vector<Piece> order;
  std::size_t begin = 0;
  while (begin < messages.size() && messages[begin].peer < rank) ++begin;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::size_t k = (begin + i) % messages.size();
    order.push_back({0, static_cast<int>(k), 0, messages[k].elements()});
  }
  return order;
}

/// Where the step of a message follows from its two ends: each goes whole.
int step_of(const PlanTables& tables, int rank, int peer, const Pair& pair) {
  const Timetable& timetable = tables.timetable;
  const auto row_step = [&](std::int64_t difference) {
    return timetable.row_step[at(wrap(difference, static_cast<std::int64_t>(timetable.row_step.size())))];
  };
  if (timetable.rule == Timetable::Rule::caterpillar) {
    const std::vector<int>& all = tables.union_ranks;
    const auto number_of = [&](int one) { return std::lower_bound(all.begin(), all.end(), one) - all.begin(); };
    return wrap(-number_of(rank) - number_of(peer), static_cast<std::int64_t>(all.size()));
  }
  if (timetable.rule == Timetable::Rule::circulant_ranks) return row_step(pair.target - pair.source);
  const int row = row_step(pair.c - pair.a);
  const int col = timetable.col_step[at(wrap(pair.d - pair.b, static_cast<std::int64_t>(timetable.col_step.size())))];
  return timetable.number[at(row) * timetable.per_row_step + at(col)];
}

std::vector<Piece> by_step(const PlanTables& tables, int rank, const std::vector<Message>& messages,
                           const std::vector<Pair>& pairs) {
  std::vector<Piece> order;
  for (std::size_t k = 0; k < messages.size(); ++k)
    order.push_back(
        {step_of(tables, rank, messages[k].peer, pairs[k]), static_cast<int>(k), 0, messages[k].elements()});
  std::sort(order.begin(), order.end(), [](const Piece& l, const Piece& r) { return l.step < r.step; });
  return order;
}

/// Pieces as the matchings give them. Steps that follow each other with the same partner are one piece, at both ends
/// alike.
class Pieces {
public:
  explicit Pieces(const std::vector<Message>& messages) : messages_(messages), done_(messages.size(), 0) {}

  void add(int step, int peer, std::int64_t elements) {
    const auto found =
        std::lower_bound(messages_.begin(), messages_.end(), peer, [](const Message& m, int p) { return m.peer < p; });
    const auto k = found - messages_.begin();
    if (last_step_ == step - 1 && order.back().message == k)
      order.back().count += elements;
    else
      order.push_back({step, static_cast<int>(k), done_[at(k)], elements});
    last_step_ = step;
    done_[at(k)] += elements;
  }

  std::vector<Piece> order;

private:
  const std::vector<Message>& messages_;
  std::vector<std::int64_t> done_;
  int last_step_ = -2;
};

/// @param any of this rank's pairs: they have its own end in common
std::vector<Piece> by_matchings(const PlanTables& tables, int rank, bool sends, const std::vector<Message>& messages,
                                const Pair& any) {
  const Timetable& timetable = tables.timetable;
  const Matchings &rows = timetable.rows, &cols = timetable.cols;
  Pieces pieces(messages);
  const auto partner = [sends](const Matchings& matchings, std::size_t k, int me) {
    return sends ? matchings.target_of[k * at(matchings.sources) + at(me)]
                 : matchings.source_of[k * at(matchings.targets) + at(me)];
  };
  if (timetable.rule == Timetable::Rule::direct) {
    for (std::size_t k = 0; k < rows.steps(); ++k) {
      const int other = partner(rows, k, sends ? any.source : any.target);
      if (other >= 0)
        pieces.add(static_cast<int>(k), sends ? tables.target_rank(other) : tables.source_rank(other), rows.length[k]);
    }
    return std::move(pieces.order);
  }
  for (std::size_t k = 0; k < rows.steps(); ++k) {
    const int row = partner(rows, k, sends ? any.a : any.c);
    if (row < 0) continue;
    for (std::size_t l = 0; l < cols.steps(); ++l) {
      const int col = partner(cols, l, sends ? any.b : any.d);
      if (col < 0) continue;
      const int peer = sends ? tables.target_rank(tables.target_number(row, col))
                             : tables.source_rank(tables.source_number(row, col));
      if (peer != rank)
        pieces.add(timetable.number[k * timetable.per_row_step + l], peer, rows.length[k] * cols.length[l]);
    }
  }
  return std::move(pieces.order);
}

} // namespace

std::vector<Piece> order_of(const PlanTables& tables, int rank, bool sends, const std::vector<Message>& messages,
                            const std::vector<Pair>& pairs) {
  switch (tables.timetable.rule) {
  case Timetable::Rule::all:
    return all_at_once(rank, messages);
  case Timetable::Rule::caterpillar:
  case Timetable::Rule::circulant:
  case Timetable::Rule::circulant_ranks:
    return by_step(tables, rank, messages, pairs);
  case Timetable::Rule::product:
  case Timetable::Rule::direct:
    break;
  }
  if (messages.empty()) return {};
  return by_matchings(tables, rank, sends, messages, pairs.front());
}

} // namespace redist::detail
