// SPDX-License-Identifier: BSD-3-Clause
// JSON written by a user: members by name, and mistakes in words.
#pragma once
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "control/variables.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"

namespace command {

/// The whole of a file; "-" is stdin. Invalid JSON is returned as no object, which Reader reports. `where`: for errors.
inline Json json_file(const std::string& name, const char* where = "file") {
  std::ifstream file(name);
  std::istream& in = name == "-" ? std::cin : file;
  if (!in) throw Failure(fmt::format("{}: {} cannot be read", where, name));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return base::parse_json_or_null(text);
}

/// Members of `object` that a table names; anything else is a mistake in words.
class Reader {
public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw Failure(fmt::format("file: {} is no JSON object", where_));
  }
  template <class T> Reader& take(const char* name, T& value) {
    names_.emplace_back(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return *this;
    try {
      if constexpr (std::is_same_v<T, Json>) {
        if (value.is_array() && !found->is_array()) throw std::runtime_error("expected an array");
      }
      value = found->template get<T>();
    } catch (const std::exception&) {
      throw Failure(
          fmt::format("file: {} of {} is {}, expected another kind of value", name, where_, base::json_text(*found)));
    }
    return *this;
  }
  void refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
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
