// SPDX-License-Identifier: BSD-3-Clause
#include "exec/work.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/status.hpp"
#include "exec/pages.hpp"

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
  for (const Stream& stream : streams) bytes += stream.bytes_left;
  return bytes;
}

} // namespace

std::int64_t Work::bytes_out() const {
  return bytes_of(out);
}
std::int64_t Work::bytes_in() const {
  return bytes_of(in);
}

void validate(const std::vector<Transfer>& transfers, int rank, int size) {
  const auto bad = [rank, size](std::size_t t, const std::string& text) {
    return Error(Status::bad_argument, fmt::format("redist: transfer {}: {} [rank {} of {}]", t, text, rank, size));
  };
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& x = transfers[t];
    if (element_size(x.type) == 0)
      throw Error(Status::bad_type,
                  fmt::format("redist: transfer {}: type is '{}', wanted one of s d c z i [rank {} of {}]", t, x.type,
                              rank, size));
    if (x.plan == nullptr) continue; // nothing to do on this rank
    const RankPlan& plan = *x.plan;
    const bool reads = !plan.sends.empty() || !plan.keeps.empty();
    const bool writes = !plan.recvs.empty() || !plan.keeps.empty();
    if ((reads || writes) && plan.rank != rank)
      throw bad(t, fmt::format("its plan is rank {}'s, wanted this rank's", plan.rank));
    if (reads && x.from == nullptr)
      throw Error(Status::null_pointer, fmt::format("redist: transfer {}: from is null, but this rank has {} "
                                                    "x {} elements of the source [rank {} of {}]",
                                                    t, plan.m_loc_from, plan.n_loc_from, rank, size));
    if (writes && x.to == nullptr)
      throw Error(Status::null_pointer, fmt::format("redist: transfer {}: to is null, but this rank has {} x "
                                                    "{} elements of the target [rank {} of {}]",
                                                    t, plan.m_loc_to, plan.n_loc_to, rank, size));
    if (reads && x.lld_from < std::max<std::int64_t>(1, plan.m_loc_from))
      throw bad(
          t, fmt::format("lld_from is {}, wanted at least {}", x.lld_from, std::max<std::int64_t>(1, plan.m_loc_from)));
    if (writes && x.lld_to < std::max<std::int64_t>(1, plan.m_loc_to))
      throw bad(t, fmt::format("lld_to is {}, wanted at least {}", x.lld_to, std::max<std::int64_t>(1, plan.m_loc_to)));
    for (const auto* messages : {&plan.sends, &plan.recvs})
      for (const Message& message : *messages)
        if (message.peer < 0 || message.peer >= size || message.peer == rank)
          throw bad(t, fmt::format("a message's peer is {}, wanted another rank of 0 .. {}", message.peer, size - 1));
    const auto covered = [&](const std::vector<Message>& messages, const std::vector<Piece>& order) {
      if (order.empty()) return;
      std::vector<std::int64_t> left;
      for (const Message& message : messages) left.push_back(message.elements());
      for (const Piece& piece : order) {
        if (piece.message < 0 || piece.message >= static_cast<int>(messages.size()) || piece.first < 0 ||
            piece.count < 0 || piece.first + piece.count > messages[static_cast<std::size_t>(piece.message)].elements())
          throw bad(t, fmt::format("a piece of step {} lies outside its message", piece.step));
        left[static_cast<std::size_t>(piece.message)] -= piece.count;
      }
      for (std::int64_t rest : left)
        if (rest != 0)
          throw bad(t,
                    fmt::format("the order of its pieces leaves {} elements of a message uncovered, wanted 0", rest));
    };
    covered(plan.sends, plan.send_order);
    covered(plan.recvs, plan.recv_order);
  }
}

Work work_of(const std::vector<Transfer>& transfers, Slab slab, int rank, int size,
             const std::function<bool(int)>& is_shared) {
  Work work;
  std::unordered_map<int, std::size_t> out_of_rank;
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& x = transfers[t];
    if (x.plan == nullptr) continue;
    const RankPlan& plan = *x.plan;
    const int conj_size = !plan.conjugated ? 0 : x.type == 'c' ? 4 : x.type == 'z' ? 8 : 0;
    const auto view_of = [&](const Message& message, bool is_source) {
      PackedView view;
      view.rows = message.rows;
      view.cols = message.cols;
      view.base = is_source ? static_cast<char*>(const_cast<void*>(x.from)) : static_cast<char*>(x.to); // only read
      view.lld = is_source ? x.lld_from : x.lld_to;
      view.esize = element_size(x.type);
      view.is_source = is_source;
      view.transposed = is_source && plan.transposed;
      if (!is_source) view.row_limits = x.row_limits;
      if (is_source) view.conj_size = conj_size;
      return view;
    };
    const auto add = [&](std::vector<Stream>& streams, std::unordered_map<int, std::size_t>& of_rank,
                         const Message& message, bool is_source, std::int64_t first, std::int64_t count, int step) {
      if (count == 0) return;
      const auto found = of_rank.emplace(message.peer, streams.size());
      if (found.second) {
        streams.emplace_back();
        streams.back().peer = message.peer;
        streams.back().shared = is_shared(message.peer);
      }
      Stream& stream = streams[found.first->second];
      stream.items.push_back(
          {view_of(message, is_source), first, count, step, static_cast<int>(t), plan.transposed, conj_size});
      stream.bytes_left += count * element_size(x.type);
    };
    const auto each_part = [&](const Message& message, auto&& take) {
      std::int64_t column = 0, skip = 0, columns = 0;
      for (const Run& r : message.cols->runs) {
        slab.part_of(r, skip, columns);
        if (columns > 0) take((column + skip) * message.rows->total, columns * message.rows->total);
        column += r.len * r.count;
      }
    };
    const auto add_all = [&](std::vector<Stream>& streams, std::unordered_map<int, std::size_t>& of_rank,
                             const std::vector<Message>& messages, const std::vector<Piece>& order, bool is_source) {
      if (slab.of > 1) {
        for (const Message& message : messages)
          each_part(message, [&](std::int64_t first, std::int64_t count) {
            add(streams, of_rank, message, is_source, first, count, 0);
          });
        return;
      }
      for (const Piece& piece : order)
        add(streams, of_rank, messages[static_cast<std::size_t>(piece.message)], is_source, piece.first, piece.count,
            piece.step);
      if (order.empty())
        for (const Message& message : messages) add(streams, of_rank, message, is_source, 0, message.elements(), 0);
    };
    add_all(work.out, out_of_rank, plan.sends, plan.send_order, true);
    add_all(work.in, work.in_of_rank, plan.recvs, plan.recv_order, false);
    for (const Message& message : plan.keeps) {
      if (message.elements() == 0) continue;
      const auto add_copy = [&](std::int64_t first, std::int64_t count) {
        work.copies.push_back({view_of(message, true), view_of(message, false), first, count});
        work.bytes_kept += count * element_size(x.type);
      };
      if (slab.of > 1)
        each_part(message, add_copy);
      else // whole: in parts it could not leave its columns together with what goes away
        add_copy(0, message.elements());
    }
  }
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

void prepare_targets(const std::vector<Transfer>& transfers) {
  for (const Transfer& x : transfers) {
    if (x.plan == nullptr || x.to == nullptr || x.plan->n_loc_to == 0) continue;
    const RankPlan& plan = *x.plan;
    const std::int64_t esize = element_size(x.type);
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

void GoneColumns::give_back(const std::vector<Transfer>& transfers, Slab slab) {
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& x = transfers[t];
    if (x.plan == nullptr || x.plan->transposed || x.from == nullptr) continue;
    gone_[t].resize(static_cast<std::size_t>(x.plan->n_loc_from));
    std::vector<bool> now(gone_[t].size());
    for (const auto* messages : {&x.plan->sends, &x.plan->keeps})
      for (const Message& message : *messages)
        for (const Run& r : message.cols->runs) {
          std::int64_t skip = 0, columns = 0;
          slab.part_of(r, skip, columns);
          for (std::int64_t k = skip; k < skip + columns; ++k) {
            const auto j = static_cast<std::size_t>(r.from + k / r.len * r.from_step + k % r.len);
            now[j] = gone_[t][j] = true;
          }
        }
    char* base = static_cast<char*>(const_cast<void*>(x.from));
    const std::int64_t column_bytes = x.lld_from * element_size(x.type);
    for (std::size_t j = 0; j < now.size();) {
      if (!gone_[t][j]) {
        ++j;
        continue;
      }
      bool any = false;
      std::size_t end = j;
      for (; end < now.size() && gone_[t][end]; ++end) any = any || now[end];
      // the array ends with its last row, which may lie before the end of the last column's stride
      const std::int64_t last = end == now.size() ? static_cast<std::int64_t>(end - 1) * column_bytes +
                                                        x.plan->m_loc_from * element_size(x.type)
                                                  : static_cast<std::int64_t>(end) * column_bytes;
      if (any) release_pages(base + static_cast<std::int64_t>(j) * column_bytes, base + last);
      j = end;
    }
  }
}

} // namespace redist::detail
