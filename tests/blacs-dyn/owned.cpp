// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose blocks lie on any owners.
// owned sequence [--late] GRIDS...: through grids of new processes and of processes that sleep, each element where the
// rule says. --late: another matrix is made on the third grid, while some sleep.
// owned columns COUNT ELEMENTS GRIDS...: the sparse columns of DRMS, section 8, as blocks of a vector of all elements.
// owned refused: rules that are wrong on one process or on all are the same error on all. mpirun -np 4.
// owned growth fails|too_far|differs: the rule of the new processes is wrong; the others stay as they were. mpirun
// -np 4.
// owned checkpoint FILE: written, and read back on another grid by another rule. mpirun -np 6.
// owned restarted FILE: what that wrote, in another run. mpirun -np 3.
#include <numeric>

#include "dyngrid.hpp"
#include "follow.hpp"

extern "C" void Cpdgemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);

namespace {

using follow::agreed;
using follow::expect;

constexpr std::int64_t m = 37, n = 29;

std::uint64_t mixed(std::uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}
std::int64_t below(std::int64_t limit, std::int64_t number, std::int64_t salt) {
  return static_cast<std::int64_t>(mixed(mixed(static_cast<std::uint64_t>(salt)) + static_cast<std::uint64_t>(number)) %
                                   static_cast<std::uint64_t>(limit));
}

enum class Fault {
  none,
  too_far,
  negative_owner,
  short_sum,
  long_sum,
  negative_size,
  fails,
  fails_later,
  throws,
  other_owner
};

/// How the blocks of a matrix lie: the number of them is the same on all grids, and so are their sizes.
struct Rule {
  std::int64_t blocks = 11;
  std::int64_t seed = 1;
  Fault fault = Fault::none;

  std::vector<std::int64_t> sizes(std::int64_t length) const { // many of 0
    std::vector<std::int64_t> cuts{0, length}, sizes;
    for (std::int64_t k = 1; k < blocks; ++k) cuts.push_back(below(length + 1, k, 7));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t k = 1; k < cuts.size(); ++k) sizes.push_back(cuts[k] - cuts[k - 1]);
    return sizes;
  }
  int owner(std::int64_t block, int nprocs) const { return static_cast<int>(below(nprocs, block, seed)); }
};

std::int64_t any_owner(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes,
                       int* owners) {
  const Rule& rule = *static_cast<const Rule*>(context);
  const int nprocs = axis == 'R' ? nprow : npcol;
  expect((sizes == nullptr) == (owners == nullptr), "both or none");
  if (rule.fault == Fault::fails || (rule.fault == Fault::fails_later && sizes)) return -1;
  if (rule.fault == Fault::throws) throw 42; // no std::exception
  if (!sizes) return rule.blocks;
  const std::vector<std::int64_t> given = rule.sizes(length);
  std::copy(given.begin(), given.end(), sizes);
  for (std::int64_t k = 0; k < rule.blocks; ++k) owners[k] = rule.owner(k, nprocs);
  const auto longest = std::max_element(sizes, sizes + rule.blocks) - sizes;
  if (rule.fault == Fault::too_far) owners[3] = nprocs;
  if (rule.fault == Fault::negative_owner) owners[3] = -1;
  if (rule.fault == Fault::short_sum) --sizes[longest];
  if (rule.fault == Fault::long_sum) ++sizes[longest];
  if (rule.fault == Fault::negative_size) sizes[0] = -1;
  if (rule.fault == Fault::other_owner) owners[longest] = (owners[longest] + 1) % nprocs;
  return rule.blocks;
}

/// By the definition: the owner of each index, and its place there.
struct Dealt {
  std::vector<int> owner;
  std::vector<std::int64_t> local;
  Dealt(const Rule& rule, std::int64_t length, int nprocs) {
    std::vector<std::int64_t> filled(static_cast<std::size_t>(nprocs), 0);
    const std::vector<std::int64_t> sizes = rule.sizes(length);
    for (std::size_t k = 0; k < sizes.size(); ++k)
      for (std::int64_t i = 0; i < sizes[k]; ++i) {
        owner.push_back(rule.owner(static_cast<std::int64_t>(k), nprocs));
        local.push_back(filled[static_cast<std::size_t>(owner.back())]++);
      }
  }
  std::int64_t count(int position) const { return std::count(owner.begin(), owner.end(), position); }
};

struct Position {
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  Position() { dyngrid_grid(&nprow, &npcol, &myrow, &mycol); }
  /// All processes of the grid, row by row, as one row.
  static Position in_one_row() {
    Position at;
    at.mycol += at.myrow * at.npcol;
    at.npcol *= at.nprow;
    at.nprow = 1;
    at.myrow = std::min(at.myrow, 0);
    return at;
  }
};

/// Calls f(element, row, column) for all of mine, as the rules say.
template <class T, class F>
void for_mine(const dyngrid_matrix* a, const Dealt& rows, const Dealt& cols, F&& f, const Position& at = {}) {
  auto* x = static_cast<T*>(dyngrid_local(a));
  std::int64_t lld = 0;
  expect(dyngrid_matrix_shape(a, nullptr, nullptr, &lld) == 0, "shape");
  for (std::size_t j = 0; j < cols.owner.size(); ++j)
    for (std::size_t i = 0; i < rows.owner.size(); ++i)
      if (rows.owner[i] == at.myrow && cols.owner[j] == at.mycol) f(x[rows.local[i] + cols.local[j] * lld], i, j);
}

/// A matrix with the rules that it lies by.
template <class T> struct Owned {
  dyngrid_matrix* handle = nullptr;
  std::int64_t rows = 0, cols = 0;
  const Rule* rule = nullptr;
  Owned(const char* name, char type, std::int64_t of_rows, std::int64_t of_cols, Rule& by)
      : rows(of_rows), cols(of_cols), rule(&by) {
    expect(dyngrid_matrix_create_owned(name, type, rows, cols, any_owner, &by, &handle) == 0, "create_owned");
  }
  Owned(dyngrid_matrix* of, std::int64_t of_rows, std::int64_t of_cols, const Rule& by)
      : handle(of), rows(of_rows), cols(of_cols), rule(&by) {}
  T wanted(std::size_t i, std::size_t j, int salt) const {
    return static_cast<T>(static_cast<double>(i * static_cast<std::size_t>(cols) + j) + salt);
  }
  void fill(int salt) const {
    const Position at;
    if (at.myrow < 0) return; // outside the first grid
    for_mine<T>(handle, Dealt(*rule, rows, at.nprow), Dealt(*rule, cols, at.npcol),
                [&](T& x, std::size_t i, std::size_t j) { x = wanted(i, j, salt); });
  }
  void check(int salt, const std::string& what) const {
    const Position at;
    const Dealt by_row(*rule, rows, at.nprow), by_col(*rule, cols, at.npcol);
    std::int64_t wrong = 0, m_loc = 0, n_loc = 0;
    expect(dyngrid_matrix_shape(handle, &m_loc, &n_loc, nullptr) == 0 && m_loc == by_row.count(at.myrow) &&
               n_loc == by_col.count(at.mycol),
           what + ": local sizes");
    for_mine<T>(handle, by_row, by_col, [&](T& x, std::size_t i, std::size_t j) { wrong += x != wanted(i, j, salt); });
    expect(wrong == 0, what + ": elements");
    std::int64_t first = 0, last = 0, next = 0; // ranges: in the order of local indices
    for (std::int64_t k = 0; dyngrid_my_range(handle, 'R', k, &first, &last) == 1; ++k)
      for (std::int64_t i = first; i < last; ++i, ++next)
        wrong +=
            by_row.owner[static_cast<std::size_t>(i)] != at.myrow || by_row.local[static_cast<std::size_t>(i)] != next;
    expect(wrong == 0 && next == m_loc, what + ": ranges of all");
  }
};

/// Copies to and from blocks of one size, by dyngrid and by p?gemr2d, and the descriptor as others read it.
void copies(const Owned<double>& a, dyngrid_matrix* even) {
  a.fill(40);
  follow::fill_as<double>(even, -1);
  expect(dyngrid_copy(a.handle, even) == 0 && follow::wrong_as<double>(even, 40) == 0, "owned -> blocks");
  expect(follow::wrong_as<double>(a.handle, 40) == 0, "its descriptor says where the elements are");
  follow::fill_as<double>(even, 41);
  Cpdgemr2d(static_cast<int>(m), static_cast<int>(n), dyngrid_local(even), 1, 1, const_cast<int*>(dyngrid_desc(even)),
            dyngrid_local(a.handle), 1, 1, const_cast<int*>(dyngrid_desc(a.handle)), dyngrid_context());
  a.check(41, "p?gemr2d, blocks -> owned");
}

/// Blocks of 4 in turn from the last grid row (column) on: an ordinary matrix.
dyngrid::Owned in_turn(dyngrid::Axis axis, std::int64_t length, int nprow, int npcol) {
  const int nprocs = axis == dyngrid::Axis::rows ? nprow : npcol;
  dyngrid::Owned blocks;
  for (std::int64_t i = 0; i < length; i += 4) {
    blocks.owners.push_back(static_cast<int>((blocks.sizes.size() + static_cast<std::size_t>(nprocs) - 1) %
                                             static_cast<std::size_t>(nprocs)));
    blocks.sizes.push_back(std::min<std::int64_t>(4, length - i));
  }
  return blocks;
}

int sequence(int argc, char** argv) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  int step = 0;
  const bool is_late = argc > 2 && std::strcmp(argv[2], "--late") == 0;
  if (is_late) --argc, ++argv;
  Rule by_seed, by_column{n, 5, Fault::none}, later{9, 3, Fault::none};
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  expect(dyngrid_share("seed", &by_seed.seed, sizeof by_seed.seed) == 0, "share");
  const Owned<double> a("a", 'd', m, n, by_seed);
  const Owned<std::int32_t> each("each", 'i', m, n, by_column), none("none", 'i', 0, n, by_column);
  dyngrid_matrix* late = nullptr;
  dyngrid_matrix* even = follow::create("even", 'd', m, n, 5, 3);
  {
    dyngrid::Matrix<double> turn("turn", m, n, in_turn);
    bool is_new = dyngrid_is_newcomer() != 0;
    if (!is_new) {
      a.fill(1);
      each.fill(2);
      dyngrid::for_each(turn, [](auto i, auto j, double& x) { x = static_cast<double>(i * n + j + 3); });
    }
    const bool stays = follow::on_each_grid([&] {
      a.check(step == 0 ? 1 : 41, "a followed");
      each.check(2, "each followed");
      none.check(0, "nothing followed");
      late = dyngrid_matrix_find("late");
      if (late) Owned<float>(late, m, n, later).check(4, "late followed");
      std::int64_t wrong = 0;
      dyngrid::for_each(turn,
                        [&](auto i, auto j, const double& x) { wrong += x != static_cast<double>(i * n + j + 3); });
      expect(wrong == 0, "in turn followed");
      expect(turn.desc()[0] == 1 && turn.m() == m, "an ordinary descriptor");
      expect(follow::wrong_as<double>(turn.handle(), 3) == 0, "which says where the elements are");
      copies(a, even);
      ++by_seed.seed; // another layout on the same grid
      const int outcome = dyngrid_relayout();
      expect(outcome == DYNGRID_RESIZED || (outcome == DYNGRID_SAME && Position().nprow * Position().npcol == 1),
             "relayout");
      a.check(41, "relaid");
      if (step == 2 && is_late) { // processes that sleep now do not have the rule when they wake
        expect(dyngrid_matrix_create_owned("late", 's', m, n, any_owner, &later, &late) == 0, "late");
        Owned<float>(late, m, n, later).fill(4);
      }
      return follow::request_next(argc - 2, argv + 2, step);
    });
    if (!stays) return dyngrid_finalize();
  }
  return follow::all_right();
}

int columns(int argc, char** argv) {
  expect(argc > 4, "owned columns COUNT ELEMENTS GRIDS...");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const std::int64_t elements = std::atoll(argv[3]);
  Rule rule{std::atoll(argv[2]), 1, Fault::none}, one{1, 1, Fault::none};
  // the columns along the rows of one matrix, and along the columns of another
  struct Both {
    Rule* along;
    Rule* across;
    char axis;
    static std::int64_t ask(void* context, char which, std::int64_t length, int nprow, int npcol, std::int64_t* sizes,
                            int* owners) {
      const auto* self = static_cast<const Both*>(context);
      return any_owner(which == self->axis ? self->along : self->across, which, length, nprow, npcol, sizes, owners);
    }
  } down{&rule, &one, 'R'}, right{&rule, &one, 'C'};
  dyngrid_matrix *tall = nullptr, *wide = nullptr, *over_all = nullptr;
  expect(!dyngrid_matrix_create_owned("tall", 'd', elements, 1, Both::ask, &down, &tall), "create");
  expect(!dyngrid_matrix_create_owned("wide", 'd', 1, elements, Both::ask, &right, &wide), "create");
  // its owners are all processes
  expect(!dyngrid_matrix_create_on("over all", 'd', 1, elements, 1, 64, DYNGRID_ON_ROW, &over_all), "create on a row");
  expect(dyngrid_matrix_set_owner_rule(over_all, Both::ask, &right) >= 0, "set_owner_rule");
  const auto for_all = [&](const std::function<void(double&, std::size_t)>& f) {
    const Position at, in_row = Position::in_one_row();
    const Dealt rows(rule, elements, at.nprow), cols(rule, elements, at.npcol);
    const Dealt one_row(one, 1, at.nprow), one_col(one, 1, at.npcol);
    std::int64_t count = 0, sum = 0;
    for_mine<double>(tall, rows, one_col, [&](double& x, std::size_t i, std::size_t) { f(x, i), ++count; });
    for_mine<double>(wide, one_row, cols, [&](double& x, std::size_t, std::size_t j) { f(x, j), ++count; });
    const Dealt cols_of_all(rule, elements, in_row.npcol), its_row(one, 1, 1);
    for_mine<double>(
        over_all, its_row, cols_of_all, [&](double& x, std::size_t, std::size_t j) { f(x, j), ++count; }, in_row);
    MPI_Allreduce(&count, &sum, 1, MPI_INT64_T, MPI_SUM, dyngrid_comm());
    expect(sum == 3 * elements, "each element once");
  };
  bool is_new = dyngrid_is_newcomer() != 0;
  if (!is_new && dyngrid_context() >= 0) for_all([](double& x, std::size_t i) { x = static_cast<double>(i) + 0.5; });
  follow::on_each_grid([&] {
    std::int64_t wrong = 0;
    for_all([&](double& x, std::size_t i) { wrong += x != static_cast<double>(i) + 0.5; });
    expect(wrong == 0, "all elements");
    if (dyngrid_is_first() != 0) {
      dyngrid_resize_report report{};
      dyngrid_last_resize(&report);
      std::printf("%dx%d: all elements; %s\n", Position().nprow, Position().npcol,
                  step == 0 ? "first grid" : (std::to_string(report.moved_bytes) + " bytes moved").c_str());
    }
    return follow::request_next(argc - 4, argv + 4, step);
  });
  return dyngrid_finalize();
}

int refused() {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const bool is_bad = follow::world_rank() == 2;
  Rule rule, bad;
  const Owned<double> a("a", 'd', m, n, rule);
  a.fill(1);
  dyngrid_matrix* made = nullptr;
  agreed(dyngrid_matrix_create_owned("b", 'd', m, n, is_bad ? nullptr : any_owner, &bad, &made), DYNGRID_ERR_NULL,
         "no rule on one");
  agreed(dyngrid_matrix_create_owned("b", 'd', m, n, any_owner, &bad, is_bad ? nullptr : &made), DYNGRID_ERR_NULL,
         "no place on one");
  agreed(dyngrid_matrix_set_owner_rule(a.handle, is_bad ? nullptr : any_owner, &bad), DYNGRID_ERR_NULL,
         "no other rule on one");
  for (const Fault fault :
       {Fault::too_far, Fault::negative_owner, Fault::short_sum, Fault::long_sum, Fault::negative_size, Fault::fails,
        Fault::fails_later, Fault::throws, Fault::other_owner}) {
    const std::string what = "fault " + std::to_string(static_cast<int>(fault));
    for (const bool on_all : {false, true}) {
      if (on_all && fault == Fault::other_owner) continue;
      const int wanted = fault == Fault::other_owner ? DYNGRID_ERR_MISMATCH
                         : fault == Fault::throws    ? DYNGRID_ERR_INTERNAL
                                                     : DYNGRID_ERR_ARGUMENT;
      const Fault mine = is_bad || on_all ? fault : Fault::none;
      bad.fault = mine;
      agreed(dyngrid_matrix_create_owned("b", 'd', m, n, any_owner, &bad, &made), wanted, what + ", create");
      expect(!made && !dyngrid_matrix_find("b"), what + ": not made");
      rule.fault = mine;
      agreed(dyngrid_relayout(), wanted, what + ", relayout");
      agreed(dyngrid_matrix_set_owner_rule(a.handle, any_owner, &bad), wanted, what + ", set_owner_rule");
      a.check(1, what + ", relayout");
      for (const int nprow : {1, 4}) {
        agreed(dyngrid_resize(nprow, nprow == 1 ? 2 : 1, DYNGRID_OPTIMAL), wanted, what + ", resize");
        const Position at;
        expect(at.nprow == 2 && at.npcol == 2, what + ": the old grid");
        a.check(1, what + ", resize");
      }
      rule.fault = Fault::none;
      agreed(dyngrid_relayout(), DYNGRID_SAME, what + ": nothing is to be done");
    }
  }
  // in C++ the exception's text is part of the error
  std::string text;
  try {
    const dyngrid::Matrix<double> c("c", m, n, [](dyngrid::Axis, std::int64_t length, int, int) {
      return dyngrid::Owned{{length}, {0, 0}};
    });
  } catch (const dyngrid::Error& error) {
    text = error.what();
  }
  expect(text.find("2 owners, expected one for each of 1 sizes") != std::string::npos, "in words: " + text);
  return follow::all_right();
}

/// A growth in which the rule of the new processes alone is wrong.
int growth(const std::string& kind) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  Rule rule;
  const bool is_new = dyngrid_is_newcomer() != 0;
  if (is_new) rule.fault = kind == "differs" ? Fault::other_owner : kind == "fails" ? Fault::fails : Fault::too_far;
  const Owned<double> a("a", 'd', m, n, rule);
  if (is_new) {
    expect(dyngrid_resize_point() == DYNGRID_LEAVE, "a new process ends");
    return dyngrid_finalize();
  }
  a.fill(3);
  agreed(dyngrid_resize(2, 3, DYNGRID_OPTIMAL), kind == "differs" ? DYNGRID_ERR_MISMATCH : DYNGRID_ERR_ARGUMENT,
         "a growth");
  const Position at;
  expect(at.nprow == 2 && at.npcol == 2, "the old grid");
  a.check(3, "as before");
  return follow::all_right();
}

int checkpoint(const char* file) {
  expect(dyngrid_init_grid(2, 3) == 0, "dyngrid_init_grid");
  Rule rule{19, 1, Fault::none};
  const Owned<double> a("a", 'd', m, n, rule);
  a.fill(5);
  expect(dyngrid_checkpoint(file) == 0, "checkpoint");
  a.fill(6);
  rule.seed = 2;
  expect(dyngrid_relayout() == DYNGRID_RESIZED, "relayout");
  expect(dyngrid_restore(file) == 0, "restore");
  a.check(5, "restored into another layout");
  a.fill(6);
  const int outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
  expect(outcome >= 0, "resize");
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  if (dyngrid_context() >= 0) {
    expect(dyngrid_restore(file) == 0, "restore");
    a.check(5, "restored on another grid");
    if (dyngrid_is_first() != 0) std::printf("all right\n");
  }
  return dyngrid_finalize();
}

int restarted(const char* file) {
  expect(dyngrid_init_grid(3, 1) == 0, "dyngrid_init_grid");
  Rule rule{7, 4, Fault::none};
  const Owned<double> a("a", 'd', m, n, rule);
  expect(dyngrid_restore(file) == 0, "restore");
  a.check(5, "read back by another program");
  return follow::all_right();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  int status = -1;
  if (what == "sequence") status = sequence(argc, argv);
  if (what == "columns") status = columns(argc, argv);
  if (what == "refused") status = refused();
  if (what == "growth" && argc > 2) status = growth(argv[2]);
  if (what == "checkpoint" && argc > 2) status = checkpoint(argv[2]);
  if (what == "restarted" && argc > 2) status = restarted(argv[2]);
  expect(status == 0, "expected sequence, columns, refused, growth KIND, checkpoint FILE or restarted FILE");
  MPI_Finalize();
  return 0;
}
