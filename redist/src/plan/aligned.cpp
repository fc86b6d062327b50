// SPDX-License-Identifier: BSD-3-Clause
#include "plan/aligned.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "base/status.hpp"

namespace redist::detail {
namespace {

using base::Error;
using base::Status;

void check_window(const Layout& layout, const Window& window, const char* which) {
  const auto outside = [](std::int64_t begin, std::int64_t length, std::int64_t n) {
    return begin < 0 || length < 0 || begin > n || length > n - begin;
  };
  if (outside(window.i, window.m, layout.rows.n) || outside(window.j, window.n, layout.cols.n))
    throw Error(Status::bad_argument,
                fmt::format("redist: {} window is {}x{} from ({},{}), expected inside the {}x{} matrix", which,
                            window.m, window.n, window.i, window.j, layout.rows.n, layout.cols.n));
}

void complete(std::int64_t& from, std::int64_t from_rest, std::int64_t& to, std::int64_t to_rest) {
  const bool from_open = from < 0;
  if (from_open) from = to < 0 ? from_rest : to;
  if (to < 0) to = from_open ? to_rest : from;
}

} // namespace

Layout turned(const Layout& layout) {
  Layout result = layout;
  std::swap(result.rows, result.cols);
  std::swap(result.rows_replicated, result.cols_replicated);
  Grid& grid = result.grid;
  std::swap(grid.nprow, grid.npcol);
  for (std::size_t k = 0; k < grid.ranks.size(); ++k) {
    const int number = static_cast<int>(k);
    grid.ranks[k] = layout.grid.rank_at(number % grid.npcol, number / grid.npcol);
  }
  return result;
}

Window turned(const Window& window) {
  return {window.j, window.i, window.n, window.m};
}

void complete_windows(const Layout& from, const Layout& to, PlanOptions& options) {
  const bool transposed = options.op != Op::none;
  Window wf = transposed ? turned(options.from) : options.from;
  Window& wt = options.to;
  complete(wf.m, (transposed ? from.cols.n : from.rows.n) - wf.i, wt.m, to.rows.n - wt.i);
  complete(wf.n, (transposed ? from.rows.n : from.cols.n) - wf.j, wt.n, to.cols.n - wt.j);
  options.from = transposed ? turned(wf) : wf;
  check_window(from, options.from, "source");
  check_window(to, wt, "target");
  if (wf.m != wt.m || wf.n != wt.n)
    throw Error(Status::shape_mismatch,
                fmt::format("redist: source window is {}x{}, target window {}x{}, expected {}", options.from.m,
                            options.from.n, wt.m, wt.n, transposed ? "one the transpose of the other" : "the same"));
}

} // namespace redist::detail
