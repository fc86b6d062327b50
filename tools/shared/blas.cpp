// SPDX-License-Identifier: BSD-3-Clause
#include "blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/process.hpp"

namespace command {
namespace {

/// The words behind the first "name : ..." of /proc/cpuinfo.
std::set<std::string> words_of(const std::string& cpuinfo, const std::string& name) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1) != name) continue;
    std::istringstream words(line.substr(colon + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

enum Level { sse, avx, avx2, avx512 };

/// The level that the kernels of a core need. One that is not listed is newer than this list, or not x86: not changed.
int level_of(const std::string& core) {
  static const std::set<std::string> of_sse = {"Katmai",  "Coppermine",   "Northwood", "Prescott", "Banias", "Core2",
                                               "Penryn",  "Dunnington",   "Nehalem",   "Atom",     "Nano",   "Athlon",
                                               "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat"};
  static const std::set<std::string> of_avx = {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller"};
  if (of_sse.count(core) > 0) return sse;
  if (of_avx.count(core) > 0) return avx;
  if (core == "Haswell" || core == "Excavator") return avx2;
  return avx512; // Zen too: OpenBLAS has recognized the processor
}

} // namespace

CoreAdvice better_core(const std::string& cpuinfo, const Blas& blas) {
  if (blas.config.find("DYNAMIC_ARCH") == std::string::npos) return {}; // it has the kernels of one core only
  const std::set<std::string> part = words_of(cpuinfo, "CPU part");
  if (blas.core == "armv8" || blas.core == "ARMV8") { // Neoverse N1, V1, N2, V2: all support the instructions of the
                                                      // first
    for (const char* neoverse : {"0xd0c", "0xd40", "0xd49", "0xd4f"})
      if (part.count(neoverse) > 0) return {"NEOVERSEN1", false};
    return {};
  }
  const std::set<std::string> flags = words_of(cpuinfo, "flags");
  const auto has_all = [&](std::initializer_list<const char*> wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const char* f) { return flags.count(f) > 0; });
  };
  const int level = level_of(blas.core);
  // Cooperlake and later have SkylakeX' kernels for s, d, c and z
  if (level < avx512 && has_all({"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}))
    return {"SkylakeX", true};
  if (level < avx2 && has_all({"avx2", "fma"}))
    return {words_of(cpuinfo, "vendor_id").count("AuthenticAMD") > 0 ? "Zen" : "Haswell", true};
  if (level < avx && has_all({"avx"})) return {"Sandybridge", true};
  return {};
}

Finding judge_blas(const Blas& blas, const CoreAdvice& advice, const DgemmRun& as_it_is, const DgemmRun& as_advised) {
  constexpr const char* check = "BLAS";
  if (blas.core.empty()) return {check, Verdict::ok, "not OpenBLAS; its speed is not looked at", ""};
  const std::string name = fmt::format("OpenBLAS {}", to_string(version_in(blas.config)));
  const std::string speed = as_it_is.core.empty() ? "" : fmt::format(", {:.1f} GFLOP/s a core", as_it_is.gflops_per_s);
  const std::string good = fmt::format("{} with the kernels of {}{}", name, blas.core, speed);
  if (advice.core.empty() || as_advised.core.empty()) return {check, Verdict::ok, good, ""};
  if (as_advised.gflops_per_s < 1.2 * as_it_is.gflops_per_s)
    return {check, Verdict::ok,
            fmt::format("{}; those of {} are no quicker ({:.1f})", good, advice.core, as_advised.gflops_per_s), ""};
  return {check, Verdict::note,
          fmt::format("{} takes this processor for {}{}; {:.1f} as {}", name, blas.core, speed, as_advised.gflops_per_s,
                      advice.core),
          advice.is_safe
              ? fmt::format("export OPENBLAS_CORETYPE={}; dyngrid run sets it where it is not set", advice.core)
              : fmt::format("export OPENBLAS_CORETYPE={}, if your results stay right", advice.core)};
}

// Looked up by name: a BLAS other than OpenBLAS has no such functions.
Blas look_at_blas() {
  const auto ask = [](const char* name) -> std::string {
    auto* get = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, name));
    const char* text = get != nullptr ? get() : nullptr;
    return text != nullptr ? text : "";
  };
  return {ask("openblas_get_config"), ask("openblas_get_corename")};
}

CoreAdvice advice_here(const Blas& blas) {
  return better_core(base::content_of("/proc/cpuinfo"), blas);
}

std::string core_to_set(const Blas& blas) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return "";
  const CoreAdvice advice = advice_here(blas);
  return advice.is_safe && run_dgemm(advice.core, 16).core == advice.core ? advice.core : "";
}

DgemmRun run_dgemm(const std::string& core, int n) {
  // OpenBLAS chooses its kernels when it is loaded, so a separate process tests it; kernels that the processor does not
  // support end that process
  std::vector<std::string> variables{"OPENBLAS_NUM_THREADS=1"};
  if (!core.empty()) variables.push_back("OPENBLAS_CORETYPE=" + core);
  const base::Outcome outcome =
      base::run({{base::own_program(), "doctor", "--dgemm", std::to_string(n)}, base::environment_with(variables)}, 10);
  if (outcome.status != 0 || outcome.timed_out) return {};
  DgemmRun run;
  std::istringstream words(outcome.output.substr(0, outcome.output.find('\n')));
  std::string word;
  if (!(words >> word >> run.core >> run.gflops_per_s) || word != "dgemm") return {};
  return run;
}

std::function<void()> dgemm_of(int n) {
  using Dgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                         const int*, const double*, const int*, const double*, double*, const int*);
  auto* dgemm = reinterpret_cast<Dgemm>(dlsym(RTLD_DEFAULT, "dgemm_"));
  if (dgemm == nullptr) return {};
  const std::vector<double> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1.0);
  return [dgemm, n, a, c = a]() mutable {
    const double one = 1, zero = 0;
    dgemm("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n);
  };
}

void print_dgemm(int n) {
  const std::function<void()> multiply = dgemm_of(n);
  const Blas blas = look_at_blas();
  if (!multiply || blas.core.empty()) return;
  double best_s = 1e9;
  for (int run = 0; run < 5; ++run) {
    const double begun = base::monotonic_s();
    multiply();
    best_s = std::min(best_s, base::monotonic_s() - begun);
  }
  fmt::print("dgemm {} {:.3f}\n", blas.core, 2e-9 * n * n * n / best_s);
}

} // namespace command
