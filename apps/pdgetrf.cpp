// SPDX-License-Identifier: BSD-3-Clause
// P A = L U, panel by panel, on a grid of processes that may change between two panels of one factorization; then A x =
// b.
//
// The half-factored matrix follows the grid by itself. ScaLAPACK keeps the pivots of a row where the row is, which
// another grid makes worthless; so they are kept as one list that every process has (shared state), and each panel
// takes out of it what its grid wants. All of this is in dyngrid_lu, for who needs no table of panels: there it is one
// call (examples/lu.c).
#include "common/app.hpp"
#include "common/from_file.hpp"
#include "common/local.hpp"
#include "common/scalapack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

// Well conditioned enough for a small residual, far enough from diagonally dominant that rows are exchanged in nearly
// every panel.
double a_element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(apps::mixed(i, j, 5, 2000001) - 1000000) * 1e-6;
}

// The pivots as this grid wants them: for my rows, plus one block.
std::vector<int> pivots_of_my_rows(const dyngrid_matrix* a, const std::vector<int>& pivots) {
  std::int64_t m_loc = 0;
  dyngrid_matrix_shape(a, &m_loc, nullptr, nullptr);
  std::vector<int> mine(m_loc + dyngrid_desc(a)[4]);
  apps::require(dyngrid_lu_pivots(a, pivots.data(), mine.data()), "dyngrid_lu_pivots");
  return mine;
}

// Takes rows [first, last) from the processes that have them into the list that all have. Collective.
void gather_pivots(const dyngrid_matrix* a, const std::vector<int>& mine, std::int64_t first, std::int64_t last,
                   std::vector<int>& pivots) {
  const int* desc = dyngrid_desc(a);
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  const std::int64_t mb = desc[4], nb = desc[5];
  std::vector<int> part(last - first); // the panel lies in one block column; only that grid column knows its pivots
  if (first / nb % npcol == mycol)
    for (std::int64_t i = first; i < last; ++i)
      if (i / mb % nprow == myrow) part[i - first] = mine[i / mb / nprow * mb + i % mb];
  MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_INT, MPI_SUM, dyngrid_comm());
  std::copy(part.begin(), part.end(), pivots.begin() + first);
}

/// The matrices of the program.
struct System {
  dyngrid_matrix *a = nullptr, *original = nullptr, *x = nullptr, *b = nullptr;

  void create(std::int64_t n, std::int64_t nb) {
    apps::require(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a), "dyngrid_matrix_create");
    apps::require(dyngrid_matrix_create("original", 'd', n, n, nb, nb, &original), "dyngrid_matrix_create");
    apps::require(dyngrid_matrix_create("x", 'd', n, 1, nb, nb, &x), "dyngrid_matrix_create");
    apps::require(dyngrid_matrix_create("b", 'd', n, 1, nb, nb, &b), "dyngrid_matrix_create");
  }
  /// First values. file: empty for those of a_element.
  void fill(const std::string& file) {
    if (file.empty())
      apps::fill<double>(original, a_element);
    else
      apps::fill_from_file("pdgetrf", original, file);
    std::int64_t n_loc = 0, lld = 1;
    dyngrid_matrix_shape(original, nullptr, &n_loc, &lld);
    const auto* from = static_cast<const double*>(dyngrid_local(original));
    std::copy(from, from + lld * n_loc, static_cast<double*>(dyngrid_local(a)));
    for (dyngrid_matrix* side : {b, x})
      apps::fill<double>(side, [](std::int64_t i, std::int64_t) { return static_cast<double>(i % 10 + 1); });
  }
};

const int i1 = 1;
const double one = 1, minus_one = -1;

/// Rows and columns of a panel, counted from 1, and what lies around it.
struct Panel {
  Panel(int number, int nb, int order)
      : k(number * nb + 1), jb(std::min(nb, order - k + 1)), last(k + jb - 1), next(k + jb), below(order - k + 1),
        left(k - 1), right(order - last) {}

  int k, jb; ///< its first row and column; its columns
  int last, next;
  int below;       ///< rows from k on
  int left, right; ///< columns beside it

  double flops() const {
    const double m = below, w = jb, r = right;
    return w * w * (m - w / 3) + w * w * r + 2 * (m - w) * r * w;
  }
};

/// Factorizes one panel and brings the columns on its right up to date. Returns the first column whose pivot is 0,
/// or 0.
int factorize(dyngrid_matrix* a, const Panel& p, std::vector<int>& my_pivots, std::vector<int>& pivots) {
  auto* local = static_cast<double*>(dyngrid_local(a));
  const int* desc = dyngrid_desc(a);
  int failed_at = 0;
  pdgetf2_(&p.below, &p.jb, local, &p.k, &p.k, desc, my_pivots.data(), &failed_at);
  gather_pivots(a, my_pivots, p.k - 1, p.last, pivots);
  // pdlaswp wants the panel's pivots on all grid rows, after the rows before the panel, which is how pdgetf2 left them
  if (p.left > 0) pdlaswp_("Forward", "Rows", &p.left, local, &i1, &i1, desc, &p.k, &p.last, my_pivots.data());
  if (p.right > 0) {
    pdlaswp_("Forward", "Rows", &p.right, local, &i1, &p.next, desc, &p.k, &p.last, my_pivots.data());
    pdtrsm_("Left", "Lower", "No transpose", "Unit", &p.jb, &p.right, &one, local, &p.k, &p.k, desc, local, &p.k,
            &p.next, desc);
    pdgemm_("No transpose", "No transpose", &p.right, &p.right, &p.jb, &minus_one, local, &p.next, &p.k, desc, local,
            &p.k, &p.next, desc, &one, local, &p.next, &p.next, desc);
  }
  return failed_at > 0 ? p.left + failed_at : 0;
}

/// max|b - A x| / (max row sum of |A| * max|x| * n * eps). Collective; b becomes the residual.
double scaled_residual(const System& system, std::int64_t n) {
  const int order = static_cast<int>(n);
  std::vector<double> row_sums(n);
  double largest_x = 0;
  dyngrid::for_each<double>(system.original,
                            [&](std::int64_t i, std::int64_t, double e) { row_sums[i] += std::fabs(e); });
  MPI_Allreduce(MPI_IN_PLACE, row_sums.data(), order, MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  dyngrid::for_each<double>(
      system.x, [&](std::int64_t, std::int64_t, double e) { largest_x = std::max(largest_x, std::fabs(e)); });
  pdgemv_("N", &order, &order, &minus_one, static_cast<double*>(dyngrid_local(system.original)), &i1, &i1,
          dyngrid_desc(system.original), static_cast<double*>(dyngrid_local(system.x)), &i1, &i1,
          dyngrid_desc(system.x), &i1, &one, static_cast<double*>(dyngrid_local(system.b)), &i1, &i1,
          dyngrid_desc(system.b), &i1);
  double largest_r = 0;
  bool is_number = true;
  dyngrid::for_each<double>(system.b, [&](std::int64_t, std::int64_t, double e) {
    largest_r = std::max(largest_r, std::fabs(e));
    is_number = is_number && std::isfinite(e);
  });
  largest_r = apps::max_over_grid(is_number ? largest_r : std::numeric_limits<double>::infinity());
  const double scale = *std::max_element(row_sums.begin(), row_sums.end()) * apps::max_over_grid(largest_x) *
                       static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  return scale > 0 ? largest_r / scale : largest_r;
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 1000;
  options.nb = 50;
  std::string file;
  base::CommandLine cli(
      "Factorizes a matrix panel by panel while the grid of processes grows and shrinks, then solves A x = b. "
      "A step is one panel; the "
      "last step is the solution, whose scaled residual max|b - A x| / (max row sum of |A| * max|x| * n * "
      "eps) must be below 16.",
      "pdgetrf");
  apps::add_options(cli, options);
  cli.option("--steps").description("not used: there are as many steps as panels, plus one");
  apps::add_matrix_option(cli, file);
  apps::parse(cli, options, argc, argv);
  apps::take_order("pdgetrf", file, options);
  const std::int64_t n = options.n, nb = options.nb;
  const int panels = static_cast<int>((n + nb - 1) / nb);
  options.steps = panels + 1;

  apps::start(options);
  apps::Run run("pdgetrf", options, "panel");

  System system;
  system.create(n, nb);
  int panel = 0, info = 0;
  std::vector<int> pivots(n);
  // panels are counted in blocks: a restart with other ones is to be refused, not to go on at another column
  apps::require(dyngrid_share(fmt::format("panel of {} columns", nb).c_str(), &panel, sizeof panel), "dyngrid_share");
  apps::require(dyngrid_share("pivots", pivots.data(), pivots.size() * sizeof(int)), "dyngrid_share");
  if (dyngrid_is_newcomer() == 0 && dyngrid_comm() != MPI_COMM_NULL) system.fill(file);

  const int order = static_cast<int>(n);
  while (run.resize_point(panel) != DYNGRID_LEAVE) {
    if (panel >= options.steps) break;
    std::vector<int> my_pivots = pivots_of_my_rows(system.a, pivots);
    if (panel < panels) {
      const Panel here(panel, static_cast<int>(nb), order);
      run.begin(panel, here.flops());
      const int failed_at = factorize(system.a, here, my_pivots, pivots);
      if (info == 0) info = failed_at;
      run.end(false);
    } else {
      run.begin(panel, 2.0 * static_cast<double>(n) * static_cast<double>(n));
      pdgetrs_("N", &order, &i1, static_cast<double*>(dyngrid_local(system.a)), &i1, &i1, dyngrid_desc(system.a),
               my_pivots.data(), static_cast<double*>(dyngrid_local(system.x)), &i1, &i1, dyngrid_desc(system.x),
               &info);
      run.end();
      if (options.check) {
        const double residual = scaled_residual(system, n);
        run.verdict(info == 0 && residual < 16, residual,
                    fmt::format("scaled residual {:.3g}{}", residual, info != 0 ? fmt::format(", info {}", info) : ""));
      }
    }
    ++panel;
  }
  const int status = run.finish();
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
