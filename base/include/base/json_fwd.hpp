// SPDX-License-Identifier: BSD-3-Clause
// The type of JSON values, for headers: nlohmann-json's, with members in the order in which they were set. A source
// that works with values includes base/parse_json.hpp.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace base {

template <class T, class = void> struct JsonSerializer;

/// nlohmann::ordered_json whose `get` and `value` check numbers: JsonSerializer.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t,
                                  double, std::allocator, JsonSerializer>;

} // namespace base
