// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks share: tables on the terminal and as CSV, pictures by gnuplot, everything once more as JSON and
// as one HTML page.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace apps {

/// A number as people read it and as a program does.
struct Cell {
  std::string shown, raw;
  Cell(const char* text) : shown(text), raw(text) {}
  Cell(std::string text) : shown(text), raw(std::move(text)) {}
  Cell(std::int64_t number) : shown(std::to_string(number)), raw(shown) {}
  Cell(int number) : Cell(static_cast<std::int64_t>(number)) {}
  /// So many significant digits are shown. Not a number: shown as "-", nothing in files.
  Cell(double number, int digits);
};

struct Table {
  std::string id; ///< part of the file name
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::string note{}; ///< below it
};

/// One colour of a picture, with a number for every category; not a number: nothing is drawn.
struct Series {
  std::string name;
  std::vector<double> values;
  bool is_mark = false; ///< a black mark over the bars, e.g. a bound; of lines: dashed, without points, e.g. the ideal
  std::vector<std::vector<double>> runs{}; ///< by category: the single runs, drawn as points over the bars or lines
};

/// Medians of the runs, which are shown beside them. `runs` by category.
Series series_of(std::string name, std::vector<std::vector<double>> runs);

struct Picture {
  enum class Kind { bars, stacked, lines };
  std::string id, title, subtitle, x, y;
  Kind kind = Kind::bars;
  std::vector<std::string> categories{};
  std::vector<Series> series{};
  std::vector<std::pair<std::string, int>> groups{}; ///< stacked: so many categories under one word
  bool is_logarithmic = false;
  std::string note{};           ///< the sentence under it: what is to be seen, with the figures
  std::vector<double> places{}; ///< lines: where the categories stand on the x axis; without: one after the other
};

/// The results of one benchmark. Local: for one process.
class Report {
public:
  /// Files go to `folder` under names that begin with `name`; without a folder nothing is written. The folder is made.
  Report(std::string name, std::string title, std::string folder);

  void setting(const std::string& what, const std::string& value);
  void heading(const std::string& text);
  void text(const std::string& paragraph);
  void add(Table table); ///< prints it, writes NAME-ID.csv
  /// Writes NAME-ID.svg and .png, the .gp that gnuplot drew them from, and NAME-ID-runs.csv when it has single runs.
  void add(const Picture& picture);
  /// Writes NAME.json and NAME.html (pictures inside). False, with a line on stderr, when a file could not be written.
  bool finish();

private:
  struct Part {
    enum class Kind { heading, text, table, picture } kind;
    std::string text;
    Table table;
    Picture picture;
  };
  std::string path(const std::string& ending) const;
  bool put(const std::string& ending, const std::string& content);
  std::string html() const;

  std::string name_, title_, folder_;
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<Part> parts_;
  bool is_complete_ = true, has_gnuplot_ = true;
};

/// A time as people say it: "0.35 s", "12 ms", "80 us"; "-" when it is not a number.
std::string in_words(double seconds);

/// Middle value; of an even count the mean of the two in the middle; not a number when there is none.
double median(std::vector<double> values);

/// Processor, cores, memory, system, MPI, one line each.
std::vector<std::pair<std::string, std::string>> machine();

/// The commit that this program was built from.
const char* commit();

} // namespace apps
