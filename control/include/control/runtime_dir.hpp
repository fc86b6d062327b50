// SPDX-License-Identifier: BSD-3-Clause
// Where the sockets of running jobs lie. Local to a host; no MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace control {

/// DYNGRID_RUNTIME_DIR, else $XDG_RUNTIME_DIR/dyngrid, else /tmp/dyngrid-<uid>. Makes nothing, checks nothing.
std::string runtime_directory();

/// Checks that `path` is a directory, no link, of this user, closed to all others; makes it (mode 0700) when it is not
/// there.
/// @throws base::Error{io_failure} that says what is wrong with it.
void require_private_directory(const std::string& path);
/// The same of one that is there: makes nothing. What goes through a socket in it is for this user alone.
/// @throws base::Error{not_found} where there is none, io_failure
void check_private_directory(const std::string& path);

/// Names are 1 to 40 characters of A-Z a-z 0-9 . _ - and begin with a letter or a digit. @throws
/// base::Error{bad_argument} naming `where`.
void check_job_name(std::string_view name, std::string_view where);

/// <runtime directory>/job-<name>.sock
std::string job_socket(const std::string& name);

/// A socket in the runtime directory: job-<name>.sock of an application.
struct FoundJob {
  std::string name;
  std::string socket;
  bool is_alive = false; ///< somebody listens; otherwise what a dead job left behind
};

/// The jobs of this user, by name. An absent directory has none. @throws base::Error{io_failure} when the directory
/// is not private.
std::vector<FoundJob> find_jobs();
/// Takes away what a dead job left behind; false when somebody listens again, it is gone, or the directory's lock is
/// held.
bool remove_stale(const FoundJob& job);
/// Takes away the sockets in `directory` on which nobody listens: of jobs, of a scheduler, and half-made ones; `own` is
/// passed over. With the directory's lock held.
void remove_dead_sockets(const std::string& directory, const std::string& own);

namespace detail {
/// Held while sockets are put into the directory, or dead ones taken out, so that nobody removes what has just been put
/// there.
class DirectoryLock {
public:
  /// @throws base::Error{io_failure} when somebody has held it for so long
  explicit DirectoryLock(const std::string& directory, double patience_s = 2);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

private:
  int fd_ = -1;
};
bool somebody_listens(const std::string& socket);
} // namespace detail

} // namespace control
