// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace base {

/// The routine of that name that this library hides: the next one in the order of the linker, or ScaLAPACK's own where
/// this library comes after it or was loaded by itself. Null when there is none.
void* stock_symbol(const char* name);

/// Whether any routine of ScaLAPACK that this library replaces has been called.
inline std::atomic<bool> was_replaced_called{false};

} // namespace base
