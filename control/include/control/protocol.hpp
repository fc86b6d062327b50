// SPDX-License-Identifier: BSD-3-Clause
// The lines that an application, the dyngrid command and a scheduler exchange: docs/protocol.md. Pure.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "base/grid_shape.hpp"
#include "base/json_fwd.hpp"
#include "base/status.hpp"

namespace control {

using base::Json;

constexpr int protocol_version = 1;
constexpr std::size_t longest_line = 65536; ///< bytes of a request, its end of line included
constexpr int deepest_nesting = 16;         ///< of a request

/// The operations that a client can request from a job; protocol.cpp has their names in a request.
enum class Operation {
  status,
  resize,
  grow,
  shrink,
  leave,
  offer,
  cancel,
  history,
  watch,
  load,
  balance,
  calls,
  grant,
  checkpoint
};
const char* to_string(Operation operation);

/// A whole number of 64 bits, signed or not, as the sender wrote it.
using RequestId = std::optional<std::variant<std::int64_t, std::uint64_t>>;

/// A request line: {"id":1,"op":"status",...}.
struct Request {
  RequestId id; ///< returned in the reply
  std::string op;
  std::shared_ptr<const Json> body; ///< the whole object
};

/// Declines a request; `why` says what is wrong with it, in the form of fmt::format(). @throws
/// base::Error{bad_argument}
template <class... Values> [[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) {
  throw base::Error(base::Status::bad_argument, "control: " + fmt::format(why, std::forward<Values>(values)...));
}

/// @throws base::Error{bad_argument} that says what is wrong: no JSON, no object, no "op", "id" is no whole number,
/// nested too deep.
Request parse_request(std::string_view line);

/// @throws base::Error{bad_argument} with the list of operations.
Operation operation_of(const Request& request);

/// One line, its end included. Invalid UTF-8 is repaired.
std::string to_line(const Json& object);
/// {"id":1,"ok":true, fields...}
Json reply(const RequestId& id, Json fields);
/// {"id":1,"ok":false,"status":-1,"error":"..."}; status as in dyngrid/status.h.
Json failure(const RequestId& id, base::Status status, const std::string& text);
Json failure(const RequestId& id, const std::exception& error);

/// Members of a request, checked.
/// @throws base::Error{bad_argument} naming op, member, the value and what was expected.
std::int64_t whole_number(const Request& request, const char* member, std::int64_t least, std::int64_t most);
double seconds(const Request& request, const char* member,
               double otherwise);                      ///< above 0; absent or null: `otherwise`
bool flag(const Request& request, const char* member); ///< absent: false
std::string text(const Request& request, const char* member, const std::string& otherwise);
base::GridShape grid(const Request& request, const char* member); ///< [nprow, npcol]

/// The part of a list that fits into one answer, and one element at least: a client that does not read 1 MiB is
/// dropped.
struct Page {
  static constexpr std::size_t most_bytes = 256 << 10;
  std::size_t bytes = 0;
  bool is_full = false;

  /// Whether `element` belongs to the list.
  bool add(const Json& element) {
    const bool is_first = bytes == 0;
    bytes += to_line(element).size();
    is_full = bytes > most_bytes && !is_first;
    return !is_full;
  }
};

Json to_json(base::GridShape shape);
/// [nprow, npcol] of a reply or an event; 0 x 0 when it is something else.
base::GridShape shape_from(const Json& value);

} // namespace control
