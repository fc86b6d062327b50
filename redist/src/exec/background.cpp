// SPDX-License-Identifier: BSD-3-Clause
#include "exec/background.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace redist::detail {

void Background::start(Prepared& exchange) {
  if (!exchange.ranks->host || !exchange.wire_done() || exchange.done()) return;
  failed_ = nullptr;
  is_done_ = false;
  try {
    thread_ = std::thread([this, &exchange] {
      try {
        exchange.drain();
      } catch (...) {
        failed_ = std::current_exception();
      }
      is_done_ = true;
    });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

void Background::join() {
  if (thread_.joinable()) thread_.join();
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

} // namespace redist::detail
