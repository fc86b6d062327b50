// SPDX-License-Identifier: BSD-3-Clause
// Hosts as users write them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace base {

/// "node1", "node1:4" or "node1:4:1.5".
struct HostEntry {
  std::string name;
  std::optional<int> slots;    ///< 1 .. most_slots
  std::optional<double> speed; ///< of each slot, above 0
};
constexpr int most_slots = 1 << 16;

/// Letters, digits, dots, hyphens and underscores; no hyphen in front, where it would be an option of mpirun.
bool is_host_name(std::string_view text);
/// A host may be called with its domain in one place and without it in another.
bool is_same_host(std::string_view a, std::string_view b);
bool is_this_host(std::string_view name); ///< "localhost" is, and no name

/// @throws Error{bad_argument} "<where>: host is ...".
HostEntry parse_host(std::string_view text, std::string_view where);

/// The same with commas between them; an empty text has none. @throws Error{bad_argument} for a host that is there
/// twice, too
std::vector<HostEntry> parse_hosts(std::string_view text, std::string_view where);

/// A host that occurs twice, as is_same_host() compares them; none when all differ. local: the host that is called
/// localhost, too, "node1 (localhost)" then; empty: not known.
std::optional<std::string> named_twice(std::vector<std::string> names, std::string_view local = {});
/// The same of anything with a `name`.
template <class Host>
std::optional<std::string> named_twice(const std::vector<Host>& hosts, std::string_view local = {}) {
  std::vector<std::string> names;
  for (const Host& host : hosts) names.push_back(host.name);
  return named_twice(std::move(names), local);
}

} // namespace base
