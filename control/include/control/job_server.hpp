// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "control/job_state.hpp"
#include "control/line_server.hpp"
#include "control/protocol.hpp"

namespace control {

/// The thread of process 0 that answers at the job's socket. It makes no MPI call and uses nothing of the application
/// but its JobState.
class JobServer {
public:
  /// @param clock  the one of `state`.
  /// @throws base::Error: see LineServer.
  JobServer(JobState& state, const std::string& directory, std::function<double()> clock);
  JobServer(const JobServer&) = delete;
  JobServer& operator=(const JobServer&) = delete;
  ~JobServer(); ///< reports the end of the job to all clients, and removes the socket

private:
  void run();
  void answer(LineServer::Client client, std::string_view line);
  void await(LineServer::Client client, const Request& request, Json given);
  void serve_request(LineServer::Client client, const Request& request);
  bool send_events();       ///< true: the grid has changed
  bool wants_steps() const; ///< a watcher does

  JobState& state_;
  std::function<double()> clock_;
  LineServer server_;
  std::map<LineServer::Client, bool> watchers_; ///< whether each wants steps
  struct Waiter {
    LineServer::Client client;
    RequestId id;
    std::unique_ptr<Json> answer; ///< the reply of its acceptance
  };
  std::map<std::int64_t, Waiter> waiters_; ///< by number of the request
  std::atomic<bool> stop_{false};
  pid_t owner_;
  std::thread thread_;
};

} // namespace control
