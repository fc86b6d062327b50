// SPDX-License-Identifier: BSD-3-Clause
// What `dyngrid calibrate` starts under mpirun: dyngrid-calibrate ROUTINES SIZES BLOCKS RHS calls each routine for each
// size, in each block size and shape of all processes. The library measures and keeps the table (DYNGRID_CALLS).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>

#include "base/grid_shape.hpp"
#include "base/text.hpp"
#include "gridmap/axis.hpp"

extern "C" {
void Cblacs_get(int ctxt, int what, int* value);
void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
void Cblacs_gridexit(int ctxt);
}

namespace {

template <std::size_t> using Address = void*;

template <std::size_t... I> void invoke_with(void* routine, void* const* a, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(Address<I>...)>(routine)(a[I]...);
}

/// Calls a routine with so many addresses, 19 at most.
template <std::size_t... N> void invoke(void* routine, const std::vector<void*>& a, std::index_sequence<N...>) {
  ((N == a.size() ? invoke_with(routine, a.data(), std::make_index_sequence<N>()) : void()), ...);
}
void invoke(void* routine, const std::vector<void*>& arguments) {
  invoke(routine, arguments, std::make_index_sequence<20>());
}

struct Grid {
  int ctxt = -1;
  base::GridShape shape;
  int row = -1, col = -1;
};

/// What stands where among the arguments of a routine, behind p and the type. Letters are given as they are; n and r
/// are the order and the number of right-hand sides, 1 and 0 alpha and beta; A and B matrices of n and r columns with
/// ia, ja and the descriptor; p pivots, t scalars of reflectors, w eigenvalues; k, q, j work space of the matrices'
/// type, real and of integers, each with its length; i is info.
const std::map<std::string, const char*>& all_arguments() {
  static const std::map<std::string, const char*> all{
      {"gemm", "NNnnn1AA0A"}, {"trsm", "LUNNnr1AB"}, {"getrf", "nnApi"},     {"getrs", "NnrApBi"}, {"gesv", "nrApBi"},
      {"potrf", "UnAi"},      {"potrs", "UnrABi"},   {"posv", "UnrABi"},     {"geqrf", "nnAtki"},  {"syev", "VUnAwAki"},
      {"syevd", "VUnAwAkji"}, {"heev", "VUnAwAkqi"}, {"heevd", "VUnAwAkqji"}};
  return all;
}

/// One call on one grid: its arrays, and the addresses of all of it.
class Call {
public:
  Call(const std::string& name, int n, int nrhs, int nb, const Grid& grid)
      : name_(name), type_(name[1]), n_(n), nrhs_(std::min(n, nrhs)), nb_(nb), grid_(grid),
        rows_(gridmap::Axis::block_cyclic(n, nb, grid.shape.nprow)),
        rows_here_(static_cast<int>(rows_.local_size(grid.row))) {}

  /// @return info; of a routine without one 0
  int run() {
    static const std::string letters = "NULV";
    const std::string given = all_arguments().at(name_.substr(2));
    for (const char c : given) {
      if (letters.find(c) != std::string::npos)
        add(letters_ + letters.find(c));
      else if (c == 'A' || c == 'B')
        add_matrix(c == 'A' ? n_ : nrhs_);
      else
        add_other(c);
    }
    void* routine = dlsym(RTLD_DEFAULT, (name_ + "_").c_str());
    if (routine == nullptr) {
      std::fprintf(stderr, "dyngrid-calibrate: there is no routine %s\n", name_.c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!spaces_.empty()) {
      invoke(routine, arguments_);
      if (info_ != 0) return info_;
      get_work();
    }
    invoke(routine, arguments_);
    return info_;
  }

private:
  struct Space {
    std::size_t at; ///< among the arguments; its length follows
    char kind;
    int length = -1;
  };

  bool is_complex() const { return type_ == 'c' || type_ == 'z'; }
  bool is_single() const { return type_ == 's' || type_ == 'c'; }
  std::size_t bytes() const { return (is_single() ? 4u : 8u) * (is_complex() ? 2u : 1u); }

  void add(const void* address) { arguments_.push_back(const_cast<void*>(address)); }
  void* get(std::size_t size) {
    arrays_.push_back(std::vector<char>(std::max<std::size_t>(size, 16), 0));
    return arrays_.back().data();
  }

  void set(void* array, std::size_t k, double value) const { // the real part
    k *= is_complex() ? 2 : 1;
    if (is_single())
      static_cast<float*>(array)[k] = static_cast<float>(value);
    else
      static_cast<double*>(array)[k] = value;
  }

  /// Symmetric, with a heavy diagonal: every routine takes it.
  void add_matrix(int cols) {
    const gridmap::Axis columns = gridmap::Axis::block_cyclic(cols, nb_, grid_.shape.npcol);
    const int lld = std::max(1, rows_here_);
    const auto width = static_cast<int>(columns.local_size(grid_.col));
    void* array = get(static_cast<std::size_t>(lld) * static_cast<std::size_t>(width) * bytes());
    for (int j = 0; j < width; ++j)
      for (int i = 0; i < rows_here_; ++i) {
        const std::int64_t r = rows_.to_global(i, grid_.row), c = columns.to_global(j, grid_.col);
        const auto mixed =
            static_cast<std::uint64_t>(std::min(r, c) * 1000003 + std::max(r, c)) * 11400714819323198485u;
        set(array, static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(lld),
            r == c ? n_ : static_cast<double>(mixed >> 11) / (1ull << 53) - 0.5);
      }
    descriptors_.push_back({1, grid_.ctxt, n_, cols, nb_, nb_, 0, 0, lld});
    add(array), add(&one_), add(&one_), add(descriptors_.back().data());
  }

  void add_other(char c) {
    switch (c) {
    case 'n':
      return add(&n_);
    case 'r':
      return add(&nrhs_);
    case '1':
    case '0': {
      void* factor = get(16);
      set(factor, 0, c == '1' ? 1 : 0);
      return add(factor);
    }
    case 'p': {
      auto* pivots = static_cast<int*>(get(static_cast<std::size_t>(rows_here_ + nb_) * sizeof(int)));
      for (int i = 0; i < rows_here_; ++i) pivots[i] = static_cast<int>(rows_.to_global(i, grid_.row)) + 1;
      return add(pivots);
    }
    case 't':
    case 'w':
      return add(get(static_cast<std::size_t>(n_) * 16));
    case 'i':
      return add(&info_);
    default: // work space: first its length is asked for
      spaces_.push_back({arguments_.size(), c});
      add(get(4096)), add(&spaces_.back().length);
    }
  }

  void get_work() {
    const int more = (n_ + 4 * nb_) * nb_; // some ask for less than they then want
    for (Space& space : spaces_) {
      const void* said = arguments_[space.at];
      if (space.kind == 'j')
        std::memcpy(&space.length, said, sizeof space.length);
      else
        space.length = more + 4 * n_ +
                       static_cast<int>(is_single() ? double{*static_cast<const float*>(said)} * (1 + 1e-6)
                                                    : *static_cast<const double*>(said));
      arguments_[space.at] = get(static_cast<std::size_t>(space.length) * 16);
    }
  }

  std::string name_;
  char type_;
  int n_, nrhs_, nb_;
  Grid grid_;
  gridmap::Axis rows_;
  int rows_here_, info_ = 0;
  const int one_ = 1;
  const char* letters_ = "NULV";
  std::vector<void*> arguments_;
  std::list<std::vector<char>> arrays_;
  std::list<std::array<int, 9>> descriptors_;
  std::list<Space> spaces_;
};

std::vector<int> numbers(const char* text) {
  std::vector<int> all;
  for (const std::string& word : base::split(text, ',')) all.push_back(std::atoi(word.c_str())); // checked already
  return all;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int processes = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 5) {
    std::fprintf(stderr, "dyngrid-calibrate is started by dyngrid calibrate\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<base::GridShape> shapes{base::squarest(processes)};
  for (const base::GridShape shape : {base::GridShape{1, processes}, base::GridShape{processes, 1}})
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  int failed = 0;
  for (const base::GridShape shape : shapes) {
    Grid grid;
    Cblacs_get(0, 0, &grid.ctxt);
    Cblacs_gridinit(&grid.ctxt, "R", shape.nprow, shape.npcol);
    Cblacs_gridinfo(grid.ctxt, &grid.shape.nprow, &grid.shape.npcol, &grid.row, &grid.col);
    for (const std::string& routine : base::split(argv[1], ','))
      for (const int n : numbers(argv[2]))
        for (const int nb : numbers(argv[3])) {
          const int nrhs = std::atoi(argv[4]), info = Call(routine, n, nrhs == 0 ? n : nrhs, nb, grid).run();
          if (info == 0) continue;
          failed = 1;
          if (rank == 0)
            std::fprintf(stderr, "dyngrid-calibrate: %s of %d in blocks of %d on %s: info %d\n", routine.c_str(), n, nb,
                         to_string(shape).c_str(), info);
        }
    Cblacs_gridexit(grid.ctxt);
  }
  MPI_Finalize();
  return failed;
}
