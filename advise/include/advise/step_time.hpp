// SPDX-License-Identifier: BSD-3-Clause
// The time of a step as a function of the grid, from what was measured. Pure.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "advise/rules.hpp"
#include "advise/topology.hpp"

namespace advise {

/// Step times of one grid: enough to add more and to give mean and spread.
struct StepTimes {
  std::int64_t count = 0;
  double mean = 0;    ///< seconds
  double squares = 0; ///< sum of squared deviations from the mean
  double least = 0;

  void add(double step_s);
  void add(const StepTimes& more);
  /// Standard error of the mean; of a single step, where there is none, a tenth of it.
  double error() const;
  /// Counts for no more than `most` steps from here on, so that new steps weigh more than old ones.
  void forget_beyond(std::int64_t most);
};

using StepTable = std::map<GridShape, StepTimes>;

/// Times that are taken as they are given: they have no error of their own.
StepTable step_table(const std::vector<ShapeTime>& times);

/// The processes that share the work, of all: no gain is predicted beyond the cores.
/// @param cores of the hosts; 0: not known.
constexpr int useful_processes(int processes, int cores) {
  return cores > 0 && processes > cores ? cores : processes;
}

struct Prediction {
  double seconds = 0;
  double error = 0;         ///< one standard deviation: of the measurements, or of the fit and between fits
  bool is_measured = false; ///< on this very grid
  int grids = 0;            ///< measured grids that the fit goes through
};

/// Seconds of a step on any grid. Measured: their mean. Otherwise fits of
///     t(p, q) = a + b/(p q) + c (1/p + 1/q) + d (p + q),   a, b, c, d >= 0
/// (what does not scale; work; messages of row and column blocks; messages by their number) through the measured grids,
/// weighted by their errors, with every choice of terms that the number of grids allows (d alone only with two grids or
/// more); their mean by Akaike's weights, and as error their own and the spread between them. docs/decisions/0006.
///
/// A grid of more processes than there are cores shares its work among as many as cores only, and is predicted to be no
/// quicker than the quickest measured one that fills them.
class StepModel {
public:
  /// Cost: at most 15 fits of four terms, once.
  /// @param cores of the hosts; 0: not known.
  explicit StepModel(const StepTable& measured, int cores = 0);

  /// Empty when nothing was measured.
  std::optional<Prediction> at(GridShape shape) const;
  const StepTable& measured() const { return measured_; } ///< grids without a step are not there

private:
  static constexpr std::size_t terms = 4;
  using Row = std::array<double, terms>;

  /// Least squares with some of the terms; columns are scaled to length 1.
  struct Fit {
    std::vector<std::size_t> used; ///< terms
    Row scale{}, x{};
    std::array<Row, terms> inverse{}; ///< of the normal matrix
    double badness = 0;               ///< Akaike's criterion
    double inflation = 1;             ///< of the variance: residuals beyond the errors of the measurements

    double seconds(const Row& basis) const;
    double variance(const Row& basis) const;
  };

  static Row basis(GridShape shape, int cores);
  static bool invert(std::array<Row, terms>& a, std::size_t n);
  std::optional<Fit> fit_with(unsigned mask) const;

  StepTable measured_;
  int cores_;
  std::vector<Fit> fits_;
  std::optional<StepTimes> quickest_full_; ///< of the measured grids that fill the cores
};

/// StepModel(measured, cores).at(shape)
std::optional<Prediction> predict_step(const StepTable& measured, GridShape shape, int cores = 0);

/// The measured grid with the fewest processes that is within `tolerance` of the quickest measured one.
std::optional<GridShape> sweet_spot(const StepTable& measured, double tolerance = GridRules().sweet_spot);

} // namespace advise
