// SPDX-License-Identifier: BSD-3-Clause
// The BLACS routines and all names of copies between grids: ScaLAPACK's in C and Fortran, the forms without context,
// our twins.
#pragma once
#include "base/mpi/blacs.hpp"

#define DECLARE(x)                                                                                                     \
  extern "C" void Cp##x##gemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);                          \
  extern "C" void dyngrid_Cp##x##gemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);                  \
  extern "C" void Cp##x##gemr2do(int, int, void*, int, int, int*, void*, int, int, int*);                              \
  extern "C" void p##x##gemr2d_(int*, int*, void*, int*, int*, int*, void*, int*, int*, int*, int*);                   \
  extern "C" void dyngrid_p##x##gemr2d_(int*, int*, void*, int*, int*, int*, void*, int*, int*, int*, int*);           \
  extern "C" void p##x##gemr2do_(int*, int*, void*, int*, int*, int*, void*, int*, int*, int*);                        \
  extern "C" void Cp##x##trmr2d(char*, char*, int, int, void*, int, int, int*, void*, int, int, int*, int);            \
  extern "C" void dyngrid_Cp##x##trmr2d(char*, char*, int, int, void*, int, int, int*, void*, int, int, int*, int);    \
  extern "C" void Cp##x##trmr2do(char*, char*, int, int, void*, int, int, int*, void*, int, int, int*);                \
  extern "C" void p##x##trmr2d_(char*, char*, int*, int*, void*, int*, int*, int*, void*, int*, int*, int*, int*);     \
  extern "C" void dyngrid_p##x##trmr2d_(char*, char*, int*, int*, void*, int*, int*, int*, void*, int*, int*, int*,    \
                                        int*);                                                                         \
  extern "C" void p##x##trmr2do_(char*, char*, int*, int*, void*, int*, int*, int*, void*, int*, int*, int*);
DECLARE(s)
DECLARE(d)
DECLARE(c)
DECLARE(z)
DECLARE(i)
#undef DECLARE
