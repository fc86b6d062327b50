// SPDX-License-Identifier: BSD-3-Clause
// A stretch of work between two exchanges, for programs that compute without BLAS. Under libdyngrid-slow.so
// (slow_processor.c) it takes as long as on the emulated processor, otherwise it is only measured.
#pragma once

#include <dlfcn.h>

#include <chrono>
#include <cstdint>

namespace apps {

constexpr double life_flops_per_cell = 10; ///< eight sums and a comparison or two, as apps/life has it

class OwnWork {
public:
  /// @param flops  of the stretch that begins here
  explicit OwnWork(double flops) : flops_(flops), began_(Clock::now()) {}
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
  ~OwnWork() { end(); }

  /// Ends the stretch. Returns its wall-clock seconds; 0 when it has ended before.
  double end() {
    if (has_ended_) return 0;
    has_ended_ = true;
    static const auto slow_down = reinterpret_cast<SlowDown>(dlsym(RTLD_DEFAULT, "dyngrid_slow_work"));
    using Nanoseconds = std::chrono::nanoseconds; // steady_clock is CLOCK_MONOTONIC on Linux
    if (slow_down != nullptr)
      slow_down(flops_, std::chrono::duration_cast<Nanoseconds>(began_.time_since_epoch()).count());
    return std::chrono::duration<double>(Clock::now() - began_).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  using SlowDown = void (*)(double flops, std::int64_t began_ns);
  double flops_;
  Clock::time_point began_;
  bool has_ended_ = false;
};

} // namespace apps
