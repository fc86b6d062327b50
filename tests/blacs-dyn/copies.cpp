// SPDX-License-Identifier: BSD-3-Clause
// copies sequence 2x3 1x2 ...: dyngrid_copy and p?gemr2d between matrices in blocks of one size and by a rule, element
// by element, on each grid of a sequence, and dyngrid_add. copies statuses: arguments that are wrong on one process are
// the same error on all. mpirun -np 4.
#include <complex>
#include <vector>

#include "base/mpi/blacs.hpp"
#include "dyngrid.hpp"
#include "follow.hpp"

extern "C" void Cpdgemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);

namespace {

using follow::agreed;
using follow::expect;

constexpr int m = 37, n = 29;

/// More at the end than at the beginning, the first process none when there are several, in two rounds.
std::int64_t uneven(void*, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  if (sizes != nullptr)
    for (int k = 0; k < 2 * nprocs; ++k) sizes[k] = nprocs == 1 ? length : k == 0 ? 0 : 1 + k + length / (4 * nprocs);
  return 2 * nprocs;
}

template <class T> bool has(const dyngrid_matrix* a, int salt) {
  const auto* x = static_cast<const T*>(dyngrid_local(a));
  bool is_right = true;
  follow::for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
    is_right = is_right && x[at] == follow::value<T>(i, j, n, salt);
  });
  return is_right;
}

template <class T> T conjugate(T x) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) return std::conj(x);
  return x;
}

/// Element (i, j) of op(A) for A with follow::value and its number of columns.
template <class T> T element_of(char op, std::int64_t i, std::int64_t j, int salt) {
  if (op == 'N') return follow::value<T>(i, j, n, salt);
  const T x = follow::value<T>(j, i, m, salt);
  return op == 'T' ? x : conjugate(x);
}

struct Three { // of one form
  dyngrid_matrix *even = nullptr, *other = nullptr, *ruled = nullptr;
  dyngrid_matrix* turned = nullptr; // n x m
  Three(const std::string& name, char type) {
    expect(dyngrid_matrix_create((name + "1").c_str(), type, m, n, 4, 3, &even) == 0, "create");
    expect(dyngrid_matrix_create((name + "2").c_str(), type, m, n, 5, 7, &other) == 0, "create");
    expect(dyngrid_matrix_create_by((name + "3").c_str(), type, m, n, uneven, nullptr, &ruled) == 0, "create_by");
    expect(dyngrid_matrix_create_by((name + "4").c_str(), type, n, m, uneven, nullptr, &turned) == 0, "create_by");
  }
  template <class T> void add_round(int salt) const {
    const std::vector<T> factors = {T(0), T(1), T(-1), conjugate(follow::value<T>(1, 2, 3, 0))};
    for (const char op : {'N', 'T', 'C'})
      for (const T alpha : factors)
        for (const T beta : factors) {
          const dyngrid_matrix* a = op == 'N' ? even : turned;
          follow::fill_as<T>(even, salt);
          follow::fill_as<T>(turned, salt);
          follow::fill_as<T>(other, salt + 5);
          follow::fill_as<T>(ruled, salt + 5);
          for (dyngrid_matrix* b : {other, ruled}) {
            expect(dyngrid_add(op, &alpha, a, &beta, b) == 0, "dyngrid_add");
            const auto* x = static_cast<const T*>(dyngrid_local(b));
            follow::for_mine(b, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
              expect(x[at] == alpha * element_of<T>(op, i, j, salt) + beta * follow::value<T>(i, j, n, salt + 5),
                     std::string("alpha op(A) + beta B, op ") + op);
            });
          }
        }
  }
  template <class T> void copy_round(int salt) const {
    follow::fill_as<T>(even, salt);
    follow::fill_as<T>(other, salt + 1);
    follow::fill_as<T>(ruled, salt + 2);
    for (int repeat = 0; repeat < 3; ++repeat) { // with a new plan and with an existing one
      expect(dyngrid_copy(even, ruled) == 0 && has<T>(ruled, salt), "blocks -> rule");
      expect(has<T>(even, salt) && has<T>(other, repeat == 0 ? salt + 1 : salt), "the others are as they were");
      expect(dyngrid_copy(ruled, other) == 0 && has<T>(other, salt), "rule -> blocks");
      expect(dyngrid_copy(other, even) == 0 && has<T>(even, salt), "blocks -> other blocks");
      expect(dyngrid_copy(even, even) == 0 && has<T>(even, salt), "onto itself");
      follow::fill_as<T>(ruled, salt + 3);
    }
  }
};

void gemr2d_round(const Three& d, int salt) {
  follow::fill_as<double>(d.even, salt);
  const auto copy = [&](const dyngrid_matrix* from, const dyngrid_matrix* to, int ctxt) {
    Cpdgemr2d(m, n, dyngrid_local(from), 1, 1, const_cast<int*>(dyngrid_desc(from)), dyngrid_local(to), 1, 1,
              const_cast<int*>(dyngrid_desc(to)), ctxt);
  };
  for (int repeat = 0; repeat < 9; ++repeat) {
    int fresh = 0, nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    Cblacs_get(0, 0, &fresh);
    Cblacs_gridinit(&fresh, "R", 1, nprow * npcol);
    follow::fill_as<double>(d.ruled, -1);
    follow::fill_as<double>(d.other, -1);
    copy(d.even, d.ruled, dyngrid_context());
    expect(has<double>(d.ruled, salt), "p?gemr2d, blocks -> rule");
    copy(d.ruled, d.other, fresh);
    expect(has<double>(d.other, salt), "p?gemr2d, rule -> blocks in a fresh context");
    Cblacs_gridexit(fresh);
  }
}

int sequence(int argc, char** argv) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const Three s("s", 's'), d("d", 'd'), c("c", 'c'), z("z", 'z'), i("i", 'i');
  follow::on_each_grid([&] {
    s.copy_round<float>(step);
    d.copy_round<double>(step);
    c.copy_round<std::complex<float>>(step);
    z.copy_round<std::complex<double>>(step);
    i.copy_round<std::int32_t>(step);
    s.add_round<float>(step);
    d.add_round<double>(step);
    c.add_round<std::complex<float>>(step);
    z.add_round<std::complex<double>>(step);
    i.add_round<std::int32_t>(step);
    gemr2d_round(d, step);
    return follow::request_next(argc - 2, argv + 2, step);
  });
  int size = 0, rank = -1;
  if (dyngrid_comm() != MPI_COMM_NULL) {
    MPI_Comm_size(dyngrid_comm(), &size);
    MPI_Comm_rank(dyngrid_comm(), &rank);
  }
  if (rank == 0) std::printf("all right on %d processes\n", size);
  return dyngrid_finalize();
}

std::int64_t endless(void* is_bad, char, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  if (*static_cast<int*>(is_bad) != 0) return std::int64_t{1} << 30;
  return uneven(nullptr, 'R', length, nprow * npcol, 1, sizes);
}

int statuses() {
  expect(dyngrid_copy(nullptr, nullptr) == DYNGRID_ERR_STATE, "before dyngrid_init");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  int bad = rank == 2 ? 1 : 0, all = 1;
  {
    dyngrid::Matrix<double> a("a", m, n, 4, 3), b("b", m, n, 5, 5), wide("wide", m, n + 1, 4, 3),
        turned("turned", n, m, 2, 6);
    dyngrid::Matrix<float> single("single", m, n, 4, 3);
    follow::fill_as<double>(a.handle(), 1);
    follow::fill_as<double>(b.handle(), 2);
    agreed(dyngrid_copy(a.handle(), bad ? nullptr : b.handle()), DYNGRID_ERR_NULL, "null on one rank");
    agreed(dyngrid_copy(bad ? nullptr : a.handle(), b.handle()), DYNGRID_ERR_NULL, "null on one rank");
    agreed(dyngrid_copy(a.handle(), bad ? wide.handle() : b.handle()), DYNGRID_ERR_SHAPE, "another size on one rank");
    agreed(dyngrid_copy(a.handle(), single.handle()), DYNGRID_ERR_TYPE, "another type");
    agreed(dyngrid_copy(bad ? b.handle() : a.handle(), bad ? a.handle() : b.handle()), DYNGRID_ERR_MISMATCH,
           "the other way round on one rank");
    dyngrid_matrix* gone = follow::create("gone", 'd', m, n, 2, 2);
    dyngrid_matrix* const old = gone;
    expect(dyngrid_matrix_free(&gone) == 0, "free");
    agreed(dyngrid_copy(a.handle(), bad ? old : b.handle()), DYNGRID_ERR_NOT_FOUND, "a freed one on one rank");
    expect(has<double>(a.handle(), 1) && has<double>(b.handle(), 2), "nothing was touched");
    dyngrid::copy(a, b);
    expect(has<double>(b.handle(), 1), "dyngrid::copy");
    follow::fill_as<double>(b.handle(), 2);
    const double one = 1, two = 2;
    const auto add = [](char op, const double* alpha, dyngrid_matrix* x, const double* beta, dyngrid_matrix* y) {
      return dyngrid_add(op, alpha, x, beta, y);
    };
    dyngrid_matrix *const x = a.handle(), *const y = b.handle(), *const t = turned.handle();
    agreed(add('N', &one, bad ? nullptr : x, &one, y), DYNGRID_ERR_NULL, "null is added on one rank");
    agreed(add('N', bad ? nullptr : &one, x, &one, y), DYNGRID_ERR_NULL, "no alpha on one rank");
    agreed(add('N', &one, x, bad ? nullptr : &one, y), DYNGRID_ERR_NULL, "no beta on one rank");
    agreed(add('N', bad ? &two : &one, x, &one, y), DYNGRID_ERR_MISMATCH, "another alpha on one rank");
    agreed(add('N', &one, x, bad ? &two : &one, y), DYNGRID_ERR_MISMATCH, "another beta on one rank");
    agreed(add(bad ? 'X' : 'N', &one, x, &one, y), DYNGRID_ERR_ARGUMENT, "op X on one rank");
    agreed(add(bad ? 'T' : 'C', &one, t, &one, y), DYNGRID_ERR_MISMATCH, "another op on one rank");
    agreed(add(bad ? 'T' : 'N', &one, x, &one, y), DYNGRID_ERR_SHAPE, "the shape of the other op on one rank");
    agreed(add('T', &one, x, &one, y), DYNGRID_ERR_SHAPE, "m x n, transposed");
    agreed(add('N', &one, bad ? y : x, &one, y), DYNGRID_ERR_ARGUMENT, "added to itself on one rank");
    expect(bad == 0 || std::strstr(dyngrid_last_message(), "\"b\" is added to itself") != nullptr, "in words");
    agreed(add('N', &one, bad ? old : x, &one, y), DYNGRID_ERR_NOT_FOUND, "a freed one on one rank");
    agreed(dyngrid_add('N', &one, x, &one, single.handle()), DYNGRID_ERR_TYPE, "added to another type");
    expect(has<double>(x, 1) && has<double>(y, 2), "nothing was touched by what was refused");
    dyngrid::add(0, a, 1, turned, dyngrid::Op::transposed); // keeps what is there
    dyngrid::add(-1, a, 2, b);
    follow::for_mine(y, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      expect(b.local()[at] == 2 * follow::value<double>(i, j, n, 2) - follow::value<double>(i, j, n, 1),
             "dyngrid::add");
    });
    for (int* who : {&bad, &all})
      agreed(dyngrid_matrix_create_by("r", 'd', m, n, endless, who, &gone), DYNGRID_ERR_ARGUMENT, "2^30 sizes");
  }
  return follow::all_right();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = argc > 1 && std::strcmp(argv[1], "statuses") == 0 ? statuses() : sequence(argc, argv);
  expect(status == 0, "dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
