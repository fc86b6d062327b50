// SPDX-License-Identifier: BSD-3-Clause
// For programs whose matrices are described by a Form of their own, with make(name, form), fill(matrix, form) and
// check(name, matrix, form) beside it: what they do alike. forms: pairs of a name and a Form.
#pragma once
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "dyngrid/checkpoint.h"
#include "follow.hpp"

namespace follow {

inline std::int64_t below(std::mt19937& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(end));
}

/// A grid of at most `most` processes. The same draws on all processes.
inline void request_any(std::mt19937& random, int most) {
  const int nprow = 1 + static_cast<int>(below(random, most)),
            npcol = 1 + static_cast<int>(below(random, most / nprow));
  expect(dyngrid_request(nprow, npcol) == 0, "request");
}

template <class Forms> int write_all(const char* file, const Forms& forms) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  for (const auto& [name, form] : forms) fill(make(name, form), form);
  expect(dyngrid_checkpoint(file) == 0, "checkpoint");
  return dyngrid_finalize();
}

/// is_made(k): whether the program makes the k-th one before it is read. What is not made follows, too.
template <class Forms, class IsMade> int read_all(const char* file, const Forms& forms, IsMade&& is_made) {
  expect(dyngrid_init() == 0, "dyngrid_init");
  for (std::size_t k = 0; k < forms.size(); ++k)
    if (is_made(k)) make(forms[k].first, forms[k].second);
  expect(dyngrid_restore(file) == 0, "restore");
  const auto check_all = [&] {
    for (const auto& [name, form] : forms) check(name, dyngrid_matrix_find(name.c_str()), form);
  };
  check_all();
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  if (nprow * npcol > 1) {
    expect(dyngrid_request(nprow * npcol, 1) == 0 && dyngrid_resize_point() == DYNGRID_RESIZED, "change");
    check_all();
  }
  if (dyngrid_is_first()) std::printf("all right on %dx%d\n", nprow, npcol);
  return dyngrid_finalize();
}

} // namespace follow
