// SPDX-License-Identifier: BSD-3-Clause
#include "journal.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "gridmap/status.hpp"

namespace sched {
namespace {

constexpr std::array<const char*, 9> kinds{"open",   "submit", "start",   "ask", "size",
                                           "answer", "cancel", "requeue", "end"};

std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

void append_escaped(std::string& out, std::string_view field) {
  for (const char c : field) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
}

std::string unescaped(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      out += field[i];
      continue;
    }
    ++i;
    out += field[i] == 't' ? '\t' : field[i] == 'n' ? '\n' : field[i];
  }
  return out;
}

std::optional<Entry> decode(std::string_view line) {
  if (line.size() < 10 || line[8] != ' ') return std::nullopt;
  std::uint32_t sum = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + 8, sum, 16);
  const auto body = line.substr(9);
  if (error != std::errc{} || end != line.data() + 8 || sum != crc32(body)) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const auto tab = body.find('\t', at);
    parts.push_back(unescaped(body.substr(at, tab == std::string_view::npos ? tab : tab - at)));
    if (tab == std::string_view::npos) break;
    at = tab + 1;
  }
  if (parts.size() < 3) return std::nullopt;
  Entry entry;
  std::size_t kind = 0;
  while (kind < kinds.size() && parts[0] != kinds[kind]) ++kind;
  if (kind == kinds.size()) return std::nullopt;
  entry.kind = static_cast<Entry::Kind>(kind);
  entry.at_s = std::strtod(parts[1].c_str(), nullptr);
  entry.job = std::strtoll(parts[2].c_str(), nullptr, 10);
  entry.fields.assign(parts.begin() + 3, parts.end());
  return entry;
}

} // namespace

std::string encode(const Entry& entry) {
  std::string body =
      fmt::format("{}\t{:.6f}\t{}", kinds[static_cast<std::size_t>(entry.kind)], entry.at_s, entry.job);
  for (const auto& field : entry.fields) {
    body += '\t';
    append_escaped(body, field);
  }
  return fmt::format("{:08x} {}\n", crc32(body), body);
}

ReadJournal read_journal(std::string_view text) {
  ReadJournal journal;
  bool bad = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    auto entry = decode(text.substr(at, end - at));
    if (entry && bad)
      throw gridmap::Error(gridmap::Status::io_failure,
                           fmt::format("scheduler: the journal is damaged at byte {}, and goes on after it",
                                       journal.good_bytes));
    if (entry) {
      journal.entries.push_back(std::move(*entry));
      journal.good_bytes = end + 1;
    } else {
      bad = true;
    }
    at = end + 1;
  }
  return journal;
}

std::string join_ids(const std::vector<int>& ids) {
  return fmt::format("{}", fmt::join(ids, ","));
}

std::vector<int> split_ids(std::string_view text) {
  std::vector<int> ids;
  while (!text.empty()) {
    int id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    const auto used = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || id < 0 || (used < text.size() && text[used] != ','))
      throw gridmap::Error(gridmap::Status::io_failure,
                           fmt::format("scheduler: '{}' is no list of processors, in the journal", text));
    ids.push_back(id);
    text.remove_prefix(used < text.size() ? used + 1 : used);
  }
  return ids;
}

} // namespace sched
