// SPDX-License-Identifier: BSD-3-Clause
// borders_cpp GRID...: dyngrid::Borders of a matrix in blocks and of a field through these grids. Every element and
// every border is compared with the number of the element that is there. mpirun -np 4.
#include <array>
#include <complex>
#include <string>
#include <vector>

#include "refused.hpp"

namespace {

using dyngrid::Borders;
using dyngrid::Line;
using dyngrid::Neighbours;
using follow::expect;
using follow::refused;
using Cell = std::complex<float>;

constexpr std::int64_t m = 7, n = 9;
const std::array<std::int64_t, 3> extents{4, 6, 5};
const Cell no_cell(-1, 1);
constexpr std::int32_t no_point = -1;

Cell cell(std::int64_t i, std::int64_t j) {
  return {static_cast<float>(i), static_cast<float>(j + 1)};
}
std::int32_t point(const std::array<std::int64_t, DYNGRID_FIELD_DIMS>& i) {
  return static_cast<std::int32_t>(1 + i[0] + extents[0] * (i[1] + extents[1] * i[2]));
}

/// Borders of one row above and two below, of two columns left and one right, which continue at the other end.
void compare(const Borders<Cell>& borders, const dyngrid::Matrix<Cell>& a, float factor) {
  const std::int64_t stride = borders.view().stride(1);
  std::int64_t count = 0;
  borders.for_each_line([&](const Line<Cell>& line) {
    for (std::int64_t k = 0; k < line.count; ++k, ++count) {
      expect(a.local()[line.local + k] == factor * cell(line.first[0] + k, line.first[1]), "the local element");
      for (std::int64_t di = -1; di <= 2; ++di)
        for (std::int64_t dj = -2; dj <= 1; ++dj) {
          const std::int64_t i = line.first[0] + k + di, j = (line.first[1] + dj + n) % n;
          const Cell expected = i < 0 || i >= m ? no_cell : factor * cell(i, j);
          expect(line.x[k + di + dj * stride] == expected, "a cell or its border");
        }
    }
  });
  expect(count == a.rows() * a.columns(), "all elements of the matrix");
}

/// Borders of one point on all faces.
void compare(const Borders<std::int32_t>& borders, const dyngrid::Field<std::int32_t>& u, std::int32_t factor) {
  const auto x = borders.view();
  const auto inner = u.view();
  expect(x.stride(0) == 1 && x.stride(2) == x.extents[0] * x.extents[1], "strides");
  std::int64_t count = 0;
  borders.for_each_line([&](const Line<std::int32_t>& line) {
    for (std::int64_t k = 0; k < line.count; ++k, ++count) {
      auto here = line.first;
      here[0] += k;
      expect(inner.data[line.local + k] == factor * point(here), "the local element");
      for (std::size_t d = 0; d < extents.size(); ++d)
        for (const int step : {-1, 0, 1}) {
          auto there = here;
          there[d] += step;
          const bool is_inside = there[d] >= 0 && there[d] < extents[d];
          expect(line.x[k + step * x.stride(static_cast<int>(d))] == (is_inside ? factor * point(there) : no_point),
                 "a point or its border");
        }
    }
  });
  expect(count == inner.extents[0] * inner.extents[1] * inner.extents[2], "all elements of the field");
}

/// In the ghosted array, then in the matrix, each time with the borders.
template <class T, class Owner> void twice_and_back(Borders<T>& borders, Owner& a) {
  borders.update();
  compare(borders, a, 1);
  borders.for_each_line([](const Line<T>& line) {
    for (std::int64_t k = 0; k < line.count; ++k) line.x[k] *= 2;
  });
  borders.exchange();
  borders.store();
  compare(borders, a, 2);
  borders.for_each_line([&](const Line<T>& line) {
    for (std::int64_t k = 0; k < line.count; ++k) a.local()[line.local + k] /= 2;
  });
  borders.refresh();
  compare(borders, a, 1);
}

void walk(int count, char** grids) {
  dyngrid::Application app;
  {
    dyngrid::Shared<int> step("step");
    dyngrid::Matrix<Cell> a("a", m, n, 2, 3);
    dyngrid::Field<std::int32_t> u("u", {extents[0], extents[1], extents[2]}, {0, 2});
    Borders<Cell> of_a(a, {1, 2}, {2, 1}, Neighbours::all, no_cell, {0, 1});
    Borders<std::int32_t> of_u(u, {1, 1, 1}, {1, 1, 1}, Neighbours::faces, no_point);
    refused(DYNGRID_ERR_NULL, "expected one for each of 2", [&] { Borders<Cell>(a, {1, 1, 1}, {1, 1}); });
    refused(DYNGRID_ERR_NULL, "expected one for each of 3", [&] { Borders<std::int32_t>(u, {1, 1}, {1, 1, 1}); });
    refused(DYNGRID_ERR_STATE, "dyngrid_borders_update", [&] { of_a.view(); });
    if (app.is_newcomer()) {
      expect(!of_a.update().data, "no array before the first resize point");
    } else {
      dyngrid::for_each(a, [](std::int64_t i, std::int64_t j, Cell& x) { x = cell(i, j); });
      dyngrid::for_each(u, [](const auto& i, std::int32_t& x) { x = point(i); });
    }
    const bool goes_on = follow::on_each_grid([&] {
      refused(DYNGRID_ERR_STATE, "dyngrid_borders_update", [&] { of_u.view(); });
      twice_and_back(of_a, a);
      twice_and_back(of_u, u);
      try { // on all processes: nothing is freed on the way out
        Borders<Cell> left(a, {0, 0}, {0, 1});
        left.update();
        throw std::runtime_error("of the program");
      } catch (const std::runtime_error&) {
      }
      if (step == count) return false;
      follow::request(grids[step]);
      step = step + 1;
      return true;
    });
    if (!goes_on) return;
  }
  app.finalize();
}

} // namespace

int main(int argc, char** argv) {
  walk(argc - 1, argv + 1);
  return 0;
}
