// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/allocation.hpp"
#include "base/elf.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "base/grid_shape.hpp"
#include "base/host_list.hpp"
#include "base/process.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "blas.hpp"
#include "control/limits.hpp"
#include "control/mpi_settings.hpp"
#include "control/variables.hpp"
#include "failure.hpp"
#include "findings.hpp"
#include "gridmap/timetable.hpp"
#include "program.hpp"
#include "text.hpp"
#include "transport.hpp"

namespace command {
namespace fs = std::filesystem;
namespace {

// Open MPI keeps some 4 MiB per process in shared memory, more with many neighbours
constexpr std::int64_t shm_bytes_per_process = std::int64_t{16} << 20;

/// An empty variable of dyngrid counts as not set.
bool has(const Site& site, const std::string& name) {
  const auto set = site.environment.find(name);
  return set != site.environment.end() && !(set->second.empty() && base::begins_with(name, "DYNGRID_"));
}

bool has_hosts_of_mpirun(const RunRequest& request) {
  constexpr std::array<std::string_view, 7> options{"-H",         "-host",        "--host",       "-hostfile",
                                                    "--hostfile", "-machinefile", "--machinefile"};
  return std::find_first_of(request.mpirun_options.begin(), request.mpirun_options.end(), options.begin(),
                            options.end()) != request.mpirun_options.end();
}

} // namespace

std::string Site::variable(const std::string& name) const {
  const auto set = environment.find(name);
  return set == environment.end() ? "" : set->second;
}

bool can_preload(const std::string& libraries) {
  return libraries.find(' ') == std::string::npos;
}

bool is_on_one_host(const RunRequest& request, const Site& site) {
  return request.hosts.empty() && !has_hosts_of_mpirun(request) && !has(site, "DYNGRID_HOSTS") &&
         base::count_allocated_hosts([&](const char* name) { return site.variable(name); }) <= 1;
}

namespace {

/// Settings of Open MPI, each with its reason, unless the user has made them.
void add_open_mpi_settings(const Site& site, int processes, bool may_grow, Launch& launch) {
  const auto set = [&](const std::string& name, const std::string& value, const std::string& why) {
    if (!has(site, name)) launch.environment.push_back({name, value, why});
  };
  if (site.is_root) {
    set("OMPI_ALLOW_RUN_AS_ROOT", "1", "mpirun refuses to run as root otherwise");
    set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", "mpirun refuses to run as root otherwise");
  }
  set("OMPI_MCA_mpi_yield_when_idle", "1",
      "a grid that grows may have more processes than cores: a waiting process yields its core");
  if (may_grow)
    set("OMPI_MCA_coll", "^han,adapt,hcoll",
        "these collectives have hung in communicators that were merged after a spawn");
  if (may_grow)
    for (const Setting& setting : site.before_mpi) set(setting.name, setting.value, setting.why);
  if (!site.can_read_other_processes)
    set(site.is_open_mpi_5 ? "OMPI_MCA_smsc" : "OMPI_MCA_btl_vader_single_copy_mechanism",
        site.is_open_mpi_5 ? "^cma" : "none", "this machine does not let processes read each other's memory");
  if (site.shm_free_bytes < shm_bytes_per_process * std::max(processes, 4))
    set("OMPI_MCA_btl_vader_backing_directory", "/tmp",
        "/dev/shm is too small, and a process that cannot get a page there is killed");
}

/// One-sided windows. The two components that fail over a grown grid are left out. Of the others Open MPI takes the one
/// that goes with the transport: ucx over UCX, whoever has chosen that, and otherwise pt2pt.
void add_windows(const Site& site, Launch& launch) {
  if (site.mpi == Mpi::mpich || site.is_open_mpi_5 || has(site, "OMPI_MCA_osc")) return;
  launch.environment.push_back({"OMPI_MCA_osc", "^rdma,sm",
                                "one-sided windows over a grown grid fail otherwise (MPI_ERR_WIN), or crash. Has the "
                                "program shared windows (MPI_Win_allocate_shared), set it to ^rdma"});
}

/// Processes of the largest grid in "5:3x3,10:4x4@local2"; 0 for an empty or invalid text: dyngrid itself reports that.
int most_processes(const std::string& resize_at) {
  int most = 0;
  for (const std::string& entry : base::split(resize_at, ',')) {
    try {
      most = std::max(most, gridmap::parse_timetable(entry, "--resize-at").at(0).to.size());
    } catch (const std::exception&) { // the program itself reports an invalid entry
    }
  }
  return most;
}

/// Processes of the largest grid that --resize-at or DYNGRID_RESIZE_AT names.
int processes_to_come(const RunRequest& request, const Site& site) {
  return most_processes(!request.resize_at.empty() ? request.resize_at : site.variable("DYNGRID_RESIZE_AT"));
}

/// The hosts of a list as mpirun's -H takes it, "a:4,b,b", and their slots: one where no number is given. A host may
/// stand there several times, which base::parse_hosts() refuses.
struct Allocation {
  std::set<std::string> hosts;
  int slots = 0;
};
Allocation allocation_of(const std::string& list) {
  Allocation found;
  for (const std::string& entry : base::split(list, ',')) {
    if (entry.empty()) continue;
    const std::size_t colon = entry.find(':');
    const std::string host = entry.substr(0, colon);
    found.hosts.insert(base::is_this_host(host) ? "localhost" : host);
    const int slots = colon == std::string::npos ? 1 : std::max(0, std::atoi(entry.c_str() + colon + 1));
    found.slots = static_cast<int>(std::min(std::int64_t{found.slots} + slots, base::max_processes));
  }
  return found;
}

/// Whether a growth can start processes where this job is.
bool can_start_later(const RunRequest& request, const Site& site) {
  if (!site.can_spawn || site.can_spawn_elsewhere) return site.can_spawn;
  if (has_hosts_of_mpirun(request)) return false;
  if (is_on_one_host(request, site)) return true;
  return allocation_of(request.hosts + "," + site.variable("DYNGRID_HOSTS")).hosts.size() == 1;
}

/// The number of processes started beyond the first grid. Requested, or set in the environment. Otherwise none where
/// they can be started later, and where not, as many as the largest grid of a timetable needs, or as the slots that the
/// user has named.
int spare_processes(const RunRequest& request, const Site& site, int processes) {
  if (request.spare >= 0) return request.spare;
  if (has(site, "DYNGRID_SPARE")) {
    const std::string& text = site.environment.at("DYNGRID_SPARE");
    if (text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
      throw Failure(fmt::format("DYNGRID_SPARE is \"{}\", expected a number of processes", text));
    return std::stoi(text);
  }
  if (can_start_later(request, site)) return 0;
  return std::max({0, processes_to_come(request, site) - processes, allocation_of(request.hosts).slots - processes});
}

/// Whether waiting processes are to sleep: when they outnumber the cores now or after a change that is known already.
bool must_yield(const RunRequest& request, const Site& site, int started) {
  const std::string setting = site.variable("DYNGRID_YIELD");
  if (setting != "on" && setting != "off" && !setting.empty())
    throw Failure(fmt::format("DYNGRID_YIELD is \"{}\", expected on or off", setting));
  if (setting == "off") return false;
  return !site.yield_library.empty() && is_on_one_host(request, site) &&
         std::max(started, processes_to_come(request, site)) > site.cores;
}

std::map<std::string, std::string> settings_of_dyngrid(const RunRequest& request, const Site& site) {
  std::map<std::string, std::string> set;
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) set[name] = value;
  };
  put("DYNGRID_GRID", request.grid);
  put("DYNGRID_RESIZE_AT", request.resize_at);
  const auto put_entry = [&](const char* name, const char* key, const std::string& value) {
    const auto& lists = set.count(name) != 0 ? set : site.environment;
    const auto given = lists.find(name);
    if (!value.empty()) put(name, base::with_entry(given == lists.end() ? nullptr : given->second.c_str(), key, value));
  };
  put_entry("DYNGRID_EXCHANGE", "placement", request.placement);
  put_entry("DYNGRID_EXCHANGE", "schedule", request.schedule);
  put_entry("DYNGRID_START", "warm", request.warm >= 0 ? std::to_string(request.warm) : "");
  put_entry("DYNGRID_START", "keep", request.keep);
  put_entry("DYNGRID_START", "unit", request.group);
  put("DYNGRID_PROCESSES", request.processes_come);
  put("DYNGRID_BALANCE", request.balance);
  put("DYNGRID_CALLS", request.calls);
  put("DYNGRID_VERBOSE", request.is_verbose ? "on" : "");
  put("DYNGRID_WAIT", request.waits ? "on" : "");
  return set;
}

/// The number of -np, or of --grid.
/// @throws Failure
int processes_to_start(const RunRequest& request) {
  int processes = request.processes;
  if (!request.grid.empty()) {
    const auto [p, q] = base::parse_grid_shape(request.grid, "--grid");
    if (processes == 0) processes = p * q;
    if (p * q > processes)
      throw Failure(fmt::format(
          "--grid {} needs {} processes, but -np is {}; start at least {}, or let it grow by --resize-at 0:{}",
          request.grid, p * q, processes, p * q, request.grid));
  }
  if (processes < 1) throw Failure("the number of processes is missing: give -np or --grid");
  return processes;
}

} // namespace

bool has_room_in_shared_memory(const RunRequest& request, const Site& site) {
  const int most = std::max(processes_to_start(request), processes_to_come(request, site));
  return site.shm_free_bytes >= shm_bytes_per_process * std::max(most, 4);
}

namespace {

/// The environment of mpirun and of the processes that it starts on this host.
void add_environment(const RunRequest& request, const Site& site, int started, Launch& launch) {
  // Open MPI 5 grows on one host only, and han gains something only on several
  if (site.mpi != Mpi::mpich)
    add_open_mpi_settings(site, started, site.can_spawn_elsewhere || is_on_one_host(request, site), launch);
  add_transport(request, site, launch);
  add_windows(site, launch);
  for (const char* threads : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (!has(site, threads)) launch.environment.push_back({threads, "1", "the processes share the cores already"});
  const bool is_alone = is_on_one_host(request, site) && !request.gets_other_hosts; // others may have other processors
  if (site.better_core.empty() || has(site, "OPENBLAS_CORETYPE") || !is_alone) return;
  launch.environment.push_back({"OPENBLAS_CORETYPE", site.better_core,
                                fmt::format("OpenBLAS takes this processor for {}, which is slower", site.blas_core)});
  launch.environment.push_back(
      {"DYNGRID_CORETYPE", site.better_core, "a growth onto another host leaves this OPENBLAS_CORETYPE out"});
  launch.notices.push_back(fmt::format("OpenBLAS takes this processor for {}; OPENBLAS_CORETYPE={} set (dyngrid doctor "
                                       "measures both; export one to choose)",
                                       site.blas_core, site.better_core));
}

/// Whether the user states where processes run: then nothing is added here.
bool is_bound_by_user(const RunRequest& request, const Site& site) {
  for (const char* name : {"OMPI_MCA_hwloc_base_binding_policy", "PRTE_MCA_hwloc_default_binding_policy"})
    if (has(site, name)) return true;
  return std::any_of(request.mpirun_options.begin(), request.mpirun_options.end(), [](const std::string& word) {
    const auto names = [&](const char* part) { return word.find(part) != std::string::npos; };
    return (names("bind") && !names("report-bindings")) || names("map-by") || names("cpu") || names("rankfile");
  });
}

/// mpirun, and the number of processes on each host.
std::vector<std::string> words_of_mpirun(const RunRequest& request, const Site& site, int started) {
  const bool is_mpich = site.mpi == Mpi::mpich;
  std::vector<std::string> words{site.mpirun};
  if (!is_mpich) words.push_back("--oversubscribe"); // MPICH's starts the number that is given
  if (!is_mpich && !is_bound_by_user(request, site)) words.insert(words.end(), {"--bind-to", "none"});
  words.insert(words.end(), {is_mpich ? "-n" : "-np", std::to_string(started)});
  if (request.processes_come == "join") {
    if (is_mpich) throw Failure("--processes join needs Open MPI 4: processes of two MPICH mpiruns cannot connect", 1);
    if (site.is_open_mpi_5)
      throw Failure("--processes join needs Open MPI 4: 5 has no ompi-server, and its mpiruns never meet; without "
                    "--processes new ones are spawned",
                    1);
    words.insert(words.end(), {"--ompi-server", request.ompi_server});
  }
  if (!request.hosts.empty()) words.insert(words.end(), {is_mpich ? "-hosts" : "-H", request.hosts});
  return words;
}

/// LD_PRELOAD of the processes, after the user's preloads. Not of mpirun itself, which has no ScaLAPACK.
std::string preload_of(const RunRequest& request, const Site& site, bool waiting_sleeps) {
  std::string preload = site.variable("LD_PRELOAD");
  for (const std::string& library : {request.preload, waiting_sleeps ? site.yield_library : std::string()})
    if (!library.empty() && preload.find(library) == std::string::npos)
      preload += (preload.empty() ? "" : ":") + library;
  return preload;
}

/// The variables passed by mpirun's options: it passes its own environment only to processes on this host.
std::map<std::string, std::string> handed_over(const RunRequest& request, const Site& site, int started, int spare,
                                               Launch& launch) {
  std::map<std::string, std::string> handed = settings_of_dyngrid(request, site);
  if (spare > 0 || has(site, "DYNGRID_SPARE")) handed["DYNGRID_SPARE"] = std::to_string(spare);
  if (spare > 0) {
    const std::string what = fmt::format("{} of the {} processes sleep until a grid needs them", spare, started);
    if (!site.can_spawn)
      launch.remarks.push_back(what + ": this MPI cannot start any later");
    else if (request.spare < 0 && !has(site, "DYNGRID_SPARE"))
      launch.notices.push_back(what + ": Open MPI 5 cannot start any on several hosts later; --spare N gives their "
                                      "number");
    else
      launch.remarks.push_back(what);
  }
  if (!request.hosts.empty() || has_hosts_of_mpirun(request)) {
    for (const auto& [name, value] : site.environment)
      if ((name.compare(0, 8, "DYNGRID_") == 0 && name != "DYNGRID_NEWCOMER") || name == "LD_LIBRARY_PATH")
        handed.emplace(name, value);
    for (const Setting& s : launch.environment)
      if (s.name.find("_NUM_THREADS") != std::string::npos) handed.emplace(s.name, s.value);
  }
  const bool must_sleep = must_yield(request, site, started);
  const bool waiting_sleeps = must_sleep && can_preload(site.yield_library);
  if (must_sleep && !waiting_sleeps)
    launch.notices.push_back(
        fmt::format("'{}' is left out, since LD_PRELOAD ends a path at a blank: processes that wait "
                    "hold their cores. Install dyngrid in a folder without a blank",
                    site.yield_library));
  const std::string preload = preload_of(request, site, waiting_sleeps);
  if (preload != site.variable("LD_PRELOAD")) handed["LD_PRELOAD"] = preload;
  if (waiting_sleeps)
    launch.remarks.push_back(fmt::format("{}: with more processes than the {} cores those that wait have to give "
                                         "theirs away, which this MPI does not do by itself",
                                         site.yield_library, site.cores));
  return handed;
}

} // namespace

Launch plan_launch(const RunRequest& request, const Site& site) {
  if (const std::string trouble = tools::trouble_with_program(request.program); !trouble.empty())
    throw Failure(trouble);
  if (!can_preload(request.preload))
    throw Failure(fmt::format("'{}' cannot be preloaded, since LD_PRELOAD ends a path at a blank: install dyngrid in a "
                              "folder without one",
                              request.preload),
                  1);
  const int processes = processes_to_start(request);
  Launch launch;
  const int spare = spare_processes(request, site, processes);
  const int started = processes + spare;
  add_environment(request, site, started, launch);
  launch.words = words_of_mpirun(request, site, started);
  if (site.mpi != Mpi::mpich && !is_bound_by_user(request, site))
    launch.remarks.push_back(
        "--bind-to none: mpirun binds one or two processes to the first cores, and so does that of "
        "another job on this host; --mpirun-option --bind-to binds them");
  const auto add = [&](const std::vector<std::string>& words) {
    launch.words.insert(launch.words.end(), words.begin(), words.end());
  };
  for (const auto& [name, value] : handed_over(request, site, started, spare, launch)) {
    if (site.mpi == Mpi::mpich)
      add({"-genv", name, value});
    else
      add({"-x", name + "=" + value});
  }
  add(request.mpirun_options);
  add(request.program);
  return launch;
}

std::string shell_line(const Launch& launch) {
  std::string line;
  for (const Setting& s : launch.environment) line += s.name + "=" + base::shell_quoted(s.value) + " ";
  return line + base::shell_line(launch.words);
}

namespace {

/// Whether a process may read the memory of another one of the same user, as Open MPI's shared-memory transport does;
/// containers forbid it.
bool may_read_other_processes() {
  int word = 1, copy = 0;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    pause();
    _exit(0);
  }
  iovec local{&copy, sizeof copy}, remote{&word, sizeof word};
  const bool may = process_vm_readv(child, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof word);
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return may;
}

} // namespace

std::string find_beside(const std::vector<std::string>& candidates) {
  const std::string folder = base::folder_of(base::own_program());
  for (const std::string& candidate : candidates) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(fs::path(folder) / candidate, error);
    if (!error && fs::exists(path, error)) return path.string();
  }
  return "";
}

ProgramFiles look_at_program(const std::string& program) {
  ProgramFiles found;
  const std::string path = base::search_path(program);
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error))
    throw Failure(fmt::format("{}: there is no such program", program));
  found.program = fs::absolute(path, error).lexically_normal().string();
  found.is_elf = base::is_elf(found.program);
  if (!found.is_elf) return found;
  found.is_static = base::loader_of(found.program).empty();
  found.files = base::files_of_program(found.program);
  if (found.files.empty()) found.files = {found.program};
  const auto copier = std::find_if(found.files.begin(), found.files.end(), [](const std::string& file) {
    return !base::defined_in(file, {"pdgemr2d_"}).empty();
  });
  if (copier != found.files.end()) found.copier = *copier;
  found.has_own_blacs = !base::defined_in(found.program, {"blacs_gridinfo_", "Cblacs_gridinfo"}).empty();
  return found;
}

std::string start_ompi_server() {
  const std::string program = base::search_path("ompi-server");
  if (program.empty())
    throw Failure("--processes join needs ompi-server, which is not in PATH; it comes with Open MPI 4 (openmpi-bin)",
                  1);
  const base::FileDescriptor output = base::memory_file("dyngrid-server"); // the server never waits for a reader
  const base::FileDescriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  base::Command server{{program, "--no-daemonize", "-r", "+"}};
  server.in = server.out = nothing.get();
  server.err = output.get();      // it would keep standard output in a buffer until its end
  server.own_group = true;        // an interrupt from the keyboard must reach mpirun only
  server.ends_with_parent = true; // preserved over exec: it ends with mpirun, which this process becomes
  const pid_t child = base::start(server);
  std::string uri;
  int status = 0;
  bool has_ended = false;
  for (int waited = 0; waited < 1000 && (uri.empty() || uri.back() != '\n') && !has_ended; ++waited) {
    usleep(10000);
    has_ended = waitpid(child, &status, WNOHANG) != 0;
    uri = base::content_of(output.get());
    const std::size_t line = uri.rfind('\n', uri.find("tcp://")); // it may have printed a warning before
    uri = uri.find("tcp://") == std::string::npos ? "" : line == std::string::npos ? uri : uri.substr(line + 1);
    uri.resize(std::min(uri.size(), uri.find('\n') + 1)); // npos + 1: no whole line yet
  }
  if (!uri.empty()) return uri.substr(0, uri.find('\n'));
  if (!has_ended) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  throw Failure(fmt::format("{} did not print its address within 10 s", program), 1);
}

namespace {

/// Of the installed tree, or of the build; empty where there is none.
std::string find_library(const std::string& name) {
  return find_beside({"../" DYNGRID_LIBDIR "/" + name, "../lib/" + name});
}

std::string needed_library(const std::string& name) {
  const std::string path = find_library(name);
  if (path.empty())
    throw Failure(
        fmt::format("there is no {} beside this command; is dyngrid installed as a whole?", base::file_name(name)), 1);
  return path;
}

} // namespace

std::string own_library() {
  return needed_library("libdyngrid.so." DYNGRID_SOVERSION);
}

std::string calls_libraries() {
  return needed_library("dyngrid/libdyngrid-calls.so") + ":" + own_library();
}

Site look_at_machine() {
  Site site;
  site.is_root = geteuid() == 0;
  site.has_ompi_server = !base::search_path("ompi-server").empty();
  const Blas blas = look_at_blas();
  site.blas_core = blas.core;
  site.better_core = core_to_set(blas);
  site.yield_library = find_library("dyngrid/libdyngrid-yield.so");
  site.processors = control::cores_of_mask(control::CoresOf::caller);
  site.cores = control::allowed_cores(control::CoresOf::caller);
  site.can_read_other_processes = may_read_other_processes();
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0 && access("/dev/shm", W_OK) == 0)
    site.shm_free_bytes = static_cast<std::int64_t>(shm.f_bavail) * static_cast<std::int64_t>(shm.f_frsize);
  for (const std::string& entry : control::whole_environment())
    if (const std::size_t equals = entry.find('='); equals != std::string::npos)
      site.environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  return site;
}

Site look_around(const std::string& mpirun) {
  Site site = look_at_machine();
  site.mpirun = base::search_path(mpirun);
  if (site.mpirun.empty())
    throw Failure(mpirun == DYNGRID_MPIRUN ? fmt::format("no {} in PATH; install {} or give its path by --mpirun",
                                                         mpirun, DYNGRID_MPI_PACKAGE)
                                           : fmt::format("--mpirun: {} is no program", mpirun),
                  1);
  Launch version;
  version.words = {site.mpirun, "--version"};
  if (site.is_root)
    version.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1", ""}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", ""}};
  site.version = run_for(version, 10).output;
  const base::MpiVersion mpi = base::mpi_version_in(site.version);
  site.mpi = mpi.mpi;
  site.is_open_mpi_5 = base::is_open_mpi_5(mpi);
  if (site.is_open_mpi_5)
    for (const control::MpiSetting& s : control::settings_of_open_mpi_5())
      if (!control::is_set_by_user(s)) site.before_mpi.push_back({s.name, s.value, s.reason});
  site.can_spawn = base::starts_processes(mpi);
  site.can_spawn_elsewhere = base::starts_processes_elsewhere(mpi);
  return site;
}

namespace {
std::vector<std::string> variables_of(const Launch& launch) {
  std::vector<std::string> variables;
  for (const Setting& s : launch.environment) variables.push_back(s.name + "=" + s.value);
  return variables;
}
} // namespace

void become(const Launch& launch) {
  for (const Setting& s : launch.environment) setenv(s.name.c_str(), s.value.c_str(), 1);
  std::vector<std::string> words = launch.words;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw Failure(fmt::format("{} cannot be started: {}", launch.words[0], std::strerror(errno)), 127);
}

namespace {
volatile sig_atomic_t launched = 0, first_term_as = SIGTERM;
extern "C" void pass_on(int number, siginfo_t* from, void*) {
  if (from->si_code == SI_KERNEL) return; // the terminal sends it to mpirun, too
  const int passed = number == SIGTERM ? first_term_as : number;
  if (number == SIGTERM) first_term_as = SIGTERM; // a second one ends a run that comes to no resize point
  kill(static_cast<pid_t>(launched), passed);
}
} // namespace

int run_with_signals(const Launch& launch, bool saves_at_term) {
  constexpr int numbers[] = {SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGINT, SIGQUIT};
  if (saves_at_term) first_term_as = SIGUSR1;
  base::Command command;
  command.words = launch.words;
  command.environment = base::environment_with(variables_of(launch));
  command.ends_with_parent = true;
  sigset_t early, before; // they wait until there is a process that gets them
  sigemptyset(&early);
  for (const int number : numbers) sigaddset(&early, number);
  sigprocmask(SIG_BLOCK, &early, &before);
  launched = base::start(command);
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  for (const int number : numbers) sigaction(number, &action, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return base::wait_for(static_cast<pid_t>(launched));
}

base::Outcome run_for(const Launch& launch, double seconds) {
  return base::run({launch.words, base::environment_with(variables_of(launch))}, seconds);
}

} // namespace command
