// SPDX-License-Identifier: BSD-3-Clause
// A prepared exchange at work. From the agreement on nothing here allocates, so that no rank can fail alone.
#include <sched.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/mpi/agree.hpp"
#include "base/mpi/wait.hpp"
#include "exec/prepared.hpp"

namespace redist::detail {
namespace {

using base::monotonic_s;

/// Kept data are copied in slices, so that messages go on meanwhile.
constexpr std::int64_t copy_slice_bytes = std::int64_t{256} << 10;

/// Up to this size a rank is done within tens of microseconds, and a waiting rank does not sleep at once.
constexpr std::int64_t longest_awake_bytes = std::int64_t{64} << 10;

} // namespace

bool begin_run(Connections& ranks, Prepared* exchange, const std::vector<Pointers>& pointers,
               std::optional<base::Error> wrong, const std::int64_t* number) {
  PutDown ahead = PutDown::nothing;
  if (exchange != nullptr && !wrong) wrong = base::attempt([&] { ahead = exchange->bind(pointers); });
  std::int64_t signature = exchange != nullptr ? exchange->signature ^ exchange->work.scaling_print : 0;
  if (number != nullptr) signature = *number < 0 ? -1 : (signature * 65537 + *number) & INT64_MAX;
  const bool is_short = exchange != nullptr && exchange->is_short;
  const std::optional<bool> offered = ranks.agree(wrong, signature, ahead, number != nullptr, is_short);
  if (!offered) return false;
  if (*offered) exchange->read_in_place();
  exchange->start();
  ranks.active = exchange;
  return true;
}

ExecuteReport finish_run(Connections& ranks) {
  Prepared& exchange = *ranks.active;
  try {
    exchange.drain(true);
  } catch (...) {
    ranks.broken = true;
    ranks.active = nullptr;
    throw;
  }
  ranks.active = nullptr;
  return exchange.end();
}

PutDown Prepared::bind(const std::vector<Pointers>& pointers) {
  began_s = monotonic_s();
  work.bind(pointers);
  copies.clear();
  add_keeps();
  if (slab.of == 1) prepare_targets(work); // in slabs the target's pages shall come no sooner than the source's go
  report = {};
  report.bytes_out = work.bytes_out();
  report.bytes_in = work.bytes_in();
  report.bytes_kept = work.bytes_kept;
  wire_turn.begin();
  host_turn.begin();
  if (offer()) return PutDown::sources;
  return is_short && send_ahead() ? PutDown::panels : PutDown::nothing;
}

void Prepared::add_keeps() {
  for (const Piece& keep : work.keeps) copies.push_back(work.copy_of(keep));
}

void Prepared::start() {
  host_in.clear();
  for (std::size_t s = 0; s < work.in.size(); ++s)
    if (work.in[s].shared && work.in[s].bytes_left > 0) host_in.push_back(s);
  ranks->wire->begin(ranks->round++, wire_in);
}

ExecuteReport Prepared::end() {
  report.pack_s += ranks->wire->pack_s;
  report.transfer_s = monotonic_s() - began_s;
  report.peak_bytes = ranks->wire->buffer_bytes() + (ranks->host ? ranks->host->buffer_bytes() : 0);
  if (ranks->host) ranks->host->drop_unused();
  return report;
}

bool Prepared::copy_slice() {
  if (copies.empty()) return false;
  LocalCopy& copy = copies.back();
  std::int64_t now = std::min(copy.count, copy_slice_bytes / copy.source.esize);
  const std::int64_t height = copy.source.rows->total;
  // whole columns of a transposed source, 16 at a time, share its lines
  if (copy.source.transposed && now > height) now -= now % (now > 16 * height ? 16 * height : height);
  const double t = monotonic_s();
  copy_direct(copy.source, copy.target, copy.first, now);
  report.copy_s += monotonic_s() - t;
  copy.first += now;
  copy.count -= now;
  if (copy.count > 0) return true;
  const int peer = copy.peer;
  copies.pop_back();
  if (peer >= 0 && --pulls_left[static_cast<std::size_t>(peer)] == 0) ranks->host->tell_read(peer);
  return true;
}

bool Prepared::wire_done() const {
  return wire_turn.done() && ranks->wire->idle();
}

bool Prepared::done() const {
  return copies.empty() && (!ranks->host || ranks->host->finished_readers() == ranks->readers_expected) &&
         host_in.empty() && host_turn.done() && wire_done();
}

/// Fills one panel for each stream of the group. False when too few panels are free.
bool Prepared::send_group(const Group& group) {
  SharedHost& host = *ranks->host;
  if (static_cast<int>(group.streams.size()) > host.free_panels()) return false;
  const double t = monotonic_s();
  taken.clear();
  outgoing.packed.clear();
  outgoing.room.assign(group.streams.size(), host.panel_bytes());
  for (std::size_t s : group.streams) {
    taken.push_back(host.take_panel(work.out[s].peer));
    outgoing.packed.push_back(host.panel(taken.back()));
  }
  fill_panels(group, work, outgoing);
  report.pack_s += monotonic_s() - t;
  for (std::size_t k = 0; k < taken.size(); ++k)
    host.post(work.out[group.streams[k]].peer, taken[k], host.panel_bytes() - outgoing.room[k]);
  return true;
}

/// Fills the free panels. A rank that comes out of the agreement then finds all panels from the others, and waits only
/// once. True when there was anything to fill.
bool Prepared::send_ahead() {
  bool any = false;
  for (; !host_turn.done() && send_group(groups[group_of_lead[host_turn.next_index()]]); any = true)
    host_turn.advance();
  ranks->host->flush();
  return any;
}

/// All that have come.
bool Prepared::receive_panels() {
  SharedHost& host = *ranks->host;
  bool moved = false;
  for (std::size_t k = 0; k < host_in.size();) {
    Stream& stream = work.in[host_in[k]];
    std::size_t bytes = 0;
    while (const char* panel = stream.bytes_left > 0 ? host.take(stream.peer, bytes) : nullptr) {
      const double t = monotonic_s();
      stream.unpack(stream.place, panel, bytes);
      report.pack_s += monotonic_s() - t;
      stream.skip(bytes);
      host.release(stream.peer);
      moved = true;
    }
    if (stream.bytes_left == 0)
      host_in.erase(host_in.begin() + static_cast<std::ptrdiff_t>(k));
    else
      ++k;
  }
  return moved;
}

/// Takes all panels that have arrived and fills those of one group. Not more at once: a rank that fills all of its
/// panels before it looks leaves its partner without free ones meanwhile, and then waits for it in turn.
bool Prepared::host_progress() {
  bool moved = receive_panels();
  if (!host_turn.done() && send_group(groups[group_of_lead[host_turn.next_index()]])) {
    host_turn.advance();
    moved = true;
  }
  return moved;
}

bool Prepared::progress() {
  SharedHost* host = ranks->host.get();
  Wire& wire = *ranks->wire;
  bool moved = false;
  // as often as there are panels, so that start() and advance() come back while partners are busy, too
  for (int k = 0; host != nullptr && k < host->panel_count() && host_progress(); ++k) {
    moved = true;
    if (!wire_done()) break;
  }
  if (host != nullptr) host->flush();
  moved |= wire.poll();
  moved |= wire.try_receive([this](int peer) -> Stream& { return work.in[work.in_of_rank.at(peer)]; });
  while (!wire_turn.done() && wire.try_send(wire_turn.next())) {
    wire_turn.advance();
    moved = true;
  }
  return copy_slice() || moved;
}

void Prepared::look_for_the_dead() const {
  for (const auto* streams : {&work.in, &work.out})
    for (const Stream& stream : *streams) ranks->processes->check(stream.peer);
}

void Prepared::drain(bool may_call_mpi) {
  double last_moved = 0, slice_s = SharedHost::first_slice_s;
  while (!done()) {
    const std::uint32_t bell = ranks->host ? ranks->host->bell() : 0;
    const double t = monotonic_s(); // an empty poll is waiting too
    if (progress() || done()) {
      last_moved = 0;
      slice_s = SharedHost::first_slice_s;
      continue;
    }
    if (last_moved == 0) {
      last_moved = t;
    } else if (t - last_moved > 1.0) {
      look_for_the_dead();
      last_moved = t;
    }
    const bool is_under_way = ranks->wire->is_under_way();
    if (ranks->host && wire_done()) {
      ranks->host->wait(bell, slice_s, report.bytes_out + report.bytes_in <= longest_awake_bytes);
      slice_s = std::min(2 * slice_s, SharedHost::longest_slice_s);
      // The partner may be between start() and finish(), and wait there for a message that the program has sent it
      // from here. In the helper thread this is left to the thread that the program waits in. Not after a bell:
      // Open MPI yields the core in each look where processes share cores.
      if (may_call_mpi && ranks->host->bell() == bell) base::let_mpi_progress(ranks->comm);
    } else {
      sched_yield();
    }
    const double waited = monotonic_s() - t;
    report.wait_s += waited;
    if (is_under_way) report.wire_s += waited;
  }
}

} // namespace redist::detail
