// SPDX-License-Identifier: BSD-3-Clause
// A distributed matrix out of a Matrix Market file: every process reads the file and keeps its own part.
#pragma once

#include "app.hpp"
#include "matrix_market.hpp"

#include <dyngrid.h>
#include <dyngrid/balance.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace apps {

/// Adds --matrix to the command line.
inline void add_matrix_option(base::CommandLine& cli, std::string& file) {
  cli.add_option("--matrix", file,
                 "Matrix Market file, real, square, dense or sparse, for A instead of a generated matrix; its order "
                 "counts, not --n")
      .type_name("FILE");
}

/// The order of the square matrix in `file` becomes options.n. Ends the process with status 2 and a line when the file
/// cannot be used. Does nothing without a file.
inline void take_order(const std::string& app, const std::string& file, Options& options) {
  if (file.empty()) return;
  try {
    const auto header = read_matrix_market_header(file);
    if (header.m != header.n)
      throw std::runtime_error(fmt::format("{}: is {} x {}, expected a square matrix", file, header.m, header.n));
    options.n = header.n;
  } catch (const std::runtime_error& error) {
    refuse(app, error.what());
  }
}

/// The local index of each of the n rows (axis 'R') or columns ('C'), -1 where it is not mine. Local.
inline std::vector<std::int64_t> local_indices(const dyngrid_matrix* a, char axis, int n) {
  std::vector<std::int64_t> local(static_cast<std::size_t>(n), -1);
  std::int64_t first = 0, end = 0, next = 0;
  for (std::int64_t k = 0; dyngrid_my_range(a, axis, k, &first, &end) == 1; ++k)
    for (; first < end; ++first) local[static_cast<std::size_t>(first)] = next++;
  return local;
}

/// Reads the file into my part of `a`. Ends the application when a process cannot. Collective.
inline void fill_from_file(const std::string& app, const dyngrid_matrix* a, const std::string& file) {
  const int* desc = dyngrid_desc(a);
  const std::vector<std::int64_t> rows = local_indices(a, 'R', desc[2]), columns = local_indices(a, 'C', desc[3]);
  std::int64_t lld = 1;
  dyngrid_matrix_shape(a, nullptr, nullptr, &lld);
  auto* local = static_cast<double*>(dyngrid_local(a));
  std::string problem;
  try {
    read_matrix_market(file, [&](std::int64_t i, std::int64_t j, double value) {
      const std::int64_t i_loc = rows[static_cast<std::size_t>(i)], j_loc = columns[static_cast<std::size_t>(j)];
      if (i_loc >= 0 && j_loc >= 0) local[i_loc + j_loc * lld] += value;
    });
  } catch (const std::runtime_error& error) {
    problem = error.what();
  }
  if (max_over_grid(problem.empty() ? 0 : 1) == 0) return;
  if (!problem.empty()) std::fprintf(stderr, "%s: %s\n", app.c_str(), problem.c_str());
  std::fflush(stderr);
  MPI_Barrier(dyngrid_comm());
  MPI_Abort(dyngrid_comm(), 1);
}

} // namespace apps
