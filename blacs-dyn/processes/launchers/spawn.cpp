// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <unistd.h>

#include "processes/launchers/launcher.hpp"
#include "processes/launchers/openmpi4.hpp"
#include "processes/launchers/pmix.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/messages.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;
using base::tag_go, base::tag_hello, base::tag_job;

constexpr int hello_and_goodbye = 0; ///< instead of a pid: the new process will not take part
constexpr const char* ended_early =
    "a new process ended before its first resize point; does the program reach dyngrid_resize_point on every path?";

/// A spawned group, whose processes send a hello when they come to their first resize point.
class Spawned {
public:
  Spawned(const NewGroup& group, Comm intercomm)
      : group_(group), intercomm_(std::move(intercomm)), words_(group.members.size(), hello_and_goodbye),
        requests_(group.members.size(), MPI_REQUEST_NULL) {
    for (std::size_t i = 0; i < words_.size(); ++i)
      check_mpi(MPI_Irecv(&words_[i], 1, MPI_INT, static_cast<int>(i), tag_hello, intercomm_.get(), &requests_[i]),
                "MPI_Irecv");
    check_mpi(MPI_Irecv(job_.data(), static_cast<int>(job_.size()), MPI_CHAR, 0, tag_job, intercomm_.get(), &has_job_),
              "MPI_Irecv");
  }
  int size() const { return static_cast<int>(words_.size()); }

  /// How many have not sent their first message yet.
  int missing() {
    for (MPI_Request& request : requests_) {
      int is_there = 0;
      if (request != MPI_REQUEST_NULL) check_mpi(MPI_Test(&request, &is_there, MPI_STATUS_IGNORE), "MPI_Test");
    }
    return static_cast<int>(requests_.size() - std::count(requests_.begin(), requests_.end(), MPI_REQUEST_NULL));
  }
  bool has_said_goodbye() const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (requests_[i] == MPI_REQUEST_NULL && words_[i] == hello_and_goodbye) return true;
    return false;
  }
  Newcomers admitted() {
    forget(has_job_); // which came before the hello
    return {group_, std::move(intercomm_)};
  }
  void send_away() { tell_to_go(intercomm_.get(), size()); }
  void part() { ///< when all have sent their first message
    forget(has_job_);
    intercomm_.disconnect();
  }
  /// Ends them. False: they have not come to dyngrid_init, so what mpirun calls them is not known.
  bool end() {
    int is_known = has_job_ == MPI_REQUEST_NULL ? 1 : 0;
    if (is_known == 0) MPI_Test(&has_job_, &is_known, MPI_STATUS_IGNORE);
    if (is_known != 0) pmix::end_job(job_.data(), size());
    for (MPI_Request& request : requests_) forget(request);
    forget(has_job_);
    intercomm_.close();
    return is_known != 0;
  }

private:
  static void forget(MPI_Request& request) {
    int has_come = 1;
    if (request != MPI_REQUEST_NULL) MPI_Test(&request, &has_come, MPI_STATUS_IGNORE);
    if (has_come != 0) return;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  NewGroup group_;
  Comm intercomm_;
  std::vector<int> words_;
  std::vector<MPI_Request> requests_;
  std::vector<char> job_ = std::vector<char>(64); ///< what mpirun calls it
  MPI_Request has_job_ = MPI_REQUEST_NULL;
};

/// Groups that came too late, or not at all. mpirun waits for them at its end, so they are sent away when they come.
class GivenUp {
public:
  void add(Spawned group) { groups_.push_back(std::move(group)); }
  /// Parts with those that have come.
  void reap() {
    for (auto group = groups_.begin(); group != groups_.end();) {
      if (group->missing() > 0) {
        ++group;
        continue;
      }
      group->part();
      group = groups_.erase(group);
    }
  }
  void close(double limit_s) {
    for (const double start = MPI_Wtime(); reap(), !groups_.empty() && MPI_Wtime() - start < limit_s;)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (Spawned& group : groups_)
      if (!group.end())
        std::fprintf(stderr, "dyngrid: %d process(es) that were given up never started; mpirun waits for them\n",
                     group.size());
    groups_.clear();
  }

private:
  std::vector<Spawned> groups_;
};

class SpawnLaunch final : public Launch {
public:
  explicit SpawnLaunch(GivenUp& given_up) : given_up_(given_up) {}
  ~SpawnLaunch() override {
    try {
      call_off();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "dyngrid: new processes that are not needed could not be ended: %s\n", error.what());
    }
  }
  void add(const NewGroup& group, Comm intercomm) { groups_.emplace_back(group, std::move(intercomm)); }

  Progress progress() override {
    Progress all;
    for (Spawned& group : groups_) {
      all.coming += group.missing();
      if (group.has_said_goodbye()) all.failure = ended_early;
    }
    return all;
  }

  void admit(std::vector<Newcomers>& newcomers) override {
    for (Spawned& group : groups_) newcomers.push_back(group.admitted());
    groups_.clear();
  }

private:
  void call_off() {
    for (Spawned& group : groups_) {
      group.send_away();
      if (group.missing() == 0)
        group.part();
      else
        given_up_.add(std::move(group));
    }
    groups_.clear();
  }

  std::vector<Spawned> groups_;
  GivenUp& given_up_;
};

/// Errors of MPI_COMM_SELF come back as codes while this lives.
class ErrorsReturned {
public:
  ErrorsReturned() {
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &before_);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, before_);
    MPI_Errhandler_free(&before_);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

private:
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

Comm spawn(const NewGroup& group, const SpawnOptions& options) {
  // Open MPI gives a spawned process the environment of mpirun, and no info key adds to it: env(1) does. Sent after the
  // start they would come too late, since the loader and the BLAS have read theirs by then.
  std::vector<std::string> words = options.variables;
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto count = static_cast<int>(group.members.size());
  MPI_Info info = MPI_INFO_NULL;
  check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  const auto set = [info](const std::string& key, const std::string& value) {
    check_mpi(MPI_Info_set(info, key.c_str(), value.c_str()), "MPI_Info_set");
  };
  if (!options.folder.empty()) set("wdir", options.folder);
  for (const auto& [key, value] : spawn_info(group.host, count)) set(key, value);
  MPI_Comm intercomm = MPI_COMM_NULL;
  std::vector<int> codes(group.members.size(), MPI_SUCCESS);
  int code = MPI_SUCCESS;
  const double begun_s = MPI_Wtime();
  {
    const ErrorsReturned errors;
    const openmpi4::SpawnLimit limit(options.join_limit_s);
    code = MPI_Comm_spawn(options.program.c_str(), arguments.data(), count, info, 0, MPI_COMM_SELF, &intercomm,
                          codes.data());
  }
  MPI_Info_free(&info);
  if (code == MPI_SUCCESS) return Comm::adopt(intercomm);
  if (MPI_Wtime() - begun_s > options.join_limit_s / 2) { // other errors come at once
    pmix::end_jobs_that_hang();
    throw Error(Status::timeout,
                "blacs-dyn: {} new process(es) of {} did not come through MPI_Init within {} s and are given up; raise "
                "DYNGRID_START=timeout=SECONDS if they only need longer",
                count, options.shown, options.join_limit_s);
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(Status::spawn_failure, "blacs-dyn: MPI_Comm_spawn of {} process(es) of {}{} failed: {}; {}", count,
              options.shown, group.host.empty() ? "" : " on " + group.host, text,
              group.host.empty()
                  ? "are there slots enough? mpirun --oversubscribe, or a larger -H or hostfile, makes room"
                  : "is that host in mpirun's allocation (-H, hostfile), with slots enough?");
}

class SpawnLauncher final : public Launcher {
public:
  bool is_background() const override { return false; }

  std::unique_ptr<Launch> start(const std::vector<NewGroup>& groups, const SpawnOptions& options) override {
    given_up_.reap();
    auto launch = std::make_unique<SpawnLaunch>(given_up_);
    for (const NewGroup& group : groups) launch->add(group, spawn(group, options));
    return launch;
  }

  void look_after_called_off() override { given_up_.reap(); }

  void release(int, Comm intercomm) override { intercomm.disconnect(); }

  bool arrive(MPI_Comm world) override {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    const std::string job = pmix::own_job().substr(0, 63);
    MPI_Comm parent = MPI_COMM_NULL;
    check_mpi(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
    if (rank == 0)
      check_mpi(MPI_Send(job.c_str(), static_cast<int>(job.size()) + 1, MPI_CHAR, 0, tag_job, parent), "MPI_Send");
    return true;
  }
  std::optional<Comm> enter(MPI_Comm) override {
    Comm intercomm = parent();
    say_hello(intercomm, static_cast<int>(getpid()));
    return intercomm;
  }

  void decline(MPI_Comm) override {
    Comm intercomm = parent();
    say_hello(intercomm, hello_and_goodbye);
    receive_asleep(intercomm.get(), 0, tag_go, 5);
    intercomm.disconnect();
  }

  void close() override { given_up_.close(10); }

private:
  static Comm parent() {
    MPI_Comm parent = MPI_COMM_NULL;
    check_mpi(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
    return Comm::adopt(parent);
  }
  static void say_hello(const Comm& intercomm, int word) {
    check_mpi(MPI_Send(&word, 1, MPI_INT, 0, tag_hello, intercomm.get()), "MPI_Send");
  }

  GivenUp given_up_;
};

} // namespace

std::unique_ptr<Launcher> make_spawn_launcher() {
  return std::make_unique<SpawnLauncher>();
}

} // namespace blacs_dyn
