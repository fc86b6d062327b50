// SPDX-License-Identifier: BSD-3-Clause
#include "exec/work.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "base/status.hpp"
#include "exec/pages.hpp"
#include "pack/copy.hpp"

namespace redist::detail {

using base::Error;
using base::Status;

namespace {

std::int64_t bytes_of(const std::vector<Stream>& streams) {
  std::int64_t bytes = 0;
  for (const Stream& stream : streams) bytes += stream.bytes;
  return bytes;
}

Error wrong(Status status, std::size_t transfer, const std::string& text, int rank, int size) {
  return Error(status, "redist: transfer {}: {} [rank {} of {}]", transfer, text, rank, size);
}

/// Empty when each message is covered once by the pieces that it travels in.
std::string uncovered(const std::vector<Message>& messages, const std::vector<Piece>& order) {
  if (order.empty()) return {};
  std::vector<std::int64_t> left;
  for (const Message& message : messages) left.push_back(message.elements());
  for (const Piece& piece : order) {
    if (piece.message < 0 || piece.message >= static_cast<int>(messages.size()) || piece.first < 0 || piece.count < 0 ||
        piece.first + piece.count > messages[static_cast<std::size_t>(piece.message)].elements())
      return fmt::format("a piece of step {} lies outside its message", piece.step);
    left[static_cast<std::size_t>(piece.message)] -= piece.count;
  }
  for (std::int64_t rest : left)
    if (rest != 0)
      return fmt::format("the order of its pieces leaves {} elements of a message uncovered, expected 0", rest);
  return {};
}

bool reads(const RankPlan& plan) {
  return !plan.sends.empty() || !plan.keeps.empty();
}
bool writes(const RankPlan& plan) {
  return !plan.recvs.empty() || !plan.keeps.empty();
}

/// Whether rank `rank` of `size` can do this, wherever the matrices lie. @throws Error{bad_type, bad_argument,
/// null_pointer}
void check_plans(const std::vector<const RankPlan*>& plans, int rank, int size) {
  for (std::size_t t = 0; t < plans.size(); ++t) {
    const auto bad = [&](Status status, const std::string& text) { return wrong(status, t, text, rank, size); };
    if (plans[t] == nullptr) throw bad(Status::null_pointer, "its plan is null, expected this rank's");
    const RankPlan& plan = *plans[t];
    if (element_bytes(plan.type) == 0)
      throw bad(Status::bad_type, fmt::format("type is '{}', expected one of s d c z i", plan.type));
    if ((reads(plan) || writes(plan)) && plan.rank != rank)
      throw bad(Status::bad_argument, fmt::format("its plan is rank {}'s, expected this rank's", plan.rank));
    for (const auto* messages : {&plan.sends, &plan.recvs})
      for (const Message& message : *messages)
        if (message.peer < 0 || message.peer >= size || message.peer == rank)
          throw bad(Status::bad_argument,
                    fmt::format("a message's peer is {}, expected another rank of 0 .. {}", message.peer, size - 1));
    for (const std::string& text : {uncovered(plan.sends, plan.send_order), uncovered(plan.recvs, plan.recv_order)})
      if (!text.empty()) throw bad(Status::bad_argument, text);
  }
}

/// Whether this rank's shares can lie there. @throws Error{bad_argument, null_pointer}
void check_pointers(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers, int rank,
                    int size) {
  if (pointers.size() != plans.size())
    throw Error(Status::bad_argument, "redist: pointers of {} matrices, expected {} [rank {} of {}]", pointers.size(),
                plans.size(), rank, size);
  const auto check = [&](std::size_t t, const char* which, const void* data, std::int64_t lld, std::int64_t m,
                         std::int64_t n) {
    if (data == nullptr)
      throw wrong(Status::null_pointer, t,
                  fmt::format("{} is null, but this rank has {} x {} elements of it", which, m, n), rank, size);
    if (lld < std::max<std::int64_t>(1, m))
      throw wrong(Status::bad_argument, t,
                  fmt::format("lld_{} is {}, expected at least {}", which, lld, std::max<std::int64_t>(1, m)), rank,
                  size);
  };
  for (std::size_t t = 0; t < plans.size(); ++t) {
    const RankPlan& plan = *plans[t];
    const Pointers& x = pointers[t];
    if (reads(plan)) check(t, "from", x.from, x.lld_from, plan.m_loc_from, plan.n_loc_from);
    if (writes(plan)) check(t, "to", x.to, x.lld_to, plan.m_loc_to, plan.n_loc_to);
    if ((x.alpha == nullptr) != (x.beta == nullptr))
      throw wrong(Status::null_pointer, t,
                  fmt::format("{} is null and {} is not, expected both", x.alpha == nullptr ? "alpha" : "beta",
                              x.alpha == nullptr ? "beta" : "alpha"),
                  rank, size);
  }
}

/// Calls take(first, count) for what a slab takes of a message: packed elements.
template <class Take> void each_part(const Message& message, Slab slab, Take&& take) {
  const std::vector<Run>& runs = message.cols->runs;
  std::int64_t column = 0, first = 0, columns = 0; // of the stretch that is being put together
  std::size_t k = 0;
  slab.each_part(*message.cols, [&](const Run& r, std::int64_t skip, std::int64_t count) {
    for (; &runs[k] != &r; ++k) column += runs[k].len * runs[k].count;
    if (first + columns != column + skip) {
      if (columns > 0) take(first * message.rows->total, columns * message.rows->total);
      first = column + skip;
      columns = 0;
    }
    columns += count;
  });
  if (columns > 0) take(first * message.rows->total, columns * message.rows->total);
}

PackedView view_at(void* base, std::int64_t lld, const RankPlan& plan, const Message& message) {
  return {message.rows, message.cols, static_cast<char*>(base), lld, element_bytes(plan.type)};
}

/// The pieces in which the messages travel, in the order of the plan where it has one.
std::vector<Piece> pieces_of(const std::vector<Message>& messages, const std::vector<Piece>& order, int matrix,
                             Slab slab) {
  std::vector<Piece> pieces;
  if (slab.of == 1 && !order.empty()) {
    pieces = order;
    for (Piece& piece : pieces) piece.matrix = matrix;
    return pieces;
  }
  for (const Message& message : messages) {
    const int k = static_cast<int>(&message - messages.data());
    const auto add = [&](std::int64_t first, std::int64_t count) { pieces.push_back({0, k, first, count, matrix}); };
    if (slab.of == 1)
      add(0, message.elements());
    else
      each_part(message, slab, add);
  }
  return pieces;
}

} // namespace

Work::Work(std::vector<const RankPlan*> plans_, Slab slab, int rank_, int size_,
           const std::function<bool(int)>& is_shared)
    : plans(std::move(plans_)), rank(rank_), size(size_) {
  check_plans(plans, rank, size);
  pointers.resize(plans.size());
  scalings.resize(plans.size());
  std::unordered_map<int, std::size_t> out_of_rank;
  const auto add = [&](bool is_outgoing, const std::vector<Message>& messages, const Piece& piece) {
    if (piece.count == 0) return;
    std::vector<Stream>& streams = is_outgoing ? out : in;
    const int peer = messages[static_cast<std::size_t>(piece.message)].peer;
    const auto found = (is_outgoing ? out_of_rank : in_of_rank).emplace(peer, streams.size());
    if (found.second) {
      streams.emplace_back();
      streams.back().work = this;
      streams.back().peer = peer;
      streams.back().is_outgoing = is_outgoing;
      streams.back().shared = is_shared(peer);
    }
    Stream& stream = streams[found.first->second];
    stream.pieces.push_back(piece);
    stream.bytes += piece.count * element_bytes(plan_of(piece).type);
  };
  for (std::size_t t = 0; t < plans.size(); ++t) {
    const RankPlan& plan = *plans[t];
    const int matrix = static_cast<int>(t);
    for (const Piece& piece : pieces_of(plan.sends, plan.send_order, matrix, slab)) add(true, plan.sends, piece);
    for (const Piece& piece : pieces_of(plan.recvs, plan.recv_order, matrix, slab)) add(false, plan.recvs, piece);
    // whole, without slabs: in parts it could not leave its columns together with what goes away
    for (const Piece& piece : pieces_of(plan.keeps, {}, matrix, slab)) {
      if (piece.count == 0) continue;
      keeps.push_back(piece);
      bytes_kept += piece.count * element_bytes(plan.type);
    }
  }
  has_large_target = bytes_kept + bytes_in() >= non_temporal_bytes && non_temporal_is_possible();
  const auto by_step = [](const Piece& a, const Piece& b) {
    return a.step != b.step ? a.step < b.step : a.matrix != b.matrix ? a.matrix < b.matrix : a.first < b.first;
  };
  for (auto* streams : {&out, &in})
    for (Stream& stream : *streams) std::stable_sort(stream.pieces.begin(), stream.pieces.end(), by_step);
  std::sort(out.begin(), out.end(), [this](const Stream& a, const Stream& b) {
    return (a.peer - rank + size) % size < (b.peer - rank + size) % size;
  });
}

std::int64_t Work::bytes_out() const {
  return bytes_of(out);
}
std::int64_t Work::bytes_in() const {
  return bytes_of(in);
}

void Work::bind(const std::vector<Pointers>& where) {
  check_pointers(plans, where, rank, size);
  std::copy(where.begin(), where.end(), pointers.begin());
  base::Fnv1a print;
  bool is_copy = true;
  for (std::size_t t = 0; t < plans.size(); ++t) {
    const char type = plans[t]->type;
    scalings[t] = where[t].alpha == nullptr ? Scaling{} : scaling_of(type, where[t].alpha, where[t].beta);
    if (scalings[t].add == nullptr) continue;
    is_copy = false;
    print.number(static_cast<std::int64_t>(t));
    for (const char* factor : {scalings[t].alpha, scalings[t].beta})
      print.text({factor, static_cast<std::size_t>(element_bytes(type))});
  }
  scaling_print = is_copy ? 0 : print.positive();
  for (auto* streams : {&out, &in})
    for (Stream& stream : *streams) stream.rewind();
}

PackedView Work::source_of(const Piece& piece, const Message& message) const {
  const RankPlan& plan = plan_of(piece);
  const Pointers& where = pointers[static_cast<std::size_t>(piece.matrix)];
  PackedView view = view_at(const_cast<void*>(where.from), where.lld_from, plan, message); // only read
  view.is_source = true;
  view.transposed = plan.transposed;
  view.conj_size = !plan.conjugated ? 0 : plan.type == 'c' ? 4 : plan.type == 'z' ? 8 : 0;
  return view;
}

PackedView Work::target_of(const Piece& piece, const Message& message) const {
  const RankPlan& plan = plan_of(piece);
  const Pointers& where = pointers[static_cast<std::size_t>(piece.matrix)];
  PackedView view = view_at(where.to, where.lld_to, plan, message);
  view.is_source = false;
  view.row_limits = plan.row_limits.empty() ? nullptr : plan.row_limits.data();
  const Scaling& scaling = scalings[static_cast<std::size_t>(piece.matrix)];
  view.scaling = scaling.add == nullptr ? nullptr : &scaling;
  view.non_temporal = has_large_target;
  return view;
}

const Message& Work::kept_message_of(const Piece& keep) const {
  return plan_of(keep).keeps[static_cast<std::size_t>(keep.message)];
}

LocalCopy Work::copy_of(const Piece& keep) const {
  const Message& message = kept_message_of(keep);
  return {source_of(keep, message), target_of(keep, message), keep.first, keep.count, -1};
}

namespace {

/// Less takes as long page by page as to ask whether it is there and to bring it in.
constexpr std::int64_t least_brought_in_bytes = std::int64_t{128} << 10;

} // namespace

void prepare_targets(const Work& work) {
  for (std::size_t t = 0; t < work.plans.size(); ++t) {
    const Pointers& x = work.pointers[t];
    const RankPlan& plan = *work.plans[t];
    if (x.to == nullptr || plan.n_loc_to == 0) continue;
    const std::int64_t esize = element_bytes(plan.type);
    const std::int64_t bytes = ((plan.n_loc_to - 1) * x.lld_to + plan.m_loc_to) * esize;
    std::int64_t written = 0;
    for (const auto* messages : {&plan.recvs, &plan.keeps})
      for (const Message& message : *messages) written += message.elements() * esize;
    // no memory that would not have been there afterwards anyway
    if (bytes < least_brought_in_bytes || written < bytes / 8 * 7) continue;
    auto* begin = static_cast<char*>(x.to);
    if (is_untouched(begin, begin + bytes)) bring_in(begin, begin + bytes);
  }
}

} // namespace redist::detail
