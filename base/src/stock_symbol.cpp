// SPDX-License-Identifier: BSD-3-Clause
#include "base/stock_symbol.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace base {

void* stock_symbol(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  struct Search {
    const char* name;
    void* symbol;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto* sought = static_cast<Search*>(data);
        if (object->dlpi_name == nullptr || std::strstr(object->dlpi_name, "libscalapack") == nullptr) return 0;
        void* library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        sought->symbol = dlsym(library, sought->name);
        dlclose(library);
        return sought->symbol != nullptr ? 1 : 0;
      },
      &search);
  return search.symbol;
}

} // namespace base
