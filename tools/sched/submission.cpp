// SPDX-License-Identifier: BSD-3-Clause
#include "submission.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "shared/program.hpp"

namespace sched {

using base::Error;
using base::Json;
using base::Status;
namespace {

/// A list of words of a submitted job; empty where it is absent.
std::vector<std::string> words_of(const control::Request& request, const char* member) {
  std::vector<std::string> list;
  const auto at = request.body->find(member);
  if (at == request.body->end()) return list;
  if (!at->is_array())
    throw Error(Status::bad_argument, "scheduler: submit: \"{}\" is {}, expected a list of words", member,
                base::json_text(*at).substr(0, 60));
  for (const Json& word : *at) {
    if (!word.is_string() || word.get<std::string>().find('\0') != std::string::npos)
      throw Error(Status::bad_argument, "scheduler: submit: \"{}\" has {}, expected words", member,
                  base::json_text(word).substr(0, 60));
    list.push_back(word.get<std::string>());
  }
  return list;
}

} // namespace

JobSpec spec_of(const control::Request& request) {
  JobSpec spec;
  spec.command = words_of(request, "command");
  spec.variables = words_of(request, "variables");
  if (const std::string trouble = tools::trouble_with_program(spec.command); !trouble.empty())
    throw Error(Status::bad_argument, "scheduler: submit: \"command\": " + trouble);
  for (const auto& variable : spec.variables)
    if (variable.find('=') == std::string::npos || variable[0] == '=')
      throw Error(Status::bad_argument, "scheduler: submit: \"{}\" is no variable, expected NAME=value", variable);
  const std::string program = base::file_name(spec.command[0]);
  spec.name = control::text(request, "name", base::printable(program));
  if (const auto shown = base::printable(spec.name); shown != spec.name)
    throw Error(Status::bad_argument, "scheduler: submit: \"name\" is \"{}\", expected text without control characters",
                shown.substr(0, 60));
  std::size_t kept = std::min<std::size_t>(spec.name.size(), 60);
  while (kept < spec.name.size() && (static_cast<unsigned char>(spec.name[kept]) >> 6) == 2)
    --kept; // not in the middle of a character
  spec.name.resize(kept);
  spec.allow = control::text(request, "allow", "");
  spec.folder = control::text(request, "folder", "/");
  if (spec.folder.empty() || spec.folder[0] != '/')
    throw Error(Status::bad_argument, "scheduler: submit: \"folder\" is \"{}\", expected a path from /", spec.folder);
  spec.priority = request.body->contains("priority")
                      ? static_cast<int>(control::whole_number(request, "priority", -1000000, 1000000))
                      : 0;
  spec.steps = request.body->contains("steps") ? control::whole_number(request, "steps", 0, INT64_MAX) : 0;
  spec.rigid = control::flag(request, "rigid");
  spec.seconds = control::text(request, "seconds", "");
  if (const auto at = request.body->find("finish_by_s"); at != request.body->end()) {
    if (!at->is_number() || !(at->get<double>() > 0))
      throw Error(Status::bad_argument, "scheduler: submit: \"finish_by_s\" is {}, expected seconds since 1970",
                  base::json_text(*at).substr(0, 60));
    spec.finish_by_s = at->get<double>();
  }
  return spec;
}

} // namespace sched
