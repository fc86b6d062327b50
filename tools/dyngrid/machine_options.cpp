// SPDX-License-Identifier: BSD-3-Clause
#include "machine_options.hpp"

#include <fmt/format.h>

namespace command {

void add_machine_options(CommandLine& app, advise::Machine& given, const std::string& measured) {
  app.add_option("--latency", given.latency_s,
                 fmt::format("seconds per message (default: as measured {}, else 1e-5)", measured))
      .check(base::non_negative_number());
  app.add_option("--bandwidth", given.bandwidth_bytes_per_s,
                 fmt::format("bytes per second into or out of a process (default: as measured {}, else 1e9)", measured))
      .check(base::positive_number());
  app.add_option("--pack-rate", given.pack_bytes_per_s,
                 fmt::format("bytes per second of a process copying (default: as measured {}, else 4e9)", measured))
      .check(base::positive_number());
}

advise::Machine machine_of(const CommandLine& app, const advise::Machine& given, advise::Machine measured) {
  if (app.count("--latency") > 0) measured.latency_s = given.latency_s;
  if (app.count("--bandwidth") > 0) measured.bandwidth_bytes_per_s = given.bandwidth_bytes_per_s;
  if (app.count("--pack-rate") > 0) measured.pack_bytes_per_s = given.pack_bytes_per_s;
  return measured;
}

} // namespace command
