// SPDX-License-Identifier: BSD-3-Clause
// Requests to the application's mpirun, by PMIx: to start processes while the caller goes on, and what mpirun knows.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace blacs_dyn::pmix {

/// Why no processes can be started by PMIx here; empty: they can. The library is the one that MPI has loaded, so this
/// is known after MPI_Init. Local.
std::string trouble();

/// The name that mpirun has for this job; empty where no mpirun that knows PMIx started it. Local.
std::string own_job();

/// A text that mpirun keeps of this job under a PMIx key; empty where it says nothing. After MPI_Init. Local.
std::string job_text(const char* key);

/// Has MPI's data of these processes brought here, which it otherwise waits for when it first has to do with them.
/// Returns at once. Once for each job; they have come through MPI_Init.
void look_up(const std::string& job, int processes);

/// Before MPI asks mpirun for something: returns when mpirun has answered what was asked here, starts apart, or after
/// 5 s. Two of its answers at the same time can end it (answers.hpp). Local.
void settle();

struct Command {
  std::string program;
  std::vector<std::string> arguments;   ///< without the program
  std::vector<std::string> environment; ///< NAME=value
  std::string folder;                   ///< in which it starts; empty: mpirun decides
  std::string host;                     ///< empty: mpirun decides
  int count = 1;
  bool is_unbound = false; ///< to run on any core
};

/// Whose mpirun it is; what a dead process of a job means differs.
enum class Server {
  orte, ///< Open MPI 4: the end of one ends all jobs, unless the job is marked recoverable
  prrte ///< Open MPI 5: it ends its own job, and no other; a job so marked would keep mpirun from ending
};

/// Processes that were asked for. Dropped, it stays what it is.
class Job {
public:
  /// Returns at once. The end of one of them does not end the application. @throws Error{spawn_failure}
  Job(const Command& command, Server server);

  /// The failure of these processes that mpirun knows; empty: nothing yet. Asks mpirun now and then, and does not wait
  /// for its answer.
  std::string failure();
  std::string name() const; ///< empty: not known yet
  bool is_answered() const; ///< mpirun has started these processes, or says that it does not
  /// Ends those that run, and those that are only asked for as soon as they do.
  void kill(bool has_lost_one); ///< has_lost_one: a process of it has ended already
  /// Ends the jobs that were started after kill() had given up waiting for them. settle() does it.
  static void end_late();

private:
  struct State;
  std::shared_ptr<State> state_; ///< answers may come later than the end of this object
};

/// Ends the processes of a job of this mpirun that MPI has started. Waits for the answer, 5 s at most. Open MPI 4
void end_job(const std::string& name, int processes);
/// The same for each job of which a process runs and has not come through MPI_Init.
void end_jobs_that_hang();

} // namespace blacs_dyn::pmix
