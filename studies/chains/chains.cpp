// SPDX-License-Identifier: BSD-3-Clause
#include "chains/chains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/cut.hpp"
#include "base/index.hpp"
#include "base/status.hpp"

namespace chains {

using base::at;
using base::Error;
using base::least_time;
using base::longest;
using base::Status;
using base::time_of;
using Times = advise::ChainTimes;
namespace {

constexpr double out_of_reach = std::numeric_limits<double>::infinity();

template <class... Values> [[noreturn]] void bad_chain(fmt::format_string<Values...> message, Values&&... values) {
  throw Error(Status::bad_argument, "chains: " + fmt::format(message, std::forward<Values>(values)...));
}

/// The exact stretches for the order that is given.
Chain in_given_order(const ChainRequest& request) {
  const advise::Chain found = advise::balance_chain(request);
  Chain chain{found.first, found.seconds, std::vector<int>(request.speeds.size()), 0};
  std::iota(chain.order.begin(), chain.order.end(), 0);
  return chain;
}

/// Processes of a request in another order.
ChainRequest reordered(const ChainRequest& request, const std::vector<int>& order) {
  ChainRequest other{request.costs, {}, {}};
  for (const int k : order) {
    other.speeds.push_back(request.speeds[at(k)]);
    if (!request.fixed_s.empty()) other.fixed_s.push_back(request.fixed_s[at(k)]);
  }
  return other;
}

/// How far a set of processes comes in `seconds`, in their best order, and which was last.
bool probe_any_order(const Times& time, double seconds, std::vector<std::int64_t>& reach, std::vector<int>& last) {
  const int processes = time.processes();
  const std::size_t all = (std::size_t{1} << processes) - 1;
  reach.assign(all + 1, -1);
  last.assign(all + 1, -1);
  reach[0] = 0;
  for (std::size_t set = 1; set <= all; ++set)
    for (int i = 0; i < processes; ++i) {
      const std::size_t others = set & ~(std::size_t{1} << i);
      if (others == set || reach[others] < 0) continue;
      const std::int64_t end = longest(time, i, reach[others], time.items(), seconds);
      if (end > reach[set]) {
        reach[set] = end;
        last[set] = i;
      }
    }
  return reach[all] == time.items();
}

void check(const ChainRequest& request, const ChainOwners& now) {
  advise::balance_chain(request); // the library checks costs and speeds
  if (now.owners.size() != request.costs.size() || (!now.weights.empty() && now.weights.size() != now.owners.size()))
    throw Error(Status::shape_mismatch, "chains: {} owners and {} weights for {} items", now.owners.size(),
                now.weights.size(), request.costs.size());
  const int processes = static_cast<int>(request.speeds.size());
  for (std::size_t k = 0; k < now.owners.size(); ++k)
    if (now.owners[k] < -1 || now.owners[k] >= processes)
      bad_chain("owner of item {} is {}, expected -1 .. {}", k, now.owners[k], processes - 1);
  for (std::size_t k = 0; k < now.weights.size(); ++k)
    if (now.weights[k] < 0) bad_chain("weight of item {} is {}, expected at least 0", k, now.weights[k]);
  if (static_cast<double>(request.costs.size() + 1) * processes > 0x1p24)
    throw Error(Status::unsupported,
                "chains: {} items on {} processes are too many, expected at "
                "most 2^24 together; give blocks as items",
                request.costs.size(), processes);
}

/// Least movement under a limit of time.
class Mover {
public:
  Mover(const ChainRequest& request, const ChainOwners& now)
      : time_(request), kept_(at(time_.processes()), std::vector<std::int64_t>(at(time_.items()) + 1, 0)) {
    for (std::int64_t k = 0; k < time_.items(); ++k) {
      const std::int64_t weight = now.weights.empty() ? 1 : now.weights[at(k)];
      all_ += weight;
      for (int i = 0; i < time_.processes(); ++i)
        kept_[at(i)][at(k) + 1] = kept_[at(i)][at(k)] + (now.owners[at(k)] == i ? weight : 0);
    }
  }

  /// Empty `first` when nothing takes so little.
  Chain run(double seconds) const {
    const std::int64_t items = time_.items();
    const int processes = time_.processes();
    constexpr std::int64_t never = -1;
    // best[b]: most weight that stays when the first b items are dealt out to the processes so far
    std::vector<std::int64_t> best(at(items) + 1, never), next;
    best[0] = 0;
    std::vector<std::vector<std::int64_t>> border(at(processes));
    std::vector<std::int64_t> window; // possible beginnings, the value of each below the one before
    for (int i = 0; i < processes; ++i) {
      const std::vector<std::int64_t>& kept = kept_[at(i)];
      next.assign(at(items) + 1, never);
      border[at(i)].assign(at(items) + 1, never);
      window.clear();
      std::size_t front = 0;
      for (std::int64_t b = 0; b <= items; ++b) {
        if (best[at(b)] != never) {
          const std::int64_t value = best[at(b)] - kept[at(b)];
          while (window.size() > front && best[at(window.back())] - kept[at(window.back())] <= value) window.pop_back();
          window.push_back(b);
        }
        while (front < window.size() && time_(i, window[front], b) > seconds) ++front;
        if (front == window.size()) continue;
        const std::int64_t a = window[front];
        next[at(b)] = best[at(a)] - kept[at(a)] + kept[at(b)];
        border[at(i)][at(b)] = a;
      }
      best.swap(next);
    }
    Chain chain;
    if (best[at(items)] == never) return chain;
    chain.moved = all_ - best[at(items)];
    chain.first.assign(at(processes) + 1, items);
    for (int i = processes - 1; i >= 0; --i) chain.first[at(i)] = border[at(i)][at(chain.first[at(i) + 1])];
    chain.seconds = time_of(time_, chain.first);
    chain.order.resize(at(processes));
    std::iota(chain.order.begin(), chain.order.end(), 0);
    return chain;
  }

  /// The fastest of those that move no more than `start` does.
  Chain fastest(Chain start) const {
    const std::int64_t moved = start.moved;
    least_time(start.seconds, [&](double seconds) {
      Chain faster = run(seconds);
      if (faster.first.empty() || faster.moved > moved) return out_of_reach;
      start = std::move(faster);
      return start.seconds;
    });
    return start;
  }

private:
  Times time_;
  std::vector<std::vector<std::int64_t>> kept_; ///< by process: weight of its own among the first b items
  std::int64_t all_ = 0;
};

} // namespace

FreeChain balance_chain_in_any_order(const ChainRequest& request) {
  FreeChain best{in_given_order(request), false};
  const Times time(request);
  const int processes = time.processes();
  if (processes <= most_free_order) {
    std::vector<std::int64_t> reach;
    std::vector<int> last, order;
    least_time(best.chain.seconds, [&](double seconds) {
      if (!probe_any_order(time, seconds, reach, last)) return out_of_reach;
      order.clear();
      for (std::size_t set = reach.size() - 1; set != 0; set &= ~(std::size_t{1} << order.back()))
        order.push_back(last[set]);
      std::reverse(order.begin(), order.end());
      best.chain = in_given_order(reordered(request, order));
      best.chain.order = order;
      return best.chain.seconds;
    });
    best.proved = true;
    return best;
  }
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (int a = 0; a < processes; ++a)
      for (int b = a + 1; b < processes; ++b) {
        std::vector<int> order = best.chain.order;
        std::swap(order[at(a)], order[at(b)]);
        Chain other = in_given_order(reordered(request, order));
        if (other.seconds >= best.chain.seconds) continue;
        other.order = std::move(order);
        best.chain = std::move(other);
        is_better = true;
      }
  }
  return best;
}

Chain least_movement(const ChainRequest& request, const ChainOwners& now, double seconds) {
  check(request, now);
  Chain chain = Mover(request, now).run(seconds);
  if (chain.first.empty())
    throw Error(Status::not_found, "chains: nothing takes {} s or less, the least is {} s", seconds,
                in_given_order(request).seconds);
  return chain;
}

std::vector<Chain> chain_front(const ChainRequest& request, const ChainOwners& now, int most) {
  check(request, now);
  if (most < 2) bad_chain("most is {}, expected at least 2", most);
  const Mover mover(request, now);
  const double least = in_given_order(request).seconds;
  const Chain nearest = mover.fastest(mover.run(out_of_reach));
  std::vector<Chain> front;
  for (const double apart : {0.0, (nearest.seconds - least) / (most - 1)}) {
    front.assign(1, nearest); // slowest first
    while (front.back().seconds > least && static_cast<int>(front.size()) <= most) {
      const double below = std::nextafter(front.back().seconds, 0.0);
      front.push_back(mover.fastest(mover.run(std::max(least, std::min(below, front.back().seconds - apart)))));
    }
    if (static_cast<int>(front.size()) <= most) break;
  }
  std::reverse(front.begin(), front.end());
  return front;
}

} // namespace chains
