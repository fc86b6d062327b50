// SPDX-License-Identifier: BSD-3-Clause
// The processes of all jobs by host, with what they get of their processors. Pure.
#pragma once
#include <map>
#include <string>

#include "base/parse_json.hpp"

namespace command {

/// @param loads by job: the `loads` of the protocol's answer to `load`
/// @return a list by job and host: job, host, processes, `asleep`, share (mean) and least_share (null: none was
/// measured), competing (the largest, null: not known), beside (the other jobs that have a process in their grid there)
base::Json load_by_host(const std::map<std::string, base::Json>& loads);

} // namespace command
