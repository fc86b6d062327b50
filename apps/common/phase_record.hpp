// SPDX-License-Identifier: BSD-3-Clause
// The common part of applications in phases: phases, block sizes from the command line as layouts, and the measured
// time of each phase beside the predicted one.
#pragma once

#include "app.hpp"

#include <dyngrid.h>
#include <dyngrid/phases.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace apps {

/// "4,32,block": block sizes, 0 for block. Throws base::CommandLineError with what is wrong.
inline std::vector<std::int64_t> parse_blocks(const std::string& text) {
  std::vector<std::int64_t> blocks;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    blocks.push_back(parse_block(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return blocks;
}

/// An option with such a list.
inline void add_blocks(base::CommandLine& cli, const std::string& name, std::vector<std::int64_t>& blocks,
                       const std::string& help) {
  cli.add_option(
         name, [&blocks](const std::string& text) { blocks = parse_blocks(text); }, help)
      .type_name("NB,...");
}

/// A phase and the matrices that it uses, each with its access: DYNGRID_READ, DYNGRID_WRITE or both.
inline dyngrid_phase* make_phase(const char* name, const std::vector<std::pair<dyngrid_matrix*, int>>& uses) {
  dyngrid_phase* made = nullptr;
  require(dyngrid_phase_create(name, &made), "dyngrid_phase_create");
  for (const auto& [matrix, use] : uses) require(dyngrid_phase_uses(made, matrix, use), "dyngrid_phase_uses");
  return made;
}

/// Square blocks of nb, 0: one for each process.
inline void add_layout(dyngrid_phase* phase, dyngrid_matrix* matrix, std::int64_t nb) {
  require(nb > 0 ? dyngrid_phase_layout(phase, matrix, nb, nb)
                 : dyngrid_phase_layout_by(phase, matrix, dyngrid_block_rule, nullptr),
          "dyngrid_phase_layout");
}

/// Phases of a run, with their moves. Collective over the grid, all of it.
class PhaseRecord {
public:
  void begin(int step, const char* name, dyngrid_phase* phase) {
    require(dyngrid_phase_begin(phase), "dyngrid_phase_begin");
    phase_ = phase;
    line_ = {step, name, 0, 0, 0, 0};
  }
  void end() {
    require(dyngrid_phase_end(phase_), "dyngrid_phase_end");
    dyngrid_phase_report report;
    require(dyngrid_last_phase(&report), "dyngrid_last_phase");
    line_.candidate = report.candidate;
    line_.seconds = max_over_grid(report.seconds + report.move_s);
    line_.predicted_s = report.is_planned != 0 ? report.predicted_s : 0;
    line_.moved_bytes = report.moved_bytes;
    lines_.push_back(line_);
  }
  /// On process (0,0) of the grid; false when the file cannot be written.
  bool write_csv(const std::string& file) const {
    int row = -1, col = -1;
    dyngrid_grid(nullptr, nullptr, &row, &col);
    if (file.empty() || row != 0 || col != 0) return true;
    std::ofstream out(file);
    out << "step,phase,candidate,seconds,predicted_s,moved_bytes\n";
    for (const Line& l : lines_)
      out << fmt::format("{},{},{},{:.9f},{:.9f},{}\n", l.step, l.phase, l.candidate, l.seconds, l.predicted_s,
                         l.moved_bytes);
    return static_cast<bool>(out.flush());
  }

private:
  struct Line {
    int step;
    const char* phase;
    int candidate;
    double seconds, predicted_s; ///< predicted_s 0: it was tried
    std::int64_t moved_bytes;
  };
  dyngrid_phase* phase_ = nullptr;
  Line line_{};
  std::vector<Line> lines_;
};

} // namespace apps
