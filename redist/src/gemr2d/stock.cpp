// SPDX-License-Identifier: BSD-3-Clause
// The routines of ScaLAPACK that this library hides.
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "gemr2d/gemr2d.hpp"
#include "gemr2d/given.hpp"
#include "redist/descriptor.hpp"

namespace redist::detail {

bool wants_stock() {
  static const bool stock = base::environment("DYNGRID_EXCHANGE", "gemr2d").value_or("") == "stock";
  return stock;
}

void refuse_listed(const char* name, const int* desc_a, const int* desc_b) {
  for (const int* desc : {desc_a, desc_b})
    if (desc[ctxt_at] >= 0 && desc[dtype_at] == Descriptor::heterogeneous)
      stop(fmt::format("{0}: DYNGRID_EXCHANGE has gemr2d=stock, but ScaLAPACK's routine takes no descriptor of DTYPE_ "
                       "601; leave it out, or "
                       " call dyngrid_{0}",
                       name),
           1);
}

void* stock_symbol(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  // This library comes after ScaLAPACK or was loaded on its own: look in ScaLAPACK itself.
  struct Search {
    const char* name;
    void* symbol;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        if (object->dlpi_name == nullptr || std::strstr(object->dlpi_name, "libscalapack") == nullptr) return 0;
        void* library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        wanted->symbol = dlsym(library, wanted->name);
        dlclose(library);
        return wanted->symbol != nullptr ? 1 : 0;
      },
      &search);
  if (search.symbol == nullptr)
    stop(std::string(name) +
             ": DYNGRID_EXCHANGE has gemr2d=stock, but no ScaLAPACK library that has this routine is loaded",
         1);
  return search.symbol;
}
} // namespace redist::detail
