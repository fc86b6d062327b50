// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/environment.hpp"
#include "base/parse_json.hpp"
#include "command.hpp"
#include "control/checkpoint_file.hpp"
#include "control/host.hpp"
#include "control/load_reader.hpp"
#include "control/mpi_settings.hpp"
#include "control/variables.hpp"
#include "job_text.hpp"
#include "shared/blas.hpp"
#include "shared/findings.hpp"
#include "shared/launch.hpp"
#include "shared/text.hpp"
#include "shared/transport.hpp"

namespace command {
namespace {

struct DoctorOptions {
  std::string mpirun = DYNGRID_MPIRUN;
  double limit_s = 30;
  int dgemm = 0;
  std::string program;
  bool no_run = false, verbose = false, json = false;
};

using Findings = std::vector<Finding>;

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{} MiB", grouped(bytes >> 20));
}

void look_at_launcher(const DoctorOptions& o, Findings& out, Site& site, bool& can_run) {
  const Mpi own = std::string(DYNGRID_MPI) == "MPICH" ? Mpi::mpich : Mpi::open_mpi;
  try {
    site = look_around(o.mpirun);
  } catch (const Failure& error) {
    site = look_at_machine();
    site.mpi = own;
    out.push_back({"launcher", Verdict::error, error.what(), fmt::format("apt-get install {}", DYNGRID_MPI_PACKAGE)});
    return;
  }
  const Version v = version_in(site.version);
  if (site.mpi == Mpi::unknown) {
    out.push_back({"launcher", Verdict::error, site.mpirun + " is neither Open MPI's nor MPICH's",
                   "give the right one by --mpirun"});
    return;
  }
  const char* name = site.mpi == Mpi::mpich ? "MPICH" : "Open MPI";
  if (site.mpi != own) {
    out.push_back({"launcher", Verdict::error,
                   fmt::format("{} is {}'s, but this dyngrid was built for {}", site.mpirun, name, DYNGRID_MPI),
                   "give the launcher of the MPI it was built for by --mpirun"});
    return;
  }
  out.push_back({"launcher", Verdict::ok, fmt::format("{}, {} {}", site.mpirun, name, to_string(v)), ""});
  for (Finding& f : known_troubles(name, v)) out.push_back(std::move(f));
  if (!site.can_spawn) out.push_back(cannot_spawn(name, v));
  const bool is_there = !site.yield_library.empty() && can_preload(site.yield_library);
  out.push_back(
      {"waiting", is_there ? Verdict::ok : Verdict::warning,
       is_there
           ? "this MPI waits by polling; where processes outnumber cores dyngrid run preloads " + site.yield_library
       : site.mpi == Mpi::open_mpi ? "this MPI waits by polling and never sleeps; with more processes than cores it "
                                     "can keep the kernel from its own work, and everything stands still"
                                   : "this MPI waits by polling and holds its core meanwhile; with more processes than "
                                     "cores every message takes milliseconds",
       is_there
           ? ""
           : "install libdyngrid-yield.so beside the command (cmake --install), in a folder without a blank, or start "
             "no more processes than there are cores"});
  if (site.mpi == Mpi::open_mpi)
    if (void* pmix = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL)) {
      if (auto* get = reinterpret_cast<const char* (*)()>(dlsym(pmix, "PMIx_Get_version"))) {
        const Version p = version_in(get());
        out.push_back({"PMIx", Verdict::ok, to_string(p), ""});
        for (Finding& f : known_troubles("PMIx", p)) out.push_back(std::move(f));
      }
      dlclose(pmix);
    }
  if (site.is_root && site.mpi == Mpi::open_mpi) {
    const bool is_set = site.environment.count("OMPI_ALLOW_RUN_AS_ROOT") > 0 &&
                        site.environment.count("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") > 0;
    out.push_back(
        {"root", is_set ? Verdict::ok : Verdict::note,
         is_set ? "mpirun may run as root" : "mpirun refuses to run as root",
         is_set
             ? ""
             : "dyngrid run sets OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; by hand export both"});
  }
  can_run = true;
}

void look_at_library(Findings& out) {
  try {
    const std::string path = own_library();
    out.push_back({"library", Verdict::ok, path, ""});
  } catch (const Failure& error) {
    out.push_back(
        {"library", Verdict::error, error.what(),
         "install the library beside the command (cmake --install), or the package libdyngrid" DYNGRID_SOVERSION});
  }
}

void look_at_slots(const Site& site, Findings& out) {
  const int here = site.processors;
  const std::string quota =
      site.cores < here ? fmt::format(", and the time of {} by the control group's quota", site.cores) : "";
  const std::string text = fmt::format("{} core{} here{}", here, here == 1 ? "" : "s", quota);
  if (site.mpi == Mpi::mpich) {
    out.push_back({"slots", Verdict::ok, text + "; mpiexec starts as many processes as -n says", ""});
    return;
  }
  const char* variable =
      site.is_open_mpi_5 ? "PRTE_MCA_rmaps_default_mapping_policy" : "OMPI_MCA_rmaps_base_oversubscribe";
  const auto found = site.environment.find(variable);
  const bool is_set = found != site.environment.end() &&
                      (!site.is_open_mpi_5 || found->second.find(":oversubscribe") != std::string::npos);
  out.push_back(
      {"slots", is_set ? Verdict::ok : Verdict::note,
       text + (is_set ? fmt::format("; {} allows more processes", variable)
                      : fmt::format("; a grid of more than {} processes is refused by mpirun as it stands", here)),
       is_set ? "" : "dyngrid run passes --oversubscribe; by hand pass it, or give more slots by -H or a host file"});
}

void look_at_shared_memory(const Site& site, Findings& out) {
  if (site.shm_free_bytes < 0)
    out.push_back({"shared memory", Verdict::error, "/dev/shm is not there, or may not be written to",
                   "mount a tmpfs there; dyngrid run puts Open MPI's files into /tmp instead"});
  else if (site.shm_free_bytes < (std::int64_t{256} << 20))
    out.push_back({"shared memory", Verdict::warning,
                   mebibytes(site.shm_free_bytes) + " free in /dev/shm; a process that gets no page there is killed",
                   "start the container with --shm-size=1g; dyngrid run puts Open MPI's files into /tmp when there is "
                   "too little"});
  else
    out.push_back({"shared memory", Verdict::ok, mebibytes(site.shm_free_bytes) + " free in /dev/shm", ""});

  const int fd = memfd_create("dyngrid-doctor", MFD_CLOEXEC);
  const bool works = fd >= 0 && ftruncate(fd, 4096) == 0;
  if (fd >= 0) close(fd);
  out.push_back({"direct copies", works ? Verdict::ok : Verdict::warning,
                 works ? "matrices can lie in shared memory (memfd)"
                       : "memfd_create is refused here: matrices are sent instead of copied in place",
                 works ? "" : "allow memfd_create in the container's seccomp profile"});
  if (site.mpi == Mpi::open_mpi)
    out.push_back({"process_vm_readv", site.can_read_other_processes ? Verdict::ok : Verdict::note,
                   site.can_read_other_processes
                       ? "processes may read each other's memory"
                       : "processes may not read each other's memory, and Open MPI's shared-memory transport complains",
                   site.can_read_other_processes
                       ? ""
                       : fmt::format("dyngrid run sets OMPI_MCA_{}; or start the container with --cap-add=SYS_PTRACE",
                                     site.is_open_mpi_5 ? "smsc=^cma" : "btl_vader_single_copy_mechanism=none")});
}

void look_at_processor(Findings& out) {
  const Blas blas = look_at_blas();
  const CoreAdvice advice = advice_here(blas);
  constexpr int n = 512; // a few milliseconds
  DgemmRun as_it_is, as_advised;
  if (!blas.core.empty()) as_it_is = run_dgemm("", n);
  if (!advice.core.empty()) as_advised = run_dgemm(advice.core, n);
  if (as_advised.core != advice.core) as_advised = {}; // this OpenBLAS is built without it
  out.push_back(judge_blas(blas, advice, as_it_is, as_advised));
}

/// Where it may be read: by root, or by all (sysctl kernel.dmesg_restrict=0).
void look_at_kernel_log(Findings& out) {
  constexpr int size_of_buffer = 10, read_all = 3; // syslog(2); the header has no names for them
  const int size = klogctl(size_of_buffer, nullptr, 0);
  if (size <= 0) return;
  std::string log(static_cast<std::size_t>(size), '\0');
  const int length = klogctl(read_all, log.data(), size);
  if (length < 0) return;
  log.resize(static_cast<std::size_t>(length));
  out.push_back(judge_kernel_log(log));
}

/// What `dyngrid run` chooses. Tries UCX anew.
void look_at_transport(Site& site, Findings& out) {
  if (site.mpi != Mpi::open_mpi) return;
  RunRequest request;
  request.processes = 2;
  look_at_transports(request, site, UcxTrial::anew);
  const std::string objection = objection_to_ucx(request, site);
  out.push_back(
      {"transport", objection.empty() ? Verdict::ok : Verdict::note,
       objection.empty()
           ? "dyngrid run takes UCX, which connects old and new processes of this host by shared memory; it was tried"
           : "dyngrid run leaves it to Open MPI: " + objection,
       objection.empty() ? "" : "dyngrid run --transport ucx overrides that"});
}

void look_at_checkpoints_and_joining(const Site& site, Findings& out) {
  const std::string library = control::checkpoint_library();
  if (!library.empty())
    out.push_back({"checkpoints", Verdict::ok, library, ""});
  else
    out.push_back({"checkpoints", Verdict::note,
                   "none: this dyngrid was built without HDF5; dyngrid_checkpoint, dyngrid_restore and dyngrid restart "
                   "are refused",
                   "install libhdf5-openmpi-dev (libhdf5-mpich-dev) and build it again"});
  if (site.mpi != Mpi::open_mpi) return;
  out.push_back({"joining", site.has_ompi_server ? Verdict::ok : Verdict::note,
                 site.has_ompi_server ? "ompi-server is there: dyngrid run --processes join"
                                      : "no ompi-server in PATH: new processes can be spawned, but not join",
                 site.has_ompi_server ? "" : "it comes with Open MPI 4"});
}

/// The library's settings of Open MPI 5 before MPI_Init, and the user's settings in their place.
void look_at_settings(const Site& site, Findings& out) {
  if (!site.is_open_mpi_5) return;
  for (const control::MpiSetting& setting : control::settings_of_open_mpi_5()) {
    const std::string name = setting.name;
    if (control::is_set_by_user(setting))
      out.push_back({"settings", Verdict::note, name + " is yours and stays as it is",
                     fmt::format("where a grid is to grow, {}={}: {}", name, setting.value, setting.reason)});
    else
      out.push_back({"settings", Verdict::note,
                     fmt::format("libdyngrid sets {}={} in processes that mpirun started on one host: {}", name,
                                 setting.value, setting.reason),
                     fmt::format("price: {}; export {} to have your own", setting.price, name)});
  }
}

void look_at_network(const Site& site, Findings& out) {
  bool has_loopback = false;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next)
      has_loopback = has_loopback || ((a->ifa_flags & IFF_LOOPBACK) != 0 && (a->ifa_flags & IFF_UP) != 0);
    freeifaddrs(all);
  }
  const std::string name = base::host_name();
  addrinfo* found = nullptr;
  const int code = getaddrinfo(name.c_str(), nullptr, nullptr, &found);
  if (code == 0) freeaddrinfo(found);
  if (!has_loopback)
    out.push_back({"network", Verdict::error, "the loopback interface is down; old and new processes talk over it",
                   "ip link set lo up"});
  else if (code != 0)
    out.push_back({"network", Verdict::warning,
                   fmt::format("the name of this host, {}, is not known to it: {}", name, gai_strerror(code)),
                   fmt::format("add a line '127.0.1.1 {}' to /etc/hosts", name)});
  else if (site.mpi == Mpi::open_mpi && !control::has_network() &&
           site.environment.count("OMPI_MCA_btl_tcp_if_include") == 0)
    out.push_back({"network", Verdict::error,
                   "no network interface is up but the loopback one, which Open MPI does not use between old and new "
                   "processes",
                   "export OMPI_MCA_btl_tcp_if_include=lo"});
  else
    out.push_back({"network", Verdict::ok, fmt::format("loopback is up, host name {} resolves", name), ""});

  const char* folder = std::getenv("TMPDIR");
  if (folder == nullptr || *folder == '\0') folder = "/tmp";
  struct statvfs info {};
  if (access(folder, W_OK) != 0 || statvfs(folder, &info) != 0)
    out.push_back({"temporary folder", Verdict::error,
                   fmt::format("{} may not be written to; the launcher keeps its files there", folder),
                   "set TMPDIR to a folder of your own, on a local disk"});
  else {
    const std::int64_t free_bytes = static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
    const bool enough = free_bytes >= (std::int64_t{64} << 20);
    out.push_back({"temporary folder", enough ? Verdict::ok : Verdict::warning,
                   fmt::format("{} free in {}", mebibytes(free_bytes), folder),
                   enough ? "" : "make room, or set TMPDIR"});
  }
}

void look_at_load(Findings& out) {
  const control::LoadSources sources = control::test_load_sources();
  const bool is_best = sources.share == control::LoadSource::schedstat;
  out.push_back({"load", is_best ? Verdict::ok : Verdict::note, "share of a processor: " + sources.text,
                 is_best ? "" : "sysctl kernel.sched_schedstats=1, or a /proc that shows it"});
}

/// Processes beside the grids of running jobs, which use memory and slots.
void look_at_waiting(Findings& out) {
  for (const std::string& job : running_jobs())
    if (const std::string waiting = waiting_text(status_of(job)); !waiting.empty())
      out.push_back({"jobs", Verdict::ok, fmt::format("job {} has {}", job, waiting), ""});
}

void look_at_variables(Findings& out) {
  const auto unknown = control::unknown_variables(control::whole_environment());
  const auto trouble = control::trouble_with(control::whole_environment());
  for (const std::string& what : trouble)
    out.push_back({"environment", Verdict::error, what, "dyngrid env lists them"});
  for (const control::UnknownVariable& u : unknown)
    out.push_back({"environment", Verdict::warning, u.name + " is none of dyngrid's variables and has no effect",
                   u.closest.empty() ? "dyngrid env lists them" : "is it " + u.closest + "?"});
  if (unknown.empty() && trouble.empty())
    out.push_back({"environment", Verdict::ok, "no unknown DYNGRID_* variable", ""});
}

void grow_and_shrink(const DoctorOptions& o, const Site& site, Findings& out) {
  const std::string probe = find_beside({"dyngrid-probe", "../" DYNGRID_LIBEXECDIR "/dyngrid/dyngrid-probe"});
  if (probe.empty()) {
    out.push_back({"grow and shrink", Verdict::error, "there is no dyngrid-probe beside this command",
                   "install dyngrid as a whole"});
    return;
  }
  RunRequest request;
  request.processes = 2;
  request.spare = site.can_spawn ? 0 : 1; // the third process of the growth is then started already
  request.program = {probe};
  // the user's own grids and changes are not those of the probe; the places of sockets and of the history are
  Site clean = site;
  std::vector<Setting> cleared;
  for (const control::Variable& v : control::variables())
    if (std::string(v.name) != "DYNGRID_RUNTIME_DIR" && std::string(v.name) != "DYNGRID_HISTORY" &&
        clean.environment.erase(v.name) > 0)
      cleared.push_back({v.name, "", "not of the user's"});
  Launch launch = plan_launch(request, clean);
  launch.environment.insert(launch.environment.end(), cleared.begin(), cleared.end());
  if (o.verbose) fmt::print(stderr, "dyngrid doctor: {}\n", shell_line(launch));
  const double started = base::monotonic_s();
  const base::Outcome result = run_for(launch, o.limit_s);
  const double seconds = base::monotonic_s() - started;
  if (o.verbose) fmt::print(stderr, "{}", result.output);
  for (Finding& f : judge_probe({result.output, result.status, result.timed_out, seconds, o.limit_s}))
    out.push_back(std::move(f));
}

void run(const DoctorOptions& o) {
  if (o.dgemm > 0) return print_dgemm(o.dgemm);
  Findings findings;
  Site site;
  bool can_run = false;
  findings.push_back(
      {"dyngrid", Verdict::ok, fmt::format("{}, for {} and {}", DYNGRID_VERSION, DYNGRID_MPI, DYNGRID_SCALAPACK), ""});
  if (!o.program.empty())
    for (Finding& f : judge_program(look_at_program(o.program))) findings.push_back(std::move(f));
  look_at_library(findings);
  look_at_launcher(o, findings, site, can_run);
  look_at_slots(site, findings);
  look_at_shared_memory(site, findings);
  look_at_processor(findings);
  look_at_kernel_log(findings);
  look_at_checkpoints_and_joining(site, findings);
  look_at_settings(site, findings);
  look_at_network(site, findings);
  if (can_run && !o.no_run) look_at_transport(site, findings);
  look_at_load(findings);
  look_at_waiting(findings);
  look_at_variables(findings);
  if (can_run && !o.no_run) grow_and_shrink(o, site, findings);

  if (show(findings, o.json) == Verdict::error) throw Failure("something here keeps grids from growing; see above", 1);
}

} // namespace

void add_doctor(CommandLine& root) {
  CommandLine& app = root.add_command("doctor", "Finds obstacles to growth on this machine, with remedies");
  auto o = std::make_shared<DoctorOptions>();
  app.add_option("--mpirun", o->mpirun, "the launcher").type_name("PATH").show_default();
  app.add_option("--limit", o->limit_s, "seconds after which the growth that is tried is ended; it takes 1 to 5")
      .type_name("S")
      .check(base::positive_number())
      .show_default();
  app.add_option("--dgemm", o->dgemm).hidden(); // a child that measures
  app.add_option("program", o->program,
                 "a program whose file is looked at: in which order are its libraries, and whose "
                 "p?gemr2d does it call?")
      .type_name("PROGRAM");
  app.add_flag("--no-run", o->no_run, "start no processes");
  app.add_flag("--verbose", o->verbose, "print the command that is run, and what it prints");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer("Each line is one of: ok; note, which dyngrid deals with itself; warning; error. Status 1 when there is "
             "an error.");
  app.action([o] { run(*o); });
}

} // namespace command
