// SPDX-License-Identifier: BSD-3-Clause
// The routines whose calls can be carried out elsewhere: what each argument is.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace blacs_dyn::calls {

/// Addresses, as Fortran passes them.
using Arguments = std::vector<void*>;

int integer(const Arguments& a, int at);
char letter(const Arguments& a, int at); ///< as a capital

enum class Use { in, out, both };

/// A matrix among the arguments: argument `at` is the array; ia, ja and the descriptor follow it.
struct Operand {
  int at;
  std::int64_t m, n; ///< of the part that is meant
  Use use;
};

/// The problem of a call.
struct Problem {
  bool is_valid = true; ///< as far as letters and sizes show
  std::vector<Operand> operands;
  double work = 0; ///< operations, roughly
};

/// How the operands have to lie, so that ScaLAPACK's routine takes them.
enum class Alignment {
  any,
  factor, ///< square blocks; the parts begin with a block, those of all operands on the same process row
  same    ///< the same, and all operands lie alike
};

struct Routine {
  static constexpr int none = -1;

  std::string_view name; ///< without p and the type
  std::vector<int> letters, sizes;
  Alignment alignment;
  Problem (*read)(const Arguments& a, char type);
  int info = none;
  int pivots = none; ///< of the rows of the first operand
  Use pivots_use = Use::out;
  int tau = none;         ///< of the columns of the first operand
  int eigenvalues = none; ///< the same on all processes
  // each with its length behind it
  int work = none;  ///< elements of the matrices' type
  int rwork = none; ///< real
  int iwork = none;
};

/// By ScaLAPACK's name, "pdgetrf_"; null for others.
const Routine* routine_named(std::string_view name);

} // namespace blacs_dyn::calls
