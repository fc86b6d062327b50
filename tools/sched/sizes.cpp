// SPDX-License-Identifier: BSD-3-Clause
#include "sizes.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/topology.hpp"
#include "base/status.hpp"

namespace sched {
namespace {

[[noreturn]] void fail(std::string_view text, std::string_view where, std::string_view why) {
  throw base::Error(base::Status::bad_argument,
                    fmt::format("scheduler: the sizes '{}' in {} are not numbers of processors like 4,9,16 or "
                                "4:32:*2 or 'any': {}",
                                text, where, why));
}

} // namespace

Sizes::Sizes(std::vector<int> list) : list_(std::move(list)) {
  std::sort(list_.begin(), list_.end());
  list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
  if (list_.empty() || list_.front() < 1) fail(to_string(*this), "a list", "at least one, from 1");
}

Sizes Sizes::parse(std::string_view text, int most, std::string_view where) {
  if (text == "any") {
    std::vector<int> list(static_cast<std::size_t>(std::max(most, 1)));
    std::iota(list.begin(), list.end(), 1);
    return Sizes(std::move(list));
  }
  try {
    return Sizes(advise::parse_set(std::string(text)));
  } catch (const base::Error& error) {
    fail(text, where, error.what());
  }
}

int Sizes::at_most(int n) const {
  const auto above = std::upper_bound(list_.begin(), list_.end(), n);
  return above == list_.begin() ? 0 : *(above - 1);
}

int Sizes::above(int n) const {
  const auto found = std::upper_bound(list_.begin(), list_.end(), n);
  return found == list_.end() ? 0 : *found;
}

int Sizes::index_of(int n) const {
  const auto found = std::lower_bound(list_.begin(), list_.end(), n);
  return found == list_.end() || *found != n ? -1 : static_cast<int>(found - list_.begin());
}

std::string to_string(const Sizes& sizes) {
  return fmt::format("{}", fmt::join(sizes.list(), ","));
}

} // namespace sched
