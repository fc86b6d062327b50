// SPDX-License-Identifier: BSD-3-Clause
// The journal on the disk. journal.hpp defines its contents.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "journal.hpp"
#include "process.hpp"

namespace sched {

/// The calls that may fail; a test replaces them.
struct JournalCalls {
  std::function<ssize_t(int, const void*, std::size_t)> write;
  std::function<int(int)> sync;
  std::function<int(int, off_t)> cut;
  JournalCalls();
};

/// An append-only journal. Lines are on the disk when append() has returned. Lines for which it threw are not in the
/// file, unless the journal is broken.
class JournalFile {
public:
  JournalFile() = default;
  /// Opens or makes the file and reads it into `read`. Half a line at its end is cut off; nothing else is ever changed.
  /// @throws base::Error{io_failure, unsupported} that names the file, which is not changed.
  JournalFile(const std::string& path, ReadJournal& read, JournalCalls calls = {});

  /// @throws NoRoom when it cannot be written, and the file is unchanged; base::Error{io_failure} when that is not
  /// certain: the journal is broken from then on, and accepts no more.
  void append(std::string_view lines);
  const std::string& why_broken() const { return why_broken_; } ///< empty: it is not
  std::size_t cut_bytes() const { return cut_bytes_; }          ///< of half a line, when it was opened

private:
  [[noreturn]] void broken(const char* what);

  std::string path_;
  JournalCalls calls_;
  Fd file_;
  off_t size_ = 0;
  std::size_t cut_bytes_ = 0;
  std::string why_broken_;
};

} // namespace sched
