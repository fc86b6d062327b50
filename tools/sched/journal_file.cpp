// SPDX-License-Identifier: BSD-3-Clause
#include "journal_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/status.hpp"

namespace sched {
namespace {

using base::Error;
using base::Status;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Status::io_failure, "scheduler: the journal '{}' {}", path, what);
}

/// All of it, or an error: an unread part would be lost.
std::string content_of(int fd, const std::string& path) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const auto n = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// So that a file that was just made exists after a crash. Not every file system can do it.
void sync_folder_of(const std::string& path) {
  const Fd folder(::open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || (::fsync(folder.get()) != 0 && errno != EINVAL))
    fail(path, fmt::format("cannot be entered into its folder: {}", std::strerror(errno)));
}

} // namespace

JournalCalls::JournalCalls() : write(::write), sync(::fdatasync), cut(::ftruncate) {}

JournalFile::JournalFile(const std::string& path, ReadJournal& read, JournalCalls calls)
    : path_(path), calls_(std::move(calls)) {
  // opening a FIFO would block
  file_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat found {};
  if (!file_ || ::fstat(file_.get(), &found) != 0)
    fail(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  if (!S_ISREG(found.st_mode)) fail(path, "is no regular file");
  const std::string text = content_of(file_.get(), path);
  try {
    read = read_journal(text);
  } catch (const Error& error) {
    throw Error(error.status(),
                "{}; '{}' is kept as it is: repair it, or move it away and begin anew, without the jobs that are in it",
                error.what(), path);
  }
  size_ = static_cast<off_t>(read.good_bytes);
  cut_bytes_ = text.size() - read.good_bytes;
  if (cut_bytes_ > 0 && calls_.cut(file_.get(), size_) != 0)
    fail(path, fmt::format("ends in half a line that cannot be cut off: {}", std::strerror(errno)));
  if (size_ == 0) sync_folder_of(path);
}

void JournalFile::broken(const char* what) {
  why_broken_ = fmt::format("scheduler: the journal '{}' {}: {}; what the disk holds is not certain, so the scheduler "
                            "ends. Jobs run on, and one that is started with the same --folder finds them",
                            path_, what, std::strerror(errno));
  (void)!calls_.cut(file_.get(), size_); // it may still work; otherwise a restart knows no more than the caller
  throw Error(Status::io_failure, why_broken_);
}

void JournalFile::append(std::string_view lines) {
  if (!why_broken_.empty()) throw Error(Status::io_failure, why_broken_);
  const std::string text = (size_ == 0 ? journal_head(journal_version) : std::string()).append(lines);
  for (std::size_t done = 0; done < text.size();) {
    const auto n = calls_.write(file_.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int why = n == 0 ? ENOSPC : errno;
      if (done > 0 && calls_.cut(file_.get(), size_) != 0) broken("cannot be written, nor half a line be cut off");
      throw NoRoom(fmt::format("scheduler: the journal '{}' cannot be written: {}; nothing was done", path_,
                               std::strerror(why)));
    }
    done += static_cast<std::size_t>(n);
  }
  if (calls_.sync(file_.get()) != 0) broken("cannot be forced to the disk");
  size_ += static_cast<off_t>(text.size());
}

} // namespace sched
