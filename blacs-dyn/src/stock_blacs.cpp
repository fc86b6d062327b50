// SPDX-License-Identifier: BSD-3-Clause
#include "stock_blacs.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/status.hpp"

namespace blacs_dyn {

void* next_symbol(const char* name) {
  if (void* address = dlsym(RTLD_NEXT, name)) return address;
  // linked in the wrong order, or loaded with RTLD_LOCAL: our own dependency has it all the same
  for (const char* library : {"libscalapack-openmpi.so.2.2", "libscalapack-openmpi.so", "libscalapack-mpich.so.2.2",
                              "libscalapack-mpich.so", "libscalapack.so"})
    if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
      if (void* address = dlsym(handle, name)) return address;
  throw base::Error(base::Status::unsupported,
                    fmt::format("blacs-dyn: this program has no {}; link -ldyngrid before -lscalapack-openmpi", name));
}

namespace stock {
namespace {
template <class Function> Function* find(const char* name) {
  return reinterpret_cast<Function*>(next_symbol(name));
}
} // namespace

void pinfo(int* iam, int* nprocs) {
  static auto* const call = find<void(int*, int*)>("Cblacs_pinfo");
  call(iam, nprocs);
}
void setup(int* iam, int* nprocs) {
  static auto* const call = find<void(int*, int*)>("Cblacs_setup");
  call(iam, nprocs);
}
void get(int context, int what, int* value) {
  static auto* const call = find<void(int, int, int*)>("Cblacs_get");
  call(context, what, value);
}
void get_fortran(int context, int what, int* value) {
  static auto* const call = find<void(const int*, const int*, int*)>("blacs_get_");
  call(&context, &what, value);
}
void exit(int not_done) {
  static auto* const call = find<void(int)>("Cblacs_exit");
  call(not_done);
}
void gridmap(int* context, int* map, int ld, int nprow, int npcol) {
  static auto* const call = find<void(int*, int*, int, int, int)>("Cblacs_gridmap");
  call(context, map, ld, nprow, npcol);
}
void gridmap_fortran(int* context, int* map, const int* ld, const int* nprow, const int* npcol) {
  static auto* const call = find<void(int*, int*, const int*, const int*, const int*)>("blacs_gridmap_");
  call(context, map, ld, nprow, npcol);
}
void gridexit(int context) {
  static auto* const call = find<void(int)>("Cblacs_gridexit");
  call(context);
}
} // namespace stock
} // namespace blacs_dyn
