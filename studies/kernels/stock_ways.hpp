// SPDX-License-Identifier: BSD-3-Clause
// What can be done about processors of unequal speed without kernels for unequal shares: more processes, or threads,
// that all processes are about equally fast. Pure.
#pragma once
#include <vector>

namespace bench {

/// HeteroScaLAPACK's way [ReddyLastovetskyAlonso2009]: several processes share a fast processor. At most `most` in all;
/// of these numbers the one with which the slowest process times their number is largest, the fewest where two are.
/// @return the speed of each process, those of a processor together
std::vector<double> speeds_of_more_processes(const std::vector<double>& speeds, int most);

/// As many processes as processors, placed where `dyngrid plan hosts --procs` puts them, with BLAS threads; the fastest
/// processor has `cores`, the others fewer in proportion. @return the speed of each process
std::vector<double> speeds_with_threads(const std::vector<double>& speeds, int cores = 16);

} // namespace bench
