// SPDX-License-Identifier: BSD-3-Clause
#include "load_files.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/control_groups.hpp"
#include "base/text.hpp"

namespace control::detail {
namespace {

constexpr double find_every_s = 10;
constexpr std::size_t most_kept = 64;    ///< threads whose files stay open: programs have a limit
constexpr std::size_t most_members = 64; ///< reading more would cost too much; for more members the host's figures
                                         ///< suffice

/// From its beginning. False where nothing can be read.
bool read_all(int fd, std::string& text) {
  text.resize(std::max<std::size_t>(text.capacity(), 2048));
  std::size_t size = 0;
  for (;;) {
    const ssize_t count = pread(fd, &text[size], text.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      text.resize(size);
      return count == 0;
    }
    size += static_cast<std::size_t>(count);
    if (size == text.size()) text.resize(2 * size);
  }
}

int open_to_read(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

/// Opened for this one time.
bool read_once(const std::string& path, std::string& text) {
  const base::FileDescriptor fd(open_to_read(path));
  if (fd && read_all(fd.get(), text)) return true;
  text.clear();
  return false;
}

bool exists(const std::string& path) {
  return access(path.c_str(), R_OK) == 0;
}

double number(std::string_view text) {
  return static_cast<double>(base::whole_number(base::trimmed(text)).value_or(-1));
}

void write_own_processors(std::vector<int>& list) {
  list.clear();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return; // more processors than a cpu_set_t has: all of them
  for (int k = 0; k < CPU_SETSIZE; ++k)
    if (CPU_ISSET(k, &set)) list.push_back(k);
}

} // namespace

bool LoadFiles::File::read(std::string& text, bool keeps_open) {
  if (!keeps_open) return read_once(path, text);
  if (fd && read_all(fd.get(), text)) return true;
  fd = base::FileDescriptor(open_to_read(path)); // the first time, or the previous file has ended
  if (fd && read_all(fd.get(), text)) return true;
  fd.close();
  text.clear();
  return false;
}

double LoadFiles::Group::processors(std::string& text, bool keeps_open) {
  double most = -1, each = -1;
  if (has_max) {
    max.read(text, keeps_open);
    const std::size_t blank = std::min(text.find(' '), text.size());
    most = number(std::string_view(text).substr(0, blank));
    each = number(std::string_view(text).substr(blank));
  } else if (has_quota) {
    quota.read(text, keeps_open);
    most = number(text);
    if (most <= 0) return 0;
    period.read(text, keeps_open);
    each = number(text);
  }
  return most > 0 && each > 0 ? most / each : 0;
}

LoadFiles::LoadFiles(std::string root)
    : root_(std::move(root)), tasks_(root_ + "/proc/self/task"),
      keeps_open_(root_.empty()), host_{root_ + "/proc/stat", {}} {}

const LoadTexts& LoadFiles::read(bool with_group) {
  texts_.at_s = base::monotonic_s();
  ++look_;
  read_threads();
  if (found_s_ < 0 || texts_.at_s - found_s_ >= find_every_s) find_groups();
  texts_.cpu_stat.clear();
  for (Group& group : groups_)
    if (group.has_stat && group.stat.read(text_, keeps_open_) && !text_.empty()) texts_.cpu_stat.push_back(text_);
  host_.read(texts_.stat, keeps_open_);
  write_own_processors(texts_.cpus);
  texts_.quota = 0;
  texts_.group.clear();
  if (with_group) read_group();
  return texts_;
}

void LoadFiles::read_threads() {
  if (folder_ && keeps_open_)
    rewinddir(folder_.get());
  else
    folder_.reset(opendir(tasks_.c_str()));
  while (const dirent* entry = folder_ ? readdir(folder_.get()) : nullptr) {
    const auto tid = base::whole_number<int>(entry->d_name);
    if (!tid) continue;
    LoadTexts::Thread& texts = texts_.threads[*tid];
    const std::string folder = fmt::format("{}/{}", tasks_, *tid);
    auto known = threads_.find(*tid);
    if (known == threads_.end())
      known = threads_.emplace(*tid, Thread{{folder + "/schedstat", {}}, {folder + "/stat", {}}}).first;
    Thread& thread = known->second;
    thread.seen = look_;
    const bool keeps_open = keeps_open_ && threads_.size() <= most_kept;
    thread.schedstat.read(texts.schedstat, keeps_open);
    thread.stat.read(texts.stat, keeps_open);
  }
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const bool is_gone = thread->second.seen != look_;
    if (is_gone) texts_.threads.erase(thread->first);
    thread = is_gone ? threads_.erase(thread) : std::next(thread);
  }
}

void LoadFiles::find_groups() {
  found_s_ = texts_.at_s;
  groups_.clear();
  for (const std::string& folder : base::control_groups(root_, "cpu")) {
    const auto file = [&](const char* name) { return File{folder + name, {}}; };
    File statistics = file("/cpu.stat"), most = file("/cpu.max"), quota = file("/cpu.cfs_quota_us");
    const bool has_stat = exists(statistics.path), has_max = exists(most.path), has_quota = exists(quota.path);
    groups_.push_back({folder, std::move(statistics), std::move(most), std::move(quota), file("/cpu.cfs_period_us"),
                       has_stat, has_max, has_quota});
  }
}

/// The innermost group with a quota, and the others in it.
void LoadFiles::read_group() {
  for (Group& group : groups_) {
    texts_.quota = group.processors(text_, keeps_open_);
    if (texts_.quota == 0) continue;
    // reopened each time: version 1 keeps returning the first list as long as the file is read every second
    read_once(group.folder + "/cgroup.procs", text_);
    const std::vector<std::string> members = base::split(text_, '\n');
    if (members.size() > most_members || texts_.quota >= static_cast<double>(members.size())) { // enough for all
      texts_.quota = 0;
      return;
    }
    for (const std::string& member : members)
      if (const auto pid = base::whole_number<int>(member); pid && *pid != getpid())
        read_once(fmt::format("{}/proc/{}/stat", root_, *pid), texts_.group.emplace_back());
    return;
  }
}

} // namespace control::detail
