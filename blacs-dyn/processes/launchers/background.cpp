// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/rendezvous_launcher.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "processes/launchers/pmix.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {
namespace {

using base::Error;

class BackgroundLauncher;

/// Groups that were started and have not joined.
class BackgroundLaunch final : public Launch {
public:
  BackgroundLaunch(BackgroundLauncher& launcher, SpawnOptions options)
      : launcher_(launcher), options_(std::move(options)), limit_(options_.join_limit_s),
        soon_(options_.join_limit_s / 3) {}
  ~BackgroundLaunch() override;
  void add(const NewGroup& group, pmix::Job job) { coming_.push_back({group, std::move(job)}); }
  Progress progress() override;
  bool is_answered() const override {
    return std::all_of(coming_.begin(), coming_.end(), [](const Coming& one) { return one.job.is_answered(); });
  }
  void admit(std::vector<Newcomers>&) override;

private:
  struct Coming {
    NewGroup group;
    pmix::Job job;
  };
  void start_again_what_hangs();

  BackgroundLauncher& launcher_;
  SpawnOptions options_;
  base::Deadline limit_, soon_;
  bool was_started_again_ = false;
  std::vector<Coming> coming_;
};

class BackgroundLauncher final : public RendezvousLauncher, public Meeting, public Reserve {
public:
  explicit BackgroundLauncher(LossText loss) : RendezvousLauncher(std::move(loss), base::environment("DYNGRID_MEET")) {}

  Meeting* meeting() override { return this; }
  Reserve* reserve() override { return this; }

  std::unique_ptr<Launch> start(const std::vector<NewGroup>& groups, const SpawnOptions& options) override {
    open_rendezvous("unix", "");
    limit_s_ = options.join_limit_s;
    auto launch = std::make_unique<BackgroundLaunch>(*this, options);
    for (const NewGroup& group : groups)
      if (!wake(group, *launch)) launch->add(group, start_one(group, options));
    return launch;
  }

  pmix::Job start_one(const NewGroup& group, const SpawnOptions& options) {
    const auto [ticket, invitation] = invite(group);
    try {
      return start_as(invitation, group, options);
    } catch (const Error&) {
      dismiss(group);
      throw;
    }
  }

  /// A process has died while it started: mpirun may not notice the next one that starts (linger.hpp).
  bool may_hang() const { return has_lost_one_; }

  std::vector<int> missing(std::vector<int> sizes) override {
    for (Warm& one : warm_) {
      std::string why;
      const Presence presence = rendezvous_->presence(one.ticket, &why);
      if (presence == Presence::awaited) why = one.job.failure();
      if (presence == Presence::ready || why.empty()) continue;
      let_go(one);
      one.ticket = 0;
      if (++lost_ == most_lost)
        std::fprintf(stderr,
                     "dyngrid: spare processes (started in advance) keep ending; no more are started. The last one: "
                     "%s\n",
                     why.c_str());
    }
    warm_.erase(std::remove_if(warm_.begin(), warm_.end(), [](const Warm& one) { return one.ticket == 0; }),
                warm_.end());
    if (lost_ >= most_lost) return {};
    for (const Warm& one : warm_)
      if (const auto at = std::find(sizes.begin(), sizes.end(), one.size); at != sizes.end()) sizes.erase(at);
    return sizes;
  }

  void add(const std::vector<int>& sizes, const SpawnOptions& options) override {
    open_rendezvous("unix", "");
    for (const int size : sizes) {
      NewGroup group;
      group.members.resize(static_cast<std::size_t>(size)); // their ids are known when they are taken
      const auto [ticket, invitation] = invite(size);
      warm_.push_back({ticket, size, start_as(invitation, group, options), base::Deadline(options.join_limit_s)});
    }
  }

  Count count() const override {
    Count all;
    for (const Warm& one : warm_) {
      const Presence presence = rendezvous_->presence(one.ticket, nullptr);
      if (presence != Presence::gone) (presence == Presence::ready ? all.asleep : all.starting) += one.size;
    }
    return all;
  }

  int taken_by(const std::vector<NewGroup>& groups) const override {
    std::vector<int> sizes;
    for (const NewGroup& group : groups)
      if (group.host.empty()) sizes.push_back(static_cast<int>(group.members.size()));
    int taken = 0;
    for (const Warm& one : warm_) {
      const auto at = std::find(sizes.begin(), sizes.end(), one.size);
      if (at == sizes.end() || rendezvous_->presence(one.ticket, nullptr) == Presence::gone) continue;
      taken += one.size;
      sizes.erase(at);
    }
    return taken;
  }

  std::vector<Known> introduce(const std::vector<SpawnGroup>& groups) override {
    if (!is_open_mpi_5()) return {}; // with 4 all is here after the first thing that MPI asks
    const auto is_fresh = [this](const Warm& one) {
      return one.name.empty() && rendezvous_->presence(one.ticket, nullptr) == Presence::ready &&
             !one.job.name().empty();
    };
    if (std::none_of(warm_.begin(), warm_.end(), is_fresh)) return {};
    std::vector<Known> known = those_in(groups), fresh;
    for (const Warm& one : warm_)
      if (!one.name.empty()) known.push_back({one.name, one.size});
    for (Warm& one : warm_) {
      if (!is_fresh(one)) continue;
      one.name = one.job.name();
      fresh.push_back({one.name, one.size});
      names_[one.ticket] = fresh.back();
      send_names(one, known);
    }
    for (Warm& one : warm_)
      if (!one.name.empty()) send_names(one, fresh);
    return fresh;
  }

  /// First all are held, then all receive the order: one that has gone must not leave others waiting in a connect.
  std::vector<std::string> call_in(const std::vector<NewGroup>& groups) override {
    ports_ = std::vector<Port>(groups.size()); // two that connect to one at the same time would be taken for each other
    std::vector<std::string> where;
    for (const NewGroup& group : groups) hold(group, limit_s_);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      send(groups[i], "come " + ports_[i].name());
      where.push_back(ports_[i].name());
    }
    return where;
  }

  Comm meet(const std::string& where) override { return accept_at(where, MPI_COMM_SELF); }

  void close_ports() { ports_.clear(); }

  /// Of a group that is not needed. Killed while it starts, a process can prevent mpirun from noticing the next ones
  /// (linger.hpp). So it is killed only where it would stay for ever.
  void call_off(int ticket, pmix::Job job, base::Deadline comes_by) {
    const Presence presence = rendezvous_->presence(ticket, nullptr);
    rendezvous_->dismiss(ticket);
    has_lost_one_ = has_lost_one_ || presence == Presence::gone || !job.failure().empty();
    if (presence == Presence::awaited)
      called_off_.push_back({ticket, std::move(job), comes_by});
    else if (presence == Presence::gone)
      job.kill(true); // some may wait for the dead
  }
  void call_off(const NewGroup& group, pmix::Job job, base::Deadline comes_by) {
    call_off(tickets_[group.id], std::move(job), comes_by);
  }

  void look_after_called_off() override {
    const auto has_gone = [this](CalledOff& one) {
      if (rendezvous_->have_all_gone(one.ticket)) return true;
      if (one.job.failure().empty()) return false;
      one.job.kill(true); // some may wait for the dead
      return true;
    };
    called_off_.erase(std::remove_if(called_off_.begin(), called_off_.end(), has_gone), called_off_.end());
  }

  void close() override {
    for (Warm& one : warm_) let_go(one);
    warm_.clear();
    const auto is_coming = [](const CalledOff& one) { return !one.comes_by.is_over(); };
    while (look_after_called_off(), std::any_of(called_off_.begin(), called_off_.end(), is_coming)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      // the others may still receive what the program has sent them; with Open MPI any look moves all messages
      let_mpi_progress(MPI_COMM_SELF);
    }
    // too late: one may hold the one connection that mpirun does not notice, which the next ones would have got
    for (CalledOff& one : called_off_) one.job.kill(false);
    called_off_.clear();
    RendezvousLauncher::close();
  }

private:
  /// A group that sleeps until a growth takes it, or is starting.
  struct Warm {
    int ticket, size;
    pmix::Job job;
    base::Deadline comes_by;
    std::string name{}; ///< of the job, when it is introduced to the others
    int sent = 0;       ///< lines on others
  };
  static constexpr int most_lost = 10; ///< where there is no room for them they are not started for ever

  pmix::Job start_as(const std::string& invitation, const NewGroup& group, const SpawnOptions& options) {
    pmix::Command command{options.program, options.arguments, options.variables,
                          options.folder,  group.host,        static_cast<int>(group.members.size()),
                          is_unbound()};
    command.environment.push_back("DYNGRID_MEET=" + invitation); // a secret: no word of a command line
    return pmix::Job(command, is_open_mpi_5() ? pmix::Server::prrte : pmix::Server::orte);
  }

  /// Those that are ready first, then those that are on their way.
  bool wake(const NewGroup& group, BackgroundLaunch& launch) {
    if (!group.host.empty()) return false;
    const auto size = static_cast<int>(group.members.size());
    for (const Presence how_far : {Presence::ready, Presence::awaited}) {
      const auto one = std::find_if(warm_.begin(), warm_.end(), [&](const Warm& each) {
        return each.size == size && rendezvous_->presence(each.ticket, nullptr) == how_far;
      });
      if (one == warm_.end()) continue;
      tickets_[group.id] = one->ticket;
      launch.add(group, std::move(one->job));
      warm_.erase(one);
      return true;
    }
    return false;
  }

  std::vector<Known> those_in(const std::vector<SpawnGroup>& groups) const {
    std::vector<Known> in;
    for (const SpawnGroup& group : groups) {
      const auto ticket = tickets_.find(group.id);
      if (group.id == 0)
        in.push_back({pmix::own_job(), static_cast<int>(group.members.size())});
      else if (ticket != tickets_.end() && names_.count(ticket->second) != 0)
        in.push_back(names_.at(ticket->second));
    }
    return in;
  }

  /// Of so few that the lines do not heap up where one does not get to read; MPI asks for the others itself.
  void send_names(Warm& one, const std::vector<Known>& groups) {
    constexpr int most_sent = 30;
    for (const Known& known : groups)
      if (one.sent++ < most_sent) rendezvous_->send_all(one.ticket, know_line(known));
  }

  void let_go(Warm& one) { call_off(one.ticket, std::move(one.job), one.comes_by); }

  struct CalledOff {
    int ticket;
    pmix::Job job;
    base::Deadline comes_by;
  };

  std::vector<Warm> warm_;
  std::map<int, Known> names_; ///< by ticket: of those that were introduced
  int lost_ = 0;
  std::vector<Port> ports_; ///< of the groups that came in last; process 0
  std::vector<CalledOff> called_off_;
  bool has_lost_one_ = false;
};

BackgroundLaunch::~BackgroundLaunch() {
  for (Coming& coming : coming_) launcher_.call_off(coming.group, std::move(coming.job), limit_);
  launcher_.close_ports();
}

/// Once, where mpirun may not notice one of them: it stays as it is, and keeps its connection from those that follow.
void BackgroundLaunch::start_again_what_hangs() {
  if (was_started_again_ || !launcher_.may_hang() || !soon_.is_over()) return;
  was_started_again_ = true;
  for (auto one = coming_.begin(); one != coming_.end(); ++one) {
    if (launcher_.presence(one->group) != Presence::awaited) continue;
    const NewGroup group = one->group;
    launcher_.call_off(group, std::move(one->job), base::Deadline(0));
    one = coming_.erase(one); // where it cannot be started
    one = coming_.insert(one, {group, launcher_.start_one(group, options_)});
  }
}

Launch::Progress BackgroundLaunch::progress() {
  Progress all;
  try {
    start_again_what_hangs();
  } catch (const Error& error) {
    all.failure = error.what();
    return all;
  }
  for (Coming& coming : coming_) {
    launcher_.add_progress(coming.group, all);
    if (all.failure.empty() && launcher_.presence(coming.group) == Presence::awaited)
      all.failure = coming.job.failure();
  }
  return all;
}

/// Their owners have them by now.
void BackgroundLaunch::admit(std::vector<Newcomers>&) {
  for (const Coming& coming : coming_) launcher_.has_connected(coming.group);
  coming_.clear();
  launcher_.close_ports();
}

} // namespace

std::unique_ptr<Launcher> make_background_launcher(LossText loss) {
  return std::make_unique<BackgroundLauncher>(std::move(loss));
}

std::string background_trouble(bool is_one_host) {
  return is_one_host ? pmix::trouble() : "mpirun, or DYNGRID_HOSTS, has other hosts, and it is for one";
}

} // namespace blacs_dyn
