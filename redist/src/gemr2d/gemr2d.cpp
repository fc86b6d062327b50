// SPDX-License-Identifier: BSD-3-Clause
#include "gemr2d/gemr2d.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "exec/mpi_check.hpp"
#include "exec/packer.hpp"
#include "redist/executor.hpp"
#include "redist/gemr2d.hpp"
#include "redist/plan.hpp"

extern "C" {
void Cblacs_get(int ctxt, int what, int* value);
void Cblacs_pinfo(int* mypnum, int* nprocs);
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
void Cblacs_gridexit(int ctxt);
MPI_Comm Cblacs2sys_handle(int handle);
}

namespace redist {
namespace detail {
namespace {

using gridmap::Error;
using gridmap::Status;

enum Entry { ctxt_at = 1, m_at, n_at, mb_at, nb_at, rsrc_at, csrc_at, lld_at };

/// What one rank says of one matrix: all -1 outside its grid.
struct Side {
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  int m = -1, n = -1, mb = -1, nb = -1, rsrc = -1, csrc = -1, i = -1, j = -1;
};

/// Everything a rank brings to a call that decides about the plan. Compared as bytes: only ints, no padding.
struct Call {
  Side a, b;
  int m = 0, n = 0;
  int part = 0;
};

[[noreturn]] void stop(const std::string& message, int code) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
  std::exit(code);
}

Side side_of(const int* desc, int i, int j) {
  Side s;
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  if (desc[ctxt_at] >= 0) Cblacs_gridinfo(desc[ctxt_at], &nprow, &npcol, &myrow, &mycol);
  if (myrow < 0 || mycol < 0 || myrow >= nprow || mycol >= npcol) return s;
  return {nprow,       npcol,       myrow,         mycol,         desc[m_at], desc[n_at],
          desc[mb_at], desc[nb_at], desc[rsrc_at], desc[csrc_at], i - 1,      j - 1};
}

/// Rows of window column j that belong to the part: first .. last-1.
std::array<std::int64_t, 2> rows_of_column(Trapezoid part, std::int64_t m, std::int64_t n, std::int64_t j) {
  if (part.whole) return {0, m};
  if (part.upper) return {0, std::min(m, std::max<std::int64_t>(m - n, 0) + j + (part.unit ? 0 : 1))};
  return {std::min(m, std::max<std::int64_t>(0, j - std::max<std::int64_t>(n - m, 0) + (part.unit ? 1 : 0))),
          m};
}

/// The plans of one call, worked out from what all ranks said.
struct Prepared {
  Call key;
  std::int64_t serial = 0;              ///< counts the plans of the context, the same on all its ranks
  std::vector<RankPlan> plans;          ///< one, or one per strip of a trapezoid
  std::vector<std::int64_t> row_limits; ///< of my columns of B, for a trapezoid
};

/// What is kept for one context.
struct State {
  MPI_Comm comm = MPI_COMM_NULL; ///< the context's own, borrowed
  int rank = 0, size = 1;
  Executor executor;
  std::list<std::unique_ptr<Prepared>> plans; ///< latest first
  std::int64_t made = 0;
  explicit State(MPI_Comm c) : comm(c), executor(c) {
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
  }
};
constexpr std::size_t plans_kept = 8;

std::list<std::unique_ptr<State>>& states() {
  static auto* all = new std::list<std::unique_ptr<State>>; // outlives MPI_Finalize: nothing is freed at exit
  return *all;
}

int keyval = MPI_KEYVAL_INVALID;

/// Called by MPI when the context's communicator goes, on all its ranks: the state goes with it.
int on_delete(MPI_Comm, int, void* value, void*) {
  auto& all = states();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.get() == value; });
  if (at == all.end()) return MPI_SUCCESS;
  std::unique_ptr<State> state = std::move(*at);
  all.erase(at);
  try {
    state->executor.close();
  } catch (...) {
    return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

MPI_Comm comm_of(int ctxt) {
  int handle = -1;
  Cblacs_get(ctxt, 10, &handle); // the system handle of the context's own communicator
  return Cblacs2sys_handle(handle);
}

State& state_of(int ctxt) {
  const MPI_Comm comm = comm_of(ctxt);
  if (keyval == MPI_KEYVAL_INVALID)
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr),
          "MPI_Comm_create_keyval");
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<State*>(value);
  auto state = std::make_unique<State>(comm);
  check(MPI_Comm_set_attr(comm, keyval, state.get()), "MPI_Comm_set_attr");
  states().push_back(std::move(state));
  return *states().back();
}

std::string name_of(char type, Trapezoid part) {
  return fmt::format("P{}{}2D", static_cast<char>(type - 'a' + 'A'), part.whole ? "GEMR" : "TRMR");
}

/// Layout of one matrix from what all ranks said, or the reason why not.
std::string assemble(const std::vector<Call>& calls, Side Call::*which, const char* letter, Layout& layout,
                     Window& window) {
  const Side* first = nullptr;
  Grid grid;
  for (std::size_t r = 0; r < calls.size(); ++r) {
    const Side& s = calls[r].*which;
    if (s.nprow < 0) continue;
    if (first == nullptr) {
      first = &s;
      grid.nprow = s.nprow;
      grid.npcol = s.npcol;
      grid.ranks.assign(static_cast<std::size_t>(s.nprow) * static_cast<std::size_t>(s.npcol), -1);
    }
    if (s.nprow != first->nprow || s.npcol != first->npcol || s.m != first->m || s.n != first->n ||
        s.mb != first->mb || s.nb != first->nb || s.rsrc != first->rsrc || s.csrc != first->csrc ||
        s.i != first->i || s.j != first->j)
      return fmt::format("{}: its descriptor or corner differs between processes", letter);
    grid.ranks[static_cast<std::size_t>(s.myrow * s.npcol + s.mycol)] = static_cast<int>(r);
  }
  if (first == nullptr) return fmt::format("{}: no process of the context is in its grid", letter);
  const Side& s = *first;
  if (std::find(grid.ranks.begin(), grid.ranks.end(), -1) != grid.ranks.end())
    return fmt::format("{}: the context does not hold all {} x {} processes of its grid", letter, s.nprow,
                       s.npcol);
  const int m = calls[0].m, n = calls[0].n;
  if (s.rsrc < 0 || s.rsrc >= s.nprow || s.csrc < 0 || s.csrc >= s.npcol)
    return fmt::format("{}: first process is ({}, {}), wanted one of the {} x {} grid", letter, s.rsrc,
                       s.csrc, s.nprow, s.npcol);
  if (s.mb < 1 || s.nb < 1)
    return fmt::format("{}: blocks are {} x {}, wanted at least 1 x 1", letter, s.mb, s.nb);
  if (s.i < 0 || s.j < 0 || m < 0 || n < 0 || static_cast<std::int64_t>(s.i) + m > s.m ||
      static_cast<std::int64_t>(s.j) + n > s.n)
    return fmt::format("{}: {} x {} elements from ({}, {}) on do not lie in {} x {}", letter, m, n, s.i + 1,
                       s.j + 1, s.m, s.n);
  layout = {gridmap::Axis::block_cyclic(s.m, s.mb, s.nprow, s.rsrc),
            gridmap::Axis::block_cyclic(s.n, s.nb, s.npcol, s.csrc), std::move(grid)};
  window = {s.i, s.j, m, n};
  return {};
}

std::int64_t rows_below(gridmap::Axis axis, std::int64_t end,
                        int p) { // of my rows, how many lie before global row `end`
  axis.n = end;
  return axis.local_size(p);
}

std::unique_ptr<Prepared> prepare(const State& state, const Call& mine, char type, Trapezoid part) {
  std::vector<Call> calls(static_cast<std::size_t>(state.size));
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, calls.data(), sizeof mine, MPI_BYTE, state.comm),
        "MPI_Allgather");
  for (const Call& call : calls)
    if (call.m != mine.m || call.n != mine.n || call.part != mine.part)
      stop(name_of(type, part) + ": M, N, UPLO or DIAG differ between processes", 1);
  Layout from, to;
  Window w_from, w_to;
  std::string wrong = assemble(calls, &Call::a, "A", from, w_from);
  if (wrong.empty()) wrong = assemble(calls, &Call::b, "B", to, w_to);
  if (!wrong.empty()) stop(name_of(type, part) + ": " + wrong, 1);

  auto made = std::make_unique<Prepared>();
  made->key = mine;
  PlanOptions options;
  options.schedule = state.executor.ranks_on_host() == state.size ? Schedule::async : Schedule::automatic;
  // A trapezoid moves as strips of columns, each as the rectangle around its part; what is outside is not
  // written.
  const std::int64_t strips = part.whole ? 1 : std::min<std::int64_t>(8, mine.n);
  for (std::int64_t s = 0; s < strips; ++s) {
    const std::int64_t begin = mine.n * s / strips, end = mine.n * (s + 1) / strips;
    const auto first = rows_of_column(part, mine.m, mine.n, begin),
               last = rows_of_column(part, mine.m, mine.n, end - 1);
    const std::int64_t top = std::min(first[0], last[0]), bottom = std::max(first[1], last[1]);
    if (top >= bottom) continue;
    options.from = {w_from.i + top, w_from.j + begin, bottom - top, end - begin};
    options.to = {w_to.i + top, w_to.j + begin, bottom - top, end - begin};
    made->plans.push_back(Plan(from, to, options).for_rank(state.rank));
  }
  const auto [p, q] = to.grid.position_of(state.rank);
  if (!part.whole && p >= 0) {
    const std::int64_t columns = to.cols.local_size(q);
    for (std::int64_t jl = 0; jl < columns; ++jl) {
      const std::int64_t j = to.cols.to_global(jl, q) - w_to.j;
      const auto rows =
          j < 0 || j >= mine.n ? std::array<std::int64_t, 2>{0, 0} : rows_of_column(part, mine.m, mine.n, j);
      for (std::int64_t row : rows) made->row_limits.push_back(rows_below(to.rows, w_to.i + row, p));
    }
  }
  return made;
}

} // namespace

void copy_matrix(char type, Trapezoid part, int m, int n, const void* a, int ia, int ja, const int* desc_a,
                 void* b, int ib, int jb, const int* desc_b, int ctxt) {
  if (m == 0 || n == 0) return;
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &myrow, &mycol);
  if (myrow < 0) return; // not in the context: no part in this
  try {
    State& state = state_of(ctxt);
    Call mine;
    mine.a = side_of(desc_a, ia, ja);
    mine.b = side_of(desc_b, ib, jb);
    mine.m = m;
    mine.n = n;
    mine.part = part.whole ? 0 : 1 + (part.upper ? 2 : 0) + (part.unit ? 1 : 0);
    for (const auto& [side, desc, letter] :
         {std::tuple{mine.a, desc_a, "A"}, std::tuple{mine.b, desc_b, "B"}}) {
      if (side.nprow < 0 || side.mb < 1 || side.rsrc < 0 || side.rsrc >= side.nprow || side.m < 0)
        continue; // said by all in prepare()
      const std::int64_t rows =
          gridmap::Axis::block_cyclic(side.m, side.mb, side.nprow, side.rsrc).local_size(side.myrow);
      if (desc[lld_at] < rows)
        stop(fmt::format("{}: LLD of {} is {}, wanted at least {} [process ({}, {})]", name_of(type, part),
                         letter, desc[lld_at], rows, side.myrow, side.mycol),
             1);
    }
    // The same call as one of the last few on every rank? Then its plan is there, and one small agreement
    // replaces gathering and planning.
    const auto found = std::find_if(state.plans.begin(), state.plans.end(), [&](const auto& p) {
      return std::memcmp(&p->key, &mine, sizeof mine) == 0;
    });
    const auto [low, high] = state.executor.range(found == state.plans.end() ? -1 : (*found)->serial);
    if (low < 0 || low != high) {
      state.plans.push_front(prepare(state, mine, type, part));
      state.plans.front()->serial = state.made++;
      if (state.plans.size() > plans_kept) state.plans.pop_back();
    } else {
      state.plans.splice(state.plans.begin(), state.plans, found);
    }
    Prepared& plan = *state.plans.front();
    std::vector<Transfer> transfers;
    for (const RankPlan& p : plan.plans)
      transfers.push_back({&p, a, std::max(1, mine.a.nprow < 0 ? 1 : desc_a[lld_at]), b,
                           std::max(1, mine.b.nprow < 0 ? 1 : desc_b[lld_at]), type,
                           part.whole ? nullptr : plan.row_limits.data()});
    state.executor.execute(transfers);
  } catch (const Error& error) {
    stop(name_of(type, part) + ": " + error.what(), error.status() == Status::out_of_memory ? 2 : 1);
  } catch (const std::bad_alloc&) {
    stop(name_of(type, part) + ": out of memory", 2);
  }
}

void copy_matrix_everybody(char type, Trapezoid part, int m, int n, const void* a, int ia, int ja,
                           const int* desc_a, void* b, int ib, int jb, const int* desc_b) {
  int mypnum = 0, nprocs = 1, ctxt = 0;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_pinfo(&mypnum, &nprocs);
  Cblacs_gridinit(&ctxt, "R", 1, nprocs);
  copy_matrix(type, part, m, n, a, ia, ja, desc_a, b, ib, jb, desc_b, ctxt);
  Cblacs_gridexit(ctxt);
}

bool wants_stock() {
  static const bool stock = [] {
    const char* value = std::getenv("DYNGRID_GEMR2D");
    return value != nullptr && std::strcmp(value, "stock") == 0;
  }();
  return stock;
}

void* stock_symbol(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  // This library comes after ScaLAPACK or was loaded on its own: look in ScaLAPACK itself.
  struct Search {
    const char* name;
    void* symbol;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        if (object->dlpi_name == nullptr || std::strstr(object->dlpi_name, "libscalapack") == nullptr)
          return 0;
        void* library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        wanted->symbol = dlsym(library, wanted->name);
        dlclose(library);
        return wanted->symbol != nullptr ? 1 : 0;
      },
      &search);
  if (search.symbol == nullptr)
    stop(std::string(name) +
             ": DYNGRID_GEMR2D is stock, but no ScaLAPACK library that has this routine is loaded",
         1);
  return search.symbol;
}

} // namespace detail

void forget_context(int ctxt) {
  if (detail::keyval == MPI_KEYVAL_INVALID || !detail::mpi_is_up()) return;
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &myrow, &mycol);
  if (myrow < 0) return;
  const MPI_Comm comm = detail::comm_of(ctxt);
  void* value = nullptr;
  int found = 0;
  detail::check(MPI_Comm_get_attr(comm, detail::keyval, &value, &found), "MPI_Comm_get_attr");
  if (found != 0) detail::check(MPI_Comm_delete_attr(comm, detail::keyval), "MPI_Comm_delete_attr");
}

void forget_all_contexts() {
  if (!detail::mpi_is_up()) return;
  while (!detail::states().empty())
    detail::check(MPI_Comm_delete_attr(detail::states().front()->comm, detail::keyval),
                  "MPI_Comm_delete_attr");
}

std::size_t remembered_contexts() {
  return detail::states().size();
}

} // namespace redist
