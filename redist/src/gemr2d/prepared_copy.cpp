// SPDX-License-Identifier: BSD-3-Clause
#include "gemr2d/prepared_copy.hpp"

#include <algorithm>
#include <array>

namespace redist::detail {

namespace {

/// Rows of window column j that belong to the part: first .. last-1.
std::array<std::int64_t, 2> rows_of_column(Trapezoid part, std::int64_t m, std::int64_t n, std::int64_t j) {
  if (part.whole) return {0, m};
  if (part.upper) return {0, std::min(m, std::max<std::int64_t>(m - n, 0) + j + (part.unit ? 0 : 1))};
  return {std::min(m, std::max<std::int64_t>(0, j - std::max<std::int64_t>(n - m, 0) + (part.unit ? 1 : 0))), m};
}

std::int64_t rows_below(gridmap::Axis axis, std::int64_t end,
                        int p) { // of my rows, how many lie before global row `end`
  axis.n = end;
  return axis.local_size(p);
}

/// A trapezoid moves as strips of columns, each as the rectangle around its part; what is outside is not written.
void add_strips(PreparedCopy& made, Trapezoid part, const AgreedMatrix& a, const AgreedMatrix& b, int rank,
                Schedule schedule) {
  const Call& call = made.key;
  PlanOptions options;
  options.schedule = schedule;
  const std::int64_t strips = part.whole ? 1 : std::min<std::int64_t>(8, call.n);
  for (std::int64_t s = 0; s < strips; ++s) {
    const std::int64_t begin = call.n * s / strips, end = call.n * (s + 1) / strips;
    const auto first = rows_of_column(part, call.m, call.n, begin),
               last = rows_of_column(part, call.m, call.n, end - 1);
    const std::int64_t top = std::min(first[0], last[0]), bottom = std::max(first[1], last[1]);
    if (top >= bottom) continue;
    options.from = {a.window.i + top, a.window.j + begin, bottom - top, end - begin};
    options.to = {b.window.i + top, b.window.j + begin, bottom - top, end - begin};
    made.plans.push_back(Plan(a.layout, b.layout, options).for_rank(rank, static_cast<char>(call.type)));
  }
}

} // namespace

std::unique_ptr<PreparedCopy> plan_copy(const Call& call, Trapezoid part, const AgreedMatrix& a, const AgreedMatrix& b,
                                        int rank, Schedule schedule) {
  auto made = std::make_unique<PreparedCopy>();
  made->key = call;
  add_strips(*made, part, a, b, rank, schedule);
  const Layout& to = b.layout;
  const auto [p, q] = to.grid.position_of(rank);
  if (part.whole || p < 0) return made;
  const std::int64_t columns = to.cols.local_size(q);
  std::vector<std::int64_t> row_limits;
  for (std::int64_t jl = 0; jl < columns; ++jl) {
    const std::int64_t j = to.cols.to_global(jl, q) - b.window.j;
    const auto rows =
        j < 0 || j >= call.n ? std::array<std::int64_t, 2>{0, 0} : rows_of_column(part, call.m, call.n, j);
    for (std::int64_t row : rows) row_limits.push_back(rows_below(to.rows, b.window.i + row, p));
  }
  for (RankPlan& plan : made->plans) plan.row_limits = row_limits;
  return made;
}

} // namespace redist::detail
