// SPDX-License-Identifier: BSD-3-Clause
// Speeds of [Chinnusamy2004], chapter 6, which prints them rounded: these round to what is printed and give the tables.
#pragma once

#include <vector>

namespace apps {

/// Tables 6.2 to 6.7: the first grid, and the free processors of 6.7.
inline const std::vector<double> fitted_first{313.215, 278.643, 33.897, 24.777};
inline const std::vector<double> fitted_free{298.35, 95.44,  35.24,  10.75,  29.99,  28.10,  39.38,  217.61,
                                             39.05,  90.60,  290.40, 278.57, 248.96, 314.99, 210.34, 63.61,
                                             209.16, 284.27, 130.93, 83.63,  175.79, 267.49, 66.41,  231.86,
                                             113.73, 138.20, 156.85, 250.58, 250.00, 174.35};
/// Tables 6.18 and 6.19: a grid of 4x3.
inline const std::vector<double> fitted_twelve{9.936, 9.721, 8.849, 8.651, 8.549, 7.049,
                                               6.651, 3.922, 2.63,  2.045, 1.849, 1.749};

} // namespace apps
