// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the arguments is said as ScaLAPACK says it: of all kernels, with several mistakes at a time, ours
// and its own have the same info, or end the program with the same status and the same words.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "spread.hpp"

namespace {

struct Ended { ///< not an exception that anybody else catches
  int code;
};

} // namespace

/// Stands before the BLACS's: the program would end.
extern "C" void Cblacs_abort(int, int code) {
  throw Ended{code};
}

extern "C" {
#define STOCK(x, T, R)                                                                                                 \
  void p##x##gemm_(DYNGRID_GEMM_ARGS(T));                                                                              \
  void p##x##syrk_(DYNGRID_RANK_K_ARGS(T, T));                                                                         \
  void p##x##trsm_(DYNGRID_TRSM_ARGS(T));                                                                              \
  void p##x##getrf_(DYNGRID_GETRF_ARGS(T));                                                                            \
  void p##x##getrs_(DYNGRID_GETRS_ARGS(T));                                                                            \
  void p##x##gesv_(DYNGRID_GESV_ARGS(T));                                                                              \
  void p##x##potrf_(DYNGRID_POTRF_ARGS(T));                                                                            \
  void p##x##potrs_(DYNGRID_POTRS_ARGS(T));
STOCK(s, float, float)
STOCK(d, double, double)
STOCK(c, void, float)
STOCK(z, void, double)
void pcherk_(DYNGRID_RANK_K_ARGS(void, float));
void pzherk_(DYNGRID_RANK_K_ARGS(void, double));
}

namespace {

using spread::list;
using spread::pick;
using spread::Random;

struct Matrix {
  int i = 1, j = 1;
  std::vector<int> desc;
  std::vector<double> x; ///< room for any type
};

/// The arguments of any of the routines.
struct Call {
  char letters[4];
  int m = 8, n = 8, k = 8;
  Matrix a, b, c;
  std::vector<int> ipiv = std::vector<int>(100, 1);
  double alpha[2] = {1, 0};

  Call(int ctxt, const char* four) : letters{four[0], four[1], four[2], four[3]} {
    a = {1, 1, {1, ctxt, 10, 10, 2, 2, 0, 0, 10}, std::vector<double>(400, 1)};
    b = c = a;
    ipiv.assign(100, 1);
  }
};

struct Outcome {
  int info = 99, ended = 0;
  std::string words;

  bool operator==(const Outcome& o) const { return info == o.info && ended == o.ended && words == o.words; }
  friend std::ostream& operator<<(std::ostream& out, const Outcome& o) {
    return out << "info " << o.info << ", status " << o.ended << ", \"" << o.words << '"';
  }
};

/// What is written to stderr while this lives.
class Heard {
public:
  Heard() : file_(memfd_create("heard", 0)), stderr_(dup(2)) {
    std::fflush(stderr);
    dup2(file_, 2);
  }
  ~Heard() {
    close(file_);
    close(stderr_);
  }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;
  std::string end() {
    std::fflush(stderr);
    dup2(stderr_, 2);
    std::string text(1000, ' ');
    const ssize_t length = pread(file_, text.data(), text.size(), 0);
    return text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(0, length)));
  }

private:
  int file_, stderr_;
};

using Routine = std::function<void(Call&, int*)>;

Outcome run(const Routine& routine, Call x) {
  Outcome out;
  Heard heard;
  try {
    routine(x, &out.info);
  } catch (const Ended& end) {
    out.ended = end.code;
  }
  const std::string words = heard.end(); // ScaLAPACK's list all mistakes before
  out.words = words.substr(std::min(words.size(), words.find("PBLAS ERROR 'Parameter number")));
  return out;
}

enum Parts { letters_ = 1, m_ = 2, n_ = 4, k_ = 8, a_ = 16, b_ = 32, c_ = 64 };

struct Kernel {
  const char* name;
  const char* letters;  ///< all right
  const char* wrong[4]; ///< or not
  int parts;
  Routine own, ordinary;

  bool is(const char* routine) const { return std::string(name).substr(2) == routine; }
  bool has_info() const { return !is("gemm") && !is("syrk") && !is("herk") && !is("trsm"); }
};

#define WITH(routine, ...)                                                                                             \
  [](Call& x, int* info) {                                                                                             \
    (void)info;                                                                                                        \
    routine(__VA_ARGS__);                                                                                              \
  }
#define BOTH(routine, ...) WITH(dyngrid_##routine, __VA_ARGS__), WITH(routine, __VA_ARGS__)
#define MATRIX(of, T) reinterpret_cast<T*>(x.of.x.data()), &x.of.i, &x.of.j, x.of.desc.data()
#define ALPHA(T) reinterpret_cast<const T*>(x.alpha)
#define GEMM(T) x.letters, x.letters + 1, &x.m, &x.n, &x.k, ALPHA(T), MATRIX(a, T), MATRIX(b, T), ALPHA(T), MATRIX(c, T)
#define RANK_K(T, R) x.letters, x.letters + 1, &x.n, &x.k, ALPHA(R), MATRIX(a, T), ALPHA(R), MATRIX(c, T)
#define TRSM(T) x.letters, x.letters + 1, x.letters + 2, x.letters + 3, &x.m, &x.n, ALPHA(T), MATRIX(a, T), MATRIX(b, T)
#define GETRF(T) &x.m, &x.n, MATRIX(a, T), x.ipiv.data(), info
#define GETRS(T) x.letters, &x.n, &x.k, MATRIX(a, T), x.ipiv.data(), MATRIX(b, T), info
#define GESV(T) &x.n, &x.k, MATRIX(a, T), x.ipiv.data(), MATRIX(b, T), info
#define POTRF(T) x.letters, &x.n, MATRIX(a, T), info
#define POTRS(T) x.letters, &x.n, &x.k, MATRIX(a, T), MATRIX(b, T), info

#define KERNELS(x, T, syrk_letters)                                                                                    \
  {"p" #x "gemm",                                                                                                      \
   "NNNN",                                                                                                             \
   {"NTCntcX ", "NTCnXt", "", ""},                                                                                     \
   letters_ | m_ | n_ | k_ | a_ | b_ | c_,                                                                             \
   BOTH(p##x##gemm_, GEMM(T))},                                                                                        \
      {"p" #x "syrk",                                                                                                  \
       "LNNN",                                                                                                         \
       {"ULulX", syrk_letters, "", ""},                                                                                \
       letters_ | n_ | k_ | a_ | c_,                                                                                   \
       BOTH(p##x##syrk_, RANK_K(T, T))},                                                                               \
      {"p" #x "trsm",                                                                                                  \
       "LLNN",                                                                                                         \
       {"LRlrX", "ULulX", "NTCntcX", "UNunX"},                                                                         \
       letters_ | m_ | n_ | a_ | b_,                                                                                   \
       BOTH(p##x##trsm_, TRSM(T))},                                                                                    \
      {"p" #x "getrf", "NNNN", {"", "", "", ""}, m_ | n_ | a_, BOTH(p##x##getrf_, GETRF(T))},                          \
      {"p" #x "getrs", "NNNN", {"NTCntcX", "", "", ""}, letters_ | n_ | k_ | a_ | b_, BOTH(p##x##getrs_, GETRS(T))},   \
      {"p" #x "gesv", "NNNN", {"", "", "", ""}, n_ | k_ | a_ | b_, BOTH(p##x##gesv_, GESV(T))},                        \
      {"p" #x "potrf", "LNNN", {"ULulX", "", "", ""}, letters_ | n_ | a_, BOTH(p##x##potrf_, POTRF(T))},               \
      {"p" #x "potrs", "LNNN", {"ULulX", "", "", ""}, letters_ | n_ | k_ | a_ | b_, BOTH(p##x##potrs_, POTRS(T))},

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all{
      KERNELS(s, float, "NTCntcX") KERNELS(d, double, "NTCntcX") KERNELS(c, void, "NTCntcX")
          KERNELS(z, void, "NTCntcX"){"pcherk",
                                      "LNNN",
                                      {"ULulX", "NTCntcX", "", ""},
                                      letters_ | n_ | k_ | a_ | c_,
                                      BOTH(pcherk_, RANK_K(void, float))},
      {"pzherk",
       "LNNN",
       {"ULulX", "NTCntcX", "", ""},
       letters_ | n_ | k_ | a_ | c_,
       BOTH(pzherk_, RANK_K(void, double))},
  };
  return all;
}

template <class T> T one_of(Random& random, const std::vector<T>& values) {
  return values[static_cast<std::size_t>(pick(random, 0, static_cast<int>(values.size()) - 1))];
}

/// @return an entry of a descriptor that lists have otherwise
bool mistake(Random& random, const Kernel& kernel, Call& x, int other_ctxt) {
  std::vector<int> parts;
  for (int part = letters_; part <= c_; part *= 2)
    if ((kernel.parts & part) != 0) parts.insert(parts.end(), part >= a_ ? 4 : 1, part);
  const int part = one_of(random, parts);
  if (part == letters_) {
    const int which = pick(random, 0, 3);
    const std::string letters = kernel.wrong[which];
    if (!letters.empty())
      x.letters[which] = letters[static_cast<std::size_t>(pick(random, 0, static_cast<int>(letters.size()) - 1))];
    return false;
  }
  if (part < a_) {
    (part == m_ ? x.m : part == n_ ? x.n : x.k) = one_of<int>(random, {-1, -5, 0, 1, 4, 7, 11});
    return false;
  }
  Matrix& matrix = part == a_ ? x.a : part == b_ ? x.b : x.c;
  const int what = pick(random, 0, 3);
  if (what < 2) {
    // factorizations of ScaLAPACK's begin with a block, of right-hand sides on the same process; ours anywhere
    int& corner = what == 0 ? matrix.i : matrix.j;
    corner =
        kernel.has_info() ? one_of<int>(random, {0, -3, 5, 9, 13}) : one_of<int>(random, {0, -3, 2, 3, 10, 11, 15});
    return false;
  }
  const int entry = pick(random, 1, 8);
  switch (entry) {
  case 1:
    matrix.desc[1] = kernel.is("potrs") ? -1 : one_of<int>(random, {other_ctxt, -1});
    break;
  case 2:
    matrix.desc[2] = one_of<int>(random, {-1, 0, 4, 7});
    break;
  case 3:
    matrix.desc[3] = one_of<int>(random, {-1, 0, 4, 7});
    break;
  case 4:
    matrix.desc[4] = one_of<int>(random, {-2, 0});
    break;
  case 5:
    matrix.desc[5] = one_of<int>(random, {-2, 0});
    break;
  case 6:
    matrix.desc[6] = one_of<int>(random, {-2, 2});
    break;
  case 7:
    matrix.desc[7] = one_of<int>(random, {-2, 2});
    break;
  default:
    matrix.desc[8] = one_of<int>(random, {-1, 0, 3});
  }
  return entry > 3;
}

TEST(ErrorExits, AreThoseOfStock) {
  const spread::Grid grid(2, 2), other(2, 2);
  int seed = 0;
  for (const Kernel& kernel : kernels())
    for (int round = 0; round < 100; ++round) {
      Random random(static_cast<unsigned>(++seed));
      Call x(grid.ctxt, kernel.letters);
      bool is_other_in_lists = false;
      for (int count = pick(random, 1, 3); count > 0; --count)
        is_other_in_lists = mistake(random, kernel, x, other.ctxt) || is_other_in_lists;
      SCOPED_TRACE(::testing::Message() << kernel.name << " '" << std::string(x.letters, 4) << "' m " << x.m << " n "
                                        << x.n << " k " << x.k << " a(" << x.a.i << "," << x.a.j << ") "
                                        << ::testing::PrintToString(x.a.desc) << " b(" << x.b.i << "," << x.b.j << ") "
                                        << ::testing::PrintToString(x.b.desc) << " c(" << x.c.i << "," << x.c.j << ") "
                                        << ::testing::PrintToString(x.c.desc));
      const Outcome stock = run(kernel.ordinary, x), own = run(kernel.own, x);
      EXPECT_EQ(own, stock);
      if (is_other_in_lists || (stock.info >= 0 && stock.ended == 0)) continue;
      const int lists = pick(random, 1, 7);
      for (Matrix* matrix : {&x.a, &x.b, &x.c})
        if ((lists >> (matrix == &x.a ? 0 : matrix == &x.b ? 1 : 2) & 1) != 0) list(matrix->desc);
      EXPECT_EQ(run(kernel.own, x), stock) << "lists " << lists;
      EXPECT_EQ(run(kernel.ordinary, x), stock) << "by the ordinary name, lists " << lists;
    }
}

/// A process that has no columns need not have an LLD_ for them.
TEST(ErrorExits, ColumnsThatAreNotThereMayBeShort) {
  const spread::Grid grid(2, 2);
  for (const bool is_list : {false, true})
    for (const Kernel& kernel : kernels()) {
      Call x(grid.ctxt, kernel.letters);
      x.m = x.n = x.k = 2;
      for (Matrix* matrix : {&x.a, &x.b, &x.c}) {
        matrix->desc[3] = 2;
        if (grid.mycol == 1) matrix->desc[8] = 1;
        if (is_list) list(matrix->desc);
      }
      SCOPED_TRACE(kernel.name);
      const Outcome own = run(kernel.own, x);
      EXPECT_TRUE(own.info >= 0 && own.ended == 0) << own;
    }
}

} // namespace
