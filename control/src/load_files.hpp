// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dirent.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "control/load.hpp"

namespace control::detail {

/// The kernel's files about this process and its host. They stay open between two samples, and control groups are
/// searched for every 10 s. Opening and searching cost more than all reads. One thread.
class LoadFiles {
public:
  /// @param root before /proc and /sys, for tests, which may replace the files there: opened at each sample
  explicit LoadFiles(std::string root);
  /// Their present texts; valid until the next call.
  /// @param with_group also the quota of the control group, and its other members
  const LoadTexts& read(bool with_group);

private:
  struct File {
    std::string path;
    base::FileDescriptor fd;
    bool read(std::string& text, bool keeps_open); ///< all of it; empty and false when it cannot be read
  };
  struct Thread {
    File schedstat, stat;
    std::uint64_t seen = 0; ///< look
  };
  struct Group { ///< a control group; version 2 has max, version 1 the others
    std::string folder;
    File stat, max, quota, period;
    bool has_stat, has_max, has_quota;
    double processors(std::string& text, bool keeps_open); ///< that it may use; 0: any number
  };
  struct Closed {
    void operator()(DIR* folder) const { closedir(folder); }
  };

  void read_threads();
  void find_groups();
  void read_group();

  const std::string root_, tasks_;
  const bool keeps_open_;
  LoadTexts texts_;
  std::unique_ptr<DIR, Closed> folder_; ///< of the threads
  std::map<int, Thread> threads_;
  File host_;
  std::vector<Group> groups_;
  double found_s_ = -1; ///< the groups
  std::uint64_t look_ = 0;
  std::string text_; ///< read last
};

} // namespace control::detail
