// SPDX-License-Identifier: BSD-3-Clause
// factoring KIND TYPE MxN NB ORDER FINAL [ROUNDS [give-back]]: dyngrid_lu and dyngrid_cholesky while DYNGRID_RESIZE_AT
// changes the grid between panels. Compared with LAPACK on one process: equal pivots, factors and a solved system of
// residual below 16.
// - KIND: lu singular lower upper indefinite nan
// - ORDER: 0 equal blocks, else DYNGRID_ORDER_* by unequal speeds
// - FINAL: the grid on which the last factorization ends
// - TEST_CHANGES=4: number of changes, each at the panel of its request and not after the last one
// - TEST_ASK=1x2: process 0 requests that grid over the job's socket before the first factorization
// - TEST_HOLD=2: until that number of changes was made, every product of blocks takes 0.1 s longer, 0.4 s after the
//   first change, on fewer processes: other programs act meanwhile
// - TEST_SPEED=on: processes get other speeds in the first change; the next entry of the timetable, the same grid,
//   redistributes
// - TEST_ELSEWHERE=FILE: a checkpoint that was written inside is not restored outside
// - TEST_LOADED=FOLDER: processors are slow, and from 2 s after the start on process 1 gets a quarter of its own. The
//   balancer acts inside, and the history (DYNGRID_HISTORY) has the panels. FOLDER: for a /proc of each process. Type
//   d. With TEST_SPEED the speeds of the first change are those of the processors: the time with known speeds
// - TEST_ORDERED=on: with TEST_LOADED, but no process becomes slow; a matrix in another order gets the order for
//   factorizations
// factoring statuses: the refused calls
// factoring apart: a process inside a factorization cannot join where the others change the grid themselves
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>

#include "../pblas/element_types.hpp"
#include "../pblas/local_lapack.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "common/own_kernel.hpp"
#include "control/client.hpp"
#include "dyngrid/balance.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "follow.hpp"

namespace {

/// A slow processor that competitors share: a process that multiplies matrices sleeps until it would be done.
class Processor {
public:
  static constexpr double flops_per_s = 1.5e6, loaded_after_s = 2, loaded_share = 0.25;

  explicit Processor(std::string folder) : folder_(std::move(folder)), kernel_(folder_), begun_s_(own::now_s()) {
    setenv("DYNGRID_LOAD_ROOT", folder_.c_str(), 1);
  }
  ~Processor() { std::filesystem::remove_all(folder_); }
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  double share() const {
    return dyngrid_process_id() == 1 && !std::getenv("TEST_ORDERED") && own::now_s() - begun_s_ > loaded_after_s
               ? loaded_share
               : 1;
  }
  void works(double flops) { // the kernel counts continuously
    for (double left = flops; left > 0;) {
      const double now = share(), most_s = 0.02, lasts_s = std::min(most_s, left / (flops_per_s * now));
      owed_s_ += lasts_s;
      left -= lasts_s * flops_per_s * now;
      if (owed_s_ < 0.001) continue; // no sleep is as short
      const double from = own::now_s();
      usleep(static_cast<useconds_t>(1e6 * owed_s_));
      owed_s_ -= own::now_s() - from;
      kernel_.ran(now);
    }
  }

private:
  std::string folder_;
  own::Kernel kernel_;
  double begun_s_, owed_s_ = 0;
};

Processor* processor = nullptr; ///< while a factorization runs
int held_changes = 0;           ///< TEST_HOLD, minus those that were made
int hold_us = 100000;

} // namespace

/// Replaces BLAS's.
extern "C" void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc) {
  using Routine = decltype(&dgemm_);
  static const auto real = reinterpret_cast<Routine>(dlsym(RTLD_NEXT, "dgemm_"));
  real(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (processor) processor->works(2.0 * *m * *n * *k);
  if (held_changes > 0) usleep(static_cast<useconds_t>(hold_us));
}

namespace {

using follow::expect;

using elements::conj;
using elements::Dense;
using elements::difference;
using elements::element_of;
using elements::is_complex;
using elements::largest;
using elements::Real;

struct Case {
  std::string kind;
  char type = 'd';
  int m = 0, n = 0, nb = 1, order = 0, nprow = 0, npcol = 0, rounds = 1, options = 0;

  bool is_lu() const { return kind == "lu" || kind == "singular" || kind == "nan"; }
  char uplo() const { return kind == "upper" ? 'U' : 'L'; }
  int special() const { return 2 * n / 3; } // row and column where it is singular or indefinite
};

template <class T> T element(const Case& c, int i, int j, int salt) {
  if (c.kind == "singular" && j == c.special()) return T(0);
  if (c.kind == "nan" && i == 3 && j == c.n / 2) return T(std::numeric_limits<Real<T>>::quiet_NaN());
  if (c.is_lu()) return element_of<T>(salt, i, j);
  if (i == j)
    return T(static_cast<Real<T>>(c.kind == "indefinite" && i == c.special() ? -1 : c.n)); // dominant where it is not
  return i > j ? element_of<T>(salt, i, j) : conj(element_of<T>(salt, j, i));
}

/// The matrix on all processes of the grid.
template <class T> Dense<T> whole(const dyngrid_matrix* a) {
  const int* desc = dyngrid_desc(a);
  Dense<T> all(desc[2], desc[3]);
  const T* mine = static_cast<const T*>(dyngrid_local(a));
  follow::for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
    all(static_cast<int>(i), static_cast<int>(j)) = mine[at];
  });
  const auto numbers = static_cast<int>(all.x.size() * sizeof(T) / sizeof(Real<T>));
  MPI_Allreduce(MPI_IN_PLACE, all.x.data(), numbers, sizeof(Real<T>) == 8 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
                dyngrid_comm());
  return all;
}
template <class T, class F> void fill(dyngrid_matrix* a, F&& f) {
  T* mine = static_cast<T*>(dyngrid_local(a));
  follow::for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
    mine[at] = f(static_cast<int>(i), static_cast<int>(j));
  });
}

/// |a - b| / (|a| n eps), which must be below 16, as in ScaLAPACK's testers.
template <class T> void expect_near(const Dense<T>& a, const Dense<T>& b, double scale, const std::string& what) {
  const double residual =
      difference(a, b) / (scale * a.m * static_cast<double>(std::numeric_limits<Real<T>>::epsilon()));
  expect(residual < 16, what + ": scaled residual " + std::to_string(residual));
}
void expect_same(std::int64_t mine, const std::string& what) {
  std::int64_t range[2] = {mine, -mine};
  MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MAX, dyngrid_comm());
  expect(range[0] == -range[1], what + " is the same on all processes");
}

template <class T> void check_lu(const Case& c, const Dense<T>& a, const Dense<T>& f, const std::vector<int>& pivots) {
  Dense<T> expected = a, product(c.m, c.n);
  std::vector<int> expected_pivots(pivots.size());
  int info = 0;
  local::getrf(T{})(&a.m, &a.n, expected.x.data(), &a.m, expected_pivots.data(), &info);
  expect(pivots == expected_pivots, "LAPACK's pivots");
  const int r = std::min(c.m, c.n);
  Dense<T> l(c.m, r), u(r, c.n);
  for (int j = 0; j < r; ++j)
    for (int i = j; i < c.m; ++i) l(i, j) = i == j ? T(1) : f(i, j);
  for (int j = 0; j < c.n; ++j)
    for (int i = 0; i <= std::min(j, r - 1); ++i) u(i, j) = f(i, j);
  product = local::product('N', 'N', l, u);
  for (int i = r - 1; i >= 0; --i)
    for (int j = 0; j < c.n; ++j) std::swap(product(i, j), product(pivots[static_cast<std::size_t>(i)] - 1, j));
  expect_near(a, product, largest(a), "P L U");
}

/// The other triangle is unchanged.
template <class T> void check_cholesky(const Case& c, const Dense<T>& a, const Dense<T>& f) {
  Dense<T> l(c.n, c.n), adjoint(c.n, c.n);
  const bool is_lower = c.uplo() == 'L';
  for (int j = 0; j < c.n; ++j)
    for (int i = 0; i < c.n; ++i) {
      if (is_lower ? i >= j : i <= j)
        (is_lower ? l(i, j) : l(j, i)) = is_lower ? f(i, j) : conj(f(i, j));
      else
        expect(f(i, j) == a(i, j), "the other triangle is as it was");
    }
  for (int j = 0; j < c.n; ++j)
    for (int i = 0; i < c.n; ++i) adjoint(i, j) = conj(l(j, i));
  expect_near(a, local::product('N', 'N', l, adjoint), largest(a), "L L^H");
}

/// Of an indefinite matrix: the panels before the failing one are done, and nothing else is.
template <class T> void check_indefinite(const Case& c, Dense<T> a, const Dense<T>& f) {
  const Dense<T> before = a;
  const int done = c.special() / c.nb * c.nb;
  for (int k = 0; k < done; ++k) {
    const Real<T> root = std::sqrt(std::real(a(k, k)));
    for (int i = k; i < c.n; ++i) a(i, k) /= T(root);
    for (int j = k + 1; j < c.n; ++j)
      for (int i = j; i < c.n; ++i) a(i, j) -= a(i, k) * conj(a(j, k));
  }
  expect_near(a, f, largest(before), "the panels before the one that fails");
}

template <class T>
void check_solution(const Case& c, const Dense<T>& a, const dyngrid_matrix* factors, const dyngrid_matrix* b,
                    const std::vector<int>& pivots) {
  const int one = 1, sides = dyngrid_desc(b)[3];
  const Dense<T> right = whole<T>(b);
  auto* x = static_cast<T*>(dyngrid_local(b));
  const auto* f = static_cast<const T*>(dyngrid_local(factors));
  int info = -1;
  if (c.is_lu()) {
    std::int64_t m_loc = 0;
    dyngrid_matrix_shape(factors, &m_loc, nullptr, nullptr);
    std::vector<int> ipiv(static_cast<std::size_t>(m_loc + c.nb));
    expect(dyngrid_lu_pivots(factors, pivots.data(), ipiv.data()) == 0, "dyngrid_lu_pivots");
    spread_out::getrs(T{})("N", &c.n, &sides, f, &one, &one, dyngrid_desc(factors), ipiv.data(), x, &one, &one,
                           dyngrid_desc(b), &info);
  } else {
    const char uplo = c.uplo();
    spread_out::potrs(T{})(&uplo, &c.n, &sides, f, &one, &one, dyngrid_desc(factors), x, &one, &one, dyngrid_desc(b),
                           &info);
  }
  expect(info == 0, "the solution");
  const Dense<T> solution = whole<T>(b);
  expect_near(right, local::product('N', 'N', a, solution), largest(a) * std::max(1.0, largest(solution)), "A x = b");
}

template <class T>
void check(const Case& c, const dyngrid_matrix* a, const dyngrid_matrix* b, int round, int info,
           const std::vector<int>& pivots) {
  Dense<T> original(c.m, c.n);
  for (int j = 0; j < c.n; ++j)
    for (int i = 0; i < c.m; ++i) original(i, j) = element<T>(c, i, j, round);
  const Dense<T> factors = whole<T>(a);
  expect_same(info, "info");
  for (const int row : pivots) expect_same(row, "a pivot");
  if (c.kind == "nan") return expect(!std::isfinite(largest(factors)), "NaN stays");
  const int wanted = c.kind == "singular" || c.kind == "indefinite" ? c.special() + 1 : 0;
  expect(info == wanted, "info is " + std::to_string(info) + ", expected " + std::to_string(wanted));
  if (c.kind == "indefinite") return check_indefinite(c, original, factors);
  if (c.is_lu())
    check_lu(c, original, factors, pivots);
  else
    check_cholesky(c, original, factors);
  if (c.m == c.n && info == 0) check_solution(c, original, a, b, pivots);
}

std::array<std::int64_t, 3> parts_of(const dyngrid_matrix* a) {
  std::int64_t rows = 0, cols = 0;
  dyngrid_matrix_shape(a, &rows, &cols, nullptr);
  std::array<std::int64_t, 2> range{rows * cols, -rows * cols};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT64_T, MPI_MAX, dyngrid_comm());
  int processes = 0;
  MPI_Comm_size(dyngrid_comm(), &processes);
  return {processes, -range[1], range[0]};
}

/// In the middle of a factorization.
struct Changes {
  int count = 0, relayouts = 0;
  const dyngrid_matrix* matrix = nullptr;
  std::vector<std::array<std::int64_t, 3>> parts; ///< after each: processes of the grid, and the least and largest part
  static void after(void* data) {
    auto& self = *static_cast<Changes*>(data);
    ++self.count;
    --held_changes, hold_us = 400000;
    dyngrid_resize_report r{};
    dyngrid_last_resize(&r);
    self.parts.push_back(parts_of(self.matrix));
    self.relayouts += r.from_nprow == r.to_nprow && r.from_npcol == r.to_npcol;
    const int id = dyngrid_process_id();
    if (self.count == 1 && std::getenv("TEST_SPEED"))
      expect(dyngrid_set_speed(processor ? (id == 1 ? Processor::loaded_share : 1) : 5 - id % 3) == 0, "another speed");
  }
};

void ask_from_outside(std::optional<control::Client>& client) {
  if (!std::getenv("TEST_ASK") || !dyngrid_is_first()) return;
  client.emplace(control::Client::to_job(dyngrid_job()));
  int nprow = 0, npcol = 0;
  expect(std::sscanf(std::getenv("TEST_ASK"), "%dx%d", &nprow, &npcol) == 2, "a grid as 1x2");
  const base::Json reply = client->call("resize", {{"grid", {nprow, npcol}}});
  expect(reply.value("accepted", false), "the request: " + reply.dump());
}

/// In stretches of one block column, and no more of them move later.
void check_ordered(const dyngrid_matrix* a, const Changes& changes) {
  expect(dyngrid_my_range(a, 'C', 1, nullptr, nullptr) == 1, "dealt out for factorizations");
  expect(changes.relayouts == 1 && changes.count == 1, "laid out anew once");
  dyngrid_balance_report balance{};
  expect(dyngrid_last_balance(&balance) == 0 && balance.is_done == 1 && balance.moved_elements > 0, "a balance");
  expect(std::strstr(balance.why, "order for factorizations") != nullptr, balance.why);
}

/// Of four processes on 2x2 one has become slow: equal parts go to the three others, unequal ones are redistributed.
void check_balance(const Case& c, const Changes& changes) {
  dyngrid_balance_report balance{};
  expect(dyngrid_last_balance(&balance) == 0 && balance.number > 0, "a balance");
  const auto has_acted = [&](const std::array<std::int64_t, 3>& parts) {
    return c.order == 0 ? parts[0] == 3 : parts[0] == 4 && 2 * parts[1] < parts[2];
  };
  expect(std::any_of(changes.parts.begin(), changes.parts.end(), has_acted), "the balancer has acted");
}

void check_history() {
  const char* file = std::getenv("TEST_LOADED") ? std::getenv("DYNGRID_HISTORY") : nullptr;
  if (!file || std::string(file) == "off") return;
  const std::string text = base::content_of(file);
  expect(text.find("panels of dyngrid_") != std::string::npos, "panels in history: " + text);
  std::filesystem::remove(file);
}

template <class T> int run(const Case& c) {
  std::optional<Processor> slow;
  if (const char* folder = std::getenv("TEST_LOADED"))
    slow.emplace(std::string(folder) + "/" + std::to_string(getpid()));
  expect(dyngrid_init() == 0, "init");
  // a new process continues the count
  expect(c.order == 0 || slow || dyngrid_set_speed(1 + dyngrid_process_id() % 3 + (dyngrid_is_newcomer() ? 1 : 0)) == 0,
         "speed");
  dyngrid_matrix *a = nullptr, *b = nullptr;
  expect((c.order == 0 ? dyngrid_matrix_create("A", c.type, c.m, c.n, c.nb, c.nb, &a)
                       : dyngrid_matrix_create_weighted("A", c.type, c.m, c.n, c.nb, c.nb, c.order, &a)) == 0,
         "create A");
  expect(dyngrid_matrix_create("b", c.type, c.m, 3, 7, 2, &b) == 0, "create b");
  const bool was_0 = dyngrid_process_id() == 0;
  int round = 0, outcome = DYNGRID_SAME;
  expect(dyngrid_share("round", &round, sizeof round) == 0, "share");
  if (const char* hold = std::getenv("TEST_HOLD")) { // a process that joins or wakes receives it from the others
    held_changes = std::atoi(hold);
    expect(dyngrid_share("held", &held_changes, sizeof held_changes) == 0, "share");
  }
  Changes changes;
  changes.matrix = a;
  dyngrid_on_change(nullptr, Changes::after, &changes);
  if (const char* file = std::getenv("TEST_ELSEWHERE"))
    expect(dyngrid_restore(file) == DYNGRID_ERR_STATE, "restored outside");
  std::optional<control::Client> client;
  ask_from_outside(client);
  for (; round < c.rounds; ++round) {
    fill<T>(a, [&](int i, int j) { return element<T>(c, i, j, round); });
    fill<T>(b, [&](int i, int j) { return element_of<T>(99, i, j); });
    const bool was_inside = dyngrid_comm() != MPI_COMM_NULL;
    const int changes_before = changes.count;
    std::vector<int> pivots(static_cast<std::size_t>(c.is_lu() ? std::min(c.m, c.n) : 0));
    int info = -1;
    processor = slow ? &*slow : nullptr;
    const double begun_s = own::now_s();
    outcome =
        c.is_lu() ? dyngrid_lu(a, c.options, pivots.data(), &info) : dyngrid_cholesky(a, c.uplo(), c.options, &info);
    processor = nullptr;
    if (slow && dyngrid_is_first()) std::printf("%.1f s\n", own::now_s() - begun_s);
    if (outcome == DYNGRID_LEAVE) break;
    expect(outcome == (changes.count > changes_before ? DYNGRID_RESIZED : DYNGRID_SAME) &&
               (was_inside || changes.count > 0),
           "outcome " + std::to_string(outcome));
    check<T>(c, a, b, round, info, pivots);
  }
  if (outcome != DYNGRID_LEAVE) {
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    if (std::getenv("TEST_ORDERED"))
      check_ordered(a, changes);
    else if (slow && dyngrid_is_first() && !std::getenv("TEST_SPEED"))
      check_balance(c, changes);
    expect(slow || (nprow == c.nprow && npcol == c.npcol),
           "ended on " + std::to_string(nprow) + "x" + std::to_string(npcol));
    expect(!std::getenv("TEST_SPEED") || changes.relayouts == 1, "dealt out anew");
    if (const char* wanted = std::getenv("TEST_CHANGES"); wanted && dyngrid_is_first())
      expect(changes.count == std::atoi(wanted), std::to_string(changes.count) + " changes");
    if (dyngrid_is_first()) std::printf("%s: %d rounds right\n", c.kind.c_str(), c.rounds);
  }
  expect(dyngrid_finalize() == 0, "finalize");
  if (was_0) check_history();
  return 0;
}

int statuses() {
  expect(dyngrid_init() == 0, "init");
  int rank = 0, info = 5, pivots[8] = {};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  dyngrid_matrix *a = follow::create("A", 'd', 8, 5, 2, 2), *whole_numbers = follow::create("whole", 'i', 5, 5, 2, 2),
                 *other = follow::create("other", 'd', 8, 5, 2, 2);
  // each time one process is wrong and all receive the error
  follow::agreed(dyngrid_lu(rank == 1 ? nullptr : a, 0, pivots, &info), DYNGRID_ERR_NULL, "no matrix");
  follow::agreed(dyngrid_lu(a, 0, rank == 1 ? nullptr : pivots, &info), DYNGRID_ERR_NULL, "no pivots");
  follow::agreed(dyngrid_lu(a, 0, pivots, rank == 1 ? nullptr : &info), DYNGRID_ERR_NULL, "no info");
  follow::agreed(dyngrid_lu(whole_numbers, 0, pivots, &info), DYNGRID_ERR_TYPE, "integers");
  follow::agreed(dyngrid_lu(a, rank == 2 ? 8 : 0, pivots, &info), DYNGRID_ERR_ARGUMENT, "no such option");
  follow::agreed(dyngrid_lu(rank == 2 ? other : a, 0, pivots, &info), DYNGRID_ERR_MISMATCH, "two matrices");
  follow::agreed(dyngrid_cholesky(a, 'L', 0, &info), DYNGRID_ERR_SHAPE, "not square");
  follow::agreed(dyngrid_cholesky(a, rank == 0 ? 'X' : 'L', 0, &info), DYNGRID_ERR_SHAPE, "the worse one counts");
  expect(dyngrid_lu_pivots(a, nullptr, pivots) == DYNGRID_ERR_NULL, "null");
  expect(info == 5, "info is set on success only");
  follow::agreed(dyngrid_lu(a, 0, pivots, &info), DYNGRID_SAME, "zeros");
  expect(info == 1 && pivots[4] == 5, "of zeros");
  expect(dyngrid_finalize() == 0, "finalize");
  return 0;
}

/// One process in the grid, the other one parked or new.
int apart() {
  expect(dyngrid_init() == 0, "init");
  const bool is_newcomer = dyngrid_is_newcomer() != 0, is_second = !is_newcomer && dyngrid_process_id() == 1;
  int info = -1, processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  dyngrid_matrix* a = follow::create("A", 'd', 40, 40, 8, 8);
  const auto identity = [&] { fill<double>(a, [](int i, int j) { return i == j ? 1.0 : 0.0; }); };
  const auto cholesky = [&] { return dyngrid_cholesky(a, 'L', 0, &info); };
  const auto is_refused = [](int outcome) {
    expect(outcome == DYNGRID_ERR_STATE, "refused: " + std::to_string(outcome));
    expect(std::strstr(dyngrid_last_message(), "a panel of dyngrid_cholesky:A") != nullptr, dyngrid_last_message());
  };
  if (is_newcomer) {
    expect(cholesky() == DYNGRID_LEAVE, "a new process that did not join");
    return dyngrid_finalize();
  }
  identity();
  if (processes == 1) {
    is_refused(dyngrid_resize(1, 2, DYNGRID_OPTIMAL));
    expect(cholesky() == DYNGRID_SAME && info == 0, "alone");
    return dyngrid_finalize();
  }
  // the second one is parked at a panel and wakes at one of the next factorization
  expect(dyngrid_request(1, 1) == 0, "request");
  expect(cholesky() == DYNGRID_RESIZED && info == 0, "smaller, and larger again");
  if (!is_second) {
    is_refused(dyngrid_resize(1, 2, DYNGRID_OPTIMAL));
    expect(dyngrid_request(1, 2) == 0, "request");
    expect(cholesky() == DYNGRID_RESIZED && info == 0, "both are at a panel");
  }
  // and is parked outside while the other one grows at a panel
  expect(dyngrid_resize(1, 1, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "smaller, and larger again");
  if (!is_second) {
    expect(dyngrid_request(1, 2) == 0, "request");
    expect(cholesky() == DYNGRID_SAME && info == 0, "no growth at a panel");
    expect(dyngrid_resize(1, 2, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "both are in dyngrid_resize");
  }
  expect(whole<double>(a)(39, 39) == 1.0, "the matrix");
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "statuses")) return statuses();
  if (argc == 2 && !std::strcmp(argv[1], "apart")) return apart();
  Case c;
  expect(argc >= 7, "seven arguments");
  c.kind = argv[1];
  c.type = argv[2][0];
  expect(std::sscanf(argv[3], "%dx%d", &c.m, &c.n) == 2 && std::sscanf(argv[6], "%dx%d", &c.nprow, &c.npcol) == 2,
         "sizes as 3x4");
  c.nb = std::atoi(argv[4]);
  c.order = std::atoi(argv[5]);
  if (argc > 7) c.rounds = std::atoi(argv[7]);
  if (argc > 8) c.options = DYNGRID_GIVE_BACK;
  switch (c.type) {
  case 's':
    return run<float>(c);
  case 'd':
    return run<double>(c);
  case 'c':
    return run<std::complex<float>>(c);
  default:
    return run<std::complex<double>>(c);
  }
}
