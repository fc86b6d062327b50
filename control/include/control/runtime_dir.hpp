// SPDX-License-Identifier: BSD-3-Clause
// The folder of the sockets of running jobs. Local to a host; no MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"

namespace control {

/// DYNGRID_RUNTIME_DIR, else $XDG_RUNTIME_DIR/dyngrid, else /tmp/dyngrid-<uid>. Creates nothing, checks nothing.
std::string runtime_directory();

/// Checks that `path` is a directory, no link, of this user, closed to all others; makes it (mode 0700) when it is
/// absent. Another user may have made /tmp/dyngrid-<uid> first.
/// @throws base::Error{io_failure} that says what is wrong with it.
void require_private_directory(const std::string& path);
/// The same of an existing one: creates nothing. The traffic of a socket in it is for this user alone.
/// @throws base::Error{not_found} where there is none, io_failure
void check_private_directory(const std::string& path);

/// Names are 1 to 40 characters of A-Z a-z 0-9 . _ - and begin with a letter or a digit. @throws
/// base::Error{bad_argument} naming `where`.
void check_job_name(std::string_view name, std::string_view where);

/// The same of a pool's name, which is at most 20 characters long.
void check_pool_name(std::string_view name, std::string_view where);

/// The name of a job, or of one of its pools: "JOB" or "JOB/POOL". @throws base::Error{bad_argument} naming `where`.
void check_job_or_pool(std::string_view name, std::string_view where);

/// job-<name>.sock; job-JOB+POOL.sock of a pool.
std::string job_file(std::string name);
/// <runtime directory>/<job_file>
std::string job_socket(const std::string& name);

/// A socket in the runtime directory: that of an application.
struct FoundJob {
  std::string name; ///< "JOB" or "JOB/POOL"
  std::string socket;
  bool is_alive = false; ///< a job listens; otherwise a dead job left the socket behind
};

/// The jobs of this user, by name. An absent directory has none. @throws base::Error{io_failure} when the directory
/// is not private.
std::vector<FoundJob> find_jobs();
/// Removes the socket of a dead job; false when a job listens again, it is gone, or the directory's lock is held.
bool remove_stale(const FoundJob& job);
/// Removes the sockets in `directory` on which no process listens: of jobs, of a scheduler, and half-made ones; `own`
/// is skipped. With the directory's lock held.
void remove_dead_sockets(const std::string& directory, const std::string& own);

namespace detail {
/// A lock that is held while the result lives: while sockets are put into the directory, or dead ones removed. No
/// process then removes a socket just put there.
/// @throws base::Error{io_failure} when the lock was held elsewhere for `patience_s`
base::FileDescriptor lock_directory(const std::string& directory, double patience_s = 2);
bool somebody_listens(const std::string& socket);
} // namespace detail

} // namespace control
