// SPDX-License-Identifier: BSD-3-Clause
// The drop-in p?gemr2d and p?trmr2d behind their twenty names.
#pragma once

namespace redist::detail {

/// The part of the sub-matrix that p?trmr2d copies.
struct Trapezoid {
  bool whole = true; ///< p?gemr2d
  bool upper = false;
  bool unit = false; ///< without the diagonal
};

/// (A, IA, JA, DESCA) of a call: the corner counts from 1.
struct SubMatrix {
  void* data;
  int i, j;
  const int* desc;
};

struct CopyArguments {
  char type; ///< of the elements: s d c z i
  Trapezoid part;
  SubMatrix a, b;
  int m, n;
};

/// Copies sub(A) to sub(B). Collective over `ctxt`. Ends the process with a message on stderr when an argument is
/// wrong, as the stock routine does.
void copy_matrix(const CopyArguments& given, int ctxt);

/// The same over all processes that BLACS knows, for the names that end in o.
void copy_matrix_everybody(const CopyArguments& given);

/// True when DYNGRID_EXCHANGE=gemr2d=stock.
bool wants_stock();
/// Ends the process when one of the descriptors is of DTYPE_ 601, which the stock routines do not know.
void refuse_listed(const char* name, const int* desc_a, const int* desc_b);
/// The routine of that name that this library hides. Ends the process when there is none.
void* stock_symbol(const char* name);

} // namespace redist::detail
