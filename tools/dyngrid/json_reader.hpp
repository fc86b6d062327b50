// SPDX-License-Identifier: BSD-3-Clause
// JSON that a user wrote: members by name, and mistakes in words.
#pragma once
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/variables.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"

namespace command {

/// The whole of a file; "-" is stdin. What is no JSON is no object, which Reader says.
inline Json json_file(const std::string& name) {
  std::ifstream file(name);
  std::istream& in = name == "-" ? std::cin : file;
  if (!in) throw Failure(fmt::format("file: {} cannot be read", name));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return Json::parse_or_null(text);
}

/// Members of `object` that a table names; anything else is a mistake in words.
class Reader {
public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw Failure(fmt::format("file: {} is no JSON object", where_));
  }
  template <class T> Reader& take(const char* name, T& value) {
    names_.emplace_back(name);
    const Json* found = object_.find(name);
    if (!found) return *this;
    try {
      value = found->get<T>();
    } catch (const Json::Error&) {
      throw Failure(fmt::format("file: {} of {} is {}, expected another kind of value", name, where_, found->dump()));
    }
    return *this;
  }
  void refuse_others() const {
    for (const auto& [name, value] : object_.members()) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
      const std::string closest = control::closest_word(name, names_);
      throw Failure(fmt::format("file: {} has no member {}{}", where_, name,
                                closest.empty() ? "" : fmt::format("; is it {}?", closest)));
    }
  }

private:
  const Json& object_;
  std::string where_;
  std::vector<std::string> names_;
};

} // namespace command
