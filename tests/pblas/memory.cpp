// SPDX-License-Identifier: BSD-3-Clause
// What a product takes beside the matrices: at most 2 kb (m_loc + n_loc) elements, kb = 256, lists and what the
// allocator rounds up included, by MPI as well as read in place.
#include <malloc.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <new>
#include <vector>

#include "../../pblas/src/in_place.hpp"
#include "../../pblas/src/room.hpp"
#include "../sanitized.hpp"
#include "spread.hpp"

namespace {

std::int64_t held = 0, most_held = 0; ///< bytes

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  held += static_cast<std::int64_t>(malloc_usable_size(memory));
  most_held = std::max(most_held, held);
  return memory;
}
void given_back(void* memory) {
  held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

} // namespace

void* operator new(std::size_t bytes) {
  return counted(std::malloc(bytes));
}
void* operator new[](std::size_t bytes) {
  return counted(std::malloc(bytes));
}
void operator delete(void* memory) noexcept {
  given_back(memory);
}
void operator delete[](void* memory) noexcept {
  given_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  given_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  given_back(memory);
}

namespace {

using Sizes = std::vector<int>;

/// A matrix of ones in lists.
template <class T> struct Ones {
  std::vector<int> desc;
  std::vector<T> local;
  int m_loc, n_loc;
  Ones(const spread::Grid& grid, int m, int n, const Sizes& rows, const Sizes& cols)
      : m_loc(spread::Axis(m, rows, 0, grid.nprow).count[static_cast<std::size_t>(grid.myrow)]),
        n_loc(spread::Axis(n, cols, 0, grid.npcol).count[static_cast<std::size_t>(grid.mycol)]) {
    const int lld = m_loc + 3;
    desc = {601, grid.ctxt, m, n, static_cast<int>(rows.size()), static_cast<int>(cols.size()), 0, 0, lld};
    desc.insert(desc.end(), rows.begin(), rows.end());
    desc.insert(desc.end(), cols.begin(), cols.end());
    local.assign(static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, n_loc)), T(1));
  }
};

struct Product {
  int m, n, k;
  Sizes rows, cols, inner_of_a, inner_of_b;
};

void multiply(const Product& x, const Ones<double>& a, const Ones<double>& b, Ones<double>& c) {
  const double one = 1;
  const int from = 1;
  dyngrid_pdgemm_("N", "N", &x.m, &x.n, &x.k, &one, a.local.data(), &from, &from, a.desc.data(), b.local.data(), &from,
                  &from, b.desc.data(), &one, c.local.data(), &from, &from, c.desc.data());
}
void multiply(const Product& x, const Ones<float>& a, const Ones<float>& b, Ones<float>& c) {
  const float one = 1;
  const int from = 1;
  dyngrid_psgemm_("N", "N", &x.m, &x.n, &x.k, &one, a.local.data(), &from, &from, a.desc.data(), b.local.data(), &from,
                  &from, b.desc.data(), &one, c.local.data(), &from, &from, c.desc.data());
}

template <class T> void check(const spread::Grid& grid, const Product& x) {
  const Ones<T> a(grid, x.m, x.k, x.rows, x.inner_of_a), b(grid, x.k, x.n, x.inner_of_b, x.cols);
  Ones<T> c(grid, x.m, x.n, x.rows, x.cols);
  const Product first{8, 8, 8, {4}, {4}, {4}, {4}}; // makes communicators
  const Ones<T> few(grid, 8, 8, {4}, {4});
  Ones<T> sum = few;
  multiply(first, few, few, sum);
  pblas::Room::forget();
  const std::int64_t before = most_held = held;
  multiply(x, a, b, c);
  EXPECT_LE(most_held - before, std::int64_t{2 * 256} * (c.m_loc + c.n_loc) * std::int64_t{sizeof(T)});
  for (int j = 0; j < c.n_loc; ++j)
    for (int i = 0; i < c.m_loc; ++i)
      ASSERT_EQ(
          c.local[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(c.desc[8])],
          static_cast<T>(x.k + 1));
}

TEST(Memory, OfAProductIsTwoPanelsOfEach) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizers have a memory of their own";
  // in the last one a process has all of a panel, and the others nothing
  const Product products[] = {{900, 900, 256, {64}, {64}, {64}, {64}},
                              {900, 900, 900, {64}, {64}, {64}, {64}},
                              {1000, 800, 2000, {64}, {32}, {100}, {70}},
                              {801, 903, 1277, {190, 10, 30, 0, 200}, {50, 70}, {640, 30}, {1000}}};
  for (const bool reads_in_place : {false, true}) {
    pblas::always_read_in_place(reads_in_place);
    for (const auto& [p, q] : {std::pair{2, 2}, {1, 4}, {4, 1}}) {
      const spread::Grid grid(p, q);
      for (const Product& x : products) {
        SCOPED_TRACE(::testing::Message() << p << "x" << q << ", k = " << x.k << ", in place: " << reads_in_place);
        check<double>(grid, x);
        check<float>(grid, x);
      }
    }
  }
}

} // namespace
