// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace base {

/// Middle value; of an even count the mean of the two in the middle; not a number when there is none.
double median(std::vector<double> values);

} // namespace base
