// SPDX-License-Identifier: BSD-3-Clause
// Runs Slurm's commands, each under a time limit.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/process.hpp"
#include "words.hpp"

namespace slurm {

struct Outcome {
  std::string what; ///< the command, for messages
  int status = -1;  ///< exit status, 128 + signal; 127: there is no such program
  bool timed_out = false;
  std::string out, err;
  bool is_good() const { return status == 0 && !timed_out; }
  std::string trouble() const; ///< one line: how it failed
};

/// Starts it in a process group of its own, without the variables of a Slurm job. Standard input has `input`; output
/// and error go where the caller's do, or to the files given (-1: as the caller's). It gets SIGTERM when this process
/// ends.
/// @throws command::Failure
pid_t start_apart(const Command& command, const std::vector<std::string>& variables, int out = -1, int err = -1);
using base::end_group;

/// Commands one after the other; the caller polls. One thread.
class Runner {
public:
  using Done = std::function<void(const Outcome&)>;
  explicit Runner(double limit_s) : limit_s_(limit_s) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  /// `done` is called from a later step().
  void add(Command command, Done done);
  bool is_busy() const { return running_.has_value() || !waiting_.empty(); }
  /// Checks whether the running one has ended or is late, and starts the next.
  void step();
  int fd() const; ///< readable when the running one has ended; -1

private:
  struct Running {
    pid_t pid = -1;
    base::FileDescriptor watch, out, err; ///< readable when it has ended, none without pidfd_open; what it prints
    base::Deadline deadline{-1};
    std::string what;
    Done done;
  };
  void finish(bool timed_out);

  double limit_s_;
  std::deque<std::pair<Command, Done>> waiting_;
  std::optional<Running> running_;
};

/// Runs it and waits. Never throws for the command's own failure.
Outcome run(const Command& command, double limit_s);

} // namespace slurm
