// SPDX-License-Identifier: BSD-3-Clause
// What happens at a call under each mode of DYNGRID_CALLS.
#pragma once
#include "known.hpp"

namespace calls {

/// Any mode but direct, under which a call is not looked at. Collective over the call's context.
void carry_out(CallInHand& call, const CallRule& rule);

} // namespace calls
