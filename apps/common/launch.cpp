// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace apps {

namespace {

std::string for_shell(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A file in memory, for programs on this host; it goes with this process, however that ends.
class Scratch {
public:
  Scratch() : file_(memfd_create("dyngrid-bench", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("cannot make a file in memory");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { close(file_); }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_); }

private:
  int file_;
};

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace

Launcher::Launcher(std::string mpirun, int limit_s)
    : mpirun_(std::move(mpirun)), folder_(std::filesystem::read_symlink("/proc/self/exe").parent_path().string()),
      limit_s_(limit_s) {
  // as the scripts set them: one thread for each process, and waiting processes give way
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  setenv("OMP_NUM_THREADS", "1", 0);
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

bool Launcher::preload(const std::string& library) {
  const std::filesystem::path path = std::filesystem::path(folder_).parent_path() / "lib" / "dyngrid" / library;
  if (!std::filesystem::exists(path)) return false;
  preloaded_ += (preloaded_.empty() ? "" : ":") + path.string();
  return true;
}

void Launcher::set(const std::string& name, const std::string& value) {
  variables_ += fmt::format("{}={} ", name, for_shell(value));
}

std::string Launcher::output_of(const std::string& program, int processes,
                                const std::vector<std::string>& arguments) const {
  const Scratch output;
  // env(1), since each mpirun has an option of its own for a variable of the processes alone; what is preloaded is
  // nothing for mpirun itself
  std::string command = fmt::format("{} -np {} ", mpirun_, processes);
  if (!preloaded_.empty()) command += "env " + for_shell("LD_PRELOAD=" + preloaded_) + " ";
  command += for_shell(folder_ + "/" + program);
  for (const std::string& argument : arguments) command += " " + for_shell(argument);
  const int status = std::system(fmt::format("{}timeout --kill-after=5 {} {} >{} 2>&1 </dev/null", variables_, limit_s_,
                                             command, for_shell(output.path()))
                                     .c_str());
  const std::string text = content_of(output.path());
  if (status == 0) return text;
  const std::string tail = text.size() > 2000 ? text.substr(text.size() - 2000) : text;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  throw std::runtime_error(
      fmt::format("{} (status {}): {}\n{}", code == 124 ? "a run took too long" : "a run failed", code, command, tail));
}

RunRecord Launcher::run(const std::string& program, int processes, const std::vector<std::string>& arguments) const {
  const Scratch csv;
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--csv", csv.path()});
  output_of(program, processes, all);
  const auto lines = read_csv(csv.path());
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
                                number("seconds"), number("spawn_s"), number("merge_s"), number("plan_s"),
                                number("exchange_s"), static_cast<std::int64_t>(number("moved_bytes")),
                                static_cast<std::int64_t>(number("kept_bytes"))});
    }
  }
  return record;
}

std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields;
    std::istringstream all(line);
    for (std::string field; std::getline(all, field, ',');) fields.push_back(field);
    if (!line.empty() && line.back() == ',') fields.emplace_back();
    lines.push_back(std::move(fields));
  }
  return lines;
}

int processes_of(const std::string& grid) {
  int nprow = 0, npcol = 0, used = 0;
  if (std::sscanf(grid.c_str(), "%dx%d%n", &nprow, &npcol, &used) != 2 || used != static_cast<int>(grid.size()) ||
      nprow < 1 || npcol < 1)
    throw std::runtime_error(fmt::format("'{}' is not a grid, wanted e.g. 2x3", grid));
  return nprow * npcol;
}

} // namespace apps
