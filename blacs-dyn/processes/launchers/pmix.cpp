// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/pmix.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include <dlfcn.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/mpi/library.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "processes/launchers/answers.hpp"

#ifdef DYNGRID_PMIX
#include <pmix.h>
#endif

namespace blacs_dyn::pmix {

using base::Error;
using base::Status;

std::string own_job() {
  const char* job = base::environment("PMIX_NAMESPACE");
  return job ? job : "";
}

#ifndef DYNGRID_PMIX // MPICH, or no header

std::string trouble() {
  return "dyngrid was built without PMIx";
}
std::string job_text(const char*) {
  return {};
}
void look_up(const std::string&, int) {}
void settle() {}
struct Job::State {};
Job::Job(const Command&, Server) {
  throw Error(Status::unsupported, "blacs-dyn: " + trouble());
}
std::string Job::failure() {
  return trouble();
}
std::string Job::name() const {
  return {};
}
bool Job::is_answered() const {
  return true;
}
void Job::kill(bool) {}
void end_job(const std::string&, int) {}
void end_jobs_that_hang() {}

#else

namespace {

/// Not linked: only the library that MPI itself has loaded knows this process, and some MPIs have one of their own
/// inside.
struct Library {
  decltype(&PMIx_Initialized) initialized = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Get_nb) get_soon = nullptr;
  decltype(&PMIx_Spawn_nb) spawn = nullptr;
  decltype(&PMIx_Query_info_nb) query = nullptr;
  decltype(&PMIx_Job_control_nb) control = nullptr;
  decltype(&PMIx_Register_event_handler) listen = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;

  Library() {
    void* loaded = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (!loaded) return;
    find(loaded, "PMIx_Initialized", initialized);
    find(loaded, "PMIx_Get", get);
    find(loaded, "PMIx_Get_nb", get_soon);
    find(loaded, "PMIx_Spawn_nb", spawn);
    find(loaded, "PMIx_Query_info_nb", query);
    find(loaded, "PMIx_Job_control_nb", control);
    find(loaded, "PMIx_Register_event_handler", listen);
    find(loaded, "PMIx_Error_string", error_string);
  }
  bool is_whole() const { return initialized && spawn && query && control && listen && error_string; }

private:
  template <class Function> static void find(void* loaded, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(loaded, name));
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

Answers& answers() {
  static auto* const all = new Answers; // a callback may come at the very end
  return *all;
}

/// Filled in by hand: the header's macros want libpmix at link time.
pmix_info_t info(const char* key, pmix_data_type_t type) {
  pmix_info_t made;
  std::memset(&made, 0, sizeof made);
  std::strncpy(made.key, key, PMIX_MAX_KEYLEN);
  made.value.type = type;
  return made;
}
pmix_info_t flag(const char* key) {
  pmix_info_t made = info(key, PMIX_BOOL);
  made.value.data.flag = true;
  return made;
}
pmix_proc_t process(const std::string& job, pmix_rank_t rank) {
  pmix_proc_t who;
  std::memset(&who, 0, sizeof who);
  std::strncpy(who.nspace, job.c_str(), PMIX_MAX_NSLEN);
  who.rank = rank;
  return who;
}

constexpr const char* ended_too_soon = "ended before the first resize point; does the program start MPI, and reach "
                                       "dyngrid_resize_point on every path?";

/// The failure of one of them; empty: nothing.
std::string trouble_of(const pmix_proc_info_t& process) {
  if (process.state < PMIX_PROC_STATE_TERMINATED) return {};
  const std::string who = fmt::format("new process {} (pid {})", process.proc.rank, static_cast<long>(process.pid));
  if (process.state == PMIX_PROC_STATE_ABORTED_BY_SIG) return who + " was killed by a signal";
  if (process.state == PMIX_PROC_STATE_FAILED_TO_START || process.state == PMIX_PROC_STATE_FAILED_TO_LAUNCH)
    return who + " could not be started";
  return who + " " + ended_too_soon;
}

/// The data that mpirun reported: processes, or values with a process each.
template <class Visit> void each_process(const pmix_data_array_t& data, Visit&& visit) {
  for (std::size_t i = 0; i < data.size; ++i) {
    if (data.type == PMIX_PROC_INFO) visit(static_cast<const pmix_proc_info_t*>(data.array)[i]);
    if (data.type != PMIX_INFO) continue;
    const pmix_value_t& value = static_cast<const pmix_info_t*>(data.array)[i].value;
    if (value.type == PMIX_PROC_INFO) visit(*value.data.pinfo);
  }
}

/// Jobs of Open MPI 5 that its mpirun has reported as ended. A question about one that is just ending crashes that
/// mpirun. An order to end processes that it no longer knows makes it end all that it has.
class EndedJobs {
public:
  static EndedJobs& all() {
    static auto* const jobs = new EndedJobs; // a callback may come at the very end
    return *jobs;
  }
  bool have(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return names_.count(name) != 0;
  }
  void wait_for(const std::string& name, std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return names_.count(name) != 0; });
  }

private:
  EndedJobs() {
    static pmix_status_t codes[] = {PMIX_EVENT_JOB_END};
    library().listen(codes, 1, nullptr, 0, on_event, nullptr, nullptr);
  }
  static void on_event(std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], std::size_t count,
                       pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
    for (std::size_t i = 0; i < count; ++i)
      if (std::strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && info[i].value.type == PMIX_PROC) {
        const std::lock_guard lock(all().mutex_);
        all().names_.insert(info[i].value.data.proc->nspace);
        all().changed_.notify_all();
      }
    if (done) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> names_;
};

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_questions{200};
constexpr std::chrono::seconds longest_answer{5};
constexpr std::chrono::milliseconds longest_end{1000}; ///< from the death of a process to the end of its job

} // namespace

struct Job::State : std::enable_shared_from_this<Job::State> {
  // what PMIx reads until it has answered
  std::vector<std::string> words, variables;
  std::vector<char*> argument_pointers, variable_pointers;
  std::string folder, host, no_core = "none";
  pmix_app_t app{};
  std::vector<pmix_info_t> app_info, job_info;
  std::string table = PMIX_QUERY_PROC_TABLE;
  std::array<char*, 2> keys{table.data(), nullptr};
  pmix_proc_t who{};
  std::vector<pmix_proc_t> doomed;
  pmix_info_t of_job{}, order{};
  pmix_query_t query{};

  Server server = Server::orte;
  std::mutex mutex;
  std::string name; ///< of the job, when it is known
  std::string failure;
  bool is_unwanted = false, is_asking = false, is_answered = false;
  std::condition_variable answered; ///< whether they were started
  Clock::time_point asked{};

  /// For a callback, which frees it.
  void* myself() { return new std::shared_ptr<State>(shared_from_this()); }
  static std::shared_ptr<State> take(void* data) {
    auto* held = static_cast<std::shared_ptr<State>*>(data);
    std::shared_ptr<State> state = std::move(*held);
    delete held;
    return state;
  }

  static void has_started(pmix_status_t status, pmix_nspace_t name, void* data) {
    const std::shared_ptr<State> state = take(data);
    answers().have_come(Answers::start);
    const std::lock_guard lock(state->mutex);
    state->is_answered = true;
    state->answered.notify_all();
    if (status == PMIX_SUCCESS)
      state->name = name;
    else
      state->failure = fmt::format("mpirun does not start them: {}", library().error_string(status));
    if (!state->is_unwanted) return;
    const std::lock_guard lock_unwanted(unwanted_mutex());
    unwanted().push_back(state);
  }

  /// Jobs that were started after kill() had given up waiting for them. A callback must not end them: it would call
  /// PMIx, and PMIx_Finalize waits for it and holds the lock of PMIx.
  static std::vector<std::shared_ptr<State>>& unwanted() {
    static auto* const all = new std::vector<std::shared_ptr<State>>; // a callback may come at the very end
    return *all;
  }
  static std::mutex& unwanted_mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
  }

  static void on_states(pmix_status_t, pmix_info_t* info, std::size_t count, void* data, pmix_release_cbfunc_t release,
                        void* release_data) {
    const std::shared_ptr<State> state = take(data);
    {
      const std::lock_guard lock(state->mutex);
      state->is_asking = false;
      for (std::size_t i = 0; i < count; ++i)
        if (info[i].value.type == PMIX_DATA_ARRAY) state->read(*info[i].value.data.darray);
    }
    answers().have_come(Answers::question);
    if (release) release(release_data);
  }

  static void is_done(pmix_status_t, pmix_info_t*, std::size_t, void* data, pmix_release_cbfunc_t release,
                      void* release_data) {
    take(data);
    answers().have_come(Answers::order);
    if (release) release(release_data);
  }

  void read(const pmix_data_array_t& data) {
    each_process(data, [this](const pmix_proc_info_t& one) {
      if (failure.empty()) failure = trouble_of(one);
    });
  }

  void ask() {
    if (name.empty() || is_asking || Clock::now() - asked < between_questions || !answers().may_ask(this)) return;
    asked = Clock::now();
    who = process(name, PMIX_RANK_WILDCARD);
    of_job = info(PMIX_PROCID, PMIX_PROC);
    of_job.value.data.proc = &who;
    query = {keys.data(), &of_job, 1};
    void* const me = myself();
    answers().expect(Answers::question);
    is_asking = library().query(&query, 1, on_states, me) == PMIX_SUCCESS;
    if (is_asking) return;
    answers().have_come(Answers::question);
    take(me);
  }

  bool has_ended() const { return server == Server::prrte && EndedJobs::all().have(name); }

  void end() {
    if (name.empty() || !doomed.empty() || has_ended()) return;
    for (int rank = 0; rank < app.maxprocs; ++rank) // on an order to end all of a job, Open MPI 4.1's mpirun ends all
                                                    // jobs
      doomed.push_back(process(name, static_cast<pmix_rank_t>(rank)));
    order = flag(PMIX_JOB_CTRL_KILL);
    void* const me = myself();
    answers().expect(Answers::order);
    if (library().control(doomed.data(), doomed.size(), &order, 1, is_done, me) == PMIX_SUCCESS) return;
    answers().have_come(Answers::order);
    take(me);
  }
};

std::string trouble() {
  if (!library().is_whole()) return "MPI has loaded no libpmix.so.2";
  return library().initialized() ? std::string() : "this process was not started by an mpirun that knows PMIx";
}

std::string job_text(const char* key) {
  const std::string job = own_job();
  if (!library().get || job.empty()) return {};
  const pmix_proc_t all = process(job, PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  if (library().get(&all, key, nullptr, 0, &value) != PMIX_SUCCESS || !value) return {};
  std::string text;
  if (value->type == PMIX_STRING && value->data.string) {
    text = value->data.string;
    std::free(value->data.string);
  }
  std::free(value);
  return text;
}

namespace {

/// PMIx reads it until it has answered.
struct LookUp {
  std::string key;
  pmix_proc_t who{};
  static void has_come(pmix_status_t, pmix_value_t*, void* data) {
    answers().have_come(Answers::order);
    delete static_cast<LookUp*>(data);
  }
};

} // namespace

/// All that a process has published comes with one key of it, and stays with PMIx: so it is asked for the address of
/// Open MPI's TCP transport, which is how old and new processes talk.
void look_up(const std::string& job, int processes) {
  static std::set<std::string> known{own_job()};
  if (base::mpi_library().mpi != base::Mpi::open_mpi || !library().get_soon || !known.insert(job).second) return;
  const auto& version = base::mpi_library().version;
  for (int rank = 0; rank < processes; ++rank) {
    auto asked = std::make_unique<LookUp>();
    asked->key = fmt::format("btl.tcp.{}.{}", version[0], version[1]);
    asked->who = process(job, static_cast<pmix_rank_t>(rank));
    answers().expect(Answers::order);
    if (library().get_soon(&asked->who, asked->key.c_str(), nullptr, 0, LookUp::has_come, asked.get()) == PMIX_SUCCESS)
      asked.release(); // has_come() frees it
    else
      answers().have_come(Answers::order);
  }
}

void settle() {
  answers().settle();
  Job::end_late();
}

void Job::end_late() {
  std::vector<std::shared_ptr<State>> late;
  {
    const std::lock_guard lock(State::unwanted_mutex());
    late.swap(State::unwanted());
  }
  for (const auto& state : late) {
    const std::lock_guard lock(state->mutex);
    state->end();
  }
}

Job::Job(const Command& command, Server server) : state_(std::make_shared<State>()) {
  State& s = *state_;
  s.server = server;
  s.words = command.arguments;
  s.words.insert(s.words.begin(), command.program);
  s.variables = command.environment;
  // as MPI_Comm_spawn does; with Open MPI 5 what goes along stays, my own rank too
  const std::string prefix = server == Server::orte ? "OMPI_" : "OMPI_MCA_";
  for (char** variable = environ; variable && *variable; ++variable)
    if (std::strncmp(*variable, prefix.c_str(), prefix.size()) == 0) s.variables.emplace_back(*variable);
  for (std::string& word : s.words) s.argument_pointers.push_back(word.data());
  for (std::string& variable : s.variables) s.variable_pointers.push_back(variable.data());
  s.argument_pointers.push_back(nullptr);
  s.variable_pointers.push_back(nullptr);
  s.folder = command.folder;
  if (!command.host.empty()) {
    s.host = fmt::format("{}:{}", command.host, command.count);
    s.app_info.push_back(info(PMIX_HOST, PMIX_STRING));
    s.app_info.back().value.data.string = s.host.data();
  }
  if (command.is_unbound) {
    s.job_info.push_back(info(PMIX_BINDTO, PMIX_STRING));
    s.job_info.back().value.data.string = s.no_core.data();
  }
  if (server == Server::orte) {
    s.job_info.push_back(flag(PMIX_JOB_RECOVERABLE));
  } else {
    s.job_info.push_back(flag(PMIX_NOTIFY_COMPLETION));
    EndedJobs::all();
  }
  s.app.cmd = s.words[0].data();
  s.app.argv = s.argument_pointers.data();
  s.app.env = s.variable_pointers.data();
  s.app.cwd = s.folder.empty() ? nullptr : s.folder.data();
  s.app.maxprocs = command.count;
  s.app.info = s.app_info.empty() ? nullptr : s.app_info.data();
  s.app.ninfo = s.app_info.size();
  void* const me = s.myself();
  answers().settle();
  answers().expect(Answers::start);
  const pmix_status_t status = library().spawn(s.job_info.empty() ? nullptr : s.job_info.data(), s.job_info.size(),
                                               &s.app, 1, State::has_started, me);
  if (status == PMIX_SUCCESS) return;
  answers().have_come(Answers::start);
  State::take(me);
  throw Error(Status::spawn_failure, "blacs-dyn: PMIx_Spawn_nb of {} process(es) failed: {}", command.count,
              library().error_string(status));
}

std::string Job::failure() {
  const std::lock_guard lock(state_->mutex);
  if (state_->server == Server::orte)
    state_->ask();
  else if (state_->has_ended() && state_->failure.empty())
    state_->failure = fmt::format("{} new process(es) {}", state_->app.maxprocs, ended_too_soon);
  return state_->failure;
}

std::string Job::name() const {
  const std::lock_guard lock(state_->mutex);
  return state_->name;
}

bool Job::is_answered() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_answered;
}

void Job::kill(bool has_lost_one) {
  answers().settle(); // unlocked: the question may be about this job
  std::unique_lock lock(state_->mutex);
  state_->is_unwanted = true;
  // The application may be about to end. PMIx_Finalize holds PMIx's lock and waits for its thread, which would wait for
  // the lock in has_started; and Open MPI 5's mpirun waits for those that hang without the application.
  state_->answered.wait_for(lock, longest_answer, [this] { return state_->is_answered; });
  // That mpirun ends the others by itself; on an order to end a job that is just ending, it ends all, or crashes.
  if (state_->server == Server::prrte && has_lost_one) EndedJobs::all().wait_for(state_->name, longest_end);
  state_->end();
}

namespace {

/// The data that PMIx reads until it has answered, and the answer.
struct Request {
  std::mutex mutex;
  std::condition_variable has_come;
  bool is_answered = false, is_known = false;
  std::vector<pmix_proc_state_t> states; ///< of the job's processes

  std::string table = PMIX_QUERY_PROC_TABLE;
  std::array<char*, 2> keys{table.data(), nullptr};
  pmix_proc_t who{};
  std::vector<pmix_proc_t> doomed;
  pmix_info_t about{};
  pmix_query_t query{};

  /// send: gets the callback and its data. False: no answer came
  template <class Send> static bool ask(const std::shared_ptr<Request>& request, Answers::Kind kind, Send&& send) {
    answers().settle();
    answers().expect(kind);
    auto* held = new std::pair(request, kind);
    if (send(has_answered, held) != PMIX_SUCCESS) {
      answers().have_come(kind);
      delete held;
      return false;
    }
    std::unique_lock lock(request->mutex);
    return request->has_come.wait_for(lock, longest_answer, [&] { return request->is_answered; });
  }
  static void has_answered(pmix_status_t status, pmix_info_t* info, std::size_t count, void* data,
                           pmix_release_cbfunc_t release, void* release_data) {
    const std::unique_ptr<std::pair<std::shared_ptr<Request>, Answers::Kind>> held(
        static_cast<std::pair<std::shared_ptr<Request>, Answers::Kind>*>(data));
    Request& self = *held->first;
    {
      const std::lock_guard lock(self.mutex);
      self.is_answered = true;
      self.is_known = status == PMIX_SUCCESS;
      for (std::size_t i = 0; i < count; ++i)
        if (info[i].value.type == PMIX_DATA_ARRAY)
          each_process(*info[i].value.data.darray,
                       [&](const pmix_proc_info_t& one) { self.states.push_back(one.state); });
      self.has_come.notify_all();
    }
    answers().have_come(held->second);
    if (release) release(release_data);
  }
};

/// Of its processes; empty: mpirun knows no such job.
std::optional<std::vector<pmix_proc_state_t>> states_of(const std::string& job) {
  auto request = std::make_shared<Request>();
  request->who = process(job, PMIX_RANK_WILDCARD);
  request->about = info(PMIX_PROCID, PMIX_PROC);
  request->about.value.data.proc = &request->who;
  request->query = {request->keys.data(), &request->about, 1};
  const bool has_come = Request::ask(request, Answers::question, [&](pmix_info_cbfunc_t done, void* data) {
    return library().query(&request->query, 1, done, data);
  });
  const std::lock_guard lock(request->mutex);
  if (!has_come || !request->is_known) return std::nullopt;
  return request->states;
}

} // namespace

void end_job(const std::string& name, int processes) {
  if (!trouble().empty()) return;
  auto request = std::make_shared<Request>();
  for (int rank = 0; rank < processes; ++rank) request->doomed.push_back(process(name, static_cast<pmix_rank_t>(rank)));
  request->about = flag(PMIX_JOB_CTRL_KILL);
  Request::ask(request, Answers::order, [&](pmix_info_cbfunc_t done, void* data) {
    return library().control(request->doomed.data(), request->doomed.size(), &request->about, 1, done, data);
  });
}

/// mpirun numbers its jobs: its own name in the upper 16 bits, and from 1 in the lower ones.
void end_jobs_that_hang() {
  const auto own = base::whole_number<std::uint32_t>(own_job());
  if (!own || !trouble().empty()) return;
  for (std::uint32_t job = (*own & ~0xffffU) + 1;; ++job) {
    const std::string name = std::to_string(job);
    const auto states = states_of(name);
    if (!states) return;
    if (job != *own && std::find(states->begin(), states->end(), PMIX_PROC_STATE_RUNNING) != states->end())
      end_job(name, static_cast<int>(states->size()));
  }
}

#endif

} // namespace blacs_dyn::pmix
