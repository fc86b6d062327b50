// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace base {

/// Owns a file descriptor.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {} ///< below 0: none
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void close() noexcept; ///< errno stays as it was

private:
  int fd_ = -1;
};

/// A new file to write to. What lies there is removed first, and no link is followed: another user may have put one
/// into a folder that many write to. None with errno when it cannot be.
FileDescriptor new_file(const std::string& path, unsigned mode);
/// A file in memory that begins with `content`, to be read from there: a writer never waits for a reader, and the
/// file leaves nothing behind. Where the system has no such files it is one of the temporary folder, without a name.
/// @throws Error{io_failure}
FileDescriptor memory_file(const char* name, std::string_view content = {});
/// All that is in a file, from its beginning; where others write next is not changed.
std::string content_of(int fd);
/// All of it; false with errno. Goes on after a signal.
bool write_all(int fd, std::string_view text);

} // namespace base
