// SPDX-License-Identifier: BSD-3-Clause
// Windows and transposition: what is settled before a plan looks at its two axes.
#pragma once
#include "redist/plan.hpp"

namespace redist::detail {

/// The same matrix transposed: rows are columns, of the layout and of its grid.
Layout turned(const Layout& layout);
Window turned(const Window& window);

/// Fills in the sizes that the windows of `options` leave open.
/// @throws Error{bad_argument, shape_mismatch} when a window leaves its matrix, or the two differ in size
void complete_windows(const Layout& from, const Layout& to, PlanOptions& options);

} // namespace redist::detail
