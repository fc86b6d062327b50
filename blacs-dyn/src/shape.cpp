// SPDX-License-Identifier: BSD-3-Clause
#include "processes/shape.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/status.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

std::optional<long> whole_number(std::string_view text) {
  long value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Shape> shape_of(std::string_view text) {
  const std::size_t x = text.find_first_of("xX");
  if (x == std::string_view::npos) return std::nullopt;
  const auto nprow = whole_number(text.substr(0, x));
  const auto npcol = whole_number(text.substr(x + 1));
  if (!nprow || !npcol || *nprow < 1 || *npcol < 1 || *nprow > max_grid_axis || *npcol > max_grid_axis ||
      *nprow * *npcol > max_processes)
    return std::nullopt;
  return Shape{static_cast<int>(*nprow), static_cast<int>(*npcol)};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace

void check_shape(Shape shape, std::string_view where) {
  if (shape.nprow < 1 || shape.npcol < 1 || shape.nprow > max_grid_axis || shape.npcol > max_grid_axis ||
      std::int64_t{shape.nprow} * shape.npcol > max_processes)
    throw Error(Status::bad_argument,
                fmt::format("blacs-dyn: {}: grid is {}, wanted rows and columns from 1 and at most {} processes", where,
                            to_string(shape), max_processes));
}

Shape parse_shape(std::string_view text, std::string_view where) {
  if (const auto shape = shape_of(trimmed(text))) return *shape;
  throw Error(Status::bad_argument,
              fmt::format("blacs-dyn: {} is \"{}\", wanted rows x columns as in 3x4", where, text));
}

std::string to_string(Shape shape) {
  return fmt::format("{}x{}", shape.nprow, shape.npcol);
}

gridmap::Placement parse_placement(std::string_view text, std::string_view where) {
  using gridmap::Placement;
  for (const Placement p : {Placement::optimal, Placement::global, Placement::local1, Placement::local2})
    if (trimmed(text) == to_string(p)) return p;
  throw Error(Status::bad_argument,
              fmt::format("blacs-dyn: {} is \"{}\", wanted optimal, global, local1 or local2", where, text));
}

const char* to_string(gridmap::Placement placement) {
  switch (placement) {
  case gridmap::Placement::optimal:
    return "optimal";
  case gridmap::Placement::global:
    return "global";
  case gridmap::Placement::local1:
    return "local1";
  case gridmap::Placement::local2:
    return "local2";
  }
  return "?";
}

std::vector<TimedRequest> parse_schedule(std::string_view text, std::string_view where) {
  std::vector<TimedRequest> requests;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    const std::size_t colon = entry.find(':');
    const std::size_t at = entry.find('@');
    const auto step = whole_number(entry.substr(0, colon));
    const auto shape =
        colon == std::string_view::npos ? std::nullopt : shape_of(entry.substr(colon + 1, at - colon - 1));
    if (!step || *step < 0 || !shape)
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: entry \"{}\" of {} is not STEP:ROWSxCOLUMNS, as in 5:3x3,10:4x4@local2",
                              entry, where));
    if (!requests.empty() && *step <= requests.back().step)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: {} names step {} after step {}, wanted ascending steps",
                                                    where, *step, requests.back().step));
    TimedRequest request{*step, *shape, std::nullopt};
    if (at != std::string_view::npos) request.placement = parse_placement(entry.substr(at + 1), where);
    requests.push_back(request);
  }
  return requests;
}

Shape squarest(int nprocs) {
  int nprow = 1;
  for (int r = 1; r * r <= nprocs; ++r)
    if (nprocs % r == 0) nprow = r;
  return {nprow, nprocs / nprow};
}

} // namespace blacs_dyn
