// SPDX-License-Identifier: BSD-3-Clause
// The routines of ScaLAPACK that this library hides.
#include <string>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/stock_symbol.hpp"
#include "gemr2d/gemr2d.hpp"
#include "gemr2d/given.hpp"
#include "redist/closed_contexts.hpp"
#include "redist/descriptor.hpp"

namespace redist::detail {

bool wants_stock() {
  static const bool stock = base::environment("DYNGRID_EXCHANGE", "gemr2d").value_or("") == "stock";
  return stock;
}

void refuse_listed(const char* name, const int* desc_a, const int* desc_b) {
  refuse_closed_contexts(name, {desc_a[ctxt_at], desc_b[ctxt_at]});
  for (const int* desc : {desc_a, desc_b})
    if (desc[ctxt_at] >= 0 && desc[dtype_at] == Descriptor::heterogeneous)
      stop(fmt::format("{0}: DYNGRID_EXCHANGE has gemr2d=stock, but ScaLAPACK's routine takes no descriptor of DTYPE_ "
                       "601; leave it out, or "
                       " call dyngrid_{0}",
                       name),
           1);
}

void* stock_symbol(const char* name) {
  void* const symbol = base::stock_symbol(name);
  if (symbol == nullptr)
    stop(std::string(name) +
             ": DYNGRID_EXCHANGE has gemr2d=stock, but no ScaLAPACK library that has this routine is loaded",
         1);
  return symbol;
}
} // namespace redist::detail
