// SPDX-License-Identifier: BSD-3-Clause
// Factorizations, and solving by them. All are collective over the grid.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "operand.hpp"
#include "pblas/factorization.hpp"

namespace pblas {

/// The same panel by panel.
template <class T> std::unique_ptr<Factorization> lu(Operand<T> a, Progress& progress);
template <class T> std::unique_ptr<Factorization> cholesky(bool is_lower, Operand<T> a, Progress& progress);

/// A = P L U in place. pivots: with which row of A each row was interchanged, in this order, on all processes.
/// @return as getrf's info
template <class T> std::int64_t getrf(const Operand<T>& a, std::vector<std::int64_t>& pivots);

/// B := op(A)^-1 B after getrf.
template <class T>
void getrs(Op op, const Operand<const T>& a, const std::vector<std::int64_t>& pivots, const Operand<T>& b);

/// A = L L' or U' U in place, in the triangle that is given. @return as potrf's info
template <class T> std::int64_t potrf(bool is_lower, const Operand<T>& a);

/// B := A^-1 B after potrf.
template <class T> void potrs(bool is_lower, const Operand<const T>& a, const Operand<T>& b);

} // namespace pblas
