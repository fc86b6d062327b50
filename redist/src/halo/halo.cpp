// SPDX-License-Identifier: BSD-3-Clause
#include "redist/halo.hpp"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <exception>
#include <utility>

#include "base/mpi/agree.hpp"
#include "base/status.hpp"
#include "exec/mpi_check.hpp"
#include "redist/grid_life.hpp"

namespace redist {

using base::Error;
using base::Status;
using detail::check;

namespace {

using base::tag_border; // on the duplicate communicator

inline void copy_bytes(char* to, const char* from, std::size_t bytes) {
  // A line along the rows is one small copy per column: the usual sizes without a call.
  switch (bytes) {
  case 4:
    std::memcpy(to, from, 4);
    return;
  case 8:
    std::memcpy(to, from, 8);
    return;
  case 16:
    std::memcpy(to, from, 16);
    return;
  default:
    std::memcpy(to, from, bytes);
  }
}

/// Calls visit(from offset, to offset, elements) for every piece of a product that lies together on both
/// sides, offsets in elements of the ghosted arrays, in the order of the wire.
template <class Visit> void each_piece(const Message& part, std::int64_t lld_from, std::int64_t lld_to, Visit&& visit) {
  for (const Run& c : part.cols->runs)
    for (std::int64_t t = 0; t < c.count; ++t)
      for (std::int64_t k = 0; k < c.len; ++k) {
        const std::int64_t from = (c.from + t * c.from_step + k) * lld_from;
        const std::int64_t to = (c.to + t * c.to_step + k) * lld_to;
        for (const Run& r : part.rows->runs)
          for (std::int64_t s = 0; s < r.count; ++s)
            visit(from + r.from + s * r.from_step, to + r.to + s * r.to_step, r.len);
      }
}

} // namespace

struct Halo::Impl {
  MPI_Comm comm = MPI_COMM_NULL;
  RankHalo plan;
  std::size_t esize = 1;
  std::vector<char> buffer;
  std::vector<char*> send_at, recv_at;
  std::vector<MPI_Request> sends, recvs; ///< persistent
  std::vector<int> done;
  bool active = false;
  bool broken = false;
  char* ghosted = nullptr;
  std::int64_t lld = 0;

  /// 0 stands for the rows of the array.
  std::int64_t leading(std::int64_t requested) const { return leading_of(requested, plan.rows, "lld"); }
  std::int64_t leading_of_local(std::int64_t requested) const {
    return leading_of(requested, plan.m_loc, "lld of the local array");
  }
  std::int64_t leading_of(std::int64_t requested, std::int64_t rows, const char* what) const {
    const std::int64_t least = std::max<std::int64_t>(1, rows);
    if (requested != 0 && requested < least)
      throw Error(Status::bad_argument, "redist: halo: {} is {}, expected at least {} [rank {}]", what, requested,
                  least, plan.rank);
    return requested == 0 ? least : requested;
  }
  bool has_elements() const { return plan.m_loc > 0 && plan.n_loc > 0; }

  /// What may fail on this rank alone.
  void prepare(const HaloPlan& of_all, int rank, int size, int element_bytes) {
    if (element_bytes < 1)
      throw Error(Status::bad_argument, "redist: halo: elements have {} bytes, expected at least 1", element_bytes);
    for (const int member : of_all.grid().ranks)
      if (member >= size)
        throw Error(Status::bad_argument, "redist: halo: the layout names rank {}, expected ranks below {}", member,
                    size);
    esize = static_cast<std::size_t>(element_bytes);
    plan = of_all.for_rank(rank);
    std::int64_t all = 0;
    if (__builtin_mul_overflow(plan.rows, plan.cols, &all) || __builtin_mul_overflow(all, element_bytes, &all))
      throw Error(Status::out_of_memory,
                  "redist: halo: the ghosted array of rank {} has {} x {} elements of {} bytes, expected fewer than "
                  "2^63 bytes; take narrower borders",
                  rank, plan.rows, plan.cols, element_bytes);
    std::vector<std::size_t> places; // of all messages in the buffer
    std::size_t total = 0;
    for (const auto* messages : {&plan.sends, &plan.recvs})
      for (const HaloMessage& each : *messages) {
        const bool is_sent = messages == &plan.sends;
        if (each.elements() > INT_MAX / element_bytes)
          throw Error(Status::unsupported,
                      "redist: halo: a border of {} elements of {} bytes goes from rank {} to rank {}, expected less "
                      "than 2 GiB",
                      each.elements(), element_bytes, is_sent ? rank : each.peer, is_sent ? each.peer : rank);
        places.push_back(total);
        total += static_cast<std::size_t>(each.elements()) * esize;
      }
    buffer.resize(total);
    for (std::size_t k = 0; k < places.size(); ++k)
      (k < plan.sends.size() ? send_at : recv_at).push_back(buffer.data() + places[k]);
    sends.assign(plan.sends.size(), MPI_REQUEST_NULL);
    recvs.assign(plan.recvs.size(), MPI_REQUEST_NULL);
    done.resize(std::max(sends.size(), recvs.size()));
  }
  void pack(const HaloMessage& message, char* to) const {
    for (const Message& part : message.parts)
      each_piece(part, lld, lld, [&](std::int64_t from, std::int64_t, std::int64_t len) {
        const std::size_t bytes = static_cast<std::size_t>(len) * esize;
        copy_bytes(to, ghosted + static_cast<std::size_t>(from) * esize, bytes);
        to += bytes;
      });
  }
  void unpack(const HaloMessage& message, const char* from) const {
    for (const Message& part : message.parts)
      each_piece(part, lld, lld, [&](std::int64_t, std::int64_t to, std::int64_t len) {
        const std::size_t bytes = static_cast<std::size_t>(len) * esize;
        copy_bytes(ghosted + static_cast<std::size_t>(to) * esize, from, bytes);
        from += bytes;
      });
  }
  void keep(const HaloMessage& message) const {
    for (const Message& part : message.parts)
      each_piece(part, lld, lld, [&](std::int64_t from, std::int64_t to, std::int64_t len) {
        copy_bytes(ghosted + static_cast<std::size_t>(to) * esize, ghosted + static_cast<std::size_t>(from) * esize,
                   static_cast<std::size_t>(len) * esize);
      });
  }
  /// Between the local array and the ghosted one.
  void copy_own(const void* from, void* to, std::int64_t lld_local, std::int64_t lld_ghosted, bool to_ghosted) const {
    const std::int64_t ld_ghosted = leading(lld_ghosted), ld_local = leading_of_local(lld_local);
    if (!has_elements()) return;
    if (from == nullptr || to == nullptr)
      throw Error(Status::null_pointer, "redist: halo: an array is null, expected the local and the ghosted one");
    each_piece(plan.interior, ld_local, ld_ghosted, [&](std::int64_t local, std::int64_t ghosted_at, std::int64_t len) {
      const std::int64_t source = to_ghosted ? local : ghosted_at, target = to_ghosted ? ghosted_at : local;
      std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(target) * esize,
                  static_cast<const char*>(from) + static_cast<std::size_t>(source) * esize,
                  static_cast<std::size_t>(len) * esize);
    });
  }
  void free_requests() noexcept {
    for (auto* requests : {&sends, &recvs})
      for (MPI_Request& request : *requests)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
};

Halo::Halo(MPI_Comm comm, const HaloPlan& plan, int element_bytes) : impl_(std::make_unique<Impl>()) {
  Impl& self = *impl_;
  require_whole_grid(comm, "halo");
  check(MPI_Comm_dup(comm, &self.comm), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(self.comm, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  check(MPI_Comm_rank(self.comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(self.comm, &size), "MPI_Comm_size");
  try {
    base::together(self.comm, [&] { self.prepare(plan, rank, size, element_bytes); });
  } catch (const Error& error) {
    if (error.status() != Status::mpi_failure) MPI_Comm_free(&self.comm);
    self.comm = MPI_COMM_NULL;
    throw;
  }
  const auto bytes_of = [&](const HaloMessage& each) { return static_cast<int>(each.elements()) * element_bytes; };
  for (std::size_t k = 0; k < self.recvs.size(); ++k)
    check(MPI_Recv_init(self.recv_at[k], bytes_of(self.plan.recvs[k]), MPI_BYTE, self.plan.recvs[k].peer, tag_border,
                        self.comm, &self.recvs[k]),
          "MPI_Recv_init");
  for (std::size_t k = 0; k < self.sends.size(); ++k)
    check(MPI_Send_init(self.send_at[k], bytes_of(self.plan.sends[k]), MPI_BYTE, self.plan.sends[k].peer, tag_border,
                        self.comm, &self.sends[k]),
          "MPI_Send_init");
}

Halo::~Halo() {
  if (!impl_) return;
  const bool cannot_close = std::uncaught_exceptions() > 0 || !detail::mpi_is_up() || impl_->broken;
  if (cannot_close && impl_->active) static_cast<void>(impl_.release()); // MPI may still write to its buffers
  // freeing is collective: a leak can be counted, a hang cannot
  if (cannot_close || impl_->comm == MPI_COMM_NULL) return;
  try {
    close();
  } catch (...) {
  }
}

Halo::Halo(Halo&&) noexcept = default;

Halo& Halo::operator=(Halo&& other) noexcept {
  if (this != &other) {
    Halo old(std::move(*this)); // closed by its destructor
    impl_ = std::move(other.impl_);
  }
  return *this;
}

std::int64_t Halo::rows() const {
  return impl_->plan.rows;
}
std::int64_t Halo::cols() const {
  return impl_->plan.cols;
}
const std::vector<HaloPart>& Halo::parts() const {
  return impl_->plan.parts;
}

void Halo::start(void* ghosted, std::int64_t lld) {
  if (!impl_ || impl_->comm == MPI_COMM_NULL)
    throw Error(Status::bad_state, "redist: halo: is closed, expected an open one");
  require_whole_grid(impl_->comm, "halo");
  Impl& self = *impl_;
  if (self.broken)
    throw Error(Status::bad_state, "redist: halo: MPI failed in an earlier exchange, expected a new one");
  if (self.active) throw Error(Status::bad_state, "redist: halo: an exchange is under way, expected finish() first");
  const std::int64_t leading = self.leading(lld);
  if (ghosted == nullptr && self.has_elements())
    throw Error(Status::null_pointer, "redist: halo: the ghosted array is null, but rank {} has {} x {} elements",
                self.plan.rank, self.plan.m_loc, self.plan.n_loc);
  self.ghosted = static_cast<char*>(ghosted);
  self.lld = leading;
  self.active = true;
  try {
    if (!self.recvs.empty())
      check(MPI_Startall(static_cast<int>(self.recvs.size()), self.recvs.data()), "MPI_Startall");
    for (std::size_t k = 0; k < self.sends.size(); ++k) {
      self.pack(self.plan.sends[k], self.send_at[k]);
      check(MPI_Start(&self.sends[k]), "MPI_Start");
    }
  } catch (...) {
    self.broken = true;
    throw;
  }
  for (const HaloMessage& message : self.plan.keeps) self.keep(message);
}

void Halo::finish() {
  if (!impl_ || !impl_->active)
    throw Error(Status::bad_state, "redist: halo: no exchange is under way, expected start() first");
  Impl& self = *impl_;
  const auto poll = [&self](std::vector<MPI_Request>& requests, auto&& each) {
    std::vector<int>& done = self.done;
    for (std::size_t left = requests.size(); left > 0;) {
      int count = 0;
      check(MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, done.data(), MPI_STATUSES_IGNORE),
            "MPI_Testsome");
      if (count == MPI_UNDEFINED) return; // all inactive
      for (int d = 0; d < count; ++d) each(static_cast<std::size_t>(done[static_cast<std::size_t>(d)]));
      left -= static_cast<std::size_t>(count);
      if (count == 0) sched_yield(); // with more ranks than cores a neighbour needs this one
    }
  };
  try {
    poll(self.recvs, [&self](std::size_t k) { self.unpack(self.plan.recvs[k], self.recv_at[k]); });
    poll(self.sends, [](std::size_t) {});
  } catch (...) {
    self.broken = true;
    throw;
  }
  self.active = false;
}

void Halo::exchange(void* ghosted, std::int64_t lld) {
  start(ghosted, lld);
  finish();
}

void Halo::to_ghosted(const void* local, std::int64_t lld_local, void* ghosted, std::int64_t lld) const {
  impl_->copy_own(local, ghosted, lld_local, lld, true);
}

void Halo::from_ghosted(const void* ghosted, void* local, std::int64_t lld_local, std::int64_t lld) const {
  impl_->copy_own(ghosted, local, lld_local, lld, false);
}

void Halo::fill(void* ghosted, const void* value, std::int64_t lld) const {
  const Impl& self = *impl_;
  const std::int64_t leading = self.leading(lld);
  if (!self.has_elements()) return;
  if (ghosted == nullptr || value == nullptr)
    throw Error(Status::null_pointer, "redist: halo: the ghosted array or the value is null");
  for (std::int64_t j = 0; j < self.plan.cols; ++j)
    for (std::int64_t i = 0; i < self.plan.rows; ++i)
      std::memcpy(static_cast<char*>(ghosted) + static_cast<std::size_t>(i + j * leading) * self.esize, value,
                  self.esize);
}

void Halo::close() {
  if (!impl_ || impl_->comm == MPI_COMM_NULL) return;
  Impl& self = *impl_;
  if (self.broken) { // the communicator is in an unknown state and is not touched again
    self.comm = MPI_COMM_NULL;
    return;
  }
  if (self.active) finish();
  self.free_requests();
  check(MPI_Comm_free(&self.comm), "MPI_Comm_free");
}

} // namespace redist
