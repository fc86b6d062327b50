// SPDX-License-Identifier: BSD-3-Clause
// In place of checkpoint_file.cpp where dyngrid is built without HDF5.
#include "base/status.hpp"
#include "control/checkpoint_file.hpp"

namespace control {
namespace {
[[noreturn]] void refuse(const std::string& path) {
  throw base::Error(base::Status::unsupported, "blacs-dyn: checkpoint " + path +
                                                   ": this dyngrid was built without HDF5; configure it where "
                                                   "libhdf5-openmpi-dev is installed");
}
} // namespace

std::string checkpoint_library() {
  return "";
}

struct CheckpointWriter::File {};
struct CheckpointReader::File {};
CheckpointWriter::CheckpointWriter(std::string path) {
  refuse(path);
}
CheckpointWriter::CheckpointWriter(CheckpointWriter&&) noexcept = default;
CheckpointWriter::~CheckpointWriter() = default;
void CheckpointWriter::describe(const SavedState&) {}
void CheckpointWriter::begin_matrix(const SavedMatrix&, const Slab&) {}
void CheckpointWriter::write(const Slab&, const void*) {}
void CheckpointWriter::commit() {}
CheckpointReader::CheckpointReader(const std::string& path) {
  refuse(path);
}
CheckpointReader::~CheckpointReader() = default;
void CheckpointReader::read_shared(std::size_t, void*) {}
void CheckpointReader::read(std::size_t, const Slab&, void*) {}

} // namespace control
