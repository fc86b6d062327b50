// SPDX-License-Identifier: BSD-3-Clause
// The heat equation u_t = u_xx + u_yy + u_zz on the unit cube, u = 0 on its border, by alternating directions on
// n x n x n inner points, while the grid of processes grows and shrinks between the steps. With D_x the second
// difference along x, and r = dt / (2 h^2), a step is
//
//     (1 - r D_x) (1 - r D_y) (1 - r D_z) d = 2 r (D_x + D_y + D_z) u,    u := u + d
//
// (Beam and Warming 1978). The right-hand side needs the neighbours of each point, so u has borders. Each factor on the
// left is a tridiagonal system for every line of points. A process has whole lines along x first, then along y and z:
// pencils, which are three fields cut in different dimensions, with a copy between two of them.
//
// u begins as sin(pi x) sin(2 pi y) sin(3 pi z), an eigenvector of each difference: D_x u = -4 sin^2(pi h / 2) u. So a
// step multiplies it by a known number, and every step can be checked. After the last step u is also compared, bit for
// bit, with the same steps done by one process alone.
//
// With --plain each step is done a second time by MPI alone, in turns, and the times of the two are compared.
#include "base/command_line.hpp"
#include "base/statistics.hpp"
#include "common/app.hpp"
#include "common/plain_pencils.hpp"

#include <dyngrid.hpp>
#include <dyngrid/layout.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

using apps::Extents;

const double pi = std::acos(-1.0);
constexpr double flops_per_point = 9 + 3 * 5 + 1;

std::int64_t points(const Extents& n) {
  return n[0] * n[1] * n[2];
}

/// The numbers of the problem, and its two loops.
class Scheme {
public:
  Scheme(std::int64_t n, double r) : n_(n), h_(1.0 / static_cast<double>(n + 1)), r_(r) {
    double before = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      pivot_.push_back(1 / (1 + 2 * r - r * before));
      before = r * pivot_.back();
    }
  }

  std::int64_t n() const { return n_; }
  double start(std::int64_t i, std::int64_t j, std::int64_t k) const { return sine(1, i) * sine(2, j) * sine(3, k); }
  /// By which a step multiplies u.
  double factor() const {
    double sum = 0, product = 1;
    for (int k = 1; k <= 3; ++k) {
      const double root = 2 * std::sin(k * pi * h_ / 2);
      sum += root * root;
      product *= 1 + r_ * root * root;
    }
    return 1 - 2 * r_ * sum / product;
  }

  /// A line of `count` points: right-hand side of those that begin at `u`, in an array whose neighbouring lines are
  /// `row` and `plane` elements away.
  void right_side(const double* u, std::int64_t row, std::int64_t plane, std::int64_t count, double* d) const {
    for (std::int64_t i = 0; i < count; ++i)
      d[i] = 2 * r_ * (u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane] - 6 * u[i]);
  }

  /// Solves (1 - r D) d := d for all lines along dimension `along` of a dense array of n[0] x n[1] x n[2], where that
  /// dimension is whole.
  void solve(int along, const Extents& n, double* d) const {
    std::int64_t stride = 1;
    for (int k = 0; k < along; ++k) stride *= n[static_cast<std::size_t>(k)];
    const std::int64_t length = n[static_cast<std::size_t>(along)];
    if (points(n) == 0) return;
    for (double* lines = d; lines != d + points(n); lines += stride * length) {
      for (std::int64_t i = 0; i < stride; ++i) lines[i] *= pivot_[0];
      for (std::int64_t k = 1; k < length; ++k)
        for (std::int64_t i = k * stride; i < (k + 1) * stride; ++i)
          lines[i] = (lines[i] + r_ * lines[i - stride]) * pivot_[static_cast<std::size_t>(k)];
      for (std::int64_t k = length - 2; k >= 0; --k)
        for (std::int64_t i = k * stride; i < (k + 1) * stride; ++i)
          lines[i] += r_ * pivot_[static_cast<std::size_t>(k)] * lines[i + stride];
    }
  }

private:
  double sine(int wave, std::int64_t i) const { return std::sin(wave * pi * static_cast<double>(i + 1) * h_); }

  std::int64_t n_;
  double h_, r_;
  std::vector<double> pivot_; ///< inverse pivots of Gaussian elimination, the same for every line
};

/// Dense arrays on a fixed grid, or on one process alone.
class Plain {
public:
  Plain(const Scheme& scheme, MPI_Comm comm, int nprow, int npcol)
      : scheme_(scheme), pencils_(comm, nprow, npcol, scheme.n()) {
    for (int along = 0; along < 3; ++along) {
      n_[static_cast<std::size_t>(along)] = pencils_.extents(along);
      d_[static_cast<std::size_t>(along)].resize(static_cast<std::size_t>(points(pencils_.extents(along))));
    }
    u_.resize(d_[0].size());
    ghosted_.resize(static_cast<std::size_t>((n_[0][0] + 2) * (n_[0][1] + 2) * (n_[0][2] + 2)));
  }

  std::vector<double>& u() { return u_; }

  void step() {
    const auto [lines, rows, planes] = n_[0];
    const std::int64_t row = lines + 2, plane = row * (rows + 2);
    for (std::int64_t k = 0; k < planes; ++k)
      for (std::int64_t j = 0; j < rows; ++j)
        std::copy_n(&u_[static_cast<std::size_t>((k * rows + j) * lines)], lines, &ghosted_[place(j, k, row, plane)]);
    pencils_.exchange(ghosted_.data());
    for (std::int64_t k = 0; k < planes; ++k)
      for (std::int64_t j = 0; j < rows; ++j)
        scheme_.right_side(&ghosted_[place(j, k, row, plane)], row, plane, lines,
                           &d_[0][static_cast<std::size_t>((k * rows + j) * lines)]);
    for (std::size_t along = 0; along < 3; ++along) {
      scheme_.solve(static_cast<int>(along), n_[along], d_[along].data());
      pencils_.turn(static_cast<int>(along), d_[along].data(), d_[(along + 1) % 3].data());
    }
    for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += d_[0][i];
  }

private:
  /// Of the first point of line (j, k).
  static std::size_t place(std::int64_t j, std::int64_t k, std::int64_t row, std::int64_t plane) {
    return static_cast<std::size_t>(1 + (j + 1) * row + (k + 1) * plane);
  }

  const Scheme& scheme_;
  apps::PlainPencils pencils_;
  std::array<Extents, 3> n_;
  std::array<std::vector<double>, 3> d_;
  std::vector<double> u_, ghosted_;
};

struct Settings {
  apps::Options common;
  double r = 2;
  bool has_plain = false;
};

class Adi {
public:
  explicit Adi(const Settings& settings)
      : settings_(settings), scheme_(settings.common.n, settings.r),
        u_(pencils("u", 0)), d_{pencils("d along x", 0), pencils("d along y", 1), pencils("d along z", 2)},
        borders_(u_, {1, 1, 1}, {1, 1, 1}) {
    if (dyngrid_is_newcomer() == 0)
      dyngrid::for_each(u_, [&](const auto& i, double& e) { e = scheme_.start(i[0], i[1], i[2]); });
  }
  Adi(const Adi&) = delete;
  Adi& operator=(const Adi&) = delete;

  /// Frees what is made for one grid.
  void grid_changed() { plain_.reset(); }

  /// Before the first step on a grid, so that it is no part of it.
  void make_ready() {
    if (!settings_.has_plain || plain_) return;
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    plain_ = std::make_unique<Plain>(scheme_, dyngrid_comm(), nprow, npcol);
    std::copy_n(u_.local(), points(extents(u_)), plain_->u().begin());
  }

  void step() {
    double *u = u_.local(), *d = d_[0].local();
    const Extents n = extents(u_);
    const auto x = borders_.update();
    borders_.for_each_line(
        [&](const auto& line) { scheme_.right_side(line.x, x.stride(1), x.stride(2), line.count, &d[line.local]); });
    for (std::size_t along = 0; along < 3; ++along) {
      scheme_.solve(static_cast<int>(along), extents(d_[along]), d_[along].local());
      dyngrid::copy(d_[along], d_[(along + 1) % 3]);
    }
    for (std::int64_t i = 0; i < points(n); ++i) u[i] += d[i];
  }

  /// The step by MPI alone.
  void plain_step() { plain_->step(); }

  /// Collective, after this many steps; prints what is wrong.
  void check(apps::Run& run, int step) const {
    const double grown = std::pow(scheme_.factor(), step);
    double error = 0, differing = 0;
    dyngrid::for_each(u_, [&](const auto& i, double e) {
      error = std::max(error, std::fabs(e - grown * scheme_.start(i[0], i[1], i[2])));
    });
    if (plain_) {
      const double* mine = u_.local();
      for (const double e : plain_->u()) differing += *mine++ == e ? 0 : 1;
    }
    if (step == settings_.common.steps) differing += differing_from_one_process(step);
    error = apps::max_over_grid(error);
    differing = apps::sum_over_grid(differing);
    run.report_check(error < 1e-12 && differing == 0, error,
                     fmt::format("{:.2e} from the exact solution{}{}", error,
                                 plain_ && differing == 0 ? ", equal to the plain step" : "",
                                 differing > 0                    ? fmt::format(", {} elements differ", differing)
                                 : step == settings_.common.steps ? ", equal to the serial run"
                                                                  : ""));
  }

private:
  /// A field that is whole along one dimension. Collective.
  dyngrid::Field<double> pencils(const char* name, std::size_t along) const {
    const std::int64_t n = settings_.common.n, nb = settings_.common.nb;
    std::vector<int> process_dims(3, 0);
    process_dims[along] = 1;
    return {name, {n, n, n}, {nb, nb, nb}, process_dims};
  }
  static Extents extents(const dyngrid::Field<double>& field) {
    const auto all = field.view().extents;
    return {all[0], all[1], all[2]};
  }

  /// Elements of mine that are not those of one process alone. Collective.
  double differing_from_one_process(int steps) const {
    const std::int64_t n = scheme_.n();
    std::vector<double> alone(static_cast<std::size_t>(n * n * n));
    int rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    if (rank == 0) {
      Plain plain(scheme_, MPI_COMM_SELF, 1, 1);
      double* element = plain.u().data();
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) *element++ = scheme_.start(i, j, k);
      for (int step = 0; step < steps; ++step) plain.step();
      alone = plain.u();
    }
    for (std::int64_t k = 0; k < n; ++k)
      MPI_Bcast(&alone[static_cast<std::size_t>(k * n * n)], static_cast<int>(n * n), MPI_DOUBLE, 0, dyngrid_comm());
    double differing = 0;
    dyngrid::for_each(u_, [&](const auto& i, double e) {
      differing += e == alone[static_cast<std::size_t>(i[0] + n * (i[1] + n * i[2]))] ? 0 : 1;
    });
    return differing;
  }

  const Settings& settings_;
  Scheme scheme_;
  dyngrid::Field<double> u_;                ///< whole along x
  std::array<dyngrid::Field<double>, 3> d_; ///< whole along x, y, z
  dyngrid::Borders<double> borders_;        ///< of u
  std::unique_ptr<Plain> plain_;
};

void read_command_line(Settings& s, int argc, char** argv) {
  s.common.n = 64;
  s.common.nb = 0;
  base::CommandLine cli("Solves the heat equation in three dimensions by alternating directions while the grid of "
                        "processes grows and shrinks.",
                        "adi");
  apps::add_options(cli, s.common, true);
  cli.add_option("--r", s.r, "dt / (2 h^2)").check(base::positive_number()).show_default();
  cli.add_flag("--plain", s.has_plain,
               "do each step a second time by MPI alone, in turns, compare the results and the times");
  apps::parse(cli, s.common, argc, argv);
  if (s.has_plain && s.common.nb != 0)
    apps::refuse("adi", fmt::format("--plain is given with --nb {}, expected --nb block", s.common.nb));
}

/// Of the slowest process. Collective.
template <class Step> double seconds(Step step) {
  MPI_Barrier(dyngrid_comm());
  const double began = MPI_Wtime();
  step();
  return apps::max_over_grid(MPI_Wtime() - began);
}

/// "a step takes 1.012 times the 3.21 ms by MPI alone (medians of 40)"; empty where no step was compared.
std::string comparison(const std::vector<double>& with_dyngrid, const std::vector<double>& plain) {
  if (plain.empty()) return "";
  return fmt::format("a step takes {:.3f} times the {:.3g} ms by MPI alone (medians of {})",
                     base::median(with_dyngrid) / base::median(plain), base::median(plain) * 1e3, plain.size());
}

} // namespace

int main(int argc, char** argv) try {
  Settings settings;
  read_command_line(settings, argc, argv);
  const double all = std::pow(static_cast<double>(settings.common.n), 3);

  apps::start(settings.common);
  apps::Run run("adi", settings.common);
  int step = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  std::vector<double> with_dyngrid, plain; // seconds of steps, a resize point without a change included
  {
    Adi adi(settings);
    double plain_s = 0;
    const auto plain_step = [&] { plain_s = seconds([&] { adi.plain_step(); }); };
    for (int outcome = 0;;) {
      const double asked = MPI_Wtime();
      if ((outcome = run.resize_point(step)) == DYNGRID_LEAVE) break;
      const double point_s = MPI_Wtime() - asked;
      if (step >= settings.common.steps) break; // beyond it: a restart with fewer
      if (outcome == DYNGRID_RESIZED) adi.grid_changed();
      adi.make_ready();
      if (settings.has_plain && step % 2 == 0) plain_step();
      run.begin(step, flops_per_point * all);
      const double step_s = seconds([&] { adi.step(); });
      run.end();
      if (settings.has_plain && step % 2 != 0) plain_step();
      ++step;
      if (settings.has_plain && outcome == DYNGRID_SAME) {
        with_dyngrid.push_back(point_s + step_s);
        plain.push_back(plain_s);
      }
      if (settings.common.check) adi.check(run, step);
    }
  }
  const int status = run.finish(comparison(with_dyngrid, plain));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
} catch (const dyngrid::Error& error) {
  std::fprintf(stderr, "adi: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
