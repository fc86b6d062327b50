// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <stdexcept>

namespace apps {

namespace {

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
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

/// Processor, cores and memory in a few words, without commas: the scripts split at them.
std::string machine() {
  std::string name = "unknown processor";
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);)
    if (line.rfind("model name", 0) == 0) {
      name = line.substr(line.find(':') + 2);
      break;
    }
  std::replace(name.begin(), name.end(), ',', ' ');
  struct sysinfo memory {};
  sysinfo(&memory);
  return fmt::format("{}; {} cores; {:.0f} GiB", name, get_nprocs(),
                     static_cast<double>(memory.totalram) * memory.mem_unit / 1073741824.0);
}

} // namespace

Cell::Cell(double number, int digits) {
  if (!std::isfinite(number))
    shown = "-";
  else if (number != 0 && std::fabs(number) < 1e-4)
    shown = fmt::format("{:.{}e}", number, digits - 1);
  else {
    const int before = number == 0 ? digits : static_cast<int>(std::floor(std::log10(std::fabs(number)))) + 1;
    shown = fmt::format("{:.{}f}", number, std::clamp(digits - before, 0, 9));
  }
}

Sample::Sample() : seconds(std::numeric_limits<double>::quiet_NaN()) {}

Report::Report(std::string benchmark, const std::string& csv_path) : benchmark_(std::move(benchmark)), path_(csv_path) {
  if (path_.empty()) return;
  csv_.open(path_);
  if (!csv_) throw std::runtime_error(fmt::format("{} cannot be written", path_));
  csv_ << "benchmark,part,application,n,nb,from,to,placement,method,phase,process,run,ranks,ranks_per_node,seconds,"
          "bytes,residual,machine,commit,date\n";
  origin_ = fmt::format("{},{},{:%Y-%m-%d}", machine(), DYNGRID_COMMIT, fmt::gmtime(std::time(nullptr)));
}

void Report::heading(const std::string& text) {
  std::printf("\n== %s ==\n", text.c_str());
}

void Report::text(const std::string& paragraph) {
  std::printf("%s\n", paragraph.c_str());
}

void Report::add(const Table& table) {
  std::vector<std::size_t> width;
  std::vector<bool> is_right;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    width.push_back(table.columns[c].size());
    is_right.push_back(false);
    for (const auto& row : table.rows) {
      width[c] = std::max(width[c], row[c].shown.size());
      is_right[c] = is_right[c] || is_number(row[c].shown);
    }
  }
  const auto line = [&](const auto& word) {
    std::string out;
    for (std::size_t c = 0; c < width.size(); ++c)
      out += is_right[c] ? fmt::format("{:>{}}  ", word(c), width[c]) : fmt::format("{:<{}}  ", word(c), width[c]);
    out.erase(out.find_last_not_of(' ') + 1);
    std::printf("%s\n", out.c_str());
  };
  std::printf("\n%s\n", table.title.c_str());
  line([&](std::size_t c) { return table.columns[c]; });
  for (const auto& row : table.rows) line([&](std::size_t c) { return row[c].shown; });
  if (!table.note.empty()) std::printf("(%s)\n", table.note.c_str());
  std::fflush(stdout);
}

void Report::add(const Sample& s) {
  if (path_.empty()) return;
  const auto count = [](std::int64_t number) { return number > 0 ? std::to_string(number) : std::string(); };
  for (const std::string& text :
       {benchmark_, s.part, s.application, count(s.n), s.nb, s.from, s.to, s.placement, s.method, s.phase, s.process,
        count(s.run), count(s.ranks), count(s.ranks > 0 ? (s.ranks + s.hosts - 1) / s.hosts : 0)})
    csv_ << csv_field(text) << ',';
  csv_ << (std::isfinite(s.seconds) ? fmt::format("{:.9g}", s.seconds) : "") << ','
       << (s.bytes >= 0 ? std::to_string(s.bytes) : "") << ',' << (s.is_checked ? "0" : "") << ',' << origin_ << '\n';
}

void Report::add(Sample sample, const std::vector<double>& runs) {
  for (const double seconds : runs) {
    ++sample.run;
    sample.seconds = seconds;
    add(sample);
  }
}

void Ratios::add(double ratio) {
  log_sum_ += std::log(ratio);
  least_ = count_++ == 0 ? ratio : std::min(least_, ratio);
}

std::string Ratios::text() const {
  return fmt::format("Geometric mean of the ratios {:.2f}, the least {:.2f}", std::exp(log_sum_ / count_), least_);
}

bool Report::finish() {
  std::fflush(stdout);
  if (path_.empty() || csv_.flush()) return true;
  std::fprintf(stderr, "%s: %s cannot be written\n", benchmark_.c_str(), path_.c_str());
  return false;
}

} // namespace apps
