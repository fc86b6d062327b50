// SPDX-License-Identifier: BSD-3-Clause
#include "base/host_list.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/text.hpp"

namespace base {
namespace {

constexpr std::size_t longest_name = 255;

std::optional<double> speed_in(const std::string& text) {
  char* end = nullptr;
  const double speed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(speed) || speed <= 0) return std::nullopt;
  return speed;
}

} // namespace

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
         });
}

HostEntry parse_host(std::string_view text, std::string_view where) {
  const std::vector<std::string> words = split(text, ':');
  HostEntry host;
  bool is_right = !words.empty() && words.size() <= 3 && is_host_name(words[0]);
  if (is_right) host.name = words[0];
  if (is_right && words.size() > 1) {
    host.slots = whole_number<int>(words[1]);
    is_right = host.slots && *host.slots >= 1 && *host.slots <= most_slots;
  }
  if (is_right && words.size() > 2) {
    host.speed = speed_in(words[2]);
    is_right = host.speed.has_value();
  }
  if (!is_right)
    throw Error(Status::bad_argument,
                "{}: host is \"{}\", expected NAME, NAME:SLOTS or NAME:SLOTS:SPEED, slots 1 .. {}, a speed above 0",
                where, text.substr(0, 60), most_slots);
  return host;
}

std::vector<HostEntry> parse_hosts(std::string_view text, std::string_view where) {
  std::vector<HostEntry> hosts;
  for (const std::string& part : split(text, ',')) hosts.push_back(parse_host(part, where));
  if (const auto twice = named_twice(hosts)) throw Error(Status::bad_argument, "{}: {} is there twice", where, *twice);
  return hosts;
}

bool is_same_host(std::string_view a, std::string_view b) {
  const auto dot_a = a.find('.'), dot_b = b.find('.');
  const bool has_domain_a = dot_a != std::string_view::npos, has_domain_b = dot_b != std::string_view::npos;
  return a == b || (has_domain_a != has_domain_b && a.substr(0, dot_a) == b.substr(0, dot_b));
}

bool is_this_host(std::string_view name) {
  return name.empty() || name == "localhost" || is_same_host(name, host_name());
}

std::optional<std::string> named_twice(std::vector<std::string> names, std::string_view local) {
  std::sort(names.begin(), names.end());
  const auto is_it = [&](const std::string& name) { return name != "localhost" && is_same_host(name, local); };
  if (std::binary_search(names.begin(), names.end(), "localhost"))
    if (const auto it = std::find_if(names.begin(), names.end(), is_it); it != names.end()) return *it + " (localhost)";
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return *twice;
  for (const std::string& name : names)
    if (const auto dot = name.find('.'); dot != std::string::npos)
      if (std::binary_search(names.begin(), names.end(), name.substr(0, dot))) return name.substr(0, dot);
  return std::nullopt;
}

} // namespace base
