// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/environment.hpp"
#include "base/status.hpp"

namespace base {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

void FileDescriptor::close() noexcept {
  const int why = errno;
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  errno = why;
}

FileDescriptor new_file(const std::string& path, unsigned mode) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return {};
  return FileDescriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
}

namespace {
/// Where memfd_create is refused, as by the filters of some containers.
FileDescriptor nameless_file() {
  const char* folder = environment("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/dyngrid-XXXXXX";
  FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file) unlink(path.c_str());
  return file;
}
} // namespace

FileDescriptor memory_file(const char* name, std::string_view content) {
  FileDescriptor file(memfd_create(name, MFD_CLOEXEC));
  if (!file) file = nameless_file();
  if (!file || !write_all(file.get(), content) || lseek(file.get(), 0, SEEK_SET) != 0)
    throw Error(Status::io_failure, "cannot keep a text in memory, nor in the temporary folder: {}",
                std::strerror(errno));
  return file;
}

std::string content_of(int fd) {
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (got > 0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return text;
  }
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put > 0)
      text.remove_prefix(static_cast<std::size_t>(put));
    else if (put == 0 || errno != EINTR)
      return false;
  }
  return true;
}

} // namespace base
