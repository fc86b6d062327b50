// SPDX-License-Identifier: BSD-3-Clause
#include "exec/background.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "base/mpi/wait.hpp"

namespace redist::detail {

void Background::start(Prepared& exchange) {
  if (!exchange.ranks->host || !exchange.wire_done() || exchange.done()) return;
  try {
    thread_ = std::async(std::launch::async, [&exchange] { exchange.drain(false); });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

bool Background::is_done() const {
  return thread_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void Background::join(MPI_Comm comm) {
  if (!is_running()) return;
  std::chrono::duration<double> slice(SharedHost::first_slice_s);
  while (thread_.wait_for(slice) != std::future_status::ready) {
    base::let_mpi_progress(comm); // as in Prepared::drain
    slice = std::min(2 * slice, std::chrono::duration<double>(SharedHost::longest_slice_s));
  }
  thread_.get();
}

} // namespace redist::detail
