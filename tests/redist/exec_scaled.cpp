// SPDX-License-Identifier: BSD-3-Clause
// B := alpha op(A) + beta B through every executor, element by element, and against ScaLAPACK. All values are whole
// numbers that are exact in every type, so results are compared exactly. None of them is 0, whose sign may differ.
#include <sched.h>

#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "exec_brute.hpp"
#include "exec_transports.hpp"
#include "gemr2d_routines.hpp"
#include "redist/exchange.hpp"
#include "redist/executor.hpp"
#include "redist/shared_array.hpp"

extern "C" {
using Add = void(const char*, const int*, const int*, const void*, const void*, const int*, const int*, const int*,
                 const void*, void*, const int*, const int*, const int*);
using Transpose = void(const int*, const int*, const void*, const void*, const int*, const int*, const int*,
                       const void*, void*, const int*, const int*, const int*);
Add psgeadd_, pdgeadd_, pcgeadd_, pzgeadd_;
Transpose pstran_, pdtran_, pctranu_, pztranu_, pctranc_, pztranc_;
}

namespace {

using namespace brute;
using base::Status;
using redist::Executor;
using redist::Op;
using redist::Pointers;
using redist::RankPlan;
using Number = std::complex<double>;

constexpr const char* types = "sdczi";
const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const std::vector<Number> factors = {0, 1, -1, {2, -3}};

bool is_complex(char type) {
  return type == 'c' || type == 'z';
}

/// A number as an element of a type; what the type does not have of it is left out.
void write(char type, Number value, char* at) {
  const auto put = [at](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (type) {
  case 's':
    return put(static_cast<float>(value.real()));
  case 'd':
    return put(value.real());
  case 'c':
    return put(std::complex<float>(value));
  case 'z':
    return put(value);
  default:
    return put(static_cast<int>(value.real()));
  }
}

struct Element {
  alignas(16) char bytes[16] = {};
  Element(char type, Number value) { write(type, value, bytes); }
};

Number value_in_a(char type, std::int64_t i, std::int64_t j) {
  return {static_cast<double>(i * 100 + j + 1), is_complex(type) ? static_cast<double>(j + 3 * i + 2) : 0};
}
Number value_in_b(char type, std::int64_t i, std::int64_t j) {
  return {static_cast<double>(20000 + 7 * i - 90 * j), is_complex(type) ? static_cast<double>(i + 50 * j + 1) : 0};
}

/// alpha x + beta y by the BLAS's rules.
Number sum_of(char type, Number alpha, Number x, Number beta, Number y) {
  if (!is_complex(type)) alpha = alpha.real(), beta = beta.real();
  Number sum = 0;
  if (alpha != 0.0) sum += alpha * x;
  if (beta != 0.0) sum += beta * y;
  return sum;
}

/// Calls take(i, j, where it lies) for each element that `rank` has.
template <class Take> void for_share(const redist::Layout& layout, int rank, Share& share, Take&& take) {
  const auto [p, q] = layout.grid.position_of(rank);
  if (p < 0) return;
  const Dealt rows = deal(layout.rows), cols = deal(layout.cols);
  for (std::int64_t j = 0; j < layout.cols.n; ++j)
    for (std::int64_t i = 0; i < layout.rows.n; ++i) {
      const auto at_i = static_cast<std::size_t>(i), at_j = static_cast<std::size_t>(j);
      if (rows.owner[at_i] == p && cols.owner[at_j] == q) take(i, j, share.at(rows.local[at_i], cols.local[at_j]));
    }
}

template <class Value> Share filled(const redist::Layout& layout, int rank, char type, std::int64_t pad, Value value) {
  Share share = share_of(layout, rank, type, pad, false);
  for_share(layout, rank, share, [&](std::int64_t i, std::int64_t j, char* at) { write(type, value(type, i, j), at); });
  return share;
}

/// B as it has to be: outside the window, and where the mask says no, as it was.
Share wanted(const Problem& x, int rank, char type, std::int64_t pad, Number alpha, Number beta,
             bool (*is_taken)(std::int64_t i, std::int64_t j) = nullptr) {
  Share share = filled(x.to, rank, type, pad, value_in_b);
  for_share(x.to, rank, share, [&](std::int64_t ib, std::int64_t jb, char* at) {
    const std::int64_t i = ib - x.i_to, j = jb - x.j_to;
    if (i < 0 || i >= x.m || j < 0 || j >= x.n || (is_taken != nullptr && !is_taken(ib, jb))) return;
    Number a =
        x.op == Op::none ? value_in_a(type, x.i_from + i, x.j_from + j) : value_in_a(type, x.i_from + j, x.j_from + i);
    if (x.op == Op::conjugate_transpose) a = std::conj(a);
    write(type, sum_of(type, alpha, a, beta, value_in_b(type, ib, jb)), at);
  });
  return share;
}

/// A rank's share of A, where the transport wants it.
struct Source {
  Share share;
  redist::SharedArray array;
  const void* data = nullptr;

  Source(const Problem& x, int rank, char type, Home home) : share(filled(x.from, rank, type, 3, value_in_a)) {
    data = share.data();
    if (home == Home::ordinary || (home == Home::mixed && rank % 2 == 0) || share.bytes.empty()) return;
    array = redist::SharedArray(share.bytes.size(), redist::Sharing::yes);
    std::memcpy(array.data(), share.bytes.data(), share.bytes.size());
    data = array.data();
  }
};

class ScaledOnEveryTransport : public OnTransport {};
INSTANTIATE_TEST_SUITE_P(Executors, ScaledOnEveryTransport, transports(), name_of_transport);

TEST_P(ScaledOnEveryTransport, RandomProblemsWithAllFactors) {
  Executor executor(MPI_COMM_WORLD, options());
  std::mt19937 random(20261127);
  const int rank = world_rank();
  for (int round = 0; round < 60; ++round) {
    const Problem x = random_problem(random, world_size());
    const char type = types[round % 5];
    const RankPlan plan = plan_of(x, rank, type, static_cast<redist::Schedule>(round % 5));
    const Source from(x, rank, type, GetParam().home);
    const redist::Exchange exchange = redist::Exchange::prepare({&plan}, executor); // one for all factors
    for (int k = 0; k < 4; ++k) {
      const Number alpha = factors[static_cast<std::size_t>((k + round) % 4)];
      const Number beta = factors[static_cast<std::size_t>((2 * k + round / 4 + round / 16) % 4)];
      const Element a(type, alpha), b(type, beta);
      Share to = filled(x.to, rank, type, 2, value_in_b);
      exchange.run({{from.data, from.share.lld, to.data(), to.lld, a.bytes, b.bytes}});
      EXPECT_TRUE(to.bytes == wanted(x, rank, type, 2, alpha, beta).bytes)
          << "round " << round << " type " << type << " alpha " << alpha << " beta " << beta;
      exchange.run({{from.data, from.share.lld, to.data(), to.lld}});
      EXPECT_TRUE(to.bytes == wanted(x, rank, type, 2, 1, 0).bytes) << "the copy after it, round " << round;
    }
    if (HasFailure()) break;
  }
  executor.close();
}

TEST_P(ScaledOnEveryTransport, PlansOfTheLibraryForSeveralMatrices) {
  // columns that leave for several ranks go together with what stays of them, which is scaled as well
  const int p = world_size(), rank = world_rank();
  Executor executor(MPI_COMM_WORLD, options());
  const redist::Grid row = redist::Grid::row_major(1, p), column = redist::Grid::row_major(p, 1);
  for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose})
    for (Problem x : {whole(uniform(700, 90, 64, 64, row), uniform(700, 90, 64, 64, column)),
                      whole(uniform(700, 90, 7, 20, row), uniform(700, 90, 70, 9, column)),
                      whole(uniform(90, 700, 33, 30, column), uniform(90, 700, 100, 30, row))}) {
      x.op = op;
      if (op != Op::none) std::swap(x.from.rows, x.from.cols);
      if (op != Op::none) std::swap(x.from.grid.nprow, x.from.grid.npcol);
      redist::PlanOptions planned;
      planned.op = op;
      const redist::Plan plan(x.from, x.to, planned);
      std::map<char, RankPlan> of_type;
      std::vector<const RankPlan*> plans;
      std::deque<Source> from;
      std::deque<Share> to;
      std::deque<Element> elements;
      std::vector<Pointers> pointers;
      for (const char type : std::string(types)) {
        of_type.emplace(type, plan.for_rank(rank, type));
        plans.push_back(&of_type.at(type));
        from.emplace_back(x, rank, type, GetParam().home);
        to.push_back(filled(x.to, rank, type, 2, value_in_b));
        pointers.push_back({from.back().data, from.back().share.lld, to.back().data(), to.back().lld});
        if (type == 'c') continue; // a copy beside the others
        elements.emplace_back(type, factors[3]);
        pointers.back().alpha = elements.back().bytes;
        elements.emplace_back(type, factors[2]);
        pointers.back().beta = elements.back().bytes;
      }
      executor.execute(plans, pointers);
      for (std::size_t k = 0; k < plans.size(); ++k) {
        const bool is_copy = types[k] == 'c';
        EXPECT_TRUE(to[k].bytes ==
                    wanted(x, rank, types[k], 2, is_copy ? 1 : factors[3], is_copy ? 0 : factors[2]).bytes)
            << "type " << types[k] << " op " << static_cast<int>(op);
      }
    }
  executor.close();
}

TEST_P(ScaledOnEveryTransport, NothingIsReadWithAFactorOfZero) {
  const auto all_nan = [](char type, std::int64_t, std::int64_t) {
    return Number(not_a_number, is_complex(type) ? not_a_number : 0);
  };
  Executor executor(MPI_COMM_WORLD, options());
  std::mt19937 random(3);
  const int rank = world_rank();
  for (int round = 0; round < 16; ++round) {
    const Problem x = random_problem(random, world_size());
    const char type = types[round % 4];
    const RankPlan plan = plan_of(x, rank, type);
    Share bad_from = filled(x.from, rank, type, 3, all_nan), from = filled(x.from, rank, type, 3, value_in_a);
    const Element zero(type, 0), other(type, factors[3]);
    for (const Number beta : factors) {
      const Element b(type, beta);
      Share to = filled(x.to, rank, type, 2, value_in_b);
      executor.execute({&plan}, {{bad_from.data(), bad_from.lld, to.data(), to.lld, zero.bytes, b.bytes}});
      EXPECT_TRUE(to.bytes == wanted(x, rank, type, 2, 0, beta).bytes) << "alpha = 0, beta " << beta;
    }
    Share to = filled(x.to, rank, type, 2, value_in_b);
    for_share(x.to, rank, to, [&](std::int64_t i, std::int64_t j, char* at) {
      if (i >= x.i_to && i < x.i_to + x.m && j >= x.j_to && j < x.j_to + x.n) write(type, all_nan(type, i, j), at);
    });
    executor.execute({&plan}, {{from.data(), from.lld, to.data(), to.lld, other.bytes, zero.bytes}});
    EXPECT_TRUE(to.bytes == wanted(x, rank, type, 2, factors[3], 0).bytes) << "beta = 0";
  }
  executor.close();
}

TEST_P(ScaledOnEveryTransport, InSlabsAndInTwoHalves) {
  Executor executor(MPI_COMM_WORLD, options());
  std::mt19937 random(41);
  const int rank = world_rank();
  for (int round = 0; round < 20; ++round) {
    const Problem x = random_problem(random, world_size());
    const char type = types[round % 5];
    const RankPlan plan = plan_of(x, rank, type, static_cast<redist::Schedule>(round % 5));
    const Element a(type, factors[3]), b(type, factors[2]);
    const Share want = wanted(x, rank, type, 2, factors[3], factors[2]);
    const Source from(x, rank, type, GetParam().home);
    Share to = filled(x.to, rank, type, 2, value_in_b);
    const std::vector<Pointers> pointers = {{from.data, from.share.lld, to.data(), to.lld, a.bytes, b.bytes}};
    executor.start({&plan}, pointers);
    while (!executor.advance()) sched_yield();
    executor.finish();
    EXPECT_TRUE(to.bytes == want.bytes) << "in two halves, round " << round;
    to = filled(x.to, rank, type, 2, value_in_b);
    redist::SharedArray given(from.share.bytes.size(),
                              GetParam().home == Home::ordinary ? redist::Sharing::no : redist::Sharing::yes);
    if (given.data() != nullptr) std::memcpy(given.data(), from.share.bytes.data(), from.share.bytes.size());
    executor.execute_in_place({&plan}, {{given.data(), from.share.lld, to.data(), to.lld, a.bytes, b.bytes}},
                              1 + round % 7);
    EXPECT_TRUE(to.bytes == want.bytes) << "in slabs, round " << round;
  }
  executor.close();
}

TEST_P(ScaledOnEveryTransport, ReplicatedOnBothSides) {
  const int p = world_size(), rank = world_rank();
  Executor executor(MPI_COMM_WORLD, options());
  constexpr std::int64_t m = 31, n = 17;
  const redist::Grid row = redist::Grid::row_major(1, p);
  const Element a('d', factors[2]), b('d', factors[3]);
  for (const Op op : {Op::none, Op::transpose})
    for (const bool is_target : {true, false}) {
      const bool is_turned = op != Op::none;
      const std::int64_t m_from = is_turned ? n : m, n_from = is_turned ? m : n;
      const auto spread = [&](std::int64_t rows, std::int64_t cols) { return uniform(rows, cols, 4, 3, row); };
      const auto copies = [&](std::int64_t rows, std::int64_t cols) {
        return redist::Layout::replicated_on(row, rows, cols);
      };
      const auto here = [&](std::int64_t rows, std::int64_t cols) { // how the copy of this rank lies
        return uniform(rows, cols, rows, cols, redist::Grid{1, 1, {rank}});
      };
      redist::PlanOptions planned;
      planned.op = op;
      const redist::Plan plan(is_target ? spread(m_from, n_from) : copies(m_from, n_from),
                              is_target ? copies(m, n) : spread(m, n), planned);
      const RankPlan mine = plan.for_rank(rank, 'd');
      Problem x =
          whole(is_target ? spread(m_from, n_from) : here(m_from, n_from), is_target ? here(m, n) : spread(m, n));
      x.op = op;
      Share from = filled(x.from, rank, 'd', 1, value_in_a), to = filled(x.to, rank, 'd', 2, value_in_b);
      executor.execute({&mine}, {{from.data(), from.lld, to.data(), to.lld, a.bytes, b.bytes}});
      EXPECT_TRUE(to.bytes == wanted(x, rank, 'd', 2, factors[2], factors[3]).bytes)
          << "as a target " << is_target << ", turned " << is_turned;
    }
  executor.close();
}

TEST_P(ScaledOnEveryTransport, OnlyTheRowsThatMayBeWritten) {
  const int p = world_size(), rank = world_rank();
  Executor executor(MPI_COMM_WORLD, options());
  const auto is_lower = [](std::int64_t i, std::int64_t j) { return i >= j; };
  for (const Op op : {Op::none, Op::transpose}) {
    Problem x = whole(uniform(60, 60, 7, 5, redist::Grid::row_major(1, p)),
                      uniform(60, 60, 4, 6, redist::Grid::row_major(p, 1)));
    x.op = op;
    RankPlan plan = plan_of(x, rank, 'z');
    const Dealt rows = deal(x.to.rows); // whole columns are on each rank
    for (std::int64_t j = 0; j < 60; ++j) {
      std::int64_t above = 0;
      for (std::int64_t i = 0; i < j; ++i) above += rows.owner[static_cast<std::size_t>(i)] == rank ? 1 : 0;
      plan.row_limits.push_back(above);
      plan.row_limits.push_back(plan.m_loc_to);
    }
    const Element a('z', factors[3]), b('z', factors[2]);
    const Source from(x, rank, 'z', GetParam().home);
    Share to = filled(x.to, rank, 'z', 2, value_in_b);
    executor.execute({&plan}, {{from.data, from.share.lld, to.data(), to.lld, a.bytes, b.bytes}});
    EXPECT_TRUE(to.bytes == wanted(x, rank, 'z', 2, factors[3], factors[2], is_lower).bytes);
  }
  executor.close();
}

TEST_P(ScaledOnEveryTransport, OneWrongRankIsEverybodysError) {
  Executor executor(MPI_COMM_WORLD, options());
  const int p = world_size(), rank = world_rank();
  for (const std::int64_t n : {30, 400}) { // short exchanges fill their panels before the agreement
    const Problem x =
        whole(uniform(n, n, 4, 4, redist::Grid::row_major(1, p)), uniform(n, n, 8, 8, redist::Grid::row_major(p, 1)));
    const RankPlan plan = plan_of(x, rank, 'd');
    const Source from(x, rank, 'd', GetParam().home);
    Share to = filled(x.to, rank, 'd', 0, value_in_b);
    const Element two('d', 2), three('d', 3), one('d', 1), zero('d', 0);
    const auto status_of = [&](const Element* alpha, const Element* beta) {
      const Pointers x1{
          from.data, from.share.lld, to.data(), to.lld, alpha ? alpha->bytes : nullptr, beta ? beta->bytes : nullptr};
      return thrown_by([&] { executor.execute({&plan}, {x1}); }).status();
    };
    for (int wrong = 0; wrong < p; ++wrong) {
      const bool is_wrong = rank == wrong;
      EXPECT_EQ(status_of(is_wrong ? nullptr : &two, &two), Status::null_pointer);
      EXPECT_EQ(status_of(&two, is_wrong ? nullptr : &two), Status::null_pointer);
      EXPECT_EQ(status_of(is_wrong ? &three : &two, &two), Status::rank_mismatch);
      EXPECT_EQ(status_of(&two, is_wrong ? &three : &two), Status::rank_mismatch);
      EXPECT_EQ(status_of(is_wrong ? &three : &two, is_wrong ? &two : &three), Status::rank_mismatch);
      EXPECT_EQ(status_of(is_wrong ? nullptr : &two, is_wrong ? nullptr : &two), Status::rank_mismatch);
    }
    EXPECT_TRUE(to.bytes == filled(x.to, rank, 'd', 0, value_in_b).bytes) << "the target is as it was";
    EXPECT_EQ(status_of(rank == 0 ? &one : nullptr, rank == 0 ? &zero : nullptr), Status::success);
    EXPECT_TRUE(to.bytes == wanted(x, rank, 'd', 0, 1, 0).bytes) << "1 and 0 are a copy";
  }
  executor.close();
}

/// op(A) by ScaLAPACK on one grid, with the same descriptors as ours.
class ScaledAgainstScalapack : public ::testing::TestWithParam<char> {};
INSTANTIATE_TEST_SUITE_P(Types, ScaledAgainstScalapack, ::testing::Values('s', 'd', 'c', 'z'));

TEST_P(ScaledAgainstScalapack, AddsAndTransposesAlike) {
  const char type = GetParam();
  Add* const add = type == 's' ? psgeadd_ : type == 'd' ? pdgeadd_ : type == 'c' ? pcgeadd_ : pzgeadd_;
  Transpose* const transpose = type == 's' ? pstran_ : type == 'd' ? pdtran_ : type == 'c' ? pctranu_ : pztranu_;
  Transpose* const adjoint = type == 's' ? pstran_ : type == 'd' ? pdtran_ : type == 'c' ? pctranc_ : pztranc_;
  const int rank = world_rank(), nprow = 2, npcol = world_size() / 2;
  int ctxt = 0;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", nprow, npcol);
  Executor executor(MPI_COMM_WORLD);
  constexpr int m = 37, n = 26;
  const redist::Grid grid = redist::Grid::row_major(nprow, npcol);
  for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose})
    for (const Number alpha : factors)
      for (const Number beta : factors) {
        const bool is_turned = op != Op::none;
        Problem x = whole(uniform(is_turned ? n : m, is_turned ? m : n, 5, 4, grid, 1, 0), uniform(m, n, 3, 7, grid));
        x.op = op;
        const RankPlan plan = plan_of(x, rank, type);
        Share from = filled(x.from, rank, type, 1, value_in_a), to = filled(x.to, rank, type, 2, value_in_b);
        Share theirs = to;
        const Element a(type, alpha), b(type, beta);
        executor.execute({&plan}, {{from.data(), from.lld, to.data(), to.lld, a.bytes, b.bytes}});
        EXPECT_TRUE(to.bytes == wanted(x, rank, type, 2, alpha, beta).bytes);
        if (ctxt < 0) continue;
        const int desc_a[9] = {1, ctxt, is_turned ? n : m, is_turned ? m : n, 5, 4, 1, 0, static_cast<int>(from.lld)};
        const int desc_b[9] = {1, ctxt, m, n, 3, 7, 0, 0, static_cast<int>(to.lld)};
        const int one = 1;
        const auto equals_ours = [&](const char* routine) {
          EXPECT_TRUE(to.bytes == theirs.bytes)
              << routine << ", op " << static_cast<int>(op) << " alpha " << alpha << " beta " << beta;
        };
        const char trans[] = {op == Op::none ? 'N' : op == Op::transpose ? 'T' : 'C', '\0'};
        const Share before = filled(x.to, rank, type, 2, value_in_b);
        add(trans, &m, &n, a.bytes, from.data(), &one, &one, desc_a, b.bytes, theirs.data(), &one, &one, desc_b);
        equals_ours("p?geadd");
        if (op == Op::none) continue;
        theirs = before;
        (op == Op::transpose ? transpose : adjoint)(&m, &n, a.bytes, from.data(), &one, &one, desc_a, b.bytes,
                                                    theirs.data(), &one, &one, desc_b);
        equals_ours("p?tran");
      }
  executor.close();
  if (ctxt >= 0) Cblacs_gridexit(ctxt);
}

} // namespace
