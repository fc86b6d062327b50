// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace apps {

namespace {

// Colours that people with any colour vision can tell apart (Okabe and Ito's), strongest contrast first.
const char* const colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"};

std::string escaped(const std::string& text) { // for HTML
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string in_quotes(const std::string& text) { // for gnuplot, without its markup
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string base64(const std::string& bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : digits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

bool is_number(const std::string& text) {
  if (text.empty()) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0';
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Short times in a unit that leaves the numbers short.
void choose_unit(Picture& p) {
  if (p.y.rfind("seconds", 0) != 0) return;
  double largest = 0;
  for (const Series& series : p.series)
    for (const double value : series.values) largest = std::isfinite(value) ? std::max(largest, value) : largest;
  if (largest >= 0.2) return;
  p.y = "milli" + p.y;
  for (Series& series : p.series) {
    for (double& value : series.values) value *= 1000;
    for (auto& runs : series.runs)
      for (double& value : runs) value *= 1000;
  }
}

/// How one picture is drawn: for a file with its title, or for the page, which has title and sentence as text, wide or
/// as wide as a telephone.
enum class Look { file, wide, narrow };

/// Where the bars and points of series k stand: the k-th of `count` in one cluster of bars.
double offset_of(std::size_t k, std::size_t count) {
  return (static_cast<double>(k) - static_cast<double>(count - 1) / 2) / static_cast<double>(count + 1);
}

/// The data: categories with the values of all series in $data, the single runs of series k in $runs_k.
std::string gnuplot_data(const Picture& p) {
  std::string s = "$data << EOD\n";
  for (std::size_t i = 0; i < p.categories.size(); ++i) {
    s += in_quotes(p.categories[i]);
    for (const Series& series : p.series)
      s += i < series.values.size() && std::isfinite(series.values[i]) ? fmt::format(" {:.9g}", series.values[i])
                                                                       : " NaN";
    s += p.places.empty() ? fmt::format(" {}\n", i) : fmt::format(" {:.9g}\n", p.places.at(i));
  }
  s += "EOD\n";
  const auto bars = static_cast<std::size_t>(
      std::count_if(p.series.begin(), p.series.end(), [](const Series& series) { return !series.is_mark; }));
  for (std::size_t k = 0, bar = 0; k < p.series.size(); ++k) {
    const Series& series = p.series[k];
    const std::size_t mine = series.is_mark ? 0 : bar++;
    if (series.runs.empty()) continue;
    s += fmt::format("$runs_{} << EOD\n", k);
    for (std::size_t i = 0; i < series.runs.size(); ++i)
      for (std::size_t r = 0; r < series.runs[i].size(); ++r) {
        if (!std::isfinite(series.runs[i][r])) continue;
        double x = p.places.empty() ? static_cast<double>(i) : p.places.at(i);
        if (p.kind == Picture::Kind::bars) // side by side over their bar
          x += offset_of(mine, bars) +
               0.5 / static_cast<double>(bars + 1) *
                   (static_cast<double>(r) + 0.5 - 0.5 * static_cast<double>(series.runs[i].size())) /
                   static_cast<double>(series.runs[i].size());
        s += fmt::format("{:.6g} {:.9g}\n", x, series.runs[i][r]);
      }
    s += "EOD\n";
  }
  return s;
}

std::string gnuplot_plot(const Picture& p, Look look) {
  const bool is_narrow = look == Look::narrow;
  const std::size_t count = p.categories.size();
  std::string plot;
  const auto append = [&](const std::string& text) { plot += (plot.empty() ? "" : ", \\\n  ") + text; };
  const auto bars = [&](std::size_t first, std::size_t last, bool with_titles, std::size_t skip) {
    std::size_t colour = 0;
    for (std::size_t k = 0; k < p.series.size(); ++k) {
      const Series& series = p.series[k];
      const char* rgb = colours[colour % std::size(colours)];
      if (series.is_mark) continue;
      ++colour;
      append(fmt::format("$data every ::{}::{} using {}:xtic(1) {} lc rgb \"{}\"", first, last - 1, k + 2,
                         with_titles ? "title " + in_quotes(series.name) : std::string("notitle"), rgb));
    }
    for (std::size_t k = 0; k < p.series.size(); ++k)
      if (p.series[k].is_mark)
        append(fmt::format("$data every ::{}::{} using ($0+{}):{} with points pt 18 ps 1.4 lc rgb \"black\" {}", first,
                           last - 1, skip, k + 2,
                           with_titles ? "title " + in_quotes(p.series[k].name) : std::string("notitle")));
  };
  if (p.kind == Picture::Kind::lines) {
    for (std::size_t k = 0; k < p.series.size(); ++k) {
      const bool is_mark = p.series[k].is_mark;
      append(fmt::format("$data using {}:{}{} with linespoints lw {} pt {} ps {} lc rgb \"{}\"{} title {}",
                         p.series.size() + 2, k + 2, p.places.empty() ? ":xtic(1)" : "", is_mark ? 1.5 : 2.2,
                         is_mark ? 0 : 7, is_narrow ? 0.7 : 1.1, is_mark ? "black" : colours[k % std::size(colours)],
                         is_mark ? " dt 2" : "", in_quotes(p.series[k].name)));
    }
  } else if (p.groups.empty()) {
    bars(0, count, true, 0);
    std::size_t colour_count = 0, bar = 0;
    bool has_runs = false;
    for (const Series& series : p.series) {
      colour_count += series.is_mark ? 0 : 1;
      has_runs = has_runs || !series.runs.empty();
    }
    if (p.kind == Picture::Kind::bars && !is_narrow && colour_count * count <= 28) // room for the numbers over the bars
      for (std::size_t k = 0; k < p.series.size(); ++k) {
        if (p.series[k].is_mark) continue;
        const bool lies_under_points = has_runs && k < p.series.size() && !p.series[k].runs.empty();
        append(fmt::format("$data using ($0+{:.4f}):{}:(sprintf(\"%.3g\",${})) with labels offset 0,{} font \",11\" tc "
                           "rgb \"#444444\" notitle",
                           offset_of(bar++, colour_count), k + 2, k + 2, lies_under_points ? 0.9 : 0.6));
      }
  } else {
    std::size_t first = 0, at = 0;
    for (const auto& [word, size] : p.groups) {
      append(fmt::format("newhistogram {} at {} lt 1", in_quotes(word), at));
      bars(first, first + static_cast<std::size_t>(size), first == 0, at);
      first += static_cast<std::size_t>(size);
      at += static_cast<std::size_t>(size) + 1;
    }
  }
  bool is_said = false;
  for (std::size_t k = 0; k < p.series.size(); ++k) {
    if (p.series[k].runs.empty()) continue;
    append(fmt::format("$runs_{} using 1:2 with points pt 6 lw 1.3 ps {} lc rgb \"{}\" {}", k, is_narrow ? 0.5 : 0.7,
                       p.kind == Picture::Kind::lines ? colours[k % std::size(colours)] : "black",
                       is_said ? "notitle" : "title \"single runs\""));
    is_said = true;
  }
  return "plot " + plot + "\n";
}

/// All that is the same however it is drawn stands first, then what differs, with the drawing, for each file.
std::string gnuplot_script(Picture p, const std::string& base) {
  choose_unit(p);
  const std::size_t count = p.categories.size();
  std::size_t longest = 0;
  for (const std::string& category : p.categories) longest = std::max(longest, category.size());
  std::size_t keys = 0;
  for (const Series& series : p.series) keys += series.runs.empty() ? 1 : 2;
  keys = std::min(keys, p.series.size() + 1);
  std::string s = gnuplot_data(p);
  s += fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\n", in_quotes(p.x), in_quotes(p.y));
  s += "set border 3 lc rgb \"#666666\"\nset tics nomirror out\nset grid ytics lc rgb \"#d8d8d8\" lt 1\n";
  s += p.is_logarithmic ? "set logscale y\nset format y \"%g\"\n" : "set yrange [0:*]\n";
  s += "set offsets 0.2, 0.2, graph 0.06, 0\nset datafile missing \"NaN\"\nset style fill solid 0.95 noborder\n";
  if (p.kind != Picture::Kind::lines) {
    s += fmt::format("set style data histograms\nset style histogram {}\nset boxwidth 0.9\n",
                     p.kind == Picture::Kind::stacked ? "rowstacked" : "clustered gap 1");
    if (p.groups.empty())
      s += fmt::format("set xrange [-0.65:{:.2f}]\n", static_cast<double>(count) - 0.35);
    else
      s += "set style histogram rowstacked title offset 0,-0.6 noenhanced\nset xlabel \" \" offset 0,-1.2\n";
  }
  std::string tics = "set xtics noenhanced";
  if (!p.places.empty()) {
    for (std::size_t i = 0; i < count; ++i)
      tics += fmt::format("{}{} {:.9g}", i == 0 ? " (" : ", ", in_quotes(p.categories[i]), p.places[i]);
    tics += ")";
  }
  if (!p.groups.empty()) tics += " scale 0";
  const auto draw = [&](Look look, const std::string& terminal, const std::string& ending) {
    const bool is_narrow = look == Look::narrow;
    const bool is_crowded = p.groups.empty() && count * (longest + 2) > (is_narrow ? 46 : 110);
    s += terminal + tics + (is_crowded ? " rotate by -35" : " norotate") +
         (is_narrow && !p.groups.empty() ? " font \",10\"\n" : "\n");
    s += is_crowded ? "set rmargin 7\n" : "unset rmargin\n";
    if (look == Look::file) {
      s +=
          fmt::format("set label 1 {} at screen 0.02, screen 0.955 left noenhanced font \",17\"\n", in_quotes(p.title));
      s += fmt::format("set label 2 {} at screen 0.02, screen 0.905 left noenhanced font \",13\" tc rgb \"#555555\"\n",
                       in_quotes(p.subtitle));
      s += "set tmargin at screen 0.79\nset key at screen 0.5, screen 0.875 center top horizontal noenhanced Left "
           "reverse maxrows 1 maxcols auto\n";
    } else if (look == Look::wide) {
      s += "unset label\nset tmargin at screen 0.86\nset key at screen 0.5, screen 0.98 center top horizontal "
           "noenhanced Left reverse maxrows 1\n";
    } else {
      const double height = 300 + 20.0 * static_cast<double>(keys);
      s += fmt::format("unset label\nset tmargin at screen {:.3f}\nset key at screen 0.15, screen 0.985 left top "
                       "vertical noenhanced Left reverse maxcols 1 maxrows auto\n",
                       1 - (20.0 * static_cast<double>(keys) + 16) / height);
    }
    s += fmt::format("set output {}\n{}unset output\n", in_quotes(base + ending), gnuplot_plot(p, look));
  };
  const std::string font = "font \"Helvetica,Arial,sans-serif,14\" background rgb \"white\"\n";
  draw(Look::file, "set terminal svg size 920,500 " + font, ".svg");
  draw(Look::file, "set terminal pngcairo size 1150,625 font \"Sans,12\" background rgb \"white\"\n", ".png");
  draw(Look::wide, "set terminal svg size 920,450 " + font, "-wide.svg");
  draw(Look::narrow, fmt::format("set terminal svg size 420,{} {}", 300 + 20 * keys, font), "-narrow.svg");
  return s;
}

const char* const style =
    R"(body{font:15px/1.45 system-ui,"Helvetica Neue",Arial,sans-serif;color:#222;max-width:1000px;margin:2em auto;padding:0 1em;overflow-wrap:anywhere}
h1{font-size:1.7em;margin-bottom:.2em}h2{font-size:1.35em;margin-top:2.2em;border-bottom:2px solid #0072B2;padding-bottom:.15em}h3{font-size:1.1em;margin-top:1.8em}
table{border-collapse:collapse;margin:.2em 0 .6em;font-variant-numeric:tabular-nums;font-size:.92em;overflow-wrap:normal}p.title{font-weight:600;margin:1em 0 .2em}
th,td{padding:.22em .7em;border-bottom:1px solid #ddd;text-align:left}th{border-bottom:2px solid #999;font-weight:600;vertical-align:bottom}td.n,th.n{text-align:right}td.s{white-space:nowrap}
tr:hover td{background:#f3f7fa}p.note{color:#555;font-size:.9em;max-width:60em;margin-top:.2em}figure{margin:1.4em 0}figcaption{max-width:60em;margin-top:.3em}
img{width:100%;height:auto;border:1px solid #e4e4e4;box-sizing:border-box}div.wide{overflow-x:auto}nav{background:#f3f7fa;padding:.6em 1em;columns:20em auto}
nav ul{list-style:none;margin:0;padding:0}nav li{break-inside:avoid}nav li.part{font-weight:600;margin-top:.3em}nav li.sub{padding-left:1.2em;font-size:.93em}
@media(max-width:600px){body{margin:1em auto;padding:0 .7em}h1{font-size:1.4em}h2{font-size:1.2em}th,td{padding:.2em .45em}}
)";

} // namespace

Cell::Cell(double number, int digits) {
  if (!std::isfinite(number)) {
    shown = "-";
    return;
  }
  shown = std::fabs(number) >= 1e-4 || number == 0
              ? fmt::format(
                    "{:.{}f}", number,
                    number == 0
                        ? 0
                        : std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(std::fabs(number)))), 0, 9))
              : fmt::format("{:.{}e}", number, digits - 1);
  raw = fmt::format("{:.9g}", number);
}

std::string in_words(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::fabs(seconds);
  if (size >= 0.2 || size == 0) return Cell(seconds, 3).shown + " s";
  return size >= 2e-4 ? Cell(1e3 * seconds, 3).shown + " ms" : Cell(1e6 * seconds, 3).shown + " us";
}

Series series_of(std::string name, std::vector<std::vector<double>> runs) {
  Series series{std::move(name), {}};
  for (const auto& of_one : runs) series.values.push_back(median(of_one));
  series.runs = std::move(runs);
  return series;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

const char* commit() {
  return DYNGRID_COMMIT;
}

std::vector<std::pair<std::string, std::string>> machine() {
  std::vector<std::pair<std::string, std::string>> out;
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.rfind("model name", 0) == 0) {
      out.emplace_back("processor", line.substr(line.find(':') + 2));
      break;
    }
  out.emplace_back("cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0)
    out.emplace_back("memory",
                     fmt::format("{:.1f} GiB", static_cast<double>(memory.totalram) * memory.mem_unit / 1073741824.0));
  struct utsname system {};
  if (uname(&system) == 0)
    out.emplace_back("system", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(version, &length) == MPI_SUCCESS) {
    const std::string all(version);
    out.emplace_back("MPI", all.substr(0, all.find(',')));
  }
  return out;
}

Report::Report(std::string name, std::string title, std::string folder)
    : name_(std::move(name)), title_(std::move(title)), folder_(std::move(folder)) {
  std::error_code failed;
  if (!folder_.empty()) std::filesystem::create_directories(folder_, failed);
  if (failed) {
    std::fprintf(stderr, "%s: cannot make the folder %s: %s\n", name_.c_str(), folder_.c_str(),
                 failed.message().c_str());
    is_complete_ = false;
    folder_.clear();
  }
}

std::string Report::path(const std::string& ending) const {
  return folder_ + "/" + name_ + ending;
}

bool Report::put(const std::string& ending, const std::string& content) {
  if (folder_.empty()) return true;
  std::ofstream out(path(ending), std::ios::binary);
  out << content;
  if (out.flush()) return true;
  std::fprintf(stderr, "%s: cannot write %s\n", name_.c_str(), path(ending).c_str());
  is_complete_ = false;
  return false;
}

void Report::setting(const std::string& what, const std::string& value) {
  settings_.emplace_back(what, value);
}

void Report::heading(const std::string& text) {
  std::printf("\n== %s ==\n", text.c_str());
  parts_.push_back({Part::Kind::heading, text, {}, {}});
}

void Report::text(const std::string& paragraph) {
  std::printf("%s\n", paragraph.c_str());
  parts_.push_back({Part::Kind::text, paragraph, {}, {}});
}

void Report::add(Table table) {
  std::vector<std::size_t> width;
  std::vector<bool> is_right;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t w = table.columns[c].size();
    bool numbers = false;
    for (const auto& row : table.rows) {
      w = std::max(w, row[c].shown.size());
      numbers = numbers || is_number(row[c].shown);
    }
    width.push_back(w);
    is_right.push_back(numbers);
  }
  const auto line = [&](const auto& word) {
    std::string out;
    for (std::size_t c = 0; c < width.size(); ++c)
      out += is_right[c] ? fmt::format("{:>{}}  ", word(c), width[c]) : fmt::format("{:<{}}  ", word(c), width[c]);
    while (!out.empty() && out.back() == ' ') out.pop_back();
    std::printf("%s\n", out.c_str());
  };
  std::printf("\n%s\n", table.title.c_str());
  line([&](std::size_t c) { return table.columns[c]; });
  for (const auto& row : table.rows) line([&](std::size_t c) { return row[c].shown; });
  if (!table.note.empty()) std::printf("(%s)\n", table.note.c_str());
  std::fflush(stdout);

  std::string csv;
  for (std::size_t c = 0; c < table.columns.size(); ++c) csv += (c > 0 ? "," : "") + csv_field(table.columns[c]);
  csv += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) csv += (c > 0 ? "," : "") + csv_field(row[c].raw);
    csv += '\n';
  }
  put("-" + table.id + ".csv", csv);
  parts_.push_back({Part::Kind::table, "", std::move(table), {}});
}

void Report::add(const Picture& picture) {
  parts_.push_back({Part::Kind::picture, "", {}, picture});
  if (!picture.note.empty()) std::printf("[%s: %s]\n", picture.title.c_str(), picture.note.c_str());
  std::string csv;
  for (const Series& series : picture.series)
    for (std::size_t i = 0; i < series.runs.size(); ++i)
      for (std::size_t r = 0; r < series.runs[i].size(); ++r)
        csv += fmt::format("{},{},{},{:.9g}\n", csv_field(picture.categories.at(i)), csv_field(series.name), r + 1,
                           series.runs[i][r]);
  if (!csv.empty()) put("-" + picture.id + "-runs.csv", "category,series,run,value\n" + csv);
  if (folder_.empty() || !put("-" + picture.id + ".gp", gnuplot_script(picture, path("-" + picture.id))) ||
      !has_gnuplot_)
    return;
  const std::string log = path("-gnuplot.log");
  const int status = std::system(fmt::format("gnuplot '{}' >'{}' 2>&1", path("-" + picture.id + ".gp"), log).c_str());
  if (status == 0) {
    std::remove(log.c_str());
    return;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    has_gnuplot_ = false;
    std::fprintf(stderr, "%s: no pictures: gnuplot is not installed (Debian package gnuplot-nox)\n", name_.c_str());
    return;
  }
  std::fprintf(stderr, "%s: gnuplot failed on %s:\n%s", name_.c_str(), path("-" + picture.id + ".gp").c_str(),
               content_of(log).c_str());
  is_complete_ = false;
}

std::string Report::html() const {
  std::string out = fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                                "name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                                "<title>{}</title>\n<style>{}</style></head><body>\n",
                                escaped(title_), style);
  const auto anchor = [&](int number) { return fmt::format("{}-{}", name_, number); };
  int headings = 0;
  for (const Part& part : parts_)
    if (part.kind == Part::Kind::heading)
      out += fmt::format("{}<li class=\"sub\"><a href=\"#{}\">{}</a></li>\n", headings == 0 ? "<nav><ul>\n" : "",
                         anchor(headings + 1), escaped(part.text)),
          ++headings;
  if (headings > 0) out += "</ul></nav>\n";
  headings = 0;
  out += fmt::format("<!-- begin {} -->\n<h2 id=\"{}\">{}</h2>\n", name_, name_, escaped(title_));
  if (!settings_.empty()) {
    out += "<p class=\"note\">";
    for (std::size_t i = 0; i < settings_.size(); ++i)
      out += fmt::format("{}{}: <b>{}</b>", i > 0 ? " &middot; " : "", escaped(settings_[i].first),
                         escaped(settings_[i].second));
    out += "</p>\n";
  }
  for (const Part& part : parts_) {
    switch (part.kind) {
    case Part::Kind::heading:
      out += fmt::format("<h3 id=\"{}\">{}</h3>\n", anchor(++headings), escaped(part.text));
      break;
    case Part::Kind::text:
      out += fmt::format("<p>{}</p>\n", escaped(part.text));
      break;
    case Part::Kind::table: {
      const Table& t = part.table;
      std::vector<const char*> kind;
      for (std::size_t c = 0; c < t.columns.size(); ++c)
        kind.push_back(
            std::any_of(t.rows.begin(), t.rows.end(), [&](const auto& row) { return is_number(row[c].shown); })
                ? " class=\"n\""
                : "");
      out += fmt::format("<p class=\"title\">{}</p>\n<div class=\"wide\"><table><thead><tr>", escaped(t.title));
      for (std::size_t c = 0; c < t.columns.size(); ++c)
        out += fmt::format("<th{}>{}</th>", kind[c], escaped(t.columns[c]));
      out += "</tr></thead><tbody>\n";
      for (const auto& row : t.rows) {
        out += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c)
          out += fmt::format("<td{}>{}</td>", *kind[c] == '\0' && row[c].shown.size() <= 20 ? " class=\"s\"" : kind[c],
                             escaped(row[c].shown));
        out += "</tr>\n";
      }
      out += "</tbody></table></div>\n";
      if (!t.note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(t.note));
      break;
    }
    case Part::Kind::picture: {
      const std::string wide = content_of(path("-" + part.picture.id + "-wide.svg")),
                        narrow = content_of(path("-" + part.picture.id + "-narrow.svg"));
      if (wide.empty() || narrow.empty()) break;
      const char* data = "data:image/svg+xml;base64,";
      out += fmt::format("<figure><p class=\"title\">{}</p><p class=\"note\">{}</p>", escaped(part.picture.title),
                         escaped(part.picture.subtitle));
      out += fmt::format(
          "<picture><source media=\"(max-width:600px)\" srcset=\"{}{}\"><img alt=\"{}\" src=\"{}{}\"></picture>", data,
          base64(narrow), escaped(part.picture.title), data, base64(wide));
      out += fmt::format("<figcaption>{}</figcaption>", escaped(part.picture.note));
      out += "</figure>\n";
      break;
    }
    }
  }
  out += fmt::format("<!-- end {} -->\n<p class=\"note\">commit {}", name_, commit());
  for (const auto& [what, value] : machine()) out += fmt::format(" &middot; {} {}", what, escaped(value));
  return out + "</p>\n</body></html>\n";
}

bool Report::finish() {
  std::fflush(stdout);
  if (folder_.empty()) return is_complete_;
  nlohmann::ordered_json doc;
  doc["benchmark"] = name_;
  doc["title"] = title_;
  doc["commit"] = commit();
  for (const auto& [what, value] : machine()) doc["machine"][what] = value;
  for (const auto& [what, value] : settings_) doc["settings"][what] = value;
  doc["tables"] = nlohmann::ordered_json::array();
  doc["pictures"] = nlohmann::ordered_json::array();
  for (const Part& part : parts_) {
    if (part.kind == Part::Kind::picture)
      doc["pictures"].push_back({{"id", part.picture.id}, {"title", part.picture.title}, {"note", part.picture.note}});
    if (part.kind != Part::Kind::table) continue;
    nlohmann::ordered_json table{{"id", part.table.id}, {"title", part.table.title}, {"columns", part.table.columns}};
    table["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : part.table.rows) {
      nlohmann::ordered_json cells = nlohmann::ordered_json::array();
      for (const Cell& cell : row) {
        if (cell.raw.empty())
          cells.push_back(nullptr);
        else if (is_number(cell.raw))
          cells.push_back(std::strtod(cell.raw.c_str(), nullptr));
        else
          cells.push_back(cell.raw);
      }
      table["rows"].push_back(std::move(cells));
    }
    doc["tables"].push_back(std::move(table));
  }
  put(".json", doc.dump(1) + "\n");
  put(".html", html());
  std::printf("\n%s: tables (CSV, JSON), pictures (PNG, SVG) and %s\n", name_.c_str(), path(".html").c_str());
  std::fflush(stdout);
  return is_complete_;
}

} // namespace apps
