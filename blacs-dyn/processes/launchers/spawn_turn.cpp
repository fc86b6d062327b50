// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/spawn_turn.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include "base/environment.hpp"

namespace blacs_dyn {

SpawnTurn& SpawnTurn::operator=(SpawnTurn&& other) noexcept {
  end();
  folder_ = std::move(other.folder_);
  return *this;
}

bool SpawnTurn::take() {
  const char* folder = base::environment("PMIX_SERVER_TMPDIR");
  if (!folder || is_mine()) return true;
  base::FileDescriptor opened(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return true;
  if (flock(opened.get(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK && errno != EINTR;
  folder_ = std::move(opened);
  return true;
}

/// A child of this process may still have the folder open, so closing it here would not be enough.
void SpawnTurn::end() {
  if (!is_mine()) return;
  flock(folder_.get(), LOCK_UN);
  folder_.close();
}

} // namespace blacs_dyn
