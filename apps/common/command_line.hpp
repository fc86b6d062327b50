// SPDX-License-Identifier: BSD-3-Clause
// How every program here reads its command line: help is status 0, a mistake is status 2 with one line of our own.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace apps {

/// Of all processes that mpirun started, or started by hand: the one that speaks before MPI is up.
inline bool is_first_of_mpirun() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK"); // MPICH's
  return rank == nullptr || std::string(rank) == "0";
}

namespace detail {
inline CLI::Validator number_that(bool (*is_right)(double), const char* wanted, const char* name) {
  return CLI::Validator(
      [=](std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        return is_number && is_right(value) ? std::string() : "is " + text + ", wanted " + wanted;
      },
      name);
}
} // namespace detail

/// In place of CLI::PositiveNumber and CLI::NonNegativeNumber, whose messages give the largest double in 309 digits.
inline CLI::Validator positive_number() {
  return detail::number_that([](double value) { return value > 0; }, "a number above 0", "POSITIVE");
}
inline CLI::Validator non_negative_number() {
  return detail::number_that([](double value) { return value >= 0; }, "0 or a number above it", "NONNEGATIVE");
}

/// Nothing when the program may go on; otherwise its exit status.
inline std::optional<int> read_command_line(CLI::App& cli, int argc, char** argv, bool speaks = true) {
  try {
    cli.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    if (speaks && is_help) std::fputs(cli.help().c_str(), stdout);
    if (speaks && !is_help) std::fprintf(stderr, "%s: %s (see --help)\n", cli.get_name().c_str(), error.what());
    return is_help ? 0 : 2;
  }
}

} // namespace apps
