// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace advise {

/// Steps after which a resize of t_resize seconds has paid for itself: ceil(t_resize / (t_old - t_new)), with
/// t_old and t_new seconds per step before and after. -1 for never: t_old <= t_new, or more steps than 2^53.
/// 0 when the resize took no time and the steps got shorter. Source: Chinnusamy 2004, section 5.3.1; where
/// the step got longer it prints -ceil(|x|), we say never.
/// @throws Error{bad_argument}  negative or not finite
std::int64_t payoff_point(double t_resize, double t_old, double t_new);

/// Steps of the new grid that the resize took: ceil(t_resize / t_new); -1 when that is more than 2^53 (t_new
/// = 0). Source: Chinnusamy 2004, section 5.3.2.
/// @throws Error{bad_argument}  negative or not finite
std::int64_t resize_cost(double t_resize, double t_new);

} // namespace advise
