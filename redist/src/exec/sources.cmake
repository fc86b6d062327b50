# SPDX-License-Identifier: BSD-3-Clause
set(redist_exec_sources
  src/exec/executor.cpp
  src/exec/grid_life.cpp
  src/exec/group.cpp
  src/exec/liveness.cpp
  src/exec/measure.cpp
  src/exec/offers.cpp
  src/exec/once.cpp
  src/exec/packer.cpp
  src/exec/shared_array.cpp
  src/exec/shared_host.cpp
  src/exec/stream.cpp
  src/exec/wire.cpp
  src/exec/work.cpp
  src/gemr2d/gemr2d.cpp
  src/gemr2d/symbols.cpp)
