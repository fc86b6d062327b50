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

/// Sequences of six steps each, drawn at random on `count` matrices. Shared, so that new processes have it.
template <class Form, int count> struct Sequences {
  std::uint32_t seed = 0; ///< of the next step
  int sequence = -1, steps_left = 0, made = 0;
  Form forms[count];
  std::int64_t changes = 0, copies = 0, relayouts = 0, restores = 0;

  std::string name(int k) const { return "a" + std::to_string(sequence) + "." + std::to_string(k); }
  dyngrid_matrix* matrix(int k) const { return dyngrid_matrix_find(name(k).c_str()); }
  /// Other matrices, in place of those of the last sequence. draw(k, form)
  template <class Draw> void begin(Draw&& draw) {
    for (int k = 0; k < made; ++k) {
      dyngrid_matrix* a = matrix(k);
      expect(dyngrid_matrix_free(&a) == 0, "free");
    }
    ++sequence;
    steps_left = 6;
    made = count;
    for (int k = 0; k < count; ++k) {
      forms[k] = Form{};
      draw(k, forms[k]);
      fill(make(name(k), forms[k]), forms[k]);
    }
  }
};

/// What spoil() overwrites comes back from a checkpoint.
template <class State, class Spoil> void restore_all(State& state, const char* file, Spoil&& spoil) {
  State kept = state;
  ++kept.restores;
  expect(dyngrid_checkpoint(file) == 0, "checkpoint");
  spoil();
  expect(dyngrid_restore(file) == 0, "restore");
  state = kept;
}

/// take_step(random) begins the sequences; a change of the grid is requested there, not made. The same draws on all
/// processes. @return false: this process has left
template <class State, class Check, class Step>
bool at_random(State& state, int count, Check&& check_all, Step&& take_step) {
  return on_each_grid([&] {
    check_all();
    if (state.sequence + 1 == count && state.steps_left == 0) return false;
    std::mt19937 random(state.seed);
    state.seed = static_cast<std::uint32_t>(random());
    take_step(random);
    check_all();
    return true;
  });
}

template <class State> int all_right(const State& state) {
  if (dyngrid_is_first())
    std::printf("all right: %d sequences, %lld changes of the grid, %lld copies, %lld relayouts, %lld restores\n",
                state.sequence + 1, static_cast<long long>(state.changes), static_cast<long long>(state.copies),
                static_cast<long long>(state.relayouts), static_cast<long long>(state.restores));
  return dyngrid_finalize();
}

} // namespace follow
