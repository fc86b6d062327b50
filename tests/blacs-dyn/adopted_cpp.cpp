// SPDX-License-Identifier: BSD-3-Clause
// adopted_cpp: matrices in vectors of the program (dyngrid::adopt), on 1x2, 2x2, 1x1, 1x3 and 2x1: grown, parked, woken
// and left; one process without memory; a matrix that ends.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dyngrid.hpp>
#include <new>
#include <string>

#include "refused.hpp"

namespace {

using follow::expect;
using std::int64_t;

bool has_memory = true;

/// Of the program's own kind.
template <class T> struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class U> Allocator(const Allocator<U>&) {}
  T* allocate(std::size_t n) {
    if (!has_memory) throw std::bad_alloc();
    return static_cast<T*>(std::malloc(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  bool operator==(const Allocator&) const { return true; }
  bool operator!=(const Allocator&) const { return false; }
};

int64_t local_count(int64_t n, int64_t nb, int at, int procs) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += i / nb % procs == at;
  return count;
}

constexpr int m = 37, n = 23, mb = 5, nb = 3;

/// A descriptor with `extra` rows between the columns, and the vector for it.
template <class Vector> std::vector<int> describe(const dyngrid::Application& app, Vector& local, int extra) {
  const dyngrid::Grid grid = app.grid();
  std::vector<int> desc{1, app.context(), m, n, mb, nb, 0, 0, 1};
  if (!grid.is_mine()) return desc;
  const int64_t rows = local_count(m, mb, grid.myrow, grid.nprow);
  desc[8] = static_cast<int>(rows) + extra;
  local.resize(static_cast<std::size_t>(desc[8] * local_count(n, nb, grid.mycol, grid.npcol)));
  return desc;
}

template <class T> T value(int64_t i, int64_t j) {
  return static_cast<T>(static_cast<float>(i * n + j + 1));
}

template <class Vector>
void check(const dyngrid::Matrix<typename Vector::value_type>& a, const Vector& local, const std::string& what) {
  expect(a.local() == (local.empty() ? nullptr : local.data()), what + ": the vector has the local array");
  if (dyngrid_context() < 0) return expect(local.empty(), what + ": the vector is empty outside the grid");
  int64_t wrong = 0;
  dyngrid::for_each(a, [&](auto i, auto j, const auto& x) { wrong += x != value<typename Vector::value_type>(i, j); });
  expect(wrong == 0, what + ": every element");
}

} // namespace

int main() {
  dyngrid::Application app(1, 2);
  std::vector<double> x;
  std::vector<std::complex<float>, Allocator<std::complex<float>>> y;
  const std::vector<int> desc_x = describe(app, x, 0), desc_y = describe(app, y, 2);
  dyngrid::Matrix<double> a = dyngrid::adopt("x", x, desc_x.data());
  auto made = dyngrid::adopt("y", y, desc_y.data());
  dyngrid::Matrix<std::complex<float>> b = std::move(made);
  dyngrid::Shared<int> step("step", 0);
  if (app.grid().is_mine()) {
    dyngrid::for_each(a, [](auto i, auto j, double& e) { e = value<double>(i, j); });
    dyngrid::for_each(b, [](auto i, auto j, auto& e) { e = value<std::complex<float>>(i, j); });
    expect(b.lld() == desc_y[8], "LLD_ of the program");
    std::vector<double> small(3);
    follow::refused(DYNGRID_ERR_SHAPE, "", [&] { dyngrid::adopt("small", small, desc_x.data()); });
    expect(small.size() == 3, "a vector that is too small stays so");
  }
  const int shapes[][2] = {{2, 2}, {1, 1}, {1, 3}, {2, 1}, {2, 2}};
  while (step < 5) {
    if (app.grid().is_mine()) {
      app.request(shapes[step.get()][0], shapes[step.get()][1]);
      step = step + 1;
    }
    if (app.resize_point() == dyngrid::Outcome::leave) break;
    const std::string what = "step " + std::to_string(step.get());
    check(a, x, what);
    check(b, y, what);
    expect(x.size() == static_cast<std::size_t>(a.lld() * a.columns()) && a.lld() == a.rows(), what + ": its size");
    if (app.grid().nprow * app.grid().npcol < 2) continue;
    const dyngrid::Grid grid = app.grid();
    has_memory = grid.myrow < grid.nprow - 1 || grid.mycol < grid.npcol - 1;
    const void* const before = y.data();
    follow::refused(DYNGRID_ERR_MEMORY, "", [&] { b.reblock(7, 7); });
    expect(y.data() == before, what + " without memory on one process");
    has_memory = true;
    check(b, y, what + " without memory");
    b.reblock(4, 4);
    check(b, y, what + " reblocked");
    b.reblock(mb, nb);
  }
  if (app.grid().is_mine()) {
    const auto size = x.size();
    const double first = x.at(0);
    a = dyngrid::Matrix<double>("other", 10, 10, 2, 2);
    expect(x.size() == size && x.at(0) == first, "the vector keeps its elements when the matrix ends");
  }
  app.finalize();
  expect(y.empty() == (y.data() == nullptr), "and at the end of dyngrid");
}
