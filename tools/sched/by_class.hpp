// SPDX-License-Identifier: BSD-3-Clause
// Which running jobs grow and which shrink, found by their classes: what a look at every job would find.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "askable.hpp"

namespace sched {

/// A running job and its new size.
struct Resized {
  const Job* job;
  std::int64_t order;
  int procs;
};

/// Growths into `left` processors, one size at a time to the job that has the fewest; of equals the first; higher
/// priorities before. In the order of their starts.
/// Cost: by classes and their sizes, and by the growths that are returned; not by those that are not.
/// @param judged_at_s  given: only growths that may pay then, for all that is known; the others take their processors
///                     all the same
std::vector<Resized> raise_even_by_class(const Askable& askable, int left, std::optional<double> judged_at_s);
/// The same, but the first takes all it can, then the second, whether growths pay or not. Cost: by those that take.
std::vector<Resized> raise_first_by_class(const Askable& askable, int left, std::optional<double> judged_at_s);

/// The same, one size at a time to the job that gains most for each processor by any larger size within reach.
/// @param gain     of a job going from one size to another; above 0 where there is any. Of the jobs of a class those
///                 that end first gain most.
/// @param look     brings a job up to date before its gain is asked for
std::vector<Resized> raise_best_by_class(const Askable& askable, double now_s, int left,
                                         const std::function<double(const Job&, int, int)>& gain,
                                         const std::function<void(const Job&)>& look);

/// Whether any job could end earlier by more than its resize_s, for all that is known, when it gets any larger size
/// within `left` processors more. No: none does. Cost: a look at each class.
bool may_pay_by_class(const Askable& askable, double now_s, int left, const std::function<void(const Job&)>& look);

/// Running jobs that could give processors up.
class Givers {
public:
  struct Rules {
    /// The job with the least gives first, of equals the one that started first; lower priorities before.
    std::function<double(const Job&, int procs)> reluctance;
    /// Of the jobs of a class those are the least reluctant that end last; else all are alike.
    bool is_by_end = false;
    double now_s = 0;
    std::function<void(const Job&)> look; ///< as above
  };

  /// @param with_timed  down to their smallest sizes too; else add() says which of them, and how far.
  Givers(const Askable& askable, bool with_timed, Rules rules);
  void add(const Job& job, std::int64_t order, int least);

  int spare() const { return spare_; } ///< processors that they could give up
  bool empty() const { return classes_.empty() && single_.empty(); }
  /// `need` processors for a job that waits, from those that `should`. Of a class in which the one that ends last
  /// should not, nobody should. @return how many are missing
  int give(int need, const Job& waiting, const std::function<bool(const Job&, int procs)>& should);
  std::vector<Resized> changed() const; ///< in the order of their starts

private:
  struct ClassLeft {
    const Askable::Class* of;
    Askable::ByStart::const_iterator next; ///< where all are alike: the first that is left
    Askable::ByEnd::const_iterator last;   ///< else: behind the last that is
  };
  struct Single {
    const Job* job;
    std::int64_t order;
    int procs, least;
  };
  struct Giver {
    Single who;
    double reluctance;
    std::size_t from;
    bool is_of_class;
  };
  bool find(ClassLeft& c, const std::function<bool(const Job&, int)>& should, Giver& found) const;
  bool find_last(ClassLeft& c, const std::function<bool(const Job&, int)>& should, Giver& found) const;

  Rules rules_;
  std::vector<ClassLeft> classes_;
  std::vector<Single> single_; ///< with a limit of their own, or changed already
  std::set<const Job*> taken_; ///< out of the classes
  int spare_ = 0;
};

} // namespace sched
