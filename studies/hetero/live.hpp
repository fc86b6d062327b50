// SPDX-License-Identifier: BSD-3-Clause
// Programs on processors of unequal speed, and growths of running ones onto chosen processors, by the clock on the
// wall.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/report.hpp"

namespace bench {

/// Processors that a program begins on, those that are free, and what of their speed it is offered.
struct LiveSeries {
  std::string part;                        ///< for the CSV file
  std::string table;                       ///< of studies/papers/published.csv, "6.7"; empty: none
  std::string title;                       ///< "Four growths"
  std::vector<double> first;               ///< 2 x 2, row-major
  std::vector<double> free_ones;           ///< one on each host
  std::vector<std::vector<double>> offers; ///< for each run: total speed that is offered, for each of its growths
};

/// Where life runs without growing.
struct LiveGrid {
  std::string method; ///< "equal shares"
  int nprow, npcol;
  std::vector<double> speeds; ///< row-major
  std::vector<std::int64_t> rows, cols;
  std::vector<std::string> processes; ///< row-major, as studies/papers/published.csv names them
};
struct LiveGrids {
  std::string part, table, title;
  std::vector<double> speeds; ///< together what is emulated at most
  std::vector<LiveGrid> grids;
};

struct LiveSettings {
  std::int64_t n = 480;
  std::vector<LiveGrids> grids;
  std::vector<LiveSeries> series;
  std::vector<std::string> strategies{"best", "global", "local", "mixed"};
  std::vector<std::string> applications{"life", "pdgemm"};
  int steps = 5;       ///< measured on each grid
  int spare_steps = 2; ///< of each grid besides: in these the next growth is asked for
  int rounds = 3;      ///< of all strategies in turn
  std::string mpirun = "mpirun", published = "studies/papers/published.csv";
};

/// Table 6.20. Its own list is not printed; this one is of numbers from 0.5 to 10 too. It was chosen: seed 111 of 25
/// random lists, one of the six on which a greedy `best` leads after all four growths (README.md).
LiveSeries four_growths();

/// Every run starts `dyngrid run` with an application on emulated processors. Where it is to grow, it is asked over its
/// socket to do so, onto processors of a list. The application checks every element after every step.
/// @throws std::runtime_error when a run fails, or a step was wrong
void run_live(const LiveSettings& settings, apps::Report& report);

/// What is missing on this machine; empty: nothing.
std::string why_not_live(bool has_growths);

} // namespace bench
