// SPDX-License-Identifier: BSD-3-Clause
#include "transport.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "control/runtime_dir.hpp"
#include "control/variables.hpp"
#include "failure.hpp"

namespace command {
namespace fs = std::filesystem;
namespace {

bool is_auto(const RunRequest& request) {
  return request.transport == "auto";
}

/// What the command line or a variable says of Open MPI's transports; empty: nothing.
std::string choice_of_user(const RunRequest& request, const Site& site) {
  for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl"})
    if (const std::string set = site.variable(name); !set.empty()) return fmt::format("{}={}", name, set);
  for (const std::string& word : request.mpirun_options)
    for (const char* name : {"pml", "btl", "mtl", "--tune", "-tune", "--am", "-am"})
      if (word == name) return "--mpirun-option " + word;
  return {};
}

/// The value of "mca:pml:base:param:pml:value:ob1", by what stands before it.
std::string value_after(const std::string& output, const std::string& begin) {
  const std::size_t at = ("\n" + output).find("\n" + begin);
  if (at == std::string::npos) return {};
  const std::size_t value = at + begin.size();
  return output.substr(value, output.find('\n', value) - value);
}

/// What Open MPI's files say of its transports; empty: nothing. Debian's own file leaves out UCX (pml = ^ucx), since a
/// program that forks is not safe over InfiniBand with it. Where auto asks, there is none.
std::string choice_of_files(const std::string& info) {
  for (const std::string name : {"pml", "btl", "mtl"}) {
    const std::string entry = fmt::format("mca:{0}:base:param:{0}:", name);
    const std::string value = value_after(info, entry + "value:"), source = value_after(info, entry + "source:");
    const bool excludes = !value.empty() && value[0] == '^';
    const bool is_systems = source.find("openmpi-mca-params.conf") != std::string::npos;
    if (source.compare(0, 6, "file (") == 0 && !(excludes && is_systems))
      return fmt::format("{} = {} is set ({})", name, value, source.substr(6, source.rfind(')') - 6));
  }
  return {};
}

/// A device of a fast network, for which Open MPI has components of its own; empty: there is none.
std::string find_fast_network() {
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/cxi"}) {
    std::error_code error;
    const fs::directory_iterator devices(folder, error);
    if (!error && devices != fs::directory_iterator()) return devices->path().string();
  }
  return {};
}

/// Two processes start a third one by MPI_Comm_spawn over UCX, and messages go between all. Empty: they arrived.
std::string try_ucx(const Site& site) {
  constexpr double limit_s = 20;
  const std::string probe = find_beside({"dyngrid-probe", "../" DYNGRID_LIBEXECDIR "/dyngrid/dyngrid-probe"});
  if (probe.empty()) return "there is no dyngrid-probe beside this command to try UCX with";
  RunRequest request;
  request.processes = 2;
  request.transport = "ucx";
  request.program = {probe, "messages"};
  Site clean = site;
  clean.has_ucx = true;
  // the user's own grids and changes are not those of the probe
  for (const control::Variable& v : control::variables()) clean.environment.erase(v.name);
  const base::Outcome result = run_for(plan_launch(request, clean), limit_s);
  if (result.status == 0 && result.output.find("messages arrived") != std::string::npos) return {};
  if (result.timed_out) return fmt::format("the trial of UCX was not done after {:g} s", limit_s);
  std::istringstream lines(result.output);
  std::string line;
  while (std::getline(lines, line) && line.find_first_not_of("-= \t") == std::string::npos) {
  }
  return fmt::format("the trial of UCX ended with status {}: {}", result.status, line.empty() ? "no message" : line);
}

/// ompi_info takes a quarter of a second, most of it sleeping. Empty where there is none.
std::string ask_ompi_info(const Site& site) {
  Launch ask;
  const std::string beside = site.mpirun.substr(0, site.mpirun.rfind('/') + 1) + "ompi_info";
  ask.words = {access(beside.c_str(), X_OK) == 0 ? beside : base::search_path("ompi_info"), "--parsable", "--level",
               "9"};
  if (ask.words[0].empty()) return {};
  for (const char* framework : {"mca", "pml", "btl", "mtl"})
    ask.words.insert(ask.words.end(), {"--param", framework, "all"});
  return run_for(ask, 10).output;
}

bool has_component(const std::string& info) {
  return info.find("mca:pml:ucx:") != std::string::npos;
}

/// What was found out about UCX on this host.
struct Answer {
  std::string files;   ///< those that Open MPI reads, with a comma between them; empty: not known
  std::string trouble; ///< empty: UCX works
};

/// `tries`: otherwise there is no answer where only a trial can give it.
std::optional<Answer> find_out(const Site& site, bool tries) {
  const std::string info = ask_ompi_info(site);
  if (info.empty())
    return Answer{"", "there is no ompi_info beside mpirun or in PATH, which says whether this Open MPI has pml/ucx"};
  Answer answer{value_after(info, "mca:mca:base:param:mca_base_param_files:value:"), choice_of_files(info)};
  if (answer.trouble.empty() && !has_component(info)) answer.trouble = "this Open MPI has no component pml/ucx";
  if (answer.trouble.empty() && !tries) return std::nullopt;
  if (answer.trouble.empty()) answer.trouble = try_ucx(site);
  return answer;
}

/// Changes when one of the files does.
std::string stamp_of(const std::string& files) {
  std::string stamp;
  for (const std::string& file : base::split(files, ',')) {
    struct stat found {};
    const bool is_there = stat(file.c_str(), &found) == 0;
    stamp += is_there ? fmt::format("{}.{} ", found.st_mtim.tv_sec, found.st_mtim.tv_nsec) : "none ";
  }
  return stamp;
}

/// Where the answer for this host, this Open MPI and these variables is kept; empty: nowhere.
std::string place_of_answer(const Site& site) {
  std::string what = base::host_name() + "\n" + site.mpirun + "\n" + site.version;
  for (const auto& [name, value] : site.environment)
    if (name.compare(0, 4, "UCX_") == 0 || name.compare(0, 9, "OMPI_MCA_") == 0 || name == "HOME")
      what += "\n" + name + "=" + value;
  const std::string folder = control::runtime_directory();
  try {
    control::require_private_directory(folder);
  } catch (const base::Error&) { // an application says so itself when it makes its socket there
    return {};
  }
  return fmt::format("{}/ucx-{:016x}", folder, std::hash<std::string>{}(what));
}

/// Empty where there is none, or Open MPI's files have changed since.
std::optional<std::string> kept_trouble(const std::string& place) {
  std::ifstream file(place);
  std::string files, stamp, trouble;
  if (!std::getline(file, files) || !std::getline(file, stamp) || stamp != stamp_of(files)) return std::nullopt;
  std::getline(file, trouble);
  return trouble;
}

/// Whole or not at all: another run may read it.
void keep(const std::string& place, const Answer& answer) {
  if (place.empty() || answer.files.empty()) return;
  const std::string part = fmt::format("{}.{}", place, getpid());
  std::ofstream file(part);
  file << answer.files << '\n' << stamp_of(answer.files) << '\n' << answer.trouble << '\n' << std::flush;
  std::error_code ignored;
  if (file)
    fs::rename(part, place, ignored);
  else
    fs::remove(part, ignored);
}

/// What speaks against UCX before anything is asked or tried.
std::string objection_at_sight(const RunRequest& request, const Site& site) {
  if (const std::string chosen = choice_of_user(request, site); !chosen.empty()) return chosen + " is set";
  if (!site.fast_network.empty()) return site.fast_network + " is a fast network, for which Open MPI has its own way";
  if (site.is_open_mpi_5) return "with Open MPI 5 UCX is used only by --transport ucx";
  if (!is_on_one_host(request, site)) return "there may be several hosts, and UCX is tried on this one only";
  const bool is_named = !request.processes_come.empty();
  if ((is_named ? request.processes_come : site.variable("DYNGRID_PROCESSES")) == "join")
    return "UCX was not tried between several mpiruns (--processes join)";
  if (!has_room_in_shared_memory(request, site)) return "/dev/shm is too small for UCX";
  return {};
}

} // namespace

std::string objection_to_ucx(const RunRequest& request, const Site& site) {
  const std::string objection = objection_at_sight(request, site);
  return !objection.empty() ? objection
                            : site.ucx_trouble.value_or("UCX was not tried here yet; dyngrid run tries it between two "
                                                        "processes and a third one, and takes it where it works");
}

bool is_trial_open(const RunRequest& request, const Site& site) {
  return site.mpi == Mpi::open_mpi && is_auto(request) && objection_at_sight(request, site).empty() &&
         !site.ucx_trouble;
}

void add_transport(const RunRequest& request, const Site& site, Launch& launch) {
  if (site.mpi == Mpi::mpich) {
    if (is_auto(request)) return;
    throw Failure(fmt::format("--transport is for Open MPI, and {} is MPICH's: leave it out", site.mpirun));
  }
  std::string way = request.transport;
  if (is_auto(request)) {
    const std::string objection = objection_to_ucx(request, site);
    way = objection.empty() ? "ucx" : "";
    launch.transport = objection.empty() ? "messages go over UCX, which connects old and new processes of a host by "
                                           "shared memory; --transport ob1 leaves that"
                                         : "messages go as Open MPI chooses: " + objection;
    launch.remarks.push_back(launch.transport);
    if (way.empty()) return;
  }
  if (const std::string set = site.variable("OMPI_MCA_pml"); !set.empty() && set != way)
    throw Failure(fmt::format("--transport {} contradicts OMPI_MCA_pml={}: leave one of them out", way, set));
  const auto& words = request.mpirun_options;
  if (std::find(words.begin(), words.end(), "pml") != words.end())
    throw Failure(
        fmt::format("--transport {} and --mpirun-option pml both choose the transport: leave one of them out", way));
  if (request.transport == "ucx" && !site.has_ucx)
    throw Failure(fmt::format("--transport ucx needs Open MPI's component pml/ucx, which {} does not have: take "
                              "--transport ob1",
                              site.mpirun));
  launch.environment.push_back({"OMPI_MCA_pml", way, is_auto(request) ? "--transport auto" : "--transport"});
  if (way != "ucx") return;
  const auto add = [&](const char* name, const char* value, const char* why) {
    if (site.environment.count(name) == 0) launch.environment.push_back({name, value, why});
  };
  for (const char* name : {"OMPI_MCA_pml_ucx_tls", "OMPI_MCA_pml_ucx_devices"})
    add(name, "any", "UCX is used for shared memory, too, where no fast network is found");
  add("OMPI_MCA_pml_ucx_progress_iterations", "1",
      "without it a waiting process polls 100 times before it yields its core");
}

void look_at_transports(const RunRequest& request, Site& site, UcxTrial trial) {
  if (site.mpi != Mpi::open_mpi || request.transport == "ob1") return;
  if (!is_auto(request)) {
    const std::string info = ask_ompi_info(site);
    site.has_ucx = info.empty() || has_component(info); // mpirun reports it otherwise
    return;
  }
  site.fast_network = find_fast_network();
  if (!objection_at_sight(request, site).empty()) return;
  const std::string place = place_of_answer(site);
  if (trial != UcxTrial::anew) site.ucx_trouble = kept_trouble(place);
  if (site.ucx_trouble) return;
  const std::optional<Answer> answer = find_out(site, trial != UcxTrial::never);
  if (!answer) return;
  site.ucx_trouble = answer->trouble;
  keep(place, *answer);
}

} // namespace command
