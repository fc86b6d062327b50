// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gridmap/field.hpp"

namespace control {

/// The entry of a matrix in a checkpoint: the same for every grid that it was written from.
struct SavedMatrix {
  std::string name;
  char type = 'd'; ///< s d c z i
  std::int64_t m = 0, n = 0, mb = 1, nb = 1;
  int shape = 0;                  ///< DYNGRID_ON_* of dyngrid/layout.h
  int nprow = 1, npcol = 1;       ///< of a sub-grid, at most
  int order = 0;                  ///< DYNGRID_ORDER_* of dyngrid/balance.h; 0: not dealt out by speed
  gridmap::FieldDimensions field; ///< of a field, rows before columns; otherwise empty
};

/// State that all processes have alike.
struct SavedShared {
  std::string name;
  std::int64_t bytes = 0;
  void* data = nullptr; ///< where it is on this process; null: nowhere yet
};

/// The entry of the application in a checkpoint.
struct SavedState {
  std::string dyngrid_version;
  std::string written;              ///< when, UTC, ISO 8601
  std::int64_t resize_points = 0;   ///< passed by then
  int nprow = 0, npcol = 0;         ///< the grid then
  std::vector<double> speeds;       ///< of its processes, row-major; empty: all alike
  int started = 0;                  ///< processes that mpirun started, those of other pools too
  std::string pool;                 ///< that wrote it; "": the application began on all processes of mpirun
  std::string folder;               ///< working folder of process 0
  std::vector<std::string> command; ///< the program and its arguments
  std::vector<SavedMatrix> matrices;
  std::vector<SavedShared> shared;
};

// The fields of each in a packet to another process.
template <class Archive> void fields(Archive& a, SavedMatrix& matrix) {
  a(matrix.name, matrix.type, matrix.m, matrix.n, matrix.mb, matrix.nb, matrix.shape, matrix.nprow, matrix.npcol,
    matrix.order, matrix.field);
}
template <class Archive> void fields(Archive& a, SavedShared& shared) {
  a(shared.name, shared.bytes);
}
template <class Archive> void fields(Archive& a, SavedState& state) {
  a(state.dyngrid_version, state.written, state.resize_points, state.nprow, state.npcol, state.started, state.pool);
  a(state.folder, state.command, state.matrices, state.shared, state.speeds);
}

/// "HDF5 1.10.8": what writes and reads checkpoints here. Empty: nothing, since this dyngrid was built without HDF5.
std::string checkpoint_library();

/// Rows i .. i+rows-1 and columns j .. j+cols-1 of a matrix.
struct Slab {
  std::int64_t i = 0, j = 0, rows = 0, cols = 0;
};

/// One HDF5 file that is being written, by one process. It grows beside the file that it replaces, under the name path
/// + ".writing". commit() makes it last on the disk and gives it the name, in that order: a reader of `path` finds the
/// old file whole or the new file whole. Of two writers that meet at a path the one that began later goes on, and the
/// other one's commit() fails. Every method @throws Error{io_failure} with HDF5's own text; without commit() nothing is
/// left.
class CheckpointWriter {
public:
  /// @throws also Error{unsupported} when dyngrid was built without HDF5.
  explicit CheckpointWriter(std::string path);
  CheckpointWriter(CheckpointWriter&&) noexcept;
  ~CheckpointWriter();
  /// Everything but the content of the matrices, shared state from its place. @throws also Error{bad_argument} where
  /// another pool has written `path`, and so does commit()
  void describe(const SavedState& state);
  /// The slabs written next are of this matrix, and `first` is the size of all but the last.
  void begin_matrix(const SavedMatrix& matrix, const Slab& first);
  void write(const Slab& slab, const void* column_major); ///< leading dimension slab.rows
  void commit();

private:
  struct File;
  std::unique_ptr<File> file_;
};

/// One checkpoint that is read, by one process. The checksums in the file are checked for everything that is read.
class CheckpointReader {
public:
  /// @throws Error{not_found} when there is no such file, Error{io_failure} when it is no whole checkpoint,
  /// Error{unsupported} as above.
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();
  const SavedState& state() const { return state_; } ///< without the content of shared state
  void read_shared(std::size_t item, void* to);      ///< of state().shared. @throws Error{io_failure}
  /// Elements of state().matrices[matrix], column-major with leading dimension slab.rows. @throws Error{io_failure}
  void read(std::size_t matrix, const Slab& slab, void* column_major);

private:
  struct File;
  std::unique_ptr<File> file_;
  SavedState state_;
};

} // namespace control
