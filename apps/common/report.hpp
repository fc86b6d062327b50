// SPDX-License-Identifier: BSD-3-Clause
// The common part of the benchmarks: tables for people, and a CSV file of single runs, which studies/figures/draw turns
// into pictures.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.hpp"

namespace apps {

/// The content of one field of a table.
struct Cell {
  std::string shown;
  Cell(const char* text) : shown(text) {}
  Cell(std::string text) : shown(std::move(text)) {}
  Cell(std::int64_t number) : shown(std::to_string(number)) {}
  Cell(int number) : Cell(static_cast<std::int64_t>(number)) {}
  /// The number of significant digits shown. Not a number: "-".
  Cell(double number, int digits);
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::string note{}; ///< below it
};

/// One measurement: a line of the CSV file. Empty values, 0 and not a number are empty there.
struct Sample {
  std::string part;        ///< of the benchmark: "chain"
  std::string application; ///< that ran: "pdgemm"
  std::int64_t n = 0;
  std::string nb;       ///< block size, "64-128" before and after, or "block"
  std::string from, to; ///< grids, alike where nothing changes
  std::string placement;
  std::string method;  ///< schedule, strategy, way: what is compared
  std::string phase;   ///< what was timed: "step", "exchange"
  std::string process; ///< its name, when the figure is of one process
  int run = 0;         ///< from 1
  int ranks = 0, hosts = 1;
  double seconds;          ///< of the slowest process, or of the one above
  std::int64_t bytes = -1; ///< that changed their process
  bool is_checked = false; ///< every element was compared, and right: the residual is 0
  Sample();
};

/// How many times as fast in many cases.
class Ratios {
public:
  void add(double ratio);
  std::string text() const; ///< "Geometric mean of the ratios 1.38, the least 1.00"

private:
  double log_sum_ = 0, least_ = 0;
  int count_ = 0;
};

/// Tables of one benchmark on the terminal, samples in a file. Local: for one process.
class Report {
public:
  /// Without a path no samples are stored.
  /// @throws std::runtime_error when the file cannot be made.
  Report(std::string benchmark, const std::string& csv_path);

  void heading(const std::string& text);
  void text(const std::string& paragraph);
  void add(const Table& table); ///< prints it
  void add(const Sample& sample);
  /// The same sample for each of these seconds, runs counted from 1.
  void add(Sample sample, const std::vector<double>& runs);
  /// False, with a line on stderr, when the file could not be written.
  bool finish();

private:
  std::string benchmark_, path_, origin_; ///< origin: machine, commit and date, the last three columns
  std::ofstream csv_;
};

using base::median;

} // namespace apps
