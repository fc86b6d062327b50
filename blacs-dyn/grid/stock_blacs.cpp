// SPDX-License-Identifier: BSD-3-Clause
#include "grid/stock_blacs.hpp"

#include <cstdio>
#include <utility>

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/elf.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {

void* next_symbol(const char* name) {
  if (void* address = dlsym(RTLD_NEXT, name)) return address;
  // linked in the wrong order, or loaded with RTLD_LOCAL: our own dependency has it in both cases
  for (const char* library : {"libscalapack-openmpi.so.2.2", "libscalapack-openmpi.so", "libscalapack-mpich.so.2.2",
                              "libscalapack-mpich.so", "libscalapack.so"})
    if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
      if (void* address = dlsym(handle, name)) return address;
  throw base::Error(base::Status::unsupported,
                    "blacs-dyn: this program has no {}; link -ldyngrid before -lscalapack-openmpi", name);
}

int grids_seen = 0;

namespace {

std::string& noted_trouble() {
  static auto* const text = new std::string;
  return *text;
}

constexpr const char* copier = "pdgemr2d_";
constexpr const char* gridinfo = "blacs_gridinfo_";

std::string own_file() {
  static const char anchor = 0;
  return base::file_of(&anchor);
}

bool is_in_program(const char* name) {
  return !base::defined_in("/proc/self/exe", {name}).empty();
}

/// The file whose routine the program calls: its own one need not be visible to others.
std::string file_called(const char* name) {
  return is_in_program(name) ? own_program() : base::file_that_answers(name);
}

} // namespace

std::string trouble_with_blacs(int context, Shape grid) {
  using Ask = void (*)(const int*, int*, int*, int*, int*);
  const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, gridinfo));
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  if (ask) ask(&context, &nprow, &npcol, &myrow, &mycol);
  const bool is_known = !ask || (nprow == grid.nprow && npcol == grid.npcol);
  if (is_known && (!is_in_program(gridinfo) || base::file_that_answers(gridinfo) == own_program())) return {};
  return fmt::format("{} has a BLACS of its own, which does not know the grids that are made with the one of {}: link "
                     "ScaLAPACK and the BLACS as shared libraries, after -ldyngrid",
                     file_called(gridinfo), base::file_of(next_symbol("Cblacs_gridmap")));
}

namespace {
std::string copier_in_words(const std::string& file) {
  if (file == own_file()) return fmt::format("p?gemr2d is dyngrid's ({})", file);
  if (file.empty()) return "p?gemr2d is nowhere in this program";
  return fmt::format("p?gemr2d is that of {}, not dyngrid's: {} (`dyngrid doctor PROGRAM` shows the order)", file,
                     file == own_program() ? "the program has it in itself; link ScaLAPACK as a shared library"
                                           : "link -ldyngrid before ScaLAPACK");
}

} // namespace

void note_first_grid(int seen_before) {
  if (grids_seen != seen_before) return;
  noted_trouble() = fmt::format(
      "Cblacs_gridinit of {} does not call dyngrid's blacs_gridmap, so its tables have no room for new processes: link "
      "-ldyngrid before ScaLAPACK, and take a ScaLAPACK that is built without -Bsymbolic",
      base::file_that_answers("Cblacs_gridinit"));
}

const std::string& growth_trouble() {
  return noted_trouble();
}

/// A value that is neither on nor off is reported where the settings are read.
bool is_verbose() {
  const std::string value = base::environment("DYNGRID_VERBOSE") ? base::environment("DYNGRID_VERBOSE") : "";
  return value == "on" || value == "1";
}

void say_whose_copier() {
  static bool is_said = false;
  if (std::exchange(is_said, true) || !is_verbose()) return;
  std::fprintf(stderr, "dyngrid: %s\n", copier_in_words(file_called(copier)).c_str());
}

std::string why_nothing_is_called() {
  if (is_in_program(copier) || is_in_program(gridinfo))
    return fmt::format("{} has ScaLAPACK or the BLACS in itself; link them as shared libraries", own_program());
  if (const std::string file = file_called(copier); file != own_file()) return copier_in_words(file);
  return "the program calls none of them, or takes them from ScaLAPACK's own library (dlsym, ctypes)";
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
