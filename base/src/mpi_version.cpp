// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi_version.hpp"

#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace base {

Version version_in(const std::string& text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (!std::isdigit(static_cast<unsigned char>(text[k]))) continue;
    Version version{0, 0, 0};
    char* end = nullptr;
    const char* at = text.c_str() + k;
    int fields = 0;
    for (; fields < 3; ++fields) {
      version[static_cast<std::size_t>(fields)] = static_cast<int>(std::strtol(at, &end, 10));
      at = end + 1;
      if (*end != '.' || !std::isdigit(static_cast<unsigned char>(end[1]))) {
        ++fields;
        break;
      }
    }
    if (fields >= 2) return version;
    k = static_cast<std::size_t>(end - text.c_str());
  }
  return {0, 0, 0};
}

std::string to_string(const Version& v) {
  return fmt::format("{}.{}.{}", v[0], v[1], v[2]);
}

MpiVersion mpi_version_in(const std::string& text) {
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  const Mpi mpi = has("Open MPI") || has("OpenRTE") ? Mpi::open_mpi
                  : has("HYDRA") || has("MPICH")    ? Mpi::mpich
                                                    : Mpi::unknown;
  return {mpi, version_in(text), has("ch4:ucx")};
}

bool starts_processes(const MpiVersion& mpi) {
  return mpi.mpi != Mpi::mpich || !mpi.is_over_ucx || mpi.version >= mpich_spawns_over_ucx_from;
}

bool starts_processes_elsewhere(const MpiVersion& mpi) {
  return !is_open_mpi_5(mpi) || mpi.version >= open_mpi_spawns_elsewhere_from;
}

bool is_open_mpi_5(const MpiVersion& mpi) {
  return mpi.mpi == Mpi::open_mpi && mpi.version >= Version{5, 0, 0};
}

} // namespace base
