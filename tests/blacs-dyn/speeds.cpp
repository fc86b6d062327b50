// SPDX-License-Identifier: BSD-3-Clause
// Speeds that belong to processes, and matrices that are distributed by them.
// speeds sequence 1x4 2x3 ...: every process keeps its speed through growths, shrinks and sleep, and the matrices
// follow it, element by element.
// speeds hosts 1x3 2x2 ...: DYNGRID_HOSTS has the speeds of the emulated hosts (the agent sets TEST_HOST); the speeds
// of every grid are printed.
// speeds offered PxQ: the same, requested from outside until the grid is that, with the offer in TEST_HOSTS.
// speeds statuses: an error on one process is the same error on all.
// speeds checkpoint FILE, speeds restore FILE: in another run. speeds found FILE: in one whose first processes make
// none of the matrices, and that grows.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

#include <unistd.h>

#include "dyngrid.hpp"
#include "follow.hpp"

namespace {

using follow::agreed;
using follow::expect;

constexpr int m = 61, n = 47;

/// Rows by the speeds of the first grid column, columns by those of the first row, as passed to the rule.
std::vector<std::int64_t> by_first_speeds(dyngrid::Axis axis, std::int64_t length, int nprow, int npcol) {
  const bool is_rows = axis == dyngrid::Axis::rows;
  std::vector<double> speeds;
  for (int k = 0; k < (is_rows ? nprow : npcol); ++k)
    speeds.push_back(is_rows ? dyngrid::rule_speed(k, 0) : dyngrid::rule_speed(0, k));
  expect(dyngrid_rule_speed(nprow, 0) == 0 && dyngrid_rule_speed(0, -1) == 0, "outside the grid");
  std::vector<std::int64_t> sizes(speeds.size());
  expect(!dyngrid_natural_blocks(length, static_cast<int>(speeds.size()), speeds.data(), sizes.data()), "natural");
  return sizes;
}

struct Weighted {
  dyngrid::Matrix<double> block{"block", m, n, 1, 1, dyngrid::Order::block};
  dyngrid::Matrix<std::int32_t> blocks_of_three{"blocks of three", m, n, 3, 2, dyngrid::Order::block};
  dyngrid::Matrix<std::complex<double>> cyclic{"cyclic", m, n, 2, 3, dyngrid::Order::cyclic};
  dyngrid::Matrix<float> plain{"plain", m, n, 5, 4};
  dyngrid::Matrix<std::complex<float>> by_rule{"by rule", m, n, by_first_speeds};

  template <class F> void each(F&& f) {
    f(block);
    f(blocks_of_three);
    f(cyclic);
    f(plain);
    f(by_rule);
  }
  void fill(int salt) {
    each([&](auto& a) { follow::fill_as<std::remove_reference_t<decltype(a(0, 0))>>(a.handle(), salt); });
  }
  void check(int salt, const std::string& what) {
    each([&](auto& a) {
      using T = std::remove_reference_t<decltype(a(0, 0))>;
      expect(follow::wrong_as<T>(a.handle(), salt) == 0, what + ": elements");
      // loop bounds reach every element of mine once, in the order of the local array
      std::int64_t i_loc = 0, j_loc = 0;
      for (const dyngrid::Range& c : a.ranges(dyngrid::Axis::columns))
        for (std::int64_t j = c.first; j < c.last; ++j, ++j_loc) {
          i_loc = 0;
          for (const dyngrid::Range& r : a.ranges(dyngrid::Axis::rows))
            for (std::int64_t i = r.first; i < r.last; ++i, ++i_loc)
              expect(a(i_loc, j_loc) == follow::value<T>(i, j, n, salt), what + ": element by ranges");
        }
      expect(j_loc == a.columns() && (j_loc == 0 || i_loc == a.rows()), what + ": ranges are all of mine");
    });
  }
};

/// Speeds of the processes of the grid, row-major, as reported by themselves.
std::vector<double> speeds_here() {
  int size = 0;
  MPI_Comm_size(dyngrid_comm(), &size);
  std::vector<double> speeds(static_cast<std::size_t>(size));
  const double mine = dyngrid_speed();
  MPI_Allgather(&mine, 1, MPI_DOUBLE, speeds.data(), 1, MPI_DOUBLE, dyngrid_comm());
  return speeds;
}

/// By the speeds: rows and columns by the shares that gridmap gives, in whole blocks.
void lies_by_speed(Weighted& all, const std::string& what, bool rule_was_asked = true) {
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  const std::vector<double> speeds = speeds_here();
  const auto speed_at = [&](int row, int col) { return speeds[static_cast<std::size_t>(row * npcol + col)]; };
  std::vector<double> first_column, first_row;
  for (int row = 0; row < nprow; ++row) first_column.push_back(speed_at(row, 0));
  for (int col = 0; col < npcol; ++col) first_row.push_back(speed_at(0, col));
  std::vector<std::int64_t> rows_due(first_column.size()), cols_due(first_row.size());
  expect(!dyngrid_natural_blocks(m, nprow, first_column.data(), rows_due.data()) &&
             !dyngrid_natural_blocks(n, npcol, first_row.data(), cols_due.data()),
         "natural");
  expect(!rule_was_asked || (all.by_rule.rows() == rows_due[static_cast<std::size_t>(myrow)] &&
                             all.by_rule.columns() == cols_due[static_cast<std::size_t>(mycol)]),
         what + ": the rule knew the speeds");
  expect(dyngrid_rule_speed(0, 0) == 0, "no rule is asked");
  if (std::all_of(speeds.begin(), speeds.end(), [&](double s) { return s == speeds[0]; })) {
    expect(all.block.desc()[0] == 1 && all.cyclic.desc()[0] == 1 && all.cyclic.desc()[4] == 2, what + ": ordinary");
    return;
  }
  std::vector<double> r(static_cast<std::size_t>(nprow)), c(static_cast<std::size_t>(npcol));
  expect(!dyngrid_map_in_place(nprow, npcol, speeds.data(), 1000, 1000, DYNGRID_MAP_BEST, r.data(), c.data(), nullptr,
                               nullptr, nullptr, nullptr),
         "map_in_place");
  const auto due = [](std::int64_t length, const std::vector<double>& shares, int at) {
    std::vector<std::int64_t> sizes(shares.size());
    expect(!dyngrid_natural_blocks(length, static_cast<int>(shares.size()), shares.data(), sizes.data()), "natural");
    return sizes[static_cast<std::size_t>(at)];
  };
  expect(all.block.rows() == due(m, r, myrow) && all.block.columns() == due(n, c, mycol), what + ": single rows");
  const auto rows = 2 * due((m + 1) / 2, r, myrow), columns = 3 * due((n + 2) / 3, c, mycol);
  expect(all.cyclic.rows() <= rows && all.cyclic.rows() >= rows - 1, what + ": rows in blocks of two");
  expect(all.cyclic.columns() <= columns && all.cyclic.columns() >= columns - 2, what + ": columns in blocks of three");
  expect(all.plain.desc()[0] == 1 && all.plain.desc()[4] == 5, what + ": the plain one");
}

int sequence(int argc, char** argv) {
  int nprow = 0, npcol = 0, rank = 0, step = 0;
  expect(argc > 2 && std::sscanf(argv[2], "%dx%d", &nprow, &npcol) == 2, "a grid as 2x3");
  expect(dyngrid_init_grid(nprow, npcol) == 0, "dyngrid_init_grid");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool is_new = dyngrid_is_newcomer() != 0;
  double mine = is_new ? 2.5 + rank : 1 + 0.75 * (rank % 3);
  expect(dyngrid_speed() == 1, "before it is given");
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const bool early = is_new || dyngrid_comm() == MPI_COMM_NULL; // it states its speed before it joins
  if (early) {
    expect(dyngrid_set_speed(-1) == DYNGRID_ERR_ARGUMENT && dyngrid_set_speed(mine) == 0, "set_speed");
    expect(dyngrid_speed() == mine, "kept until it joins");
  }
  Weighted all;
  if (!early) {
    lies_by_speed(all, "all alike");
    all.fill(3);
    expect(dyngrid_set_speed(mine) == 0, "set_speed");
    all.check(3, "nothing moved");
    expect(dyngrid_relayout() >= 0, "relayout");
    expect(dyngrid_relayout() == DYNGRID_SAME, "all lie so");
  }
  const bool stays = follow::on_each_grid([&] {
    expect(dyngrid_speed() == mine, "the speed stays with the process");
    lies_by_speed(all, "step " + std::to_string(step));
    all.check(3, "step " + std::to_string(step));
    if (3 + step == argc) return false;
    mine *= 1.25 + 0.5 * dyngrid_is_first();
    expect(dyngrid_set_speed(mine) == 0, "another speed"); // the basis of its layout on the next grid, and after
                                                           // sleep
    follow::request(argv[3 + step++]);
    return true;
  });
  if (!stays) return dyngrid_finalize();
  // all as fast as the others again: ordinary matrices, and a weighted one in blocks of one size after that
  expect(dyngrid_set_speed(7) == 0 && dyngrid_relayout() >= 0, "alike");
  lies_by_speed(all, "alike");
  all.check(3, "alike");
  expect(all.cyclic.reblock(4, 4) == dyngrid::Outcome::resized, "reblock");
  expect(dyngrid_set_speed(1 + dyngrid_is_first()) == 0 && dyngrid_relayout() >= 0, "not alike");
  expect(all.cyclic.desc()[0] == 1 && all.cyclic.desc()[4] == 4, "it is not dealt out any more");
  all.check(3, "in the end");
  return follow::all_right();
}

std::vector<std::string> comma_separated(const char* text) {
  std::vector<std::string> parts;
  std::istringstream all(text ? text : "");
  for (std::string part; std::getline(all, part, ',');) parts.push_back(part);
  return parts;
}

/// From DYNGRID_HOSTS, for the host of this process.
double said_speed() {
  const char* host = std::getenv("TEST_HOST");
  const char* offered = std::getenv("TEST_HOSTS");
  for (const std::string& part : comma_separated(offered ? offered : std::getenv("DYNGRID_HOSTS")))
    if (host && part.compare(0, std::strlen(host) + 1, host + std::string(":")) == 0)
      return std::stod(part.substr(part.rfind(':') + 1));
  return 1;
}

int hosts(int argc, char** argv) {
  const bool is_offered = argv[1] == std::string("offered");
  int step = 0;
  expect(dyngrid_init_grid(1, 1) == 0, "dyngrid_init_grid");
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  Weighted all;
  bool is_new = dyngrid_is_newcomer() != 0;
  if (!is_new) all.fill(3);
  for (;;) {
    if (!is_new) {
      const std::vector<double> speeds = speeds_here();
      int nprow = 0, npcol = 0;
      dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
      if (dyngrid_is_first() != 0) {
        std::printf("%dx%d:", nprow, npcol);
        for (const double speed : speeds) std::printf(" %g", speed);
        std::printf("\n");
        std::fflush(stdout);
      }
      expect(dyngrid_speed() == said_speed(), "the speed that is said of the host");
      lies_by_speed(all, "step " + std::to_string(step), step > 0);
      all.check(3, "step " + std::to_string(step));
      if (is_offered ? std::to_string(nprow) + "x" + std::to_string(npcol) == argv[2] : 2 + step == argc) break;
      if (!is_offered) follow::request(argv[2 + step]);
      ++step;
    }
    is_new = false;
    int outcome = DYNGRID_SAME;
    while ((outcome = dyngrid_resize_point_at("hosts")) == DYNGRID_SAME) usleep(5000);
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  }
  return follow::all_right();
}

int statuses() {
  expect(dyngrid_set_speed(1) == DYNGRID_ERR_STATE && dyngrid_speed() == 1, "before dyngrid_init");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  const bool is_bad = rank == 3;
  expect(dyngrid_set_speed(1 + rank) == 0, "set_speed");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -2.0, std::nan(""), infinity, -infinity}) {
    agreed(dyngrid_set_speed(is_bad ? bad : 9), DYNGRID_ERR_ARGUMENT, "one speed is none");
    agreed(dyngrid_set_speed(bad), DYNGRID_ERR_ARGUMENT, "none is one");
    expect(dyngrid_speed() == 1 + rank, "as they were");
  }
  dyngrid_matrix* a = nullptr;
  for (const int order : {0, 4, -1})
    agreed(dyngrid_matrix_create_weighted("a", 'd', m, n, 2, 2, is_bad ? order : 1, &a), DYNGRID_ERR_ARGUMENT, "order");
  agreed(dyngrid_matrix_create_weighted("a", 'd', m, n, 2, 2, is_bad ? 1 : 2, &a), DYNGRID_ERR_MISMATCH, "differs");
  agreed(dyngrid_matrix_create_weighted("a", 'd', m, n, is_bad ? 0 : 2, 2, 1, &a), DYNGRID_ERR_ARGUMENT, "mb");
  expect(a == nullptr && dyngrid_matrix_find("a") == nullptr, "none of them was made");
  agreed(dyngrid_matrix_create_weighted("a", 'd', 0, n, 2, 2, 2, &a), 0, "without rows");
  std::int64_t first = 7, last = 7;
  expect(dyngrid_my_range(a, 'R', 0, &first, &last) == 0 && first == 7 && last == 7, "no row");
  expect(dyngrid_my_range(a, 'C', 0, nullptr, nullptr) == 1, "columns without a place for them");
  expect(dyngrid_my_range(nullptr, 'R', 0, &first, &last) == DYNGRID_ERR_NULL, "no matrix");
  expect(dyngrid_my_range(a, 'x', 0, &first, &last) == DYNGRID_ERR_ARGUMENT, "no axis");
  expect(dyngrid_my_range(a, 'R', -1, &first, &last) == DYNGRID_ERR_ARGUMENT, "no stretch");
  return follow::all_right();
}

int checkpoint(const std::string& what, const char* file) {
  expect(dyngrid_init_grid(2, 3) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  Weighted all;
  if (what == "checkpoint") {
    expect(dyngrid_set_speed(1 + rank / 3.0) == 0 && dyngrid_relayout() == DYNGRID_RESIZED, "by speed");
    all.fill(5);
    expect(dyngrid_checkpoint(file) == 0, "checkpoint");
  } else {
    expect(dyngrid_restore(file) == 0, "restore");
    expect(dyngrid_speed() == 1 + rank / 3.0, "the speed of the file, to the last bit");
    lies_by_speed(all, "restored", false); // a relayout calls the rules
    all.check(5, "restored");
    expect(dyngrid_relayout() == DYNGRID_RESIZED && dyngrid_relayout() == DYNGRID_SAME, "all lie so");
    lies_by_speed(all, "restored and asked");
    all.check(5, "restored and asked");
    const double mine = 6 - rank; // the program's own have priority over those of the file
    expect(dyngrid_set_speed(mine) == 0 && dyngrid_relayout() == DYNGRID_RESIZED && dyngrid_restore(file) == 0,
           "again");
    expect(dyngrid_speed() == mine, "the run's own speed");
    lies_by_speed(all, "restored again", false);
    all.check(5, "restored again");
  }
  return follow::all_right();
}

int found(const char* file) {
  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  dyngrid_matrix* a = nullptr;
  const bool is_new = dyngrid_is_newcomer() != 0;
  if (is_new || dyngrid_comm() == MPI_COMM_NULL) {
    expect(!dyngrid_matrix_create_weighted("cyclic", 'z', m, n, 2, 3, DYNGRID_ORDER_CYCLIC, &a), "create");
  } else {
    expect(dyngrid_restore(file) == 0, "restore");
    a = dyngrid_matrix_find("cyclic");
  }
  const int outcome = is_new ? dyngrid_resize_point() : dyngrid_resize(2, 2, DYNGRID_OPTIMAL);
  expect(outcome == DYNGRID_RESIZED && follow::wrong_as<std::complex<double>>(a, 5) == 0, "a growth");
  expect(dyngrid_set_speed(1 + dyngrid_is_first()) == 0 && dyngrid_relayout() == DYNGRID_RESIZED, "dealt out by speed");
  return follow::all_right();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  int status = -1;
  if (what == "sequence") status = sequence(argc, argv);
  if (argc > 2 && (what == "hosts" || what == "offered")) status = hosts(argc, argv);
  if (what == "statuses") status = statuses();
  if (argc > 2 && (what == "checkpoint" || what == "restore")) status = checkpoint(what, argv[2]);
  if (argc > 2 && what == "found") status = found(argv[2]);
  expect(status == 0,
         "expected sequence GRIDS, hosts GRIDS, offered GRID, statuses, checkpoint FILE, restore FILE or found FILE");
  MPI_Finalize();
  return 0;
}
