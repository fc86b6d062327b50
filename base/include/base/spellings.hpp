// SPDX-License-Identifier: BSD-3-Clause
// How Fortran compilers spell an external routine. Ours and Debian's write `name_`; others write `name` (IBM,
// -fno-underscoring), `NAME` (Cray, Intel on Windows) or `name__` (f2c, -fsecond-underscore, for names that hold an
// underscore).
#pragma once

// The other three spellings of a routine `lower_` that this file defines, as aliases: the same address, whichever name
// is called.
#define DYNGRID_SPELLINGS(lower, UPPER)                                                                                \
  extern "C" {                                                                                                         \
  extern decltype(lower##_) lower __attribute__((alias(#lower "_"), visibility("default")));                           \
  extern decltype(lower##_) lower##__ __attribute__((alias(#lower "_"), visibility("default")));                       \
  extern decltype(lower##_) UPPER __attribute__((alias(#lower "_"), visibility("default")));                           \
  }

// The same for a routine that replaces one of another library, and for its twin, which begins with dyngrid_.
#define DYNGRID_SPELLINGS_WITH_TWIN(lower, UPPER)                                                                      \
  DYNGRID_SPELLINGS(lower, UPPER)                                                                                      \
  DYNGRID_SPELLINGS(dyngrid_##lower, DYNGRID_##UPPER)
