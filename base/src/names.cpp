// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <algorithm>

#include "base/status.hpp"

namespace base {

std::string any_of(const Names& names) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += (k == 0 ? "" : k + 1 == names.size() ? " or " : ", ") + names[k];
  return text;
}

std::size_t number_of_name(std::string_view text, const Names& names, std::string_view where) {
  const auto name = std::find(names.begin(), names.end(), text);
  if (name != names.end()) return static_cast<std::size_t>(name - names.begin());
  throw Error(Status::bad_argument, "{} is \"{}\", expected {}", where, text.substr(0, 40), any_of(names));
}

} // namespace base
