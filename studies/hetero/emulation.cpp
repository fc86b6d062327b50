// SPDX-License-Identifier: BSD-3-Clause
#include "emulation.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "base/process.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr double limit_s = 300, look_every_s = 0.05;

void write_script(const fs::path& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text;
  fs::permissions(path, fs::perms::owner_all);
}

fs::path folder_of_programs() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "apps";
}
fs::path slow_processor() {
  return folder_of_programs().parent_path() / "lib" / "dyngrid" / "libdyngrid-slow.so";
}

} // namespace

std::string Emulation::what_is_missing() {
  return fs::exists(slow_processor()) ? "" : "there is no libdyngrid-slow.so";
}

Emulation::Emulation(std::string name, const std::vector<double>& first, const std::vector<Processor>& free_ones,
                     double gflops)
    : name_(std::move(name)), folder_(fs::temp_directory_path() / fmt::format("dghl-{}", getpid())),
      apps_(folder_of_programs()) {
  fs::create_directories(folder_);
  write(first, free_ones, gflops);
}

Emulation::~Emulation() {
  if (pid_ > 0) base::end_group(pid_, 5);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

/// Speeds of processors: of mpirun's processes by rank, of those that come by the name of their host.
void Emulation::write(const std::vector<double>& first, const std::vector<Processor>& free_ones, double gflops) const {
  std::ofstream hosts(path("hosts"));
  for (std::size_t k = 0; k < first.size(); ++k) hosts << fmt::format("rank{} {}\n", k, gflops * first[k]);
  for (const Processor& processor : free_ones)
    hosts << fmt::format("{} {}\n", processor.host, gflops * processor.speed);
  const auto speed_of = [&](const char* name) {
    return fmt::format("SLOWLAB_SPEED=$(sed -n \"s/^{} //p\" {})\nexport SLOWLAB_SPEED\n", name, path("hosts"));
  };
  write_script(path("agent"), "host=$1\nshift\n" + speed_of("$host") + "exec sh -c \"$*\"\n");
  write_script(path("first"),
               speed_of("rank$OMPI_COMM_WORLD_RANK") +
                   fmt::format("export LD_PRELOAD={}${{LD_PRELOAD:+:$LD_PRELOAD}}\n", slow_processor().string()) +
                   "exec \"$@\"\n");
}

void Emulation::start(std::vector<std::string> of_run, const std::string& program,
                      const std::vector<std::string>& arguments) {
  program_ = program;
  const base::FileDescriptor out(::open(path("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  base::Command command;
  command.words = {(apps_ / "dyngrid").string(), "run"};
  of_run.insert(of_run.end(), {"--", path("first"), (apps_ / program).string(), "--check", "--csv", path("steps.csv")});
  command.words.insert(command.words.end(), of_run.begin(), of_run.end());
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.environment = base::environment_with(
      {"DYNGRID_RUNTIME_DIR=" + path("run"), "DYNGRID_JOB=live", "DYNGRID_HISTORY=off",
       fmt::format("DYNGRID_START=timeout={:g},agent={}", patience_s, path("agent")), "DYNGRID_DECIDE=undo=off",
       "DYNGRID_WAIT=on", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"});
  command.out = command.err = out.get();
  command.own_group = true;
  command.ends_with_parent = true; // also when this one is ended
  pid_ = base::start(command);
}

void Emulation::fail(const std::string& what) {
  const std::string said = base::content_of(path("out"));
  throw std::runtime_error(
      fmt::format("{}: {}\n{}", name_, what, said.size() > 2000 ? said.substr(said.size() - 2000) : said));
}

void Emulation::until(const char* what, const std::function<bool()>& is_done) {
  const base::Deadline end(patience_s);
  while (!is_done()) {
    if (base::wait_for(pid_, 0)) {
      pid_ = -1;
      fail(fmt::format("it ended before {}", what));
    }
    if (end.is_over()) fail(fmt::format("waited {:g} s until {}", patience_s, what));
    std::this_thread::sleep_for(std::chrono::duration<double>(look_every_s));
  }
}

apps::RunRecord Emulation::end() {
  const std::optional<int> status = base::wait_for(pid_, limit_s);
  if (!status) fail("it does not end");
  pid_ = -1;
  if (*status != 0) fail(fmt::format("it ended with status {}", *status));
  apps::RunRecord record = apps::record_in(path("steps.csv"), program_);
  if (!record.is_right) fail("a step was wrong");
  return record;
}

} // namespace bench
