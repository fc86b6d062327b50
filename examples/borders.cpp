// SPDX-License-Identifier: BSD-3-Clause
// borders.c in C++: heat in a cube, u = 0 around it, by the mean of a value and its six neighbours, on a grid of
// processes that changes. Each sweep reads the array with borders and writes into the local array of the field.
//
//   cmake -S examples -B b -DCMAKE_PREFIX_PATH=... && cmake --build b
//   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- b/borders_cpp
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <dyngrid.hpp>

namespace {

constexpr int steps = 4, sweeps = 5;
const std::vector<std::int64_t> extents{12, 10, 8};

template <class Index> double initial(const Index& i) {
  double value = 1;
  for (std::size_t d = 0; d < 3; ++d)
    value *= std::sin(std::acos(-1.0) * static_cast<double>(i[d] + 1) / static_cast<double>(extents[d] + 1));
  return value;
}

} // namespace

int main() try {
  double factor = 1; // by which a sweep multiplies the initial field
  for (const std::int64_t n : extents) factor += 2 * std::cos(std::acos(-1.0) / static_cast<double>(n + 1));
  factor /= 7;
  bool is_right = true;

  dyngrid::Application app(1, 2);
  dyngrid::Shared<int> step("step", 0);
  dyngrid::Field<double> u("u", extents);
  dyngrid::Borders<double> borders(u, {1, 1, 1}, {1, 1, 1});
  if (!app.is_newcomer()) dyngrid::for_each(u, [](const auto& i, double& x) { x = initial(i); });
  for (; app.resize_point() != dyngrid::Outcome::leave && step < steps; step = step + 1) {
    const auto x = borders.update(); // after a change a new array
    const std::int64_t row = x.stride(1), plane = x.stride(2);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      if (sweep > 0) borders.refresh();
      borders.for_each_line([&](const auto& line) {
        double* next = u.local() + line.local;
        for (const double* c = line.x; c != line.x + line.count; ++c)
          *next++ = (c[0] + c[-1] + c[1] + c[-row] + c[row] + c[-plane] + c[plane]) / 7;
      });
    }
    double error = 0;
    const double grown = std::pow(factor, sweeps * (step + 1));
    dyngrid::for_each(u, [&](const auto& i, double y) { error = std::max(error, std::fabs(y - grown * initial(i))); });
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, app.comm());
    is_right = is_right && error < 1e-12;
    const std::vector<int> parts = u.parts();
    if (app.is_first())
      std::printf("step %d on %d x %d x %d processes: %s\n", step.get(), parts[0], parts[1], parts[2],
                  error < 1e-12 ? "as exact" : "WRONG");
    std::fflush(stdout);
  }
  return is_right ? 0 : 1;
} catch (const dyngrid::Error& error) {
  std::fprintf(stderr, "borders: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
