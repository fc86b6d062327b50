// SPDX-License-Identifier: BSD-3-Clause
#include "calls/call.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fnv1a.hpp"
#include "base/thread.hpp"
#include "mpi_util.hpp"

namespace blacs_dyn::calls {
namespace {

/// While the others are waited for. One that the program did not tell where the call runs may be in ScaLAPACK's routine
/// already, and never comes: that is said once it takes long.
class Watch {
public:
  explicit Watch(const std::string& routine)
      : thread_(base::thread_without_signals([this, &routine] {
          std::unique_lock<std::mutex> lock(mutex_);
          constexpr int long_s = 10;
          if (!over_.wait_for(lock, std::chrono::seconds(long_s), [this] { return is_over_; }))
            std::fprintf(
                stderr,
                "dyngrid: %s: since %d s this process waits for the others of the context, to agree on where "
                "the call runs. dyngrid_run_on was called on this process, expected on all that make the call\n",
                routine.c_str(), long_s);
        })) {}
  ~Watch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

} // namespace

Agreement agree_on_call(const Call& call, const CallRule& rule, double* unsaid_s) {
  enum { acceptable, hash, minus_hash, first, run, copy, unsaid, count };
  constexpr double per_second = 1e9;
  std::array<std::int64_t, count> said{};
  const bool are_known = !call.callers->is_one_of_many;
  said[acceptable] = are_known && call.is_acceptable ? 1 : 0;
  base::Fnv1a what;
  what.number(call.hash).number(static_cast<int>(rule.mode)).number(rule.place.nb);
  said[hash] = what.number(rule.place.grid.nprow).number(rule.place.grid.npcol).positive();
  said[minus_hash] = -said[hash];
  said[first] = are_known && call.callers->is_first ? 1 : 0;
  if (are_known && call.callers->last.sample.count > 0) {
    said[run] = -static_cast<std::int64_t>(call.callers->last.sample.seconds * per_second);
    said[copy] = -static_cast<std::int64_t>(call.callers->last.copy_s * per_second);
  }
  if (unsaid_s != nullptr) said[unsaid] = -static_cast<std::int64_t>(*unsaid_s * per_second);
  {
    std::optional<Watch> watch;
    if (call.is_said) watch.emplace(call.name);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, said.data(), count, MPI_INT64_T, MPI_MIN, call.comm), "MPI_Allreduce");
  }
  const Agreement agreed{said[hash] == -said[minus_hash], said[acceptable] == 1, said[first] == 1};
  if (unsaid_s != nullptr) *unsaid_s = static_cast<double>(-said[unsaid]) / per_second;
  if (are_known && call.callers->last.sample.count > 0)
    call.callers->know_last(static_cast<double>(-said[run]) / per_second,
                            static_cast<double>(-said[copy]) / per_second);
  return agreed;
}

} // namespace blacs_dyn::calls
