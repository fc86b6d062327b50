// SPDX-License-Identifier: BSD-3-Clause
// Sources that the other ranks of the host read in place instead of being sent panels.
#pragma once
#include <optional>
#include <vector>

#include "exec/shared_host.hpp"
#include "exec/work.hpp"
#include "redist/transfer.hpp"

namespace redist::detail {

/// Tells the others where they can read my sources; they may look after the next agreement. True when there is anything
/// to read. Local.
bool make_offers(SharedHost& host, const std::vector<Transfer>& transfers);

/// All that the senders of my incoming streams offer, mapped here. Empty when some of it cannot be mapped. Local, after
/// the agreement.
std::optional<std::vector<LocalCopy>> find_pulls(SharedHost& host, const Work& work);

/// Takes out of the streams what is read in place, mine and the others', and puts the pulls before what I keep. Local,
/// after all ranks have found theirs.
/// @return how many ranks read my sources
int take_out_offered(const SharedHost& host, Work& work, std::vector<LocalCopy> pulls, int rank, int size);

} // namespace redist::detail
