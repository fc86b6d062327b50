// SPDX-License-Identifier: BSD-3-Clause
// An exchange in rounds whose sources are given up as they go.
#include <algorithm>

#include "exec/impl.hpp"
#include "exec/pages.hpp"

namespace redist {
namespace detail {
namespace {

/// The source columns of each matrix that have gone so far. Their pages are given back to the system.
class GoneColumns {
public:
  GoneColumns(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers)
      : plans_(plans), pointers_(pointers), gone_(plans.size()) {}
  /// After an exchange of `slab`: its columns, together with their neighbours that went before, since only whole pages
  /// can go.
  void give_back(Slab slab);

private:
  const std::vector<const RankPlan*>& plans_;
  const std::vector<Pointers>& pointers_;
  std::vector<std::vector<bool>> gone_;
};

void GoneColumns::give_back(Slab slab) {
  for (std::size_t t = 0; t < plans_.size(); ++t) {
    const RankPlan& plan = *plans_[t];
    const Pointers& x = pointers_[t];
    if (plan.transposed || x.from == nullptr) continue;
    gone_[t].resize(static_cast<std::size_t>(plan.n_loc_from));
    std::vector<bool> now(gone_[t].size());
    for (const auto* messages : {&plan.sends, &plan.keeps})
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
    const std::int64_t column_bytes = x.lld_from * element_bytes(plan.type);
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
                                                        plan.m_loc_from * element_bytes(plan.type)
                                                  : static_cast<std::int64_t>(end) * column_bytes;
      if (any) release_pages(base + static_cast<std::int64_t>(j) * column_bytes, base + last);
      j = end;
    }
  }
}

} // namespace
} // namespace detail

ExecuteReport Executor::execute_in_place(const std::vector<const RankPlan*>& plans,
                                         const std::vector<Pointers>& pointers, int slabs) {
  impl_->require_ready();
  ExecuteReport sum;
  detail::GoneColumns gone(plans, pointers);
  for (int s = 0; s == 0 || s < slabs; ++s) { // the first round says on all ranks when a rank has no slabs
    const detail::Slab slab{s, slabs};
    impl_->begin(plans, pointers, slab);
    const ExecuteReport report = finish();
    gone.give_back(slab);
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
