// SPDX-License-Identifier: BSD-3-Clause
// The electric capacitance of a square plate or of a cube, side 1, in units of 4 pi eps0 times the side. By boundary
// elements: rectangles with a constant charge each, whose potentials at all centres must be 1. A dense system per mesh,
// PDGETRF and PDGETRS.
//
// A mesh takes two steps: set up the matrix, solve. The grid of processes may change between any two steps, also
// between setting up and solving: the matrix follows. Charge concentrates at edges, so meshes are graded: edges of the
// rectangles at (1 - cos(pi k / N)) / 2. Published: plate 0.36678, cube 0.66068.
#include "common/app.hpp"
#include "common/local.hpp"
#include "common/scalapack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

const double pi = std::acos(-1.0);
constexpr double published_plate = 0.36678, published_cube = 0.66068;

struct Panel {
  std::array<double, 3> centre;
  int normal; // axis 0, 1, 2; the sides lie along the next two axes
  double half_u, half_v;
  double area() const { return 4 * half_u * half_v; }
};

// N x N rectangles on a face, one face or the six of the cube.
std::vector<Panel> mesh(bool is_cube, int along_edge) {
  std::vector<double> edge(along_edge + 1);
  for (int k = 0; k <= along_edge; ++k) edge[k] = (1 - std::cos(pi * k / along_edge)) / 2;
  std::vector<Panel> panels;
  for (int face = 0; face < (is_cube ? 6 : 1); ++face) {
    const int normal = is_cube ? face / 2 : 2;
    for (int i = 0; i < along_edge; ++i)
      for (int j = 0; j < along_edge; ++j) {
        Panel panel{};
        panel.normal = normal;
        panel.centre[normal] = is_cube ? face % 2 : 0;
        panel.centre[(normal + 1) % 3] = (edge[i] + edge[i + 1]) / 2;
        panel.centre[(normal + 2) % 3] = (edge[j] + edge[j + 1]) / 2;
        panel.half_u = (edge[i + 1] - edge[i]) / 2;
        panel.half_v = (edge[j + 1] - edge[j]) / 2;
        panels.push_back(panel);
      }
  }
  return panels;
}

// Differentiated twice, by u and by v, this is 1 / sqrt(u^2 + v^2 + w^2), except for terms that cancel between the
// corners of a rectangle.
double corner(double u, double v, double w) {
  const double r = std::sqrt(u * u + v * v + w * w), to_v_axis = std::hypot(u, w), to_u_axis = std::hypot(v, w);
  return (u != 0 ? u * std::asinh(v / to_v_axis) : 0) + (v != 0 ? v * std::asinh(u / to_u_axis) : 0) -
         (w != 0 ? w * std::atan(u * v / (w * r)) : 0);
}

// Potential at a point of charge 1 per area on a panel.
double potential(const std::array<double, 3>& at, const Panel& of) {
  const double u = at[(of.normal + 1) % 3] - of.centre[(of.normal + 1) % 3],
               v = at[(of.normal + 2) % 3] - of.centre[(of.normal + 2) % 3], w = at[of.normal] - of.centre[of.normal];
  return corner(u + of.half_u, v + of.half_v, w) - corner(u - of.half_u, v + of.half_v, w) -
         corner(u + of.half_u, v - of.half_v, w) + corner(u - of.half_u, v - of.half_v, w);
}

// Largest |1 - potential| over the centres, in units of n * eps * the largest potential that a row of the matrix sums
// to. Collective.
double scaled_residual(const std::vector<Panel>& panels, const std::vector<double>& charge) {
  int rank = 0, size = 1;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  MPI_Comm_size(dyngrid_comm(), &size);
  double largest = 0, row_sum = 0, largest_charge = 0;
  for (std::size_t i = static_cast<std::size_t>(rank); i < panels.size(); i += static_cast<std::size_t>(size)) {
    double sum = 0, absolute = 0;
    for (std::size_t j = 0; j < panels.size(); ++j) {
      const double element = potential(panels[i].centre, panels[j]);
      sum += element * charge[j];
      absolute += std::fabs(element);
    }
    largest = std::isfinite(sum) ? std::max(largest, std::fabs(1 - sum)) : std::numeric_limits<double>::infinity();
    row_sum = std::max(row_sum, absolute);
  }
  for (const double q : charge) largest_charge = std::max(largest_charge, std::fabs(q));
  return apps::max_over_grid(largest) / (apps::max_over_grid(row_sum) * largest_charge *
                                         static_cast<double>(panels.size()) * std::numeric_limits<double>::epsilon());
}

/// The equations of one mesh, set up and solved by two steps.
struct Equations {
  std::vector<Panel> panels;
  dyngrid_matrix *a, *b;

  int count() const { return static_cast<int>(panels.size()); }
  void set_up() const {
    const int n = count();
    dyngrid::for_each<double>(a, [&](std::int64_t i, std::int64_t j, double& element) {
      if (i < n && j < n) element = potential(panels[i].centre, panels[j]);
    });
    apps::fill<double>(b, [](std::int64_t, std::int64_t) { return 1.0; });
  }
  /// Solves in place. False when the matrix is singular, or an argument was wrong. nb: of a
  bool solve(std::int64_t nb) const {
    const int n = count(), i1 = 1;
    std::int64_t rows = 0;
    dyngrid_matrix_shape(a, &rows, nullptr, nullptr);
    std::vector<int> pivots(rows + nb);
    int info = 0;
    auto* local = static_cast<double*>(dyngrid_local(a));
    pdgetrf_(&n, &n, local, &i1, &i1, dyngrid_desc(a), pivots.data(), &info);
    if (info == 0)
      pdgetrs_("N", &n, &i1, local, &i1, &i1, dyngrid_desc(a), pivots.data(), static_cast<double*>(dyngrid_local(b)),
               &i1, &i1, dyngrid_desc(b), &info);
    return info == 0;
  }
  /// Of every panel, on all processes. Collective.
  std::vector<double> charges() const {
    std::vector<double> charge(panels.size());
    dyngrid::for_each<double>(b, [&](std::int64_t i, std::int64_t, double q) {
      if (i < count()) charge[i] = q;
    });
    MPI_Allreduce(MPI_IN_PLACE, charge.data(), count(), MPI_DOUBLE, MPI_SUM, dyngrid_comm());
    return charge;
  }
  double capacitance(const std::vector<double>& charge) const {
    double sum = 0;
    for (std::size_t i = 0; i < charge.size(); ++i) sum += charge[i] * panels[i].area();
    return sum;
  }
};

/// The body and its meshes, each with half the rectangles along an edge of the next.
struct Body {
  bool is_cube;
  int meshes;
  std::int64_t finest; ///< rectangles along an edge

  int along_edge(int k) const { return std::max(1, static_cast<int>(finest >> (meshes - 1 - k))); }
  double published() const { return is_cube ? published_cube : published_plate; }
};

/// The solution on mesh k.
void judge(apps::Run& run, const Body& body, int k, const Equations& equations, const std::vector<double>& charge,
           bool is_solved) {
  const double capacitance = equations.capacitance(charge), residual = scaled_residual(equations.panels, charge);
  const double error = capacitance / body.published() - 1;
  // graded meshes: the error falls with the square of the number of rectangles along an edge
  const double allowed = 1.0 / (body.along_edge(k) * body.along_edge(k));
  run.report_check(is_solved && residual < 16 && std::fabs(error) < allowed, residual,
                   fmt::format("{} unknowns: C = {:.6f}, {:+.3f} % from {:.5f}; scaled residual {:.2g}",
                               equations.count(), capacitance, 100 * error, body.published(), residual));
}

/// The summary at the end.
std::string summary(const std::string& shape, const std::vector<double>& capacitances, double published) {
  std::string text = fmt::format("{}: C =", shape);
  for (const double c : capacitances) text += fmt::format(" {:.6f}", c);
  if (const std::size_t meshes = capacitances.size(); meshes >= 3) { // the limit of three meshes, each twice as fine as
                                                                     // the last
    const double c1 = capacitances[meshes - 3], c2 = capacitances[meshes - 2], c3 = capacitances[meshes - 1];
    text += fmt::format(", tends to {:.6f}", c3 - (c3 - c2) * (c3 - c2) / ((c3 - c2) - (c2 - c1)));
  }
  return text + fmt::format("; published {:.5f}", published);
}

void add_options(base::CommandLine& cli, std::string& shape, int& meshes) {
  cli.option("--n").description("rectangles along an edge of the finest mesh (plate: n^2 unknowns, cube: 6 n^2)");
  cli.option("--steps").description("not used: there are two per mesh");
  cli.add_option("--shape", shape, "plate or cube")
      .check(base::one_of({"plate", "cube"}))
      .type_name("NAME")
      .show_default();
  cli.add_option("--meshes", meshes, "meshes, each with half the rectangles along an edge of the next")
      .check(base::in_range(1, 8))
      .show_default();
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 32;
  options.nb = 32;
  std::string shape = "plate";
  int meshes = 3;
  base::CommandLine cli(
      "Capacitance of a square plate or a cube by boundary elements while the grid of processes grows and "
      "shrinks. A mesh takes two steps: set "
      "up, solve.",
      "capacitance");
  apps::add_options(cli, options);
  add_options(cli, shape, meshes);
  apps::parse(cli, options, argc, argv);
  const Body body{shape == "cube", meshes, options.n};
  options.steps = 2 * meshes;
  const auto unknowns = static_cast<std::int64_t>(mesh(body.is_cube, body.along_edge(meshes - 1)).size());

  apps::start(options);
  apps::Run run("capacitance", options);

  // room for the finest mesh; a coarser one uses the upper left corner
  dyngrid_matrix *a = nullptr, *b = nullptr;
  apps::require(dyngrid_matrix_create("A", 'd', unknowns, unknowns, options.nb, options.nb, &a),
                "dyngrid_matrix_create");
  apps::require(dyngrid_matrix_create("b", 'd', unknowns, 1, options.nb, options.nb, &b), "dyngrid_matrix_create");
  int step = 0;
  std::vector<double> capacitances(meshes);
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  apps::require(dyngrid_share("capacitances", capacitances.data(), capacitances.size() * sizeof(double)),
                "dyngrid_share");

  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= options.steps) break; // beyond it: a restart with fewer
    const int k = step / 2;
    const Equations equations{mesh(body.is_cube, body.along_edge(k)), a, b};
    const double order = equations.count();
    if (step % 2 == 0) {
      run.begin(step, 0);
      equations.set_up();
      run.end(false);
    } else {
      run.begin(step, 2.0 / 3.0 * order * order * order + 2 * order * order);
      const bool is_solved = equations.solve(options.nb);
      run.end();
      const std::vector<double> charge = equations.charges();
      capacitances[k] = equations.capacitance(charge);
      if (options.check) judge(run, body, k, equations, charge, is_solved);
    }
    ++step;
  }
  const int status = run.finish(summary(shape, capacitances, body.published()));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
