// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__SANITIZE_ADDRESS__)
/// Tests take seven times as long and look at memory, which some of the cases show as well as all of them. Freed memory
/// is kept for a while, so what stays resident says nothing.
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif
