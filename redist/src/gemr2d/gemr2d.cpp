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
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "exec/mpi_check.hpp"
#include "exec/once.hpp"
#include "pack/packed_view.hpp"
#include "redist/descriptor.hpp"
#include "redist/exchange.hpp"
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

using base::Error;
using base::Status;
using gridmap::Axis;

enum Entry { dtype_at, ctxt_at, m_at, n_at, mb_at, nb_at, rsrc_at, csrc_at, lld_at };

using base::tag_copy;

/// What one rank says of one matrix: all -1 outside its grid. mb and nb of a DTYPE_ 601 are the numbers of
/// its sizes.
struct Side {
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  int m = -1, n = -1, mb = -1, nb = -1, rsrc = -1, csrc = -1, i = -1, j = -1;
  int listed = 0, sizes_hash[2] = {0, 0};

  bool is_alike(const Side& o) const {
    return nprow == o.nprow && npcol == o.npcol && m == o.m && n == o.n && mb == o.mb && nb == o.nb && rsrc == o.rsrc &&
           csrc == o.csrc && i == o.i && j == o.j && listed == o.listed && sizes_hash[0] == o.sizes_hash[0] &&
           sizes_hash[1] == o.sizes_hash[1];
  }
};

/// Everything a rank brings to a call that decides about the plan. Compared as bytes: only ints, no padding.
struct Call {
  Side a, b;
  int m = 0, n = 0;
  int part = 0, type = 0;
};

/// What a rank says when the call has to be gathered. Loads are in copies, see load_of().
struct Said {
  Call call;
  int load_of_set = 0, load_of_context = 0;
  int has_room = 0; ///< for one more executor that stays
};

[[noreturn]] void stop(const std::string& message, int code) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
  std::exit(code);
}

Axis axis_of_sizes(int n, const int* sizes, int count, int nprocs, int src) {
  return Axis::heterogeneous(n, {sizes, sizes + count}, nprocs, src);
}

Side side_of(const int* desc, int i, int j) {
  Side s;
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  if (desc[ctxt_at] >= 0) Cblacs_gridinfo(desc[ctxt_at], &nprow, &npcol, &myrow, &mycol);
  if (myrow < 0 || mycol < 0 || myrow >= nprow || mycol >= npcol) return s;
  s = {nprow,       npcol,       myrow,         mycol,         desc[m_at], desc[n_at],
       desc[mb_at], desc[nb_at], desc[rsrc_at], desc[csrc_at], i - 1,      j - 1};
  s.listed = desc[dtype_at] == Descriptor::heterogeneous ? 1 : 0;
  return s;
}

/// What one rank can see of its own descriptor; the rest is said by all in assemble().
void check_side(Side& s, const int* desc, const char* letter, const std::string& name) {
  if (s.nprow < 0) return;
  std::int64_t rows = 0;
  if (s.listed != 0) {
    const GridPosition grid{s.nprow, s.npcol, s.myrow, s.mycol};
    const int entry = -check_descriptor(desc, 0, grid, 0);
    if (entry != 0 && entry != lld_at + 1) {
      try {
        read_descriptor(desc, 0, grid);
      } catch (const Error& error) {
        stop(fmt::format("{}: {}: {} [process ({}, {})]", name, letter, error.what(), s.myrow, s.mycol), 1);
      }
    }
    std::uint64_t hash = 1469598103934665603u; // FNV-1a over the sizes
    for (std::int64_t k = 0; k < std::int64_t{s.mb} + s.nb; ++k)
      hash = (hash ^ static_cast<std::uint32_t>(desc[Descriptor::fixed + k])) * 1099511628211u;
    s.sizes_hash[0] = static_cast<int>(hash & 0x7fffffff);
    s.sizes_hash[1] = static_cast<int>(hash >> 33);
    if (entry == 0) return;
    rows = axis_of_sizes(desc[m_at], desc + Descriptor::fixed, s.mb, s.nprow, s.rsrc).local_size(s.myrow);
  } else {
    if (s.mb < 1 || s.rsrc < 0 || s.rsrc >= s.nprow || s.m < 0) return;
    rows = Axis::block_cyclic(s.m, s.mb, s.nprow, s.rsrc).local_size(s.myrow);
  }
  if (desc[lld_at] < rows || (s.listed != 0 && desc[lld_at] < 1))
    stop(fmt::format("{}: LLD of {} is {}, wanted at least {} [process ({}, {})]", name, letter, desc[lld_at],
                     std::max<std::int64_t>(rows, s.listed), s.myrow, s.mycol),
         1);
}

/// Rows of window column j that belong to the part: first .. last-1.
std::array<std::int64_t, 2> rows_of_column(Trapezoid part, std::int64_t m, std::int64_t n, std::int64_t j) {
  if (part.whole) return {0, m};
  if (part.upper) return {0, std::min(m, std::max<std::int64_t>(m - n, 0) + j + (part.unit ? 0 : 1))};
  return {std::min(m, std::max<std::int64_t>(0, j - std::max<std::int64_t>(n - m, 0) + (part.unit ? 1 : 0))), m};
}

/// The plans of one call, worked out from what all ranks said.
struct Prepared {
  Call key;
  std::int64_t serial = 0;              ///< counts the plans of the set, the same on all its ranks
  std::vector<RankPlan> plans;          ///< one, or one per strip of a trapezoid
  std::vector<std::int64_t> row_limits; ///< of my columns of B, for a trapezoid
  std::optional<Exchange> exchange;     ///< with an executor
  std::vector<Pointers> pointers;       ///< of this call

  std::vector<TransferPlan> transfers(char type) const {
    std::vector<TransferPlan> all;
    for (const RankPlan& plan : plans) all.push_back({&plan, type, row_limits.empty() ? nullptr : row_limits.data()});
    return all;
  }
  void put_in(const Pointers& where) { pointers.assign(plans.size(), where); }
};

/// A set of processes, in order, over which something was copied. Programs open a context for each copy, so
/// what is worth keeping is kept for the set: an executor and the last plans, once there have been some
/// copies. Until then copies go without an executor (exec/once.hpp).
///
/// All of a set must agree on whether it has an executor, without asking. So an executor comes in a call of
/// all of them, by figures that all of them gathered, and goes either never (is_kept) or with the last
/// context over the set, which is a call of all of them as well. Sets without one may be forgotten by each
/// process when it likes.
struct ProcessSet {
  MPI_Group group = MPI_GROUP_NULL;
  int rank = 0, size = 1;
  bool is_of_one_world = false; ///< all of it are in my MPI_COMM_WORLD: nobody can leave it before MPI_Finalize
  bool is_kept = false;
  int contexts = 0; ///< over it, that have copied
  int load = 0;     ///< of the copies so far
  std::unique_ptr<Executor> executor;
  std::list<std::unique_ptr<Prepared>> plans; ///< latest first; only with an executor
  std::int64_t made = 0;
};

/// What is kept for one context.
struct State {
  MPI_Comm comm = MPI_COMM_NULL; ///< the context's own, borrowed
  ProcessSet* set = nullptr;
  int load = 0;
};

constexpr std::size_t plans_kept = 8;
constexpr int executors_kept = 8;           ///< of sets without a context, each with 1.6 MB
constexpr std::size_t sets_remembered = 64; ///< without an executor
// Making an executor takes as long as some copies without one. It is made at once where it stays, and later
// where it goes with its context.
constexpr int load_worth_keeping = 8, load_worth_making = 16;

/// One for the copy and one for each MiB.
int load_of(const Call& call) {
  const double mib = static_cast<double>(call.m) * call.n * element_size(static_cast<char>(call.type)) / (1 << 20);
  return 1 + static_cast<int>(std::min(mib, 1e6));
}

// These outlive MPI_Finalize: nothing is freed at exit.
std::list<std::unique_ptr<State>>& states() {
  static auto* all = new std::list<std::unique_ptr<State>>;
  return *all;
}
std::list<ProcessSet>& sets() { // oldest first
  static auto* all = new std::list<ProcessSet>;
  return *all;
}

int keyval = MPI_KEYVAL_INVALID;

void close(std::list<ProcessSet>::iterator set) {
  if (set->executor) set->executor->close();
  MPI_Group_free(&set->group);
  sets().erase(set);
}

/// Called by MPI when the context's communicator goes, on all its ranks: the state goes with it, and an
/// executor that nobody else uses and that does not stay.
int on_delete(MPI_Comm, int, void* value, void*) {
  auto& all = states();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.get() == value; });
  if (at == all.end()) return MPI_SUCCESS;
  ProcessSet* const set = (*at)->set;
  all.erase(at);
  if (--set->contexts > 0 || !set->executor || set->is_kept) return MPI_SUCCESS;
  try {
    close(std::find_if(sets().begin(), sets().end(), [&](const ProcessSet& s) { return &s == set; }));
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

/// Local, but what it finds of sets with an executor is the same on all of them.
ProcessSet& set_of(MPI_Comm comm) {
  ProcessSet fresh;
  check(MPI_Comm_rank(comm, &fresh.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &fresh.size), "MPI_Comm_size");
  check(MPI_Comm_group(comm, &fresh.group), "MPI_Comm_group");
  auto& all = sets();
  for (ProcessSet& set : all) {
    if (set.rank != fresh.rank || set.size != fresh.size) continue;
    int how = MPI_UNEQUAL;
    check(MPI_Group_compare(set.group, fresh.group, &how), "MPI_Group_compare");
    if (how != MPI_IDENT) continue;
    MPI_Group_free(&fresh.group);
    return set;
  }
  // MPI_COMM_WORLD is asked for what it is: the processes that end together
  MPI_Group world = MPI_GROUP_NULL, common = MPI_GROUP_NULL;
  int size = 0;
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(MPI_Group_intersection(fresh.group, world, &common), "MPI_Group_intersection");
  MPI_Group_size(common, &size);
  fresh.is_of_one_world = size == fresh.size;
  MPI_Group_free(&common);
  MPI_Group_free(&world);
  const auto is_idle = [](const ProcessSet& set) { return !set.executor && set.contexts == 0; };
  if (static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_idle)) >= sets_remembered)
    close(std::find_if(all.begin(), all.end(), is_idle));
  all.push_back(std::move(fresh));
  return all.back();
}

State& state_of(int ctxt) {
  const MPI_Comm comm = comm_of(ctxt);
  if (keyval == MPI_KEYVAL_INVALID)
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr), "MPI_Comm_create_keyval");
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<State*>(value);
  auto state = std::make_unique<State>(State{comm, &set_of(comm)});
  check(MPI_Comm_set_attr(comm, keyval, state.get()), "MPI_Comm_set_attr");
  states().push_back(std::move(state));
  ++states().back()->set->contexts;
  return *states().back();
}

std::string name_of(char type, Trapezoid part) {
  return fmt::format("P{}{}2D", static_cast<char>(type - 'a' + 'A'), part.whole ? "GEMR" : "TRMR");
}

/// A matrix as all ranks said it.
struct Assembled {
  Layout layout;
  Window window;
  const Side* side = nullptr; ///< of `root`
  int root = -1;              ///< the first rank in its grid
};

/// The grid and the window of one matrix from what all ranks said, or the reason why not.
std::string assemble(const std::vector<Said>& said, Side Call::*which, const char* letter, Assembled& made) {
  Grid& grid = made.layout.grid;
  for (std::size_t r = 0; r < said.size(); ++r) {
    const Side& s = said[r].call.*which;
    if (s.nprow < 0) continue;
    if (made.side == nullptr) {
      made.side = &s;
      made.root = static_cast<int>(r);
      grid.nprow = s.nprow;
      grid.npcol = s.npcol;
      grid.ranks.assign(static_cast<std::size_t>(s.nprow) * static_cast<std::size_t>(s.npcol), -1);
    }
    if (!s.is_alike(*made.side)) return fmt::format("{}: its descriptor or corner differs between processes", letter);
    grid.ranks[static_cast<std::size_t>(s.myrow * s.npcol + s.mycol)] = static_cast<int>(r);
  }
  if (made.side == nullptr) return fmt::format("{}: no process of the context is in its grid", letter);
  const Side& s = *made.side;
  if (std::find(grid.ranks.begin(), grid.ranks.end(), -1) != grid.ranks.end())
    return fmt::format("{}: the context does not hold all {} x {} processes of its grid", letter, s.nprow, s.npcol);
  const int m = said[0].call.m, n = said[0].call.n;
  if (s.rsrc < 0 || s.rsrc >= s.nprow || s.csrc < 0 || s.csrc >= s.npcol)
    return fmt::format("{}: first process is ({}, {}), wanted one of the {} x {} grid", letter, s.rsrc, s.csrc, s.nprow,
                       s.npcol);
  if (s.mb < 1 || s.nb < 1) return fmt::format("{}: blocks are {} x {}, wanted at least 1 x 1", letter, s.mb, s.nb);
  if (s.i < 0 || s.j < 0 || m < 0 || n < 0 || static_cast<std::int64_t>(s.i) + m > s.m ||
      static_cast<std::int64_t>(s.j) + n > s.n)
    return fmt::format("{}: {} x {} elements from ({}, {}) on do not lie in {} x {}", letter, m, n, s.i + 1, s.j + 1,
                       s.m, s.n);
  made.window = {s.i, s.j, m, n};
  return {};
}

/// How its axes lie. Lists of sizes come from the first process of the grid; those outside have none.
/// Collective.
void fill_axes(Assembled& made, const int* desc, const Side& mine, MPI_Comm comm) {
  const Side& s = *made.side;
  if (s.listed == 0) {
    made.layout.rows = Axis::block_cyclic(s.m, s.mb, s.nprow, s.rsrc);
    made.layout.cols = Axis::block_cyclic(s.n, s.nb, s.npcol, s.csrc);
    return;
  }
  std::vector<int> sizes(static_cast<std::size_t>(s.mb) + static_cast<std::size_t>(s.nb));
  if (mine.nprow >= 0) std::copy_n(desc + Descriptor::fixed, sizes.size(), sizes.begin());
  check(MPI_Bcast(sizes.data(), static_cast<int>(sizes.size()), MPI_INT, made.root, comm), "MPI_Bcast");
  made.layout.rows = axis_of_sizes(s.m, sizes.data(), s.mb, s.nprow, s.rsrc);
  made.layout.cols = axis_of_sizes(s.n, sizes.data() + s.mb, s.nb, s.npcol, s.csrc);
}

std::int64_t rows_below(gridmap::Axis axis, std::int64_t end,
                        int p) { // of my rows, how many lie before global row `end`
  axis.n = end;
  return axis.local_size(p);
}

/// What all ranks of the context say. Ends the process when they do not ask for the same.
std::vector<Said> gather(const State& state, const Call& mine, const std::string& name) {
  const auto executors = std::count_if(sets().begin(), sets().end(), [](const ProcessSet& s) { return s.is_kept; });
  const Said say{mine, state.set->load, state.load, executors < executors_kept && state.set->is_of_one_world ? 1 : 0};
  std::vector<Said> said(static_cast<std::size_t>(state.set->size));
  check(MPI_Allgather(&say, sizeof say, MPI_BYTE, said.data(), sizeof say, MPI_BYTE, state.comm), "MPI_Allgather");
  for (const Said& other : said)
    if (other.call.m != mine.m || other.call.n != mine.n || other.call.part != mine.part)
      stop(name + ": M, N, UPLO or DIAG differ between processes", 1);
    else if (other.call.type != mine.type)
      stop(fmt::format("{}: called with elements of type {} and of type {} on different processes", name,
                       static_cast<char>(mine.type), static_cast<char>(other.call.type)),
           1);
  return said;
}

/// Makes the executor when it is time to: the same on all ranks, since they decide by what all of them said.
void make_executor(State& state, const std::vector<Said>& said) {
  const auto least = [&](int Said::*which) {
    return (*std::min_element(said.begin(), said.end(),
                              [=](const Said& x, const Said& y) { return x.*which < y.*which; })).*
           which;
  };
  const int now = load_of(said[0].call);
  const bool stays = least(&Said::has_room) != 0;
  const bool is_time = stays ? least(&Said::load_of_set) + now >= load_worth_keeping
                             : least(&Said::load_of_context) + now >= load_worth_making;
  state.set->load += now;
  state.load += now;
  if (!is_time) return;
  state.set->executor = std::make_unique<Executor>(state.comm);
  state.set->is_kept = stays;
}

std::unique_ptr<Prepared> prepare(const State& state, const std::vector<Said>& said, const Call& mine,
                                  const int* desc_a, const int* desc_b, Trapezoid part, const std::string& name) {
  Assembled a, b;
  std::string wrong = assemble(said, &Call::a, "A", a);
  if (wrong.empty()) wrong = assemble(said, &Call::b, "B", b);
  if (!wrong.empty()) stop(name + ": " + wrong, 1);
  fill_axes(a, desc_a, mine.a, state.comm);
  fill_axes(b, desc_b, mine.b, state.comm);
  const Layout &from = a.layout, &to = b.layout;
  const Window &w_from = a.window, &w_to = b.window;
  const int rank = state.set->rank;
  const Executor* executor = state.set->executor.get();

  auto made = std::make_unique<Prepared>();
  made->key = mine;
  PlanOptions options;
  options.schedule =
      executor == nullptr || executor->ranks_on_host() == state.set->size ? Schedule::async : Schedule::automatic;
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
    made->plans.push_back(Plan(from, to, options).for_rank(rank));
  }
  const auto [p, q] = to.grid.position_of(rank);
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

void copy_matrix(char type, Trapezoid part, int m, int n, const void* a, int ia, int ja, const int* desc_a, void* b,
                 int ib, int jb, const int* desc_b, int ctxt) {
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
    mine.type = type;
    const std::string name = name_of(type, part);
    check_side(mine.a, desc_a, "A", name);
    check_side(mine.b, desc_b, "B", name);
    const Pointers where{a, std::max(1, mine.a.nprow < 0 ? 1 : desc_a[lld_at]), b,
                         std::max(1, mine.b.nprow < 0 ? 1 : desc_b[lld_at])};
    ProcessSet& set = *state.set;
    if (set.executor) {
      // The same call as one of the last few on every rank? Then its exchange is there, and the agreement before it
      // replaces gathering and planning.
      const auto found = std::find_if(set.plans.begin(), set.plans.end(),
                                      [&](const auto& p) { return std::memcmp(&p->key, &mine, sizeof mine) == 0; });
      Prepared* known = found == set.plans.end() ? nullptr : found->get();
      if (known != nullptr) {
        set.plans.splice(set.plans.begin(), set.plans, found);
        known->put_in(where);
      }
      static const std::vector<Pointers> nothing;
      if (set.executor->run_if_same(known != nullptr ? known->serial : -1,
                                    known != nullptr ? &*known->exchange : nullptr,
                                    known != nullptr ? known->pointers : nothing))
        return;
    }
    const std::vector<Said> said = gather(state, mine, name);
    if (!set.executor) make_executor(state, said);
    std::unique_ptr<Prepared> made = prepare(state, said, mine, desc_a, desc_b, part, name);
    made->put_in(where);
    if (!set.executor) return exchange_once(made->transfers(type), made->pointers, state.comm, tag_copy);
    made->exchange.emplace(Exchange::prepare(made->transfers(type), *set.executor));
    made->serial = set.made++;
    set.plans.push_front(std::move(made));
    if (set.plans.size() > plans_kept) set.plans.pop_back();
    set.plans.front()->exchange->run(set.plans.front()->pointers);
  } catch (const Error& error) {
    stop(name_of(type, part) + ": " + error.what(), error.status() == Status::out_of_memory ? 2 : 1);
  } catch (const std::bad_alloc&) {
    stop(name_of(type, part) + ": out of memory", 2);
  }
}

void copy_matrix_everybody(char type, Trapezoid part, int m, int n, const void* a, int ia, int ja, const int* desc_a,
                           void* b, int ib, int jb, const int* desc_b) {
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

void refuse_listed(const char* name, const int* desc_a, const int* desc_b) {
  for (const int* desc : {desc_a, desc_b})
    if (desc[ctxt_at] >= 0 && desc[dtype_at] == Descriptor::heterogeneous)
      stop(fmt::format("{0}: DYNGRID_GEMR2D is stock, but ScaLAPACK's routine takes no descriptor of DTYPE_ "
                       "601; leave it unset, "
                       "or call dyngrid_{0}",
                       name),
           1);
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
        if (object->dlpi_name == nullptr || std::strstr(object->dlpi_name, "libscalapack") == nullptr) return 0;
        void* library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        wanted->symbol = dlsym(library, wanted->name);
        dlclose(library);
        return wanted->symbol != nullptr ? 1 : 0;
      },
      &search);
  if (search.symbol == nullptr)
    stop(std::string(name) + ": DYNGRID_GEMR2D is stock, but no ScaLAPACK library that has this routine is loaded", 1);
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
    detail::check(MPI_Comm_delete_attr(detail::states().front()->comm, detail::keyval), "MPI_Comm_delete_attr");
}

void forget_process_sets() {
  if (!detail::mpi_is_up()) return;
  forget_all_contexts();
  while (!detail::sets().empty()) detail::close(detail::sets().begin());
}

std::size_t remembered_contexts() {
  return detail::states().size();
}

std::size_t remembered_executors() {
  const auto& all = detail::sets();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& set) { return set.executor != nullptr; }));
}

} // namespace redist
