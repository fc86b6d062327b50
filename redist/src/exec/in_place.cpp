// SPDX-License-Identifier: BSD-3-Clause
// An exchange in rounds whose sources are given up as they go.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/mpi/agree.hpp"
#include "exec/impl.hpp"
#include "exec/pages.hpp"

namespace redist {
namespace detail {
namespace {

/// The source columns of each matrix that have gone so far. Their pages are given back to the system.
class GoneColumns {
public:
  /// @throws std::bad_alloc
  GoneColumns(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers)
      : plans_(plans), pointers_(pointers), gone_(plans.size()) {
    std::int64_t most = 0;
    for (std::size_t t = 0; t < plans.size(); ++t) {
      gone_[t].resize(static_cast<std::size_t>(plans[t]->n_loc_from));
      most = std::max(most, plans[t]->n_loc_from);
    }
    now_.reserve(static_cast<std::size_t>(most));
  }
  /// After an exchange of `slab`: its columns, together with their neighbours that went before, since only whole pages
  /// can go. Nothing between two columns, and no source that shares its place with another one.
  void give_back(Slab slab);

private:
  /// Whether the source of t shares memory with another source, whose columns may still be needed, or with a target.
  bool is_shared(std::size_t t) const;

  const std::vector<const RankPlan*>& plans_;
  const std::vector<Pointers>& pointers_;
  std::vector<std::vector<bool>> gone_; ///< by matrix and local column
  std::vector<bool> now_;               ///< in this round, of one matrix
};

/// Of an array, gaps between its columns included; empty where it has no element.
struct Span {
  std::uintptr_t begin = 0, end = 0;

  Span(const void* array, std::int64_t rows, std::int64_t cols, std::int64_t lld, char type) {
    if (array == nullptr || rows == 0 || cols == 0) return;
    begin = reinterpret_cast<std::uintptr_t>(array);
    end = begin + static_cast<std::uintptr_t>(((cols - 1) * lld + rows) * element_bytes(type));
  }
  bool meets(const Span& other) const { return begin < other.end && other.begin < end; }
};

bool GoneColumns::is_shared(std::size_t t) const {
  const auto source = [&](std::size_t u) {
    return Span(pointers_[u].from, plans_[u]->m_loc_from, plans_[u]->n_loc_from, pointers_[u].lld_from,
                plans_[u]->type);
  };
  const auto target = [&](std::size_t u) {
    return Span(pointers_[u].to, plans_[u]->m_loc_to, plans_[u]->n_loc_to, pointers_[u].lld_to, plans_[u]->type);
  };
  const Span mine = source(t);
  for (std::size_t u = 0; u < plans_.size(); ++u)
    if ((u != t && source(u).meets(mine)) || target(u).meets(mine)) return true;
  return false;
}

void GoneColumns::give_back(Slab slab) {
  for (std::size_t t = 0; t < plans_.size(); ++t) {
    const RankPlan& plan = *plans_[t];
    const Pointers& x = pointers_[t];
    if (plan.transposed || x.from == nullptr || x.keeps_from || is_shared(t)) continue;
    now_.assign(gone_[t].size(), false);
    for (const auto* messages : {&plan.sends, &plan.keeps})
      for (const Message& message : *messages)
        slab.each_part(*message.cols, [&](const Run& r, std::int64_t skip, std::int64_t columns) {
          for (std::int64_t k = skip; k < skip + columns; ++k) {
            const auto j = static_cast<std::size_t>(r.from + k / r.len * r.from_step + k % r.len);
            now_[j] = gone_[t][j] = true;
          }
        });
    char* base = static_cast<char*>(const_cast<void*>(x.from));
    const std::int64_t column_bytes = x.lld_from * element_bytes(plan.type);
    const bool is_dense = x.lld_from == plan.m_loc_from; // else there may be other data between two columns
    for (std::size_t j = 0; j < now_.size();) {
      if (!gone_[t][j]) {
        ++j;
        continue;
      }
      bool any = false;
      std::size_t end = j;
      for (; end < now_.size() && gone_[t][end] && (is_dense || end == j); ++end) any = any || now_[end];
      const std::int64_t last =
          static_cast<std::int64_t>(end - 1) * column_bytes + plan.m_loc_from * element_bytes(plan.type);
      if (any) release_pages(base + static_cast<std::int64_t>(j) * column_bytes, base + last);
      j = end;
    }
  }
}

} // namespace
} // namespace detail

ExecuteReport Executor::execute_in_place(const std::vector<const RankPlan*>& plans,
                                         const std::vector<Pointers>& pointers, int slabs) {
  detail::Connections& ranks = *impl_->ranks;
  ranks.require_ready();
  // All rounds are prepared before the first: after it no rank may fail alone, since the sources are not whole any
  // more.
  std::optional<detail::GoneColumns> gone;
  std::vector<std::unique_ptr<detail::Prepared>> rounds;
  const std::optional<base::Error> wrong = base::attempt([&] {
    for (int s = 0; s == 0 || s < slabs; ++s) // the first one refuses a number of slabs below 1
      rounds.push_back(std::make_unique<detail::Prepared>(impl_->ranks, plans, detail::Slab{s, slabs}));
    gone.emplace(plans, pointers);
  });
  ExecuteReport sum;
  for (int s = 0; s == 0 || s < slabs; ++s) {
    const auto at = static_cast<std::size_t>(s);
    detail::begin_run(ranks, wrong ? nullptr : rounds[at].get(), pointers, wrong);
    const ExecuteReport report = detail::finish_run(ranks);
    gone->give_back({s, slabs});
    rounds[at].reset();
    sum.pack_s += report.pack_s;
    sum.transfer_s += report.transfer_s;
    sum.wait_s += report.wait_s;
    sum.wire_s += report.wire_s;
    sum.copy_s += report.copy_s;
    sum.bytes_out += report.bytes_out;
    sum.bytes_in += report.bytes_in;
    sum.bytes_kept += report.bytes_kept;
    sum.peak_bytes = std::max(sum.peak_bytes, report.peak_bytes);
  }
  return sum;
}

} // namespace redist
