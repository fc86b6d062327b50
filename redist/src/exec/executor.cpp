// SPDX-License-Identifier: BSD-3-Clause
#include "redist/executor.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/status.hpp"
#include "exec/group.hpp"
#include "exec/liveness.hpp"
#include "exec/mpi_check.hpp"
#include "exec/offers.hpp"
#include "exec/shared_host.hpp"
#include "exec/stream.hpp"
#include "exec/turn.hpp"
#include "exec/wire.hpp"
#include "exec/work.hpp"
#include "redist/grid_life.hpp"

namespace redist {

using base::Error;
using base::Status;
using detail::check;
using detail::Group;
using detail::LocalCopy;
using detail::Slab;
using detail::Stream;
using detail::Turn;

namespace {

double now_s() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Panels of one rank in shared memory: eight, each enough to run for some 50 us between two switches of process.
constexpr std::size_t shared_panels_bytes = detail::SharedHost::usual_panels * (std::size_t{192} << 10);

/// Kept data are copied in slices, so that messages go on meanwhile.
constexpr std::int64_t copy_slice_bytes = std::int64_t{256} << 10;

/// Up to here a rank is done within some tens of microseconds, and who waits does not sleep at once.
constexpr std::int64_t short_exchange_bytes = std::int64_t{64} << 10;

} // namespace

struct Executor::Impl {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  ExecuteOptions options;
  std::uint64_t round = 0;
  std::unique_ptr<detail::Liveness> processes;
  std::unique_ptr<detail::Wire> wire;
  std::unique_ptr<detail::SharedHost> host; ///< null: everything goes over MPI

  // the exchange under way
  bool active = false;
  std::thread helper; ///< moves what goes through shared memory between start() and finish()
  std::exception_ptr helper_failed;
  std::atomic<bool> helper_done{false};
  bool non_temporal = false; ///< panels of this exchange
  bool broken =
      false; ///< MPI failed or a partner died: the communicator is in an unknown state and is not touched again
  detail::Work work;
  std::vector<Group> groups;                                  ///< of the streams through shared memory
  std::unordered_map<std::size_t, std::size_t> group_of_lead; ///< first stream of each, to its group
  std::unordered_map<int, int> pulls_left;                    ///< per rank whose arrays I read in place
  std::uint32_t readers_expected = 0; ///< what host->told() must come to before my sources are free
  std::unique_ptr<Turn> wire_turn, host_turn;
  std::vector<std::size_t> host_in; ///< incoming streams through shared memory that are not through
  ExecuteReport report;

  void minimum_of(std::int64_t (&numbers)[detail::SharedHost::numbers_at_once]) {
    try {
      if (host && host->everybody())
        host->minimum(numbers, *processes);
      else
        check(MPI_Allreduce(MPI_IN_PLACE, numbers, detail::SharedHost::numbers_at_once, MPI_INT64_T, MPI_MIN, comm),
              "MPI_Allreduce");
    } catch (...) {
      broken = true;
      throw;
    }
  }

  ~Impl() {
    if (helper.joinable()) helper.join(); // its partners are in the same exchange: it ends
  }

  /// One outcome for all ranks: the worst status wins and the lowest rank that has it is named. Returns whether some
  /// rank offers an array to be read in place; nothing when the signatures differ or are negative and `may_differ`.
  std::optional<bool> agree(Status mine, const std::string& message, std::int64_t signature, bool offers,
                            bool may_differ) {
    const std::int64_t verdict = static_cast<std::int64_t>(mine) * (std::int64_t{1} << 32) + rank;
    std::int64_t all[detail::SharedHost::numbers_at_once] = {verdict, signature, -signature, offers ? -1 : 0};
    minimum_of(all);
    const std::int64_t who = all[0] & 0xffffffff;
    const auto worst = static_cast<Status>(static_cast<int>((all[0] - who) / (std::int64_t{1} << 32)));
    if (worst != Status::success) {
      if (mine == worst) throw Error(worst, message);
      throw Error(worst, fmt::format("redist: rank {} of {} reports: {}", who, size, base::to_string(worst)));
    }
    if (may_differ && (all[1] != -all[2] || all[1] < 0)) return std::nullopt;
    if (all[1] != -all[2])
      throw Error(Status::rank_mismatch,
                  "redist: transfers: their number, types or slabs differ between ranks, wanted the same everywhere");
    return all[3] < 0;
  }

  void prepare(const std::vector<Transfer>& transfers, Slab slab);
  bool begin(const std::vector<Transfer>& transfers, Slab slab = {}, const std::int64_t* number = nullptr);
  void in_background();
  void read_in_place();
  bool progress();
  bool copy_slice();
  void drain();
  bool wire_done() const;
  bool done() const;
  bool host_progress();
  bool send_group(Group& group);
  void clear() {
    active = false;
    work = {};
    groups.clear();
    group_of_lead.clear();
    pulls_left.clear();
    wire_turn.reset();
    host_turn.reset();
    host_in.clear();
  }
};

/// What this rank has to do, and the buffers for it.
void Executor::Impl::prepare(const std::vector<Transfer>& transfers, Slab slab) {
  if (slab.of < 1)
    throw Error(
        Status::bad_argument,
        fmt::format("redist: in-place exchange: slabs is {}, wanted at least 1 [rank {} of {}]", slab.of, rank, size));
  detail::validate(transfers, rank, size);
  work = detail::work_of(transfers, slab, rank, size, [this](int peer) { return host && host->reaches(peer); });
  report.bytes_out = work.bytes_out();
  report.bytes_in = work.bytes_in();
  report.bytes_kept = work.bytes_kept;
  if (slab.of == 1)
    detail::prepare_targets(transfers); // in slabs the target's pages shall come no sooner than the source's go
  std::int64_t to_panels = 0;
  for (const Stream& stream : work.out)
    if (stream.shared) to_panels += stream.bytes_left;
  non_temporal = detail::non_temporal_is_possible() &&
                 (options.panel_writes == PanelWrites::non_temporal ||
                  (options.panel_writes == PanelWrites::automatic && to_panels >= detail::non_temporal_bytes));
  const auto goes_by_wire = [](const Stream& stream) { return !stream.shared; };
  if (std::any_of(work.out.begin(), work.out.end(), goes_by_wire) ||
      std::any_of(work.in.begin(), work.in.end(), goes_by_wire))
    wire->reserve();
}

/// @param number  when given: only if it is the same on all ranks and not negative. False: nothing was begun.
bool Executor::Impl::begin(const std::vector<Transfer>& transfers, Slab slab, const std::int64_t* number) {
  Status mine = Status::success;
  std::string message;
  bool offers = false;
  report = {};
  clear();
  try {
    prepare(transfers, slab);
    offers = host && detail::make_offers(*host, transfers);
  } catch (const Error& error) {
    mine = error.status();
    message = error.what();
  } catch (const std::bad_alloc&) {
    mine = Status::out_of_memory;
    message = fmt::format("redist: no memory for the buffers of an exchange [rank {} of {}]", rank, size);
  }
  std::int64_t signature = static_cast<std::int64_t>(transfers.size()) * 65537 + slab.of;
  for (const Transfer& x : transfers) signature = (signature * 31 + x.type) & 0xffffffffff;
  if (number != nullptr) signature = *number < 0 ? -1 : (signature * 65537 + *number) & INT64_MAX;
  try {
    const std::optional<bool> offered = agree(mine, message, signature, offers, number != nullptr);
    if (!offered) {
      clear();
      return false;
    }
    if (*offered) read_in_place();
  } catch (...) {
    clear();
    throw;
  }
  wire_turn = std::make_unique<Turn>(&work.out);
  host_turn = std::make_unique<Turn>(&work.out);
  for (std::size_t s = 0; s < work.out.size(); ++s)
    if (!work.out[s].shared) wire_turn->add(s);
  if (host)
    groups = detail::form_groups(work, host->panel_bytes(),
                                 static_cast<std::size_t>(std::max(1, host->panel_count() * 3 / 4)));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t lead = groups[g].streams.front();
    group_of_lead[lead] = g;
    host_turn->add(lead);
  }
  std::int64_t wire_in = 0;
  for (std::size_t s = 0; s < work.in.size(); ++s) {
    const Stream& stream = work.in[s];
    if (!stream.shared)
      wire_in += stream.bytes_left;
    else if (stream.bytes_left > 0)
      host_in.push_back(s);
  }
  wire->begin(round++, wire_in);
  active = true;
  return true;
}

/// All ranks do so or, when one of them cannot map an array that it needs, none.
void Executor::Impl::read_in_place() {
  std::optional<std::vector<LocalCopy>> pulls;
  if (host) pulls = detail::find_pulls(*host, work);
  std::int64_t all[detail::SharedHost::numbers_at_once] = {!host || pulls ? 1 : 0, 0, 0, 0};
  minimum_of(all);
  if (all[0] == 0 || !host) return;
  for (const LocalCopy& pull : *pulls) ++pulls_left[pull.peer];
  readers_expected += static_cast<std::uint32_t>(detail::take_out_offered(*host, work, std::move(*pulls), rank, size));
}

bool Executor::Impl::copy_slice() {
  while (!work.copies.empty()) {
    LocalCopy& copy = work.copies.back();
    const std::int64_t now = std::min(copy.count, copy_slice_bytes / copy.source.esize);
    const double t = now_s();
    detail::copy_direct(copy.source, copy.target, copy.first, now);
    report.copy_s += now_s() - t;
    copy.first += now;
    copy.count -= now;
    if (copy.count > 0) return true;
    const int peer = copy.peer;
    work.copies.pop_back();
    if (peer >= 0 && --pulls_left[peer] == 0) host->tell_read(peer);
    return true;
  }
  return false;
}

bool Executor::Impl::wire_done() const {
  return wire_turn->done() && wire->idle();
}
bool Executor::Impl::done() const {
  return work.copies.empty() && (!host || host->told() == readers_expected) && host_in.empty() && host_turn->done() &&
         wire_done();
}

/// Fills one panel for each stream of the group. False when too few panels are free.
bool Executor::Impl::send_group(Group& group) {
  if (static_cast<int>(group.streams.size()) > host->free_panels()) return false;
  const double t = now_s();
  std::vector<int> taken;
  std::vector<char*> panels;
  for (std::size_t s : group.streams) {
    taken.push_back(host->take_panel(work.out[s].peer));
    panels.push_back(host->panel(taken.back()));
  }
  const std::vector<std::size_t> bytes =
      detail::fill_panels(group, work.out, panels, host->panel_bytes(), non_temporal);
  report.pack_s += now_s() - t;
  for (std::size_t k = 0; k < taken.size(); ++k) host->post(work.out[group.streams[k]].peer, taken[k], bytes[k]);
  return true;
}

/// Takes all panels that have come and fills those of one group. Not more at once: who fills all of its panels before
/// it looks leaves its partner without free ones meanwhile, and then waits for it in turn.
bool Executor::Impl::host_progress() {
  bool moved = false;
  for (std::size_t k = 0; k < host_in.size();) {
    Stream& stream = work.in[host_in[k]];
    std::size_t bytes = 0;
    while (const char* panel = stream.bytes_left > 0 ? host->take(stream.peer, bytes) : nullptr) {
      const double t = now_s();
      stream.unpack(stream.place, panel, bytes);
      report.pack_s += now_s() - t;
      stream.skip(bytes);
      host->release(stream.peer);
      moved = true;
    }
    if (stream.bytes_left == 0)
      host_in.erase(host_in.begin() + static_cast<std::ptrdiff_t>(k));
    else
      ++k;
  }
  if (!host_turn->done() && send_group(groups[group_of_lead.at(host_turn->next_index())])) {
    host_turn->advance();
    moved = true;
  }
  return moved;
}

bool Executor::Impl::progress() {
  bool moved = false;
  // as often as there are panels, so that start() and advance() come back while partners are busy, too
  for (int k = 0; host && k < host->panel_count() && host_progress(); ++k) {
    moved = true;
    if (!wire_done()) break;
  }
  if (host) host->flush();
  moved |= wire->poll();
  moved |= wire->try_receive([this](int peer) -> Stream& { return work.in[work.in_of_rank.at(peer)]; });
  while (!wire_turn->done() && wire->try_send(wire_turn->next())) {
    wire_turn->advance();
    moved = true;
  }
  return copy_slice() || moved;
}

/// Only when nothing goes over MPI, which may not be called from here.
void Executor::Impl::in_background() {
  if (!host || !wire_done() || done()) return;
  helper_failed = nullptr;
  helper_done = false;
  try {
    helper = std::thread([this] {
      try {
        drain();
      } catch (...) {
        helper_failed = std::current_exception();
      }
      helper_done = true;
    });
  } catch (const std::system_error&) { // no thread to be had: finish() does it all
  }
}

void Executor::Impl::drain() {
  double last_moved = 0;
  while (!done()) {
    const std::uint32_t bell = host ? host->bell() : 0;
    const double t = now_s(); // a round of asking in vain is waiting too
    if (progress() || done()) {
      last_moved = 0;
      continue;
    }
    if (last_moved == 0) {
      last_moved = t;
    } else if (t - last_moved > 1.0) {
      for (const auto* streams : {&work.in, &work.out})
        for (const Stream& stream : *streams) processes->check(stream.peer);
      last_moved = t;
    }
    const bool is_under_way = wire->is_under_way();
    if (host && wire_done())
      host->wait(bell, 1.0, report.bytes_out + report.bytes_in <= short_exchange_bytes);
    else
      sched_yield();
    const double waited = now_s() - t;
    report.wait_s += waited;
    if (is_under_way) report.wire_s += waited;
  }
}

Executor::Executor(MPI_Comm comm, ExecuteOptions options) : impl_(std::make_unique<Impl>()) {
  Impl& self = *impl_;
  self.options = options;
  require_whole_grid(comm, "executor");
  check(MPI_Comm_dup(comm, &self.comm), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(self.comm, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(self.comm, &self.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(self.comm, &self.size), "MPI_Comm_size");
  self.processes = std::make_unique<detail::Liveness>(self.comm);
  std::int64_t extra = static_cast<std::int64_t>(std::min(options.extra_bytes, std::size_t{1} << 40));
  check(MPI_Allreduce(MPI_IN_PLACE, &extra, 1, MPI_INT64_T, MPI_MIN, self.comm), "MPI_Allreduce");
  std::size_t for_panels = 0;
  if (options.transport != Transport::mpi) {
    for_panels = std::min(static_cast<std::size_t>(extra) / 2, shared_panels_bytes);
    self.host = std::make_unique<detail::SharedHost>(self.comm, for_panels, options.host_key);
    if (options.transport == Transport::shared && !self.host->everybody()) {
      self.host.reset();
      MPI_Comm_free(&self.comm);
      throw Error(Status::unsupported, "redist: executor: transport is shared, but some ranks share no "
                                       "memory, wanted Transport::automatic");
    }
  }
  self.wire = std::make_unique<detail::Wire>(self.comm, static_cast<std::size_t>(extra) - for_panels);
}

std::pair<std::int64_t, std::int64_t> Executor::range(std::int64_t mine) {
  if (!impl_ || impl_->comm == MPI_COMM_NULL)
    throw Error(Status::bad_state, "redist: executor: is closed, wanted an open one");
  std::int64_t numbers[detail::SharedHost::numbers_at_once] = {mine, -mine, 0, 0};
  impl_->minimum_of(numbers);
  return {numbers[0], -numbers[1]};
}

int Executor::ranks_on_host() const {
  return impl_ && impl_->host ? impl_->host->reached() : 1;
}

int Executor::cores_on_host() const {
  return impl_ && impl_->host ? impl_->host->cores() : 1;
}

Executor::~Executor() {
  if (!impl_ || impl_->comm == MPI_COMM_NULL) return;
  if (std::uncaught_exceptions() > 0 || !detail::mpi_is_up())
    return; // freeing is collective: a leak can be counted, a hang cannot
  try {
    close();
  } catch (...) {
  }
}

Executor::Executor(Executor&&) noexcept = default;

Executor& Executor::operator=(Executor&& other) noexcept {
  if (this != &other) {
    Executor old(std::move(*this)); // closed by its destructor
    impl_ = std::move(other.impl_);
  }
  return *this;
}

ExecuteReport Executor::execute(const std::vector<Transfer>& transfers) {
  ready();
  impl_->begin(transfers);
  return finish();
}

bool Executor::execute_if_same(std::int64_t number, const std::vector<Transfer>& transfers) {
  ready();
  if (!impl_->begin(number < 0 ? std::vector<Transfer>() : transfers, {}, &number)) return false;
  finish();
  return true;
}

ExecuteReport Executor::execute_in_place(const std::vector<Transfer>& transfers, int slabs) {
  ready();
  ExecuteReport sum;
  detail::GoneColumns gone(transfers);
  for (int s = 0; s == 0 || s < slabs; ++s) { // the first round says on all ranks when a rank has no slabs
    const Slab slab{s, slabs};
    impl_->begin(transfers, slab);
    const ExecuteReport report = finish();
    gone.give_back(transfers, slab);
    sum.pack_s += report.pack_s;
    sum.transfer_s += report.transfer_s;
    sum.wait_s += report.wait_s;
    sum.wire_s += report.wire_s;
    sum.copy_s += report.copy_s;
    sum.bytes_out += report.bytes_out;
    sum.bytes_in += report.bytes_in;
    sum.bytes_kept += report.bytes_kept;
    sum.peak_bytes = std::max(sum.peak_bytes, report.peak_bytes);
  }
  return sum;
}

void Executor::ready() const {
  if (!impl_ || impl_->comm == MPI_COMM_NULL)
    throw Error(Status::bad_state, "redist: executor: is closed, wanted an open one");
  require_whole_grid(impl_->comm, "executor");
  if (impl_->broken)
    throw Error(Status::bad_state, "redist: executor: an earlier exchange failed half way, wanted a new executor");
  if (impl_->active)
    throw Error(Status::bad_state, "redist: executor: an exchange is under way, wanted finish() first");
}

void Executor::start(const std::vector<Transfer>& transfers) {
  ready();
  impl_->begin(transfers);
  impl_->progress();
  impl_->in_background();
}

bool Executor::advance() {
  if (!impl_ || !impl_->active)
    throw Error(Status::bad_state, "redist: executor: no exchange is under way, wanted start() first");
  if (impl_->helper.joinable()) return impl_->helper_done.load();
  impl_->progress();
  return impl_->done();
}

ExecuteReport Executor::finish() {
  if (!impl_ || !impl_->active)
    throw Error(Status::bad_state, "redist: executor: no exchange is under way, wanted start() first");
  Impl& self = *impl_;
  const double t0 = now_s();
  try {
    if (self.helper.joinable()) self.helper.join();
    if (self.helper_failed) std::rethrow_exception(std::exchange(self.helper_failed, nullptr));
    self.drain();
  } catch (...) {
    self.broken = true;
    self.active = false;
    throw;
  }
  self.report.pack_s += self.wire->pack_s + self.wire->unpack_s;
  self.report.transfer_s = now_s() - t0;
  self.report.peak_bytes = self.wire->buffer_bytes() + (self.host ? self.host->buffer_bytes() : 0);
  self.active = false;
  const ExecuteReport report = self.report;
  self.clear();
  if (self.host) self.host->drop_unused();
  return report;
}

void Executor::close() {
  if (!impl_ || impl_->comm == MPI_COMM_NULL) return;
  if (impl_->active) finish();
  impl_->wire.reset();
  impl_->host.reset();
  if (impl_->broken) {
    impl_->comm = MPI_COMM_NULL;
    return;
  }
  check(MPI_Comm_free(&impl_->comm), "MPI_Comm_free");
}

} // namespace redist
