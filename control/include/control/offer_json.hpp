// SPDX-License-Identifier: BSD-3-Clause
// Offers of processors, as they are sent. Pure.
#pragma once

#include <optional>
#include <vector>

#include "advise/offer.hpp"
#include "control/protocol.hpp"

namespace control {

/// "hosts", "tpp" and "form" of a request; empty when it names no hosts. @throws base::Error{bad_argument}
std::optional<advise::Offer> offer_of(const Request& request);
/// [{"name","slots","speed"}], as in a request.
Json to_json(const std::vector<advise::OfferedHost>& hosts);
Json to_json(const advise::Choice& choice);

} // namespace control
