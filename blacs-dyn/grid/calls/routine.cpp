// SPDX-License-Identifier: BSD-3-Clause
#include "grid/calls/routine.hpp"

#include <algorithm>
#include <cctype>
#include <complex>
#include <cstring>
#include <map>
#include <string>

#include "advise/calls.hpp"

namespace blacs_dyn::calls {

int integer(const Arguments& a, int at) {
  return *static_cast<const int*>(a[static_cast<std::size_t>(at)]);
}

char letter(const Arguments& a, int at) {
  const char given = *static_cast<const char*>(a[static_cast<std::size_t>(at)]);
  return static_cast<char>(std::toupper(static_cast<unsigned char>(given)));
}

namespace {

bool is_one_of(char given, const char* letters) {
  return given != '\0' && std::strchr(letters, given) != nullptr;
}

template <class T> bool is_zero(const void* value) {
  return *static_cast<const T*>(value) == T(0);
}
bool is_zero(const void* value, char type) {
  switch (type) {
  case 's':
    return is_zero<float>(value);
  case 'd':
    return is_zero<double>(value);
  case 'c':
    return is_zero<std::complex<float>>(value);
  default:
    return is_zero<std::complex<double>>(value);
  }
}

Problem gemm(const Arguments& a, char type) {
  const std::int64_t m = integer(a, 2), n = integer(a, 3), k = integer(a, 4);
  const bool turned_a = letter(a, 0) != 'N', turned_b = letter(a, 1) != 'N';
  Problem p;
  p.is_valid = is_one_of(letter(a, 0), "NTC") && is_one_of(letter(a, 1), "NTC");
  p.operands = {{6, turned_a ? k : m, turned_a ? m : k, Use::in},
                {10, turned_b ? n : k, turned_b ? k : n, Use::in},
                {15, m, n, is_zero(a[14], type) ? Use::out : Use::both}};
  p.work = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return p;
}

Problem trsm(const Arguments& a, char) {
  const std::int64_t m = integer(a, 4), n = integer(a, 5), order = letter(a, 0) == 'L' ? m : n;
  Problem p;
  p.is_valid = is_one_of(letter(a, 0), "LR") && is_one_of(letter(a, 1), "UL") && is_one_of(letter(a, 2), "NTC") &&
               is_one_of(letter(a, 3), "UN");
  p.operands = {{7, order, order, Use::in}, {11, m, n, Use::both}};
  p.work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(order);
  return p;
}

Problem rectangle(const Arguments& a, double per_element) {
  const std::int64_t m = integer(a, 0), n = integer(a, 1);
  const auto x = static_cast<double>(m), y = static_cast<double>(n), k = std::min(x, y);
  Problem p;
  p.operands = {{2, m, n, Use::both}};
  p.work = per_element * (x * y * k - (x + y) * k * k / 2 + k * k * k / 3);
  return p;
}
Problem getrf(const Arguments& a, char) {
  return rectangle(a, 2);
}
Problem geqrf(const Arguments& a, char) {
  return rectangle(a, 4);
}

/// A square matrix and right-hand sides, the sizes behind `letters` letters.
Problem system(const Arguments& a, int letters, int matrix, int right_hand_sides, Use use, double cubes) {
  const std::int64_t n = integer(a, letters), nrhs = integer(a, letters + 1);
  const auto x = static_cast<double>(n);
  Problem p;
  p.operands = {{matrix, n, n, use}, {right_hand_sides, n, nrhs, Use::both}};
  p.work = cubes * x * x * x + 2 * x * x * static_cast<double>(nrhs);
  return p;
}
Problem getrs(const Arguments& a, char) {
  Problem p = system(a, 1, 3, 8, Use::in, 0);
  p.is_valid = is_one_of(letter(a, 0), "NTC");
  return p;
}
Problem gesv(const Arguments& a, char) {
  return system(a, 0, 2, 7, Use::both, 2.0 / 3);
}
Problem potrs(const Arguments& a, char) {
  Problem p = system(a, 1, 3, 7, Use::in, 0);
  p.is_valid = is_one_of(letter(a, 0), "UL");
  return p;
}
Problem posv(const Arguments& a, char) {
  Problem p = system(a, 1, 3, 7, Use::both, 1.0 / 3);
  p.is_valid = is_one_of(letter(a, 0), "UL");
  return p;
}
Problem potrf(const Arguments& a, char) {
  const std::int64_t n = integer(a, 1);
  Problem p;
  p.is_valid = is_one_of(letter(a, 0), "UL");
  p.operands = {{2, n, n, Use::both}};
  p.work = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
  return p;
}

/// ScaLAPACK does not specify the values that are left in A, so they are not copied back.
Problem eigen(const Arguments& a, const char* jobs) {
  const std::int64_t n = integer(a, 2);
  const bool has_vectors = letter(a, 0) == 'V';
  Problem p;
  p.is_valid = is_one_of(letter(a, 0), jobs) && is_one_of(letter(a, 1), "UL");
  p.operands = {{3, n, n, Use::in}};
  if (has_vectors) p.operands.push_back({8, n, n, Use::out});
  p.work = (has_vectors ? 9.0 : 4.0 / 3) * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  return p;
}
Problem eigen_by_qr(const Arguments& a, char) {
  return eigen(a, "NV");
}
Problem eigen_by_division(const Arguments& a, char) {
  return eigen(a, "V");
}

std::vector<Routine> all_routines() {
  std::vector<Routine> all;
  all.push_back({"gemm", {0, 1}, {2, 3, 4}, Alignment::any, gemm});
  all.push_back({"trsm", {0, 1, 2, 3}, {4, 5}, Alignment::any, trsm});
  all.push_back({"getrf", {}, {0, 1}, Alignment::factor, getrf, 7, 6});
  all.push_back({"getrs", {0}, {1, 2}, Alignment::factor, getrs, 12, 7, Use::in});
  all.push_back({"gesv", {}, {0, 1}, Alignment::factor, gesv, 11, 6});
  all.push_back({"potrf", {0}, {1}, Alignment::factor, potrf, 6});
  all.push_back({"potrs", {0}, {1, 2}, Alignment::factor, potrs, 11});
  all.push_back({"posv", {0}, {1, 2}, Alignment::factor, posv, 11});
  Routine qr{"geqrf", {}, {0, 1}, Alignment::any, geqrf, 9};
  qr.tau = 6, qr.work = 7;
  all.push_back(qr);
  Routine eigen{"syev", {0, 1}, {2}, Alignment::same, eigen_by_qr, 14};
  eigen.eigenvalues = 7, eigen.work = 12;
  all.push_back(eigen);
  eigen.name = "syevd", eigen.read = eigen_by_division, eigen.info = 16, eigen.iwork = 14;
  all.push_back(eigen);
  eigen.name = "heev", eigen.read = eigen_by_qr, eigen.rwork = 14, eigen.iwork = Routine::none;
  all.push_back(eigen);
  eigen.name = "heevd", eigen.read = eigen_by_division, eigen.info = 18, eigen.iwork = 16;
  all.push_back(eigen);
  return all;
}

} // namespace

const Routine* routine_named(std::string_view name) {
  static const std::vector<Routine> all = all_routines();
  static const std::map<std::string, const Routine*, std::less<>> by_name = [] {
    std::map<std::string, const Routine*, std::less<>> names;
    for (const std::string& known : advise::call_routines())
      for (const Routine& routine : all)
        if (std::string_view(known).substr(2) == routine.name) names[known + "_"] = &routine;
    return names;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

} // namespace blacs_dyn::calls
