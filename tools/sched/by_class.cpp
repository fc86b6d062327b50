// SPDX-License-Identifier: BSD-3-Clause
#include "by_class.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <queue>
#include <utility>

namespace sched {
namespace {

using Class = Askable::Class;
constexpr double near_end_s = Askable::near_end_s;
/// Values that are closer may be in another order than the ends of their jobs, for the same reason.
constexpr double near = 1e-4;
/// A growth that may pay, but for rounding, may save so much more: a part of it, and seconds.
constexpr double rounding = 1e-3;

void put_in_order(std::vector<Resized>& jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const Resized& a, const Resized& b) { return a.order < b.order; });
}

/// Part of the time left that a job of the class saves on so many processors; nothing where their times are not known.
std::optional<double> saved_part(const Class& of, int procs) {
  const double* step_s = of.members.begin()->job->step_s; // of all alike
  if (!step_s) return std::nullopt;
  const double now_s = step_s[of.sizes->index_of(of.procs)], then_s = step_s[of.sizes->index_of(procs)];
  if (!(now_s > 0) || !(then_s > 0)) return std::nullopt;
  return 1 - then_s / now_s;
}

/// The first of a class that has not gone up.
struct Climber {
  const Class* of;
  Askable::ByStart::const_iterator at;
};

/// Whole classes go up size by size, those with the fewest processors first. Where the processors do not suffice for
/// all who are on one level, the first get them: of each class as many as started before some job.
class Levels {
public:
  Levels(const Askable& askable, int left) : left_(left) {
    std::vector<Crowd> crowds; // a heap
    const auto put = [&](const Crowd& crowd) {
      if (crowd.next == 0 || crowd.gap() > left_) return;
      crowds.push_back(crowd);
      std::push_heap(crowds.begin(), crowds.end(), goes_behind);
    };
    for (const auto& [key, of] : askable.classes()) {
      put({tops_.size(), &of, of.procs, of.next, of.members.size(), 0});
      tops_.push_back({&of, nobody});
    }
    std::vector<Crowd> level;
    while (!crowds.empty()) {
      level.clear();
      do {
        std::pop_heap(crowds.begin(), crowds.end(), goes_behind);
        if (crowds.back().gap() <= left_) level.push_back(crowds.back()); // it only becomes less
        crowds.pop_back();
      } while (!crowds.empty() && (level.empty() || !goes_behind(crowds.front(), level.front())));
      raise(level);
      for (const Crowd& one : level) {
        if (one.raised == 0) continue;
        raised_.push_back({one.next, one.raised, tops_[one.top].step});
        tops_[one.top].step = static_cast<int>(raised_.size()) - 1;
        put({one.top, one.of, one.next, one.of->sizes->above(one.next), one.raised, 0});
      }
    }
  }

  std::vector<Resized> growths(std::optional<double> judged_at_s) const {
    std::vector<Resized> found;
    for (const Top& top : tops_) {
      int from = 0;
      for (int k = top.step; k != nobody; k = raised_[static_cast<std::size_t>(k)].below) {
        const Step& step = raised_[static_cast<std::size_t>(k)];
        if (step.size > from) add(*top.of, step.procs, from, step.size, judged_at_s, found);
        from = step.size;
      }
      if (judged_at_s && from > 0) add_near_end(top, *judged_at_s, found);
    }
    put_in_order(found);
    return found;
  }

private:
  static constexpr int nobody = -1;
  /// The first of a class, which are on the same size.
  struct Crowd {
    std::size_t top;
    const Class* of;
    int procs, next; ///< 0: none above
    int size;
    int raised; ///< so many of them go up to the next
    int gap() const { return next - procs; }
  };
  struct Top {
    const Class* of;
    int step; ///< in raised_, the largest size that anybody has got; nobody: as they were
  };
  struct Step {
    int procs;
    int size; ///< so many of the class got to this size at least
    int below;
  };
  static bool goes_behind(const Crowd& a, const Crowd& b) {
    return a.of->priority != b.of->priority ? a.of->priority < b.of->priority : a.procs > b.procs;
  }

  void raise(std::vector<Crowd>& level) {
    std::int64_t need = 0;
    for (const Crowd& one : level) need += static_cast<std::int64_t>(one.gap()) * one.size;
    if (need <= left_) {
      for (Crowd& one : level) one.raised = one.size;
      left_ -= static_cast<int>(need);
      return;
    }
    std::int64_t before = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const Crowd& one : level) {
      before = std::min(before, one.of->members.first() - 1);
      last = std::max(last, one.of->members.last());
    }
    std::vector<Climbing> climbing;
    for (Crowd& one : level) climbing.push_back({&one, 0, 0});
    // up to the first whose step does not fit; then those with smaller steps behind it
    for (;;) {
      climbing.erase(
          std::remove_if(climbing.begin(), climbing.end(),
                         [&](const Climbing& c) { return c.of->gap() > left_ || c.of->raised == c.of->size; }),
          climbing.end());
      if (climbing.empty()) return;
      before = raise_in_order(climbing, before, last);
    }
  }

  struct Climbing {
    Crowd* of;
    int most; ///< so many may
    int here;
  };
  /// Who started behind `before` goes up, one after the other, until there is one that does not fit.
  /// @return up to whom all did
  std::int64_t raise_in_order(std::vector<Climbing>& climbing, std::int64_t before, std::int64_t last) {
    std::int64_t cost = 0; // of those up to `before`
    for (Climbing& c : climbing) c.most = c.of->size;
    while (before < last) {
      const std::int64_t middle = before + (last - before + 1) / 2;
      std::int64_t more = 0;
      for (Climbing& c : climbing) {
        c.here = c.most == c.of->raised ? c.most : std::min(c.of->size, c.of->of->members.up_to(middle));
        more += static_cast<std::int64_t>(c.of->gap()) * (c.here - c.of->raised);
      }
      const bool fits = cost + more <= left_;
      (fits ? before : last) = fits ? middle : middle - 1;
      if (fits) cost += more;
      for (Climbing& c : climbing) (fits ? c.of->raised : c.most) = c.here;
    }
    left_ -= static_cast<int>(cost);
    return before;
  }

  /// Those of the class from place `from` to before `to` go up to `procs`.
  static void add(const Class& of, int procs, int from, int to, std::optional<double> judged_at_s,
                  std::vector<Resized>& found) {
    double behind_s = -never;
    if (judged_at_s) {
      const double resize_s = of.members.begin()->job->resize_s;
      if (const std::optional<double> saved = saved_part(of, procs)) {
        if (!(*saved > 0)) return;
        if (resize_s > rounding) behind_s = *judged_at_s + (resize_s - rounding) / (*saved * (1 + rounding));
      }
    }
    if (!(of.ends.rbegin()->end_s > behind_s)) return;
    of.members.ending_behind(behind_s, from, to, [&](const Askable::Member& one) {
      if (!judged_at_s || one.end_s - *judged_at_s >= near_end_s) found.push_back({one.job, one.order, procs});
    });
  }
  void add_near_end(const Top& top, double now_s, std::vector<Resized>& found) const {
    for (const Askable::Member& one : top.of->ends) {
      if (one.end_s - now_s >= near_end_s) return;
      const int place = top.of->members.up_to(one.order) - 1;
      for (int k = top.step; k != nobody; k = raised_[static_cast<std::size_t>(k)].below)
        if (const Step& step = raised_[static_cast<std::size_t>(k)]; place < step.size) {
          found.push_back({one.job, one.order, step.procs});
          break;
        }
    }
  }

  int left_;
  std::vector<Top> tops_;
  std::vector<Step> raised_;
};

/// The first of those that gain nearly the same, as a look at one after the other finds it.
class Rises {
public:
  Rises(const Askable& askable, double now_s, int left, const std::function<double(const Job&, int, int)>& gain,
        const std::function<void(const Job&)>& look)
      : now_s_(now_s), left_(left), gain_(gain), look_(look) {
    for (const auto& [key, of] : askable.classes())
      if (is_within(of)) put({&of, of.ends.begin(), 0, of.priority, 0});
  }

  std::vector<Resized> all() {
    while (raise_one()) {
    }
    put_in_order(raised_);
    return std::move(raised_);
  }

private:
  /// A class, or one that has gone up, and the most that is to be gained there: it becomes less with what is left.
  struct Riser {
    const Class* of;
    Askable::ByEnd::const_iterator from; ///< those before have gone up
    std::size_t raised;
    int priority;
    double most;
  };
  struct Near {
    const Job* job;
    std::int64_t order;
    int procs;
    std::size_t from; ///< of risers
  };
  static bool goes_behind(const Riser& a, const Riser& b) {
    return a.priority != b.priority ? a.priority < b.priority : a.most < b.most;
  }

  bool is_within(const Class& of) const { return of.next != 0 && of.next - of.procs <= left_; }

  template <class Look> void sizes_within(const Job& job, int procs, Look&& look) const {
    for (int next = job.sizes->above(procs); next != 0 && next - procs <= left_; next = job.sizes->above(next))
      look(gain_(job, procs, next));
  }
  double most_of(const Job& job, int procs) const {
    double most = 0;
    sizes_within(job, procs, [&](double gain) { most = std::max(most, gain); });
    return most;
  }
  /// Those of a class from the one that gains most on, until `look` has seen enough; those close to their end always.
  template <class Look> void members(const Riser& riser, Look&& look) const {
    for (auto at = riser.from; at != riser.of->ends.end(); ++at) {
      if (taken_.count(at->job) > 0) continue;
      look_(*at->job);
      if (!look(*at, most_of(*at->job, riser.of->procs)) && at->end_s - now_s_ >= near_end_s) return;
    }
  }
  double most_of(Riser& riser) const {
    if (!riser.of) return most_of(*raised_[riser.raised].job, raised_[riser.raised].procs);
    if (!is_within(*riser.of)) return 0;
    while (riser.from != riser.of->ends.end() && taken_.count(riser.from->job) > 0) ++riser.from;
    double most = 0;
    members(riser, [&](const Askable::Member&, double gain) {
      most = std::max(most, gain);
      return false;
    });
    return most;
  }

  void put(Riser riser) {
    riser.most = most_of(riser);
    if (!(riser.most > 0)) return;
    risers_.push_back(riser);
    std::push_heap(risers_.begin(), risers_.end(), goes_behind);
  }
  Riser take() {
    std::pop_heap(risers_.begin(), risers_.end(), goes_behind);
    const Riser riser = risers_.back();
    risers_.pop_back();
    return riser;
  }

  bool raise_one() {
    std::vector<Riser> tops;
    double most = 0;
    while (!risers_.empty()) { // all that are as good, but for rounding
      if (!tops.empty() &&
          (risers_.front().priority != tops.front().priority || risers_.front().most < most * (1 - near)))
        break;
      Riser riser = take();
      const double was = riser.most;
      riser.most = most_of(riser);
      if (!(riser.most > 0)) continue;
      if (riser.most < was) {
        risers_.push_back(riser);
        std::push_heap(risers_.begin(), risers_.end(), goes_behind);
        continue;
      }
      if (tops.empty()) most = riser.most;
      tops.push_back(riser);
    }
    if (tops.empty()) return false;
    std::vector<Near> found;
    for (std::size_t k = 0; k < tops.size(); ++k) {
      if (!tops[k].of) {
        const Resized& one = raised_[tops[k].raised];
        found.push_back({one.job, one.order, one.procs, k});
        continue;
      }
      members(tops[k], [&](const Askable::Member& member, double gain) {
        if (gain >= most * (1 - near)) found.push_back({member.job, member.order, tops[k].of->procs, k});
        return gain >= most * (1 - near);
      });
    }
    raise(first_of(found), tops);
    for (const Riser& riser : tops) put(riser);
    return true;
  }

  Near first_of(std::vector<Near>& found) const {
    std::sort(found.begin(), found.end(), [](const Near& a, const Near& b) { return a.order < b.order; });
    const Near* best = nullptr;
    double best_gain = 0;
    for (const Near& one : found)
      sizes_within(*one.job, one.procs, [&](double gain) {
        if (!(gain > 0) || (best && !(gain > best_gain * (1 + 1e-12)))) return;
        best = &one;
        best_gain = gain;
      });
    return *best;
  }

  void raise(const Near& one, std::vector<Riser>& tops) {
    const int next = one.job->sizes->above(one.procs);
    left_ -= next - one.procs;
    const Riser from = tops[one.from];
    if (!from.of) {
      raised_[from.raised].procs = next;
      return;
    }
    taken_.insert(one.job);
    raised_.push_back({one.job, one.order, next});
    tops.push_back({nullptr, {}, raised_.size() - 1, from.priority, 0});
  }

  double now_s_;
  int left_;
  const std::function<double(const Job&, int, int)>& gain_;
  const std::function<void(const Job&)>& look_;
  std::vector<Riser> risers_; ///< a heap
  std::vector<Resized> raised_;
  std::set<const Job*> taken_; ///< out of their classes
};

} // namespace

std::vector<Resized> raise_even_by_class(const Askable& askable, int left, std::optional<double> judged_at_s) {
  return Levels(askable, left).growths(judged_at_s);
}

std::vector<Resized> raise_first_by_class(const Askable& askable, int left, std::optional<double>) {
  const auto goes_behind = [](const Climber& a, const Climber& b) { return a.at->order > b.at->order; };
  std::priority_queue<Climber, std::vector<Climber>, decltype(goes_behind)> climbers(goes_behind);
  const auto put = [&](const Class& of, Askable::ByStart::const_iterator at) {
    if (at != of.members.end()) climbers.push({&of, at});
  };
  for (const auto& [key, of] : askable.classes())
    if (of.next != 0 && of.next - of.procs <= left) put(of, of.members.begin());
  std::vector<Resized> raised;
  while (!climbers.empty()) {
    const Climber one = climbers.top();
    climbers.pop();
    int procs = one.of->procs;
    if (one.of->next - procs > left) continue; // nor will the others of its class have so many
    for (int next = one.of->next; next != 0 && next - procs <= left; next = one.of->sizes->above(procs)) {
      left -= next - procs;
      procs = next;
    }
    raised.push_back({one.at->job, one.at->order, procs});
    put(*one.of, std::next(one.at));
  }
  return raised;
}

std::vector<Resized> raise_best_by_class(const Askable& askable, double now_s, int left,
                                         const std::function<double(const Job&, int, int)>& gain,
                                         const std::function<void(const Job&)>& look) {
  return Rises(askable, now_s, left, gain, look).all();
}

bool may_pay_by_class(const Askable& askable, double now_s, int left, const std::function<void(const Job&)>& look) {
  for (const auto& [key, of] : askable.classes()) {
    if (of.next == 0 || of.next - of.procs > left) continue;
    const Askable::Member& last = *of.ends.rbegin();
    double most = 0;
    for (int next = of.next; next != 0 && next - of.procs <= left; next = of.sizes->above(next)) {
      const std::optional<double> saved = saved_part(of, next);
      if (!saved) return true;
      most = std::max(most, *saved);
    }
    if (most * (last.end_s - now_s) * (1 + rounding) + rounding > last.job->resize_s) return true;
    for (const Askable::Member& one : of.ends) {
      if (one.end_s - now_s >= near_end_s) break;
      look(*one.job);
      if (one.job->steps_left < 0) return true; // taken for unknown
    }
  }
  return false;
}

Givers::Givers(const Askable& askable, bool with_timed, Rules rules) : rules_(std::move(rules)) {
  for (const auto& [key, of] : askable.classes()) {
    if (of.procs <= of.sizes->smallest() || (of.is_timed && !with_timed)) continue;
    classes_.push_back({&of, of.members.begin(), of.ends.end()});
  }
  spare_ = with_timed ? askable.spare() : askable.spare_untimed();
}

void Givers::add(const Job& job, std::int64_t order, int least) {
  single_.push_back({&job, order, job.procs, least});
  spare_ += job.procs - least;
}

bool Givers::find(ClassLeft& c, const std::function<bool(const Job&, int)>& should, Giver& found) const {
  if (rules_.is_by_end) return find_last(c, should, found);
  while (c.next != c.of->members.end() && taken_.count(c.next->job) > 0) ++c.next;
  if (c.next == c.of->members.end() || !should(*c.next->job, c.of->procs)) return false;
  found.who = {c.next->job, c.next->order, c.of->procs, c.of->sizes->smallest()};
  found.reluctance = rules_.reluctance(*found.who.job, c.of->procs);
  return true;
}

bool Givers::find_last(ClassLeft& c, const std::function<bool(const Job&, int)>& should, Giver& found) const {
  const Askable::ByEnd& ends = c.of->ends;
  const int least = c.of->sizes->smallest();
  bool is_found = false;
  const auto see = [&](const Askable::Member& one) {
    rules_.look(*one.job);
    if (!should(*one.job, c.of->procs)) return false;
    const double reluctance = rules_.reluctance(*one.job, c.of->procs);
    // below 0, where a smaller size is quicker, they are in no order
    if (is_found && reluctance > 0 && reluctance > found.reluctance * (1 + near)) return false;
    if (!is_found || reluctance < found.reluctance || (reluctance == found.reluctance && one.order < found.who.order)) {
      found.who = {one.job, one.order, c.of->procs, least};
      found.reluctance = reluctance;
    }
    return is_found = true;
  };
  while (c.last != ends.begin() && taken_.count(std::prev(c.last)->job) > 0) --c.last;
  for (auto at = c.last; at != ends.begin();) {
    --at;
    if (taken_.count(at->job) > 0) continue;
    if (at->end_s - rules_.now_s < near_end_s || !see(*at)) break;
  }
  for (auto at = ends.begin(); at != ends.end() && at->end_s - rules_.now_s < near_end_s; ++at)
    if (taken_.count(at->job) == 0) see(*at);
  return is_found;
}

int Givers::give(int need, const Job& waiting, const std::function<bool(const Job&, int procs)>& should) {
  const auto goes_behind = [](const Giver& a, const Giver& b) {
    if (a.who.job->priority != b.who.job->priority) return a.who.job->priority > b.who.job->priority;
    return a.reluctance != b.reluctance ? a.reluctance > b.reluctance : a.who.order > b.who.order;
  };
  std::priority_queue<Giver, std::vector<Giver>, decltype(goes_behind)> givers(goes_behind);
  const auto put_next_of = [&](std::size_t k) {
    Giver one{{}, 0, k, true};
    if (classes_[k].of->priority <= waiting.priority && find(classes_[k], should, one)) givers.push(one);
  };
  for (std::size_t k = 0; k < classes_.size(); ++k) put_next_of(k);
  for (std::size_t k = 0; k < single_.size(); ++k) {
    const Single& one = single_[k];
    if (one.procs > one.least && one.job->priority <= waiting.priority && should(*one.job, one.procs))
      givers.push({one, rules_.reluctance(*one.job, one.procs), k, false});
  }
  while (need > 0 && !givers.empty()) {
    const Giver one = givers.top();
    givers.pop();
    // a size that frees enough, or as low as it goes
    const int to = std::max(one.who.job->sizes->at_most(one.who.procs - need), one.who.least);
    need -= one.who.procs - to;
    spare_ -= one.who.procs - to;
    if (!one.is_of_class) {
      single_[one.from].procs = to;
      continue;
    }
    taken_.insert(one.who.job);
    single_.push_back({one.who.job, one.who.order, to, one.who.least});
    put_next_of(one.from);
  }
  return need;
}

std::vector<Resized> Givers::changed() const {
  std::vector<Resized> jobs;
  for (const Single& one : single_)
    if (one.procs != one.job->procs) jobs.push_back({one.job, one.order, one.procs});
  put_in_order(jobs);
  return jobs;
}

} // namespace sched
