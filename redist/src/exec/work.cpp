// SPDX-License-Identifier: BSD-3-Clause
#include "exec/work.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/status.hpp"
#include "exec/pages.hpp"
#include "pack/copy.hpp"

namespace redist::detail {

using base::Error;
using base::Status;

void Slab::part_of(const Run& r, std::int64_t& skip, std::int64_t& columns) const {
  const std::int64_t unit = r.count > 1 ? r.len : 1;
  const std::int64_t units = r.count > 1 ? r.count : r.len;
  skip = units * index / of * unit;
  columns = units * (index + 1) / of * unit - skip;
}

namespace {

std::int64_t bytes_of(const std::vector<Stream>& streams) {
  std::int64_t bytes = 0;
  for (const Stream& stream : streams) bytes += stream.bytes;
  return bytes;
}

} // namespace

std::int64_t Work::bytes_out() const {
  return bytes_of(out);
}
std::int64_t Work::bytes_in() const {
  return bytes_of(in);
}

namespace {

Error wrong(Status status, std::size_t transfer, const std::string& text, int rank, int size) {
  return Error(status, fmt::format("redist: transfer {}: {} [rank {} of {}]", transfer, text, rank, size));
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

} // namespace

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

void check_pointers(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers, int rank,
                    int size) {
  if (pointers.size() != plans.size())
    throw Error(Status::bad_argument, fmt::format("redist: pointers of {} matrices, expected {} [rank {} of {}]",
                                                  pointers.size(), plans.size(), rank, size));
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
  }
}

namespace {

/// What one rank has to do, message by message.
class WorkMaker {
public:
  WorkMaker(Slab slab, const std::function<bool(int)>& is_shared) : slab_(slab), is_shared_(is_shared) {}

  void add(const RankPlan& plan, int transfer) {
    plan_ = &plan;
    transfer_ = transfer;
    conj_size_ = !plan.conjugated ? 0 : plan.type == 'c' ? 4 : plan.type == 'z' ? 8 : 0;
    add_messages(work.out, out_of_rank_, plan.sends, plan.send_order, true);
    add_messages(work.in, work.in_of_rank, plan.recvs, plan.recv_order, false);
    for (const Message& message : plan.keeps) {
      if (message.elements() == 0) continue;
      const auto add_copy = [&](std::int64_t first, std::int64_t count) {
        work.copies.push_back({view_of(message, true), view_of(message, false), first, count, transfer_});
        work.bytes_kept += count * element_bytes(plan.type);
      };
      if (slab_.of > 1)
        each_part(message, add_copy);
      else // whole: in parts it could not leave its columns together with what goes away
        add_copy(0, message.elements());
    }
  }

  Work work;

private:
  PackedView view_of(const Message& message, bool is_source) const {
    PackedView view;
    view.rows = message.rows;
    view.cols = message.cols;
    view.esize = element_bytes(plan_->type);
    view.is_source = is_source;
    view.transposed = is_source && plan_->transposed;
    if (!is_source && !plan_->row_limits.empty()) view.row_limits = plan_->row_limits.data();
    if (is_source) view.conj_size = conj_size_;
    return view;
  }

  template <class Take> void each_part(const Message& message, Take&& take) const {
    std::int64_t column = 0, skip = 0, columns = 0;
    for (const Run& r : message.cols->runs) {
      slab_.part_of(r, skip, columns);
      if (columns > 0) take((column + skip) * message.rows->total, columns * message.rows->total);
      column += r.len * r.count;
    }
  }

  void add_messages(std::vector<Stream>& streams, std::unordered_map<int, std::size_t>& of_rank,
                    const std::vector<Message>& messages, const std::vector<Piece>& order, bool is_source) {
    const auto add_item = [&](const Message& message, std::int64_t first, std::int64_t count, int step) {
      if (count == 0) return;
      const auto found = of_rank.emplace(message.peer, streams.size());
      if (found.second) {
        streams.emplace_back();
        streams.back().peer = message.peer;
        streams.back().shared = is_shared_(message.peer);
      }
      Stream& stream = streams[found.first->second];
      stream.items.push_back(
          {view_of(message, is_source), first, count, step, transfer_, plan_->transposed, conj_size_});
      stream.bytes += count * element_bytes(plan_->type);
    };
    if (slab_.of > 1) {
      for (const Message& message : messages)
        each_part(message, [&](std::int64_t first, std::int64_t count) { add_item(message, first, count, 0); });
      return;
    }
    for (const Piece& piece : order)
      add_item(messages[static_cast<std::size_t>(piece.message)], piece.first, piece.count, piece.step);
    if (order.empty())
      for (const Message& message : messages) add_item(message, 0, message.elements(), 0);
  }

  const Slab slab_;
  const std::function<bool(int)>& is_shared_;
  std::unordered_map<int, std::size_t> out_of_rank_;
  const RankPlan* plan_ = nullptr; ///< the matrix that is being added
  int transfer_ = 0;
  int conj_size_ = 0;
};

} // namespace

Work work_of(const std::vector<const RankPlan*>& plans, Slab slab, int rank, int size,
             const std::function<bool(int)>& is_shared) {
  WorkMaker maker(slab, is_shared);
  for (std::size_t t = 0; t < plans.size(); ++t) maker.add(*plans[t], static_cast<int>(t));
  Work work = std::move(maker.work);
  // A small target is better left in the cache.
  if (work.bytes_kept + work.bytes_in() >= non_temporal_bytes && non_temporal_is_possible()) {
    for (Stream& stream : work.in)
      for (Item& item : stream.items) item.view.non_temporal = true;
    for (LocalCopy& copy : work.copies) copy.target.non_temporal = true;
  }
  const auto by_step = [](const Item& a, const Item& b) {
    return a.step != b.step ? a.step < b.step : a.transfer != b.transfer ? a.transfer < b.transfer : a.first < b.first;
  };
  for (auto* streams : {&work.out, &work.in})
    for (Stream& stream : *streams) std::stable_sort(stream.items.begin(), stream.items.end(), by_step);
  std::sort(work.out.begin(), work.out.end(), [rank, size](const Stream& a, const Stream& b) {
    return (a.peer - rank + size) % size < (b.peer - rank + size) % size;
  });
  return work;
}

void bind(PackedView& view, const Pointers& pointers) {
  view.base = view.is_source ? static_cast<char*>(const_cast<void*>(pointers.from)) // only read
                             : static_cast<char*>(pointers.to);
  view.lld = view.is_source ? pointers.lld_from : pointers.lld_to;
}

void Work::bind(const std::vector<Pointers>& pointers) {
  for (auto* streams : {&out, &in})
    for (Stream& stream : *streams) {
      for (Item& item : stream.items) detail::bind(item.view, pointers[static_cast<std::size_t>(item.transfer)]);
      stream.rewind();
    }
  for (LocalCopy& copy : copies)
    for (PackedView* view : {&copy.source, &copy.target})
      detail::bind(*view, pointers[static_cast<std::size_t>(copy.transfer)]);
}

void prepare_targets(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers) {
  for (std::size_t t = 0; t < plans.size(); ++t) {
    const Pointers& x = pointers[t];
    const RankPlan& plan = *plans[t];
    if (x.to == nullptr || plan.n_loc_to == 0) continue;
    const std::int64_t esize = element_bytes(plan.type);
    const std::int64_t bytes = ((plan.n_loc_to - 1) * x.lld_to + plan.m_loc_to) * esize;
    std::int64_t written = 0;
    for (const auto* messages : {&plan.recvs, &plan.keeps})
      for (const Message& message : *messages) written += message.elements() * esize;
    // no memory that would not have been there afterwards anyway
    if (bytes < non_temporal_bytes || written < bytes / 8 * 7) continue;
    auto* begin = static_cast<char*>(x.to);
    if (is_untouched(begin, begin + bytes)) bring_in(begin, begin + bytes);
  }
}

} // namespace redist::detail
