// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "grid/matrix.hpp"
#include "processes/packet.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn {

/// The matrix of a field with these dimensions.
void make_field(Matrix& made, const gridmap::FieldDimensions& all);

/// The registered matrices: they follow the grid. Collective calls are collective over `grid`; MPI_COMM_NULL on a
/// process that waits to join, which declares alone.
class Matrices {
public:
  /// Where a process stands when it makes a matrix.
  struct Site {
    MPI_Comm grid = MPI_COMM_NULL;
    Shape shape;
    int context = -1;
    const GridMap* map = nullptr; ///< of the grid
  };

  /// What a program asks for.
  struct Asked {
    const char* name = nullptr;
    char type = 'd';
    AxisRule rows{'R'}, cols{'C'};
    const char* lacks = nullptr; ///< an argument that is null, and may not be
    std::optional<int> order{};  ///< DYNGRID_ORDER_* of one that is dealt out by speed
    MatrixGrid lies_on{};
    std::optional<FieldAsked> field{}; ///< instead of rows, columns and lies_on
  };
  Matrix* create(const Asked& asked, const Site& site);
  /// An array that the program has.
  struct Adopted {
    const int* desc = nullptr;
    void* local = nullptr;
    std::size_t bytes = 0;
    ProgramMemory owner;
  };
  /// Rows and columns are those of the descriptor.
  Matrix* adopt(Asked asked, const Adopted& array, const Site& site);
  void free(Matrix* matrix);
  Matrix* find(const std::string& name);
  /// Local. A number for the two and `op`, to compare between processes. @throws Error that begins with `call` when
  /// op(from) cannot be copied to `to`
  std::int64_t check_copy(const char* call, redist::Op op, const Matrix* from, const Matrix* to) const;
  Matrix* largest() const;                  ///< of those over the whole grid; null when there is none
  double bytes() const;                     ///< of all matrices without copies, on all processes together
  double bytes_of_copies(Shape grid) const; ///< of the others, on all processes of such a grid together
  std::int64_t bytes_of_mine() const;       ///< of the local arrays of this process
  const std::vector<std::unique_ptr<Matrix>>& all() const { return matrices_; }
  std::vector<Matrix*> list() const;
  /// @throws Error{null_pointer, not_found} where it is no living one
  void require(const char* routine, const Matrix* matrix) const;
  bool has(const Matrix* matrix) const;               ///< a living one
  void written(const Matrix* matrix);                 ///< by the program. @throws Error{not_found}
  std::int64_t revision() const { return revision_; } ///< another one when a matrix was made, freed or laid out anew
  void changed() { ++revision_; }

  /// For those that join: forms, and where the matrices lie now.
  void write(Packet& packet) const;
  /// Local. What a new process declared must be what the others have. is_newcomer: it was not there, not even parked,
  /// when rules were given. @throws Error{rank_mismatch}
  void read(Packet& packet, bool is_new, bool is_newcomer);
  /// On a process of the grid: whether a rule may be missing after a growth, in which some wake or none does.
  bool may_lack_rules(bool some_wake) const;
  /// After read() where one may: which process lacks which rule. Collective over the union.
  void compare_rules(MPI_Comm gathered);
  /// How those of `list` whose rule some process lacks lie on `map`, as sent by one that has it. Collective; no
  /// communication where no process lacks one. @throws agreed Error, {not_found} when no process of comm has it
  using Layouts = std::map<const Matrix*, redist::Layout>;
  static Layouts missing_layouts(MPI_Comm comm, const std::vector<Matrix*>& list, const GridMap& map);
  void add(std::unique_ptr<Matrix> matrix) { keep(std::move(matrix)); } ///< from a checkpoint

  void set_contexts(const std::function<int(const Matrix&)>& context_of);
  void leave(); ///< the handles stay readable
  void clear();

private:
  Matrix* declare(std::unique_ptr<Matrix> matrix);
  Matrix* keep(std::unique_ptr<Matrix> matrix);
  void check_new(Matrix& made, const Asked& asked);

  std::vector<std::unique_ptr<Matrix>> matrices_;
  std::vector<std::unique_ptr<Matrix>>
      retired_; ///< freed by the others while this process slept: the handle stays readable
  std::int64_t revision_ = 0;
  std::int64_t made_ = 0; ///< how many were made on the grid; a process outside counts its own until it joins
};

} // namespace blacs_dyn
