// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/file_descriptor.hpp"
#include "base/grid_shape.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace apps {
namespace {

/// mpirun would start a copy of this program for each of its processes, and each copy would start mpirun.
void refuse_mpirun() {
  const char* rank = nullptr;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (rank == nullptr) rank = std::getenv(name);
  if (rank == nullptr) return;
  if (rank != std::string("0")) std::_Exit(0); // only one copy prints it
  throw std::runtime_error("this benchmark starts its own processes: run it without mpirun (--help has its options)");
}

} // namespace

Launcher::Launcher(std::string mpirun, int limit_s)
    : mpirun_(std::move(mpirun)),
      folder_((std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "apps").string()),
      limit_s_(limit_s) {
  refuse_mpirun();
  // as the scripts set them: one thread for each process, and waiting processes release their cores
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  setenv("OMP_NUM_THREADS", "1", 0);
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

bool Launcher::preload(const std::string& library) {
  const std::filesystem::path path = std::filesystem::path(folder_).parent_path() / "lib" / "dyngrid" / library;
  if (!std::filesystem::exists(path) || path.string().find_first_of(" :") != std::string::npos) return false;
  preloaded_ += (preloaded_.empty() ? "" : ":") + path.string();
  return true;
}

void Launcher::set(const std::string& name, const std::string& value) {
  variables_ += fmt::format("{}={} ", name, base::shell_quoted(value));
}

std::string Launcher::output_of(const std::string& program, int processes,
                                const std::vector<std::string>& arguments) const {
  // env(1), since each mpirun has its own option for a variable of the processes alone; a preload must not affect
  // mpirun itself
  std::string command = fmt::format("{} -np {} ", mpirun_, processes);
  if (!preloaded_.empty()) command += "env " + base::shell_quoted("LD_PRELOAD=" + preloaded_) + " ";
  command += base::shell_quoted(folder_ + "/" + program);
  for (const std::string& argument : arguments) command += " " + base::shell_quoted(argument);
  const base::Outcome run = base::run({{"sh", "-c", "exec env " + variables_ + command}}, limit_s_);
  if (run.status == 0 && !run.timed_out) return run.output;
  const std::string tail = run.output.size() > 2000 ? run.output.substr(run.output.size() - 2000) : run.output;
  throw std::runtime_error(fmt::format("{} (status {}): {}\n{}", run.timed_out ? "a run took too long" : "a run failed",
                                       run.status, command, tail));
}

RunRecord Launcher::run(const std::string& program, int processes, const std::vector<std::string>& arguments) const {
  const base::FileDescriptor file = base::memory_file("dyngrid-bench"); // no file remains, however this ends
  const std::string csv = fmt::format("/proc/{}/fd/{}", getpid(), file.get());
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--csv", csv});
  output_of(program, processes, all);
  return record_in(csv, program);
}

RunRecord record_in(const std::string& csv_path, const std::string& program) {
  const auto lines = read_csv(csv_path);
  if (lines.empty()) throw std::runtime_error(program + " left no figures");
  const auto column = [&](const char* name) {
    const auto at = std::find(lines[0].begin(), lines[0].end(), name);
    if (at == lines[0].end()) throw std::runtime_error(fmt::format("{}: no column '{}' in its --csv", program, name));
    return static_cast<std::size_t>(at - lines[0].begin());
  };
  RunRecord record;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const auto& fields = lines[k];
    const auto number = [&](const char* name) { return std::atof(fields.at(column(name)).c_str()); };
    if (fields.at(column("what")) == "step") {
      record.steps.push_back({static_cast<int>(number("step")), fields.at(column("to")), number("seconds")});
      record.is_right = record.is_right && fields.at(column("right")) != "0";
    } else {
      record.changes.push_back({static_cast<int>(number("step")), fields.at(column("from")), fields.at(column("to")),
                                number("seconds"), number("merge_s"), number("plan_s"), number("exchange_s"),
                                static_cast<std::int64_t>(number("moved_bytes"))});
    }
  }
  return record;
}

std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(base::split(line, ','));
  return lines;
}

int processes_of(const std::string& grid) {
  return base::parse_grid_shape(grid, "a grid").size();
}

} // namespace apps
