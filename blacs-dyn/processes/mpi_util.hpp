// SPDX-License-Identifier: BSD-3-Clause
// Names of base/mpi that this room and those above it use.
#pragma once

#include "base/mpi/agree.hpp"
#include "base/mpi/check.hpp"
#include "base/mpi/comm.hpp"
#include "base/mpi/wait.hpp"
#include "base/tags.hpp"

namespace blacs_dyn {

using base::agree_on_number;
using base::attempt;
using base::broadcast;
using base::check_mpi;
using base::check_same;
using base::Comm;
using base::let_mpi_progress;
using base::together;
using base::together_on_number;
using base::wait_asleep;

} // namespace blacs_dyn
