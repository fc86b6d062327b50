// SPDX-License-Identifier: BSD-3-Clause
#include "processor.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

namespace bench {

Processor::Processor() : folder_(std::filesystem::temp_directory_path() / fmt::format("bench_kernels.{}", getpid())) {
  std::filesystem::create_directories(folder_);
  set(0);
  setenv("SLOWLAB_FILE", (folder_ / "speed").c_str(), 1);
}

Processor::~Processor() {
  std::filesystem::remove_all(folder_);
}

bool Processor::is_there(const char* option, int rank) {
  if (dlsym(RTLD_DEFAULT, "dyngrid_slow_work") != nullptr) return true;
  if (rank == 0)
    std::fprintf(stderr,
                 "bench_kernels: %s wants processors of chosen speed: preload libdyngrid-slow.so "
                 "(mpirun -x LD_PRELOAD=.../lib/dyngrid/libdyngrid-slow.so)\n",
                 option);
  return false;
}

void Processor::set(double gflops) const {
  begin_to_set(gflops);
  usleep(100000); // it is looked at every 50 ms
}

void Processor::begin_to_set(double gflops) const {
  const std::filesystem::path made = folder_ / "speed.new";
  std::ofstream(made) << fmt::format("{}\n", gflops);
  std::filesystem::rename(made, folder_ / "speed");
}

} // namespace bench
