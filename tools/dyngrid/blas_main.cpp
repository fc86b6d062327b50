// SPDX-License-Identifier: BSD-3-Clause
// dyngrid-blas: the output of `dyngrid env --export`, for scripts that do not build the command: fast to compile.
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "shared/blas.hpp"

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[2]) == "--dgemm") { // the child of run_dgemm
    command::print_dgemm(std::atoi(argv[3]));
    return 0;
  }
  const std::string core = command::core_to_set(command::look_at_blas());
  if (!core.empty()) fmt::print("export OPENBLAS_CORETYPE={}\n", core);
}
