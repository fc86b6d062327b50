// SPDX-License-Identifier: BSD-3-Clause
// save_cpp FILE hdf5|none|join: save_fortran.f90 through dyngrid.hpp, where every refusal is an exception that all
// processes throw.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "refused.hpp"

namespace {

using follow::expect;
using follow::refused;

constexpr int m = 37, n = 29, nb = 3;

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
constexpr int without_server = DYNGRID_ERR_UNSUPPORTED; // it has none at all
#else
constexpr int without_server = DYNGRID_ERR_STATE;
#endif

/// Fills with which * (1000 i + j), or (negative) compares with that.
void each(const dyngrid::Application& app, dyngrid::Matrix<double>& a, int which) {
  const dyngrid::Grid g = app.grid();
  if (g.myrow < 0) return;
  const int* d = a.desc();
  std::int64_t at_col = 0;
  for (int j = 0; j < n; ++j) {
    if (j / nb % g.npcol != g.mycol) continue;
    std::int64_t at_row = 0;
    for (int i = 0; i < m; ++i) {
      if (i / nb % g.nprow != g.myrow) continue;
      double& x = a.local()[at_row++ + at_col * d[8]];
      const double wanted = std::abs(which) * (1000.0 * i + j);
      if (which > 0)
        x = wanted;
      else
        expect(x == wanted, "element");
    }
    ++at_col;
  }
}

} // namespace

int main(int, char** argv) {
  const std::string file = argv[1], kind = argv[2];
  dyngrid::Application app;
  dyngrid::Matrix<double> a("a", m, n, nb, nb);
  dyngrid::Shared<int> step("step", 0);
  if (app.is_newcomer()) {
    expect(app.resize_point() == dyngrid::Outcome::resized, "a new process joins");
  } else {
    expect(!app.is_restarted(), "not restarted");
    expect(app.is_first() == (app.grid().myrow == 0 && app.grid().mycol == 0), "process 0 is first");
    refused(DYNGRID_ERR_ARGUMENT, "expected", [&] { app.set_processes(7); });
    expect(app.need("2:4") == dyngrid::Outcome::same, "it has what it needs");
    refused(DYNGRID_ERR_UNSUPPORTED, "scheduler", [&] { app.need("9:16"); });
    refused(DYNGRID_ERR_ARGUMENT, "grids", [&] { app.need("no grids"); });
    app.set_processes(DYNGRID_BLOCKING);
    if (kind == "join")
      app.set_processes(DYNGRID_JOIN);
    else
      refused(without_server, "ompi-server", [&] { app.set_processes(DYNGRID_JOIN); });
    each(app, a, 1);
    step = 5;
    if (kind == "hdf5") {
      app.checkpoint(file);
      each(app, a, 2);
      step = 6;
      app.restore(file);
      each(app, a, -1);
      expect(step == 5, "shared");
      refused(DYNGRID_ERR_IO, "/no/such/folder", [&] { app.checkpoint("/no/such/folder/file"); });
      refused(DYNGRID_ERR_NOT_FOUND, "No such file", [&] { app.restore("/no/such/file"); });
      refused(DYNGRID_ERR_ARGUMENT, "DYNGRID_CHECKPOINT", [&] { app.checkpoint(); });
    } else if (kind == "none") {
      refused(DYNGRID_ERR_UNSUPPORTED, "without HDF5", [&] { app.checkpoint(file); });
      refused(DYNGRID_ERR_UNSUPPORTED, "without HDF5", [&] { app.restore(file); });
    }
    const dyngrid::Outcome outcome = app.resize(1, 3);
    if (outcome == dyngrid::Outcome::leave) {
      app.finalize();
      return 0;
    }
    expect(outcome == dyngrid::Outcome::resized, "resize");
  }
  each(app, a, -1);
  expect(step == 5, "shared");
  if (kind == "hdf5") {
    each(app, a, 3);
    step = 7;
    app.restore(file);
    each(app, a, -1);
    expect(step == 5, "shared, on another grid");
  }
  app.finalize();
}
