// SPDX-License-Identifier: BSD-3-Clause
// Whether OpenBLAS knows this processor. It treats an unknown processor as an old one, and runs kernels for that: five
// times slower with Debian 12's 0.3.21 on a newer Xeon. OPENBLAS_CORETYPE overrides the choice.
#pragma once

#include <functional>
#include <string>

#include "findings.hpp"

namespace command {

/// The BLAS that programs here get, by its own report; both empty: it is not OpenBLAS.
struct Blas {
  std::string config; ///< "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64"
  std::string core;   ///< whose kernels it runs: "Prescott"
};

/// The recommended OPENBLAS_CORETYPE.
struct CoreAdvice {
  std::string core;     ///< "": OpenBLAS has chosen well, or no better one is known
  bool is_safe = false; ///< every instruction of these kernels is among the processor's flags
};
/// Pure. `cpuinfo` is the text of /proc/cpuinfo.
CoreAdvice better_core(const std::string& cpuinfo, const Blas& blas);

/// One short DGEMM, by a process of its own; core empty: it failed.
struct DgemmRun {
  std::string core;
  double gflops_per_s = 0;
};
/// The finding of `dyngrid doctor`. Pure. `as_advised` was measured with the advised core.
Finding judge_blas(const Blas& blas, const CoreAdvice& advice, const DgemmRun& as_it_is, const DgemmRun& as_advised);

// ---- looking ----

Blas look_at_blas();
/// The value of OPENBLAS_CORETYPE for processes started here; "": do not set it. A core that this OpenBLAS was not
/// built with is not advised.
std::string core_to_set(const Blas& blas);
CoreAdvice advice_here(const Blas& blas);
/// Runs print_dgemm(n) in a child of this program, with OPENBLAS_CORETYPE (empty: unchanged).
DgemmRun run_dgemm(const std::string& core, int n);
/// Multiplies n x n matrices by DGEMM at each call. Empty: this program has no BLAS.
std::function<void()> dgemm_of(int n);
/// Prints the core and the GFLOP/s of such a product by one thread.
void print_dgemm(int n);

} // namespace command
