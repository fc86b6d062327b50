// SPDX-License-Identifier: BSD-3-Clause
#include "redist/executor.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "exec/liveness.hpp"
#include "exec/mpi_check.hpp"
#include "exec/shared_host.hpp"
#include "exec/stream.hpp"
#include "exec/wire.hpp"
#include "gridmap/status.hpp"
#include "redist/shared_array.hpp"

namespace redist {

using detail::check;
using detail::Item;
using detail::PackedView;
using detail::Stream;
using gridmap::Error;
using gridmap::Status;

namespace {

double now_s() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// One of several rounds: the s-th part of every column run of every message.
struct Slab {
  int index = 0;
  int of = 1;
  /// Columns of run r of which this slab takes `columns`, from the `skip`-th on.
  void part_of(const Run& r, std::int64_t& skip, std::int64_t& columns) const {
    const std::int64_t unit = r.count > 1 ? r.len : 1;
    const std::int64_t units = r.count > 1 ? r.count : r.len;
    skip = units * index / of * unit;
    columns = units * (index + 1) / of * unit - skip;
  }
};

/// Both ends of what stays here, or of what is read straight from another rank's array.
struct Keep {
  PackedView source;
  PackedView target;
  std::int64_t first = 0;
  std::int64_t count = 0;
  int peer = -1; ///< whose array it is, -1: mine
};

/// Outgoing streams that leave the same columns of the same arrays, and what stays here of these columns.
struct Group {
  std::vector<std::size_t> streams; ///< in step with each other, column by column
  std::vector<Keep> keeps;          ///< none, or one for each of their items
  detail::ColumnOrder order;        ///< of messages with these rows, of elements of these bytes
  std::vector<std::pair<const RunList*, int>> order_of;
};

/// Picks the next outgoing stream: those with something in the earliest unfinished step, in turn.
class Turn {
public:
  explicit Turn(std::vector<Stream>* streams) : streams_(streams) {}
  void add(std::size_t s) { all_.push_back(s); }
  bool done() {
    refill();
    return active_.empty();
  }
  std::size_t next_index() const { return active_[at_ % active_.size()]; } // after done() said no
  Stream& next() { return (*streams_)[next_index()]; }
  void advance() {
    Stream& s = next();
    if (s.at_end() || s.step() != step_)
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(at_ % active_.size()));
    else
      ++at_;
  }

private:
  void refill() {
    if (!active_.empty()) return;
    at_ = 0;
    bool any = false;
    for (std::size_t s : all_) {
      const Stream& stream = (*streams_)[s];
      if (stream.at_end() || (any && stream.step() > step_)) continue;
      if (!any || stream.step() < step_) active_.clear();
      any = true;
      step_ = stream.step();
      active_.push_back(s);
    }
    if (!any) all_.clear();
  }
  std::vector<Stream>* streams_;
  std::vector<std::size_t> all_, active_;
  std::size_t at_ = 0;
  int step_ = 0;
};

/// Panels of one rank in shared memory: eight, each enough to run for some 50 us between two switches of process.
constexpr std::size_t shared_panels_bytes = detail::SharedHost::usual_panels * (std::size_t{192} << 10);

constexpr std::int64_t past_cache_bytes = std::int64_t{1} << 20;

/// Kept data are copied in slices, so that messages go on meanwhile.
constexpr std::int64_t keep_slice_bytes = std::int64_t{256} << 10;

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
  bool around = false; ///< this exchange writes panels around the cache
  bool broken = false; ///< MPI failed or a partner died: the communicator is in an unknown state and is not touched again
  std::vector<Stream> out, in;
  std::unordered_map<int, std::size_t> in_of_rank;
  std::vector<Keep> keeps;
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
        check(MPI_Allreduce(MPI_IN_PLACE, numbers, detail::SharedHost::numbers_at_once, MPI_INT64_T, MPI_MIN,
                            comm),
              "MPI_Allreduce");
    } catch (...) {
      broken = true;
      throw;
    }
  }

  /// One outcome for all ranks: the worst status wins and the lowest rank that has it is named.
  ~Impl() {
    if (helper.joinable()) helper.join(); // its partners are in the same exchange: it ends
  }

  /// Returns whether some rank offers an array to be read in place.
  bool agree(Status mine, const std::string& message, std::int64_t signature, bool offers) {
    const std::int64_t verdict = static_cast<std::int64_t>(mine) * (std::int64_t{1} << 32) + rank;
    std::int64_t all[detail::SharedHost::numbers_at_once] = {verdict, signature, -signature, offers ? -1 : 0};
    minimum_of(all);
    const std::int64_t who = all[0] & 0xffffffff;
    const auto worst = static_cast<Status>(static_cast<int>((all[0] - who) / (std::int64_t{1} << 32)));
    if (worst != Status::success) {
      if (mine == worst) throw Error(worst, message);
      throw Error(worst,
                  fmt::format("redist: rank {} of {} reports: {}", who, size, gridmap::to_string(worst)));
    }
    if (all[1] != -all[2])
      throw Error(
          Status::rank_mismatch,
          "redist: transfers: their number, types or slabs differ between ranks, wanted the same everywhere");
    return all[3] < 0;
  }

  void validate(const std::vector<Transfer>& transfers) const;
  void build(const std::vector<Transfer>& transfers, Slab slab);
  static void prepare_targets(const std::vector<Transfer>& transfers);
  void begin(const std::vector<Transfer>& transfers, Slab slab = {});
  static void give_back(const std::vector<Transfer>& transfers, Slab slab,
                        std::vector<std::vector<bool>>& gone);
  void in_background();
  bool make_offers(const std::vector<Transfer>& transfers);
  void read_in_place();
  bool progress();
  bool keep_slice();
  void drain();
  bool wire_done() const;
  bool done() const;
  bool host_progress();
  void form_groups();
  bool send_group(Group& group);
  void clear() {
    active = false;
    out.clear();
    in.clear();
    in_of_rank.clear();
    keeps.clear();
    groups.clear();
    group_of_lead.clear();
    pulls_left.clear();
    wire_turn.reset();
    host_turn.reset();
    host_in.clear();
  }
};

void Executor::Impl::validate(const std::vector<Transfer>& transfers) const {
  const auto bad = [this](std::size_t t, const std::string& text) {
    return Error(Status::bad_argument,
                 fmt::format("redist: transfer {}: {} [rank {} of {}]", t, text, rank, size));
  };
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& x = transfers[t];
    if (detail::element_size(x.type) == 0)
      throw Error(Status::bad_type,
                  fmt::format("redist: transfer {}: type is '{}', wanted one of s d c z i [rank {} of {}]", t,
                              x.type, rank, size));
    if (x.plan == nullptr) continue; // nothing to do on this rank
    const RankPlan& plan = *x.plan;
    const bool reads = !plan.sends.empty() || !plan.keeps.empty();
    const bool writes = !plan.recvs.empty() || !plan.keeps.empty();
    if ((reads || writes) && plan.rank != rank)
      throw bad(t, fmt::format("its plan is rank {}'s, wanted this rank's", plan.rank));
    if (reads && x.from == nullptr)
      throw Error(Status::null_pointer, fmt::format("redist: transfer {}: from is null, but this rank has {} "
                                                    "x {} elements of the source [rank {} of {}]",
                                                    t, plan.m_loc_from, plan.n_loc_from, rank, size));
    if (writes && x.to == nullptr)
      throw Error(Status::null_pointer, fmt::format("redist: transfer {}: to is null, but this rank has {} x "
                                                    "{} elements of the target [rank {} of {}]",
                                                    t, plan.m_loc_to, plan.n_loc_to, rank, size));
    if (reads && x.lld_from < std::max<std::int64_t>(1, plan.m_loc_from))
      throw bad(t, fmt::format("lld_from is {}, wanted at least {}", x.lld_from,
                               std::max<std::int64_t>(1, plan.m_loc_from)));
    if (writes && x.lld_to < std::max<std::int64_t>(1, plan.m_loc_to))
      throw bad(t, fmt::format("lld_to is {}, wanted at least {}", x.lld_to,
                               std::max<std::int64_t>(1, plan.m_loc_to)));
    for (const auto* messages : {&plan.sends, &plan.recvs})
      for (const Message& message : *messages)
        if (message.peer < 0 || message.peer >= size || message.peer == rank)
          throw bad(t, fmt::format("a message's peer is {}, wanted another rank of 0 .. {}", message.peer,
                                   size - 1));
    const auto covered = [&](const std::vector<Message>& messages, const std::vector<Piece>& order) {
      if (order.empty()) return;
      std::vector<std::int64_t> left;
      for (const Message& message : messages) left.push_back(message.elements());
      for (const Piece& piece : order) {
        if (piece.message < 0 || piece.message >= static_cast<int>(messages.size()) || piece.first < 0 ||
            piece.count < 0 ||
            piece.first + piece.count > messages[static_cast<std::size_t>(piece.message)].elements())
          throw bad(t, fmt::format("a piece of step {} lies outside its message", piece.step));
        left[static_cast<std::size_t>(piece.message)] -= piece.count;
      }
      for (std::int64_t rest : left)
        if (rest != 0)
          throw bad(t,
                    fmt::format("the order of its pieces leaves {} elements of a message uncovered, wanted 0",
                                rest));
    };
    covered(plan.sends, plan.send_order);
    covered(plan.recvs, plan.recv_order);
  }
}

/// A target that nobody has written to would cost one page fault per 4 KiB while it is unpacked, more than
/// the copying itself.
void Executor::Impl::prepare_targets(const std::vector<Transfer>& transfers) {
  for (const Transfer& x : transfers) {
    if (x.plan == nullptr || x.to == nullptr || x.plan->n_loc_to == 0) continue;
    const RankPlan& plan = *x.plan;
    const std::int64_t esize = detail::element_size(x.type);
    const std::int64_t bytes = ((plan.n_loc_to - 1) * x.lld_to + plan.m_loc_to) * esize;
    std::int64_t written = 0;
    for (const auto* messages : {&plan.recvs, &plan.keeps})
      for (const Message& message : *messages) written += message.elements() * esize;
    // no memory that would not have been there afterwards anyway
    if (bytes < past_cache_bytes || written < bytes / 8 * 7) continue;
    auto* begin = static_cast<char*>(x.to);
    if (detail::is_untouched(begin, begin + bytes)) detail::bring_in(begin, begin + bytes);
  }
}

void Executor::Impl::build(const std::vector<Transfer>& transfers, Slab slab) {
  std::unordered_map<int, std::size_t> out_of_rank;
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& x = transfers[t];
    if (x.plan == nullptr) continue;
    const RankPlan& plan = *x.plan;
    const int conj_size = !plan.conjugated ? 0 : x.type == 'c' ? 4 : x.type == 'z' ? 8 : 0;
    const auto view_of = [&](const Message& message, bool is_source) {
      PackedView view;
      view.rows = message.rows;
      view.cols = message.cols;
      view.base =
          is_source ? static_cast<char*>(const_cast<void*>(x.from)) : static_cast<char*>(x.to); // only read
      view.lld = is_source ? x.lld_from : x.lld_to;
      view.esize = detail::element_size(x.type);
      view.is_source = is_source;
      view.transposed = is_source && plan.transposed;
      if (!is_source) view.row_limits = x.row_limits;
      if (is_source) view.conj_size = conj_size;
      return view;
    };
    const auto add = [&](std::vector<Stream>& streams, std::unordered_map<int, std::size_t>& of_rank,
                         const Message& message, bool is_source, std::int64_t first, std::int64_t count,
                         int step) {
      if (count == 0) return;
      const auto found = of_rank.emplace(message.peer, streams.size());
      if (found.second) {
        streams.emplace_back();
        streams.back().peer = message.peer;
        streams.back().shared = host && host->reaches(message.peer);
      }
      Stream& stream = streams[found.first->second];
      stream.items.push_back(
          {view_of(message, is_source), first, count, step, static_cast<int>(t), plan.transposed, conj_size});
      stream.bytes_left += count * detail::element_size(x.type);
    };
    const auto each_part = [&](const Message& message, auto&& take) {
      std::int64_t column = 0, skip = 0, columns = 0;
      for (const Run& r : message.cols->runs) {
        slab.part_of(r, skip, columns);
        if (columns > 0) take((column + skip) * message.rows->total, columns * message.rows->total);
        column += r.len * r.count;
      }
    };
    const auto add_all = [&](std::vector<Stream>& streams, std::unordered_map<int, std::size_t>& of_rank,
                             const std::vector<Message>& messages, const std::vector<Piece>& order,
                             bool is_source) {
      if (slab.of > 1) {
        for (const Message& message : messages)
          each_part(message, [&](std::int64_t first, std::int64_t count) {
            add(streams, of_rank, message, is_source, first, count, 0);
          });
        return;
      }
      for (const Piece& piece : order)
        add(streams, of_rank, messages[static_cast<std::size_t>(piece.message)], is_source, piece.first,
            piece.count, piece.step);
      if (order.empty())
        for (const Message& message : messages)
          add(streams, of_rank, message, is_source, 0, message.elements(), 0);
    };
    add_all(out, out_of_rank, plan.sends, plan.send_order, true);
    add_all(in, in_of_rank, plan.recvs, plan.recv_order, false);
    for (const Message& message : plan.keeps) {
      if (message.elements() == 0) continue;
      const auto keep = [&](std::int64_t first, std::int64_t count) {
        keeps.push_back({view_of(message, true), view_of(message, false), first, count});
        report.bytes_kept += count * detail::element_size(x.type);
      };
      if (slab.of > 1)
        each_part(message, keep);
      else // whole: in parts it could not leave its columns together with what goes away
        keep(0, message.elements());
    }
  }
  // In slabs the target's pages shall come no sooner than the source's go.
  if (slab.of == 1) prepare_targets(transfers);
  // A small target is better left in the cache.
  std::int64_t bytes_to = report.bytes_kept;
  for (const Stream& stream : in) bytes_to += stream.bytes_left;
  if (bytes_to >= past_cache_bytes && detail::past_cache_is_possible()) {
    for (Stream& stream : in)
      for (Item& item : stream.items) item.view.past_cache = true;
    for (Keep& keep : keeps) keep.target.past_cache = true;
  }
  std::int64_t to_panels = 0;
  for (const Stream& stream : out)
    if (stream.shared) to_panels += stream.bytes_left;
  around = detail::past_cache_is_possible() && (options.panel_writes == PanelWrites::around ||
                                                (options.panel_writes == PanelWrites::automatic && to_panels >= past_cache_bytes));
  const auto by_step = [](const Item& a, const Item& b) {
    return a.step != b.step           ? a.step < b.step
           : a.transfer != b.transfer ? a.transfer < b.transfer
                                      : a.first < b.first;
  };
  for (auto* streams : {&out, &in})
    for (Stream& stream : *streams) std::stable_sort(stream.items.begin(), stream.items.end(), by_step);
  // each rank begins with the rank after it, so that they do not all fall on the same receiver
  std::sort(out.begin(), out.end(), [this](const Stream& a, const Stream& b) {
    return (a.peer - rank + size) % size < (b.peer - rank + size) % size;
  });
  for (const Stream& stream : out) report.bytes_out += stream.bytes_left;
  for (const Stream& stream : in) report.bytes_in += stream.bytes_left;
}

void Executor::Impl::begin(const std::vector<Transfer>& transfers, Slab slab) {
  Status mine = Status::success;
  std::string message;
  bool offers = false;
  report = {};
  clear();
  try {
    if (slab.of < 1)
      throw Error(Status::bad_argument, fmt::format("redist: in-place exchange: slabs is {}, wanted at least 1 [rank {} of {}]", slab.of, rank, size));
    validate(transfers);
    build(transfers, slab);
    offers = make_offers(transfers);
    if (std::any_of(out.begin(), out.end(), [](const Stream& x) { return !x.shared; }) ||
        std::any_of(in.begin(), in.end(), [](const Stream& x) { return !x.shared; }))
      wire->reserve();
  } catch (const Error& error) {
    mine = error.status();
    message = error.what();
  } catch (const std::bad_alloc&) {
    mine = Status::out_of_memory;
    message = fmt::format("redist: no memory for the buffers of an exchange [rank {} of {}]", rank, size);
  }
  std::int64_t signature = static_cast<std::int64_t>(transfers.size()) * 65537 + slab.of;
  for (const Transfer& x : transfers) signature = (signature * 31 + x.type) & 0xffffffffff;
  try {
    if (agree(mine, message, signature, offers)) read_in_place();
  } catch (...) {
    clear();
    throw;
  }
  wire_turn = std::make_unique<Turn>(&out);
  host_turn = std::make_unique<Turn>(&out);
  for (std::size_t s = 0; s < out.size(); ++s)
    if (!out[s].shared) wire_turn->add(s);
  form_groups();
  for (const Group& group : groups) host_turn->add(group.streams.front());
  for (std::size_t s = 0; s < in.size(); ++s)
    if (in[s].shared && in[s].bytes_left > 0) host_in.push_back(s);
  std::int64_t wire_in = 0;
  for (const Stream& stream : in)
    if (!stream.shared) wire_in += stream.bytes_left;
  wire->begin(round++, wire_in);
  active = true;
}

/// Tells the others where they can read my sources in place. True when there is anything to read.
bool Executor::Impl::make_offers(const std::vector<Transfer>& transfers) {
  if (!host) return false;
  bool any = false;
  for (std::size_t t = 0;
       t < std::min(transfers.size(), static_cast<std::size_t>(detail::SharedHost::offers_at_most)); ++t) {
    detail::SharedHost::Offer offer;
    const Transfer& x = transfers[t];
    const detail::SharedPlace place =
        x.plan == nullptr || x.plan->sends.empty() ? detail::SharedPlace{} : detail::find_shared(x.from);
    if (place.fd >= 0)
      offer = {place.fd, static_cast<std::int64_t>(place.bytes), static_cast<std::int64_t>(place.offset),
               x.lld_from, place.inode};
    host->offer(static_cast<int>(t), offer);
    any |= place.fd >= 0;
  }
  return any;
}

/// Takes out of the streams what can be read straight from the sender's array. All ranks do so or, when one
/// of them cannot map an array that it needs, none.
void Executor::Impl::read_in_place() {
  const auto offered = [&](int rank_of_source, const Item& item) {
    if (item.transfer >= detail::SharedHost::offers_at_most) return detail::SharedHost::Offer{};
    return host->offer_of(rank_of_source, item.transfer);
  };
  std::vector<Keep> pulls;
  bool can = true;
  for (const Stream& stream : in) {
    if (!stream.shared) continue;
    for (const Item& item : stream.items) {
      const detail::SharedHost::Offer offer = offered(stream.peer, item);
      if (offer.fd < 0) continue;
      Keep pull;
      pull.target = item.view;
      pull.source = item.view;
      pull.source.base = const_cast<char*>(host->map_offer(stream.peer, offer)); // only read
      pull.source.lld = offer.lld;
      pull.source.is_source = true;
      pull.source.row_limits = nullptr;
      pull.source.past_cache = false;
      pull.source.transposed = item.source_transposed;
      pull.source.conj_size = item.source_conj_size;
      pull.first = item.first;
      pull.count = item.count;
      pull.peer = stream.peer;
      can = can && pull.source.base != nullptr;
      pulls.push_back(pull);
    }
  }
  std::int64_t all[detail::SharedHost::numbers_at_once] = {can ? 1 : 0, 0, 0, 0};
  minimum_of(all);
  if (all[0] == 0) return;
  const auto take_out = [&](Stream& stream, int source) {
    if (!stream.shared) return false;
    const auto gone = std::remove_if(stream.items.begin(), stream.items.end(),
                                     [&](const Item& item) { return offered(source, item).fd >= 0; });
    const bool any = gone != stream.items.end();
    stream.items.erase(gone, stream.items.end());
    stream.bytes_left = 0;
    for (const Item& item : stream.items) stream.bytes_left += item.count * item.view.esize;
    return any;
  };
  for (Stream& stream : in) take_out(stream, stream.peer);
  for (Stream& stream : out)
    if (take_out(stream, rank)) ++readers_expected;
  for (const Keep& pull : pulls) ++pulls_left[pull.peer];
  // the last one is done first: begin with the rank after me
  std::stable_sort(pulls.begin(), pulls.end(), [this](const Keep& a, const Keep& b) {
    return (a.peer - rank + size) % size > (b.peer - rank + size) % size;
  });
  pulls.insert(pulls.end(), keeps.begin(), keeps.end());
  keeps = std::move(pulls);
}

bool Executor::Impl::keep_slice() {
  while (!keeps.empty()) {
    Keep& keep = keeps.back();
    const std::int64_t now = std::min(keep.count, keep_slice_bytes / keep.source.esize);
    const double t = now_s();
    copy_direct(keep.source, keep.target, keep.first, now);
    report.copy_s += now_s() - t;
    keep.first += now;
    keep.count -= now;
    if (keep.count > 0) return true;
    const int peer = keep.peer;
    keeps.pop_back();
    if (peer >= 0 && --pulls_left[peer] == 0) host->tell_read(peer);
    return true;
  }
  return false;
}

bool Executor::Impl::wire_done() const {
  return wire_turn->done() && wire->idle();
}
bool Executor::Impl::done() const {
  return keeps.empty() && (!host || host->told() == readers_expected) && host_in.empty() &&
         host_turn->done() && wire_done();
}

/// Streams whose items take the same columns, one for one, go together, and with them what I keep of the same
/// columns.
void Executor::Impl::form_groups() {
  if (!host) return;
  const auto alike = [](const PackedView& a, std::int64_t a_first, std::int64_t a_count, const PackedView& b,
                        std::int64_t b_first, std::int64_t b_count) {
    return a.cols == b.cols && a.base == b.base && a_first / a.rows->total == b_first / b.rows->total &&
           a_count / a.rows->total == b_count / b.rows->total;
  };
  const auto whole = [&](const PackedView& view, std::int64_t first, std::int64_t count) {
    const std::int64_t height = view.rows->total;
    return first % height == 0 && count % height == 0 &&
           height * view.esize <= static_cast<std::int64_t>(host->panel_bytes());
  };
  const auto in_columns = [&](const Stream& stream) {
    return std::all_of(stream.items.begin(), stream.items.end(), [&](const Item& item) {
      return detail::can_leave_together(item.view, nullptr) && whole(item.view, item.first, item.count);
    });
  };
  const std::size_t at_most = static_cast<std::size_t>(std::max(1, host->panel_count() * 3 / 4));
  std::vector<bool> joinable; // per group
  for (std::size_t s = 0; s < out.size(); ++s) {
    const Stream& stream = out[s];
    if (!stream.shared || stream.at_end()) continue;
    const bool joins = in_columns(stream);
    const auto same = [&](const Group& group) {
      const Stream& lead = out[group.streams.front()];
      if (group.streams.size() >= at_most || lead.items.size() != stream.items.size()) return false;
      for (std::size_t i = 0; i < lead.items.size(); ++i) {
        const Item &a = lead.items[i], &b = stream.items[i];
        if (a.step != b.step || a.transfer != b.transfer ||
            !alike(a.view, a.first, a.count, b.view, b.first, b.count))
          return false;
      }
      return true;
    };
    std::size_t g = 0;
    while (g < groups.size() && !(joins && joinable[g] && same(groups[g]))) ++g;
    if (g == groups.size()) {
      groups.emplace_back();
      joinable.push_back(joins);
      group_of_lead[s] = g;
    }
    groups[g].streams.push_back(s);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!joinable[g]) continue;
    const Stream& lead = out[groups[g].streams.front()];
    std::vector<std::size_t> found;
    for (const Item& item : lead.items)
      for (std::size_t k = 0; k < keeps.size(); ++k)
        if (keeps[k].peer < 0 && detail::can_leave_together(keeps[k].source, &keeps[k].target) &&
            keeps[k].first % keeps[k].source.rows->total == 0 &&
            keeps[k].count % keeps[k].source.rows->total == 0 &&
            alike(item.view, item.first, item.count, keeps[k].source, keeps[k].first, keeps[k].count)) {
          found.push_back(k);
          break;
        }
    if (found.size() != lead.items.size()) continue;
    for (std::size_t k : found) groups[g].keeps.push_back(keeps[k]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (auto k = found.rbegin(); k != found.rend(); ++k)
      keeps.erase(keeps.begin() + static_cast<std::ptrdiff_t>(*k));
  }
}

/// Fills one panel for each stream of the group. False when too few panels are free.
bool Executor::Impl::send_group(Group& group) {
  Stream& lead = out[group.streams.front()];
  if (static_cast<int>(group.streams.size()) > host->free_panels()) return false;
  const double t = now_s();
  if (group.streams.size() == 1 && group.keeps.empty()) {
    const int panel = host->take_panel(lead.peer);
    const std::size_t bytes = lead.pack(host->panel(panel), host->panel_bytes(), around);
    report.pack_s += now_s() - t;
    host->post(lead.peer, panel, bytes);
    return true;
  }
  const int step = lead.step();
  const std::size_t members = group.streams.size();
  std::vector<int> panels;
  for (std::size_t s : group.streams) panels.push_back(host->take_panel(out[s].peer));
  std::vector<std::size_t> used(members, 0);
  std::vector<detail::Leaving> leaving(members);
  while (!lead.at_end() && lead.step() == step) {
    std::int64_t columns = INT64_MAX;
    for (std::size_t k = 0; k < members; ++k) {
      const Stream& stream = out[group.streams[k]];
      const Item& item = stream.items[stream.place.item];
      const std::int64_t column_bytes = item.view.rows->total * item.view.esize;
      const auto room = static_cast<std::int64_t>(host->panel_bytes() - used[k]);
      columns =
          std::min({columns, room / column_bytes, (item.count - stream.place.done) / item.view.rows->total});
      leaving[k] = {&item.view, nullptr, host->panel(panels[k]) + used[k], around};
    }
    if (columns == 0) break;
    const Item& item = lead.items[lead.place.item];
    if (!group.keeps.empty()) {
      const Keep& keep = group.keeps[lead.place.item];
      leaving.push_back({&keep.source, &keep.target, nullptr, false});
    }
    const auto is_of = [](const detail::Leaving& one, const std::pair<const RunList*, int>& known) {
      return one.source->rows == known.first && one.source->esize == known.second;
    };
    if (!std::equal(leaving.begin(), leaving.end(), group.order_of.begin(), group.order_of.end(), is_of)) {
      group.order = detail::ColumnOrder(leaving);
      group.order_of.clear();
      for (const detail::Leaving& one : leaving) group.order_of.emplace_back(one.source->rows, one.source->esize);
    }
    detail::pack_together(leaving, group.order, (item.first + lead.place.done) / item.view.rows->total,
                          columns);
    leaving.resize(members);
    for (std::size_t k = 0; k < members; ++k) {
      Stream& stream = out[group.streams[k]];
      const Item& own = stream.items[stream.place.item];
      const auto bytes = static_cast<std::size_t>(columns * own.view.rows->total * own.view.esize);
      used[k] += bytes;
      stream.skip(bytes);
    }
  }
  report.pack_s += now_s() - t;
  for (std::size_t k = 0; k < members; ++k) host->post(out[group.streams[k]].peer, panels[k], used[k]);
  return true;
}

/// Takes all panels that have come and fills those of one group. Not more at once: who fills all of its panels before it looks leaves its
/// partner without free ones meanwhile, and then waits for it in turn.
bool Executor::Impl::host_progress() {
  bool moved = false;
  for (std::size_t k = 0; k < host_in.size();) {
    Stream& stream = in[host_in[k]];
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
  moved |= wire->try_receive([this](int peer) -> Stream& { return in[in_of_rank.at(peer)]; });
  while (!wire_turn->done() && wire->try_send(wire_turn->next())) {
    wire_turn->advance();
    moved = true;
  }
  return keep_slice() || moved;
}

/// Gives the columns that went in this slab back to the system, together with their neighbours that went
/// before: only whole pages can go.
void Executor::Impl::give_back(const std::vector<Transfer>& transfers, Slab slab,
                               std::vector<std::vector<bool>>& gone) {
  for (std::size_t t = 0; t < transfers.size(); ++t) {
    const Transfer& x = transfers[t];
    if (x.plan == nullptr || x.plan->transposed || x.from == nullptr) continue;
    gone[t].resize(static_cast<std::size_t>(x.plan->n_loc_from));
    std::vector<bool> now(gone[t].size());
    for (const auto* messages : {&x.plan->sends, &x.plan->keeps})
      for (const Message& message : *messages)
        for (const Run& r : message.cols->runs) {
          std::int64_t skip = 0, columns = 0;
          slab.part_of(r, skip, columns);
          for (std::int64_t k = skip; k < skip + columns; ++k) {
            const auto j = static_cast<std::size_t>(r.from + k / r.len * r.from_step + k % r.len);
            now[j] = gone[t][j] = true;
          }
        }
    char* base = static_cast<char*>(const_cast<void*>(x.from));
    const std::int64_t column_bytes = x.lld_from * detail::element_size(x.type);
    for (std::size_t j = 0; j < now.size();) {
      if (!gone[t][j]) {
        ++j;
        continue;
      }
      bool any = false;
      std::size_t end = j;
      for (; end < now.size() && gone[t][end]; ++end) any = any || now[end];
      // the array ends with its last row, which may lie before the end of the last column's stride
      const std::int64_t last = end == now.size() ? static_cast<std::int64_t>(end - 1) * column_bytes +
                                                        x.plan->m_loc_from * detail::element_size(x.type)
                                                  : static_cast<std::int64_t>(end) * column_bytes;
      if (any) detail::release_pages(base + static_cast<std::int64_t>(j) * column_bytes, base + last);
      j = end;
    }
  }
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
      for (const auto* streams : {&in, &out})
        for (const Stream& stream : *streams) processes->check(stream.peer);
      last_moved = t;
    }
    const bool is_under_way = wire->is_under_way();
    if (host && wire_done())
      host->wait(bell, 1.0);
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

ExecuteReport Executor::execute_in_place(const std::vector<Transfer>& transfers, int slabs) {
  ready();
  ExecuteReport sum;
  std::vector<std::vector<bool>> gone(transfers.size());
  for (int s = 0; s == 0 || s < slabs; ++s) { // the first round says on all ranks when a rank has no slabs
    const Slab slab{s, slabs};
    impl_->begin(transfers, slab);
    const ExecuteReport report = finish();
    Impl::give_back(transfers, slab, gone);
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
  if (impl_->broken)
    throw Error(Status::bad_state,
                "redist: executor: an earlier exchange failed half way, wanted a new executor");
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
