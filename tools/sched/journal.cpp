// SPDX-License-Identifier: BSD-3-Clause
#include "journal.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/status.hpp"
#include "base/text.hpp"

namespace sched {
namespace {

constexpr std::array<const char*, 12> kinds{"open",   "submit",  "start", "ask",    "size",    "answer",
                                            "cancel", "requeue", "end",   "finish", "suspend", "resume"};

constexpr std::string_view head = "dyngrid-sched journal ";
constexpr const char* crlf = "its line end is CR LF, as after a copy in text mode";

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

template <class Number> bool is_all_of(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

/// The entry of a line without its end, or why it is invalid.
std::variant<Entry, const char*> decode(std::string_view line) {
  if (line.size() < 10 || line[8] != ' ') return "it is no checksum and an entry";
  const auto body = line.substr(9);
  if (line.substr(0, 8) != fmt::format("{:08x}", crc32(body))) return "its checksum does not fit";
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const auto tab = body.find('\t', at);
    parts.push_back(unescaped(body.substr(at, tab == std::string_view::npos ? tab : tab - at)));
    if (tab == std::string_view::npos) break;
    at = tab + 1;
  }
  Entry entry;
  std::size_t kind = 0;
  while (kind < kinds.size() && parts[0] != kinds[kind]) ++kind;
  if (kind == kinds.size()) return "it is of a kind that this version does not know";
  entry.kind = static_cast<Entry::Kind>(kind);
  if (parts.size() < 3 || !is_all_of(parts[1], entry.at_s) || !is_all_of(parts[2], entry.job))
    return "its time or its job is no number";
  entry.fields.assign(parts.begin() + 3, parts.end());
  return entry;
}

bool is_entry(std::string_view line) {
  return std::holds_alternative<Entry>(decode(line));
}

/// Whether half a line may be the first of a journal: the beginning of a checksum and of an entry.
bool may_begin_a_journal(std::string_view half) {
  const auto sum = half.substr(0, 8), rest = half.substr(sum.size());
  return sum.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         rest.substr(0, 6) == std::string_view(" open\t").substr(0, rest.size());
}

[[noreturn]] void refuse(std::size_t line, std::size_t byte, std::string_view why) {
  throw base::Error(base::Status::io_failure, "scheduler: the journal is damaged in line {} (from byte {}): {}", line,
                    byte, why);
}

} // namespace

std::string journal_head(int version) {
  return fmt::format("{}{}\n", head, version);
}

std::string encode(const Entry& entry) {
  std::string body = fmt::format("{}\t{:.6f}\t{}", kinds[static_cast<std::size_t>(entry.kind)], entry.at_s, entry.job);
  for (const auto& field : entry.fields) {
    body += '\t';
    append_escaped(body, field);
  }
  return fmt::format("{:08x} {}\n", crc32(body), body);
}

ReadJournal read_journal(std::string_view text) {
  ReadJournal journal;
  const std::string first = journal_head(journal_version);
  if (text.size() < first.size() && text == std::string_view(first).substr(0, text.size())) return journal;
  std::size_t line = 1, at = 0;
  if (text.substr(0, head.size()) == head) {
    const auto end = text.find('\n');
    std::string version(text.substr(head.size(), end == std::string_view::npos ? end : end - head.size()));
    const bool is_crlf = !version.empty() && version.back() == '\r';
    int number = 0;
    if (end == std::string_view::npos || is_crlf || !is_all_of(version, number))
      refuse(1, 0, is_crlf ? crlf : "its version is no number");
    if (number != journal_version)
      throw base::Error(
          base::Status::unsupported,
          "scheduler: the journal is of version {}, this scheduler reads version {} and older ones without a number",
          number, journal_version);
    journal.good_bytes = at = end + 1;
    ++line;
  }
  for (; at < text.size(); ++line) {
    const auto end = text.find('\n', at);
    const auto here = text.substr(at, end == std::string_view::npos ? end : end - at);
    if (end == std::string_view::npos) {
      if (is_entry(here.substr(0, here.size() - 1))) refuse(line, at, "its line end is another byte");
      if (at == 0 && !may_begin_a_journal(here)) refuse(line, at, "this is no journal of dyngrid-sched");
      break;
    }
    auto entry = decode(here);
    if (const char* const* why = std::get_if<const char*>(&entry)) {
      const bool is_crlf = !here.empty() && here.back() == '\r' && is_entry(here.substr(0, here.size() - 1));
      const bool is_foreign = at == 0 && here.substr(0, 9).find(' ') != 8;
      refuse(line, at, is_crlf ? crlf : is_foreign ? "this is no journal of dyngrid-sched" : *why);
    }
    journal.entries.push_back(std::get<Entry>(std::move(entry)));
    journal.good_bytes = at = end + 1;
  }
  return journal;
}

std::string join_ids(const std::vector<int>& ids) {
  return fmt::format("{}", fmt::join(ids, ","));
}

std::vector<int> split_ids(std::string_view text) {
  std::vector<int> ids;
  for (const std::string& part : base::split(text, ',')) {
    const auto id = base::whole_number<int>(part);
    if (!id || *id < 0)
      throw base::Error(base::Status::io_failure, "scheduler: '{}' is no list of processors, in the journal", text);
    ids.push_back(*id);
  }
  return ids;
}

} // namespace sched
