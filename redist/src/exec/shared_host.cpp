// SPDX-License-Identifier: BSD-3-Clause
#include "exec/shared_host.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <utility>

#include "exec/liveness.hpp"
#include "exec/mpi_check.hpp"

namespace redist::detail {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t small_page = 4096;

/// Waking a sleeper whose core has gone idle takes longer than all the other ranks of that core need to find
/// out that they have nothing to do; more than a few rounds of that only cost.
constexpr int yields_before_sleep = 4;
/// Of a rank whose whole exchange is a matter of microseconds: a core that goes idle meanwhile costs more than that.
constexpr int yields_of_a_short_wait = 32;

std::size_t round_up(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

long futex(std::atomic<std::uint32_t>* word, int what, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), what, value, timeout, nullptr, 0);
}

void futex_wait(std::atomic<std::uint32_t>* word, std::uint32_t seen, double timeout_s) {
  timespec t;
  t.tv_sec = static_cast<time_t>(timeout_s);
  t.tv_nsec = static_cast<long>((timeout_s - static_cast<double>(t.tv_sec)) * 1e9);
  futex(word, FUTEX_WAIT, seen, &t);
}

void futex_wake_all(std::atomic<std::uint32_t>* word) {
  futex(word, FUTEX_WAKE, 0x7fffffff, nullptr);
}

/// Of a wait for all: often enough for what passes through MPI meanwhile, too seldom to cost anything.
constexpr double longest_slice_s = 16e-3;

/// Looking for a message that is not there moves on all that are under way.
void let_mpi_progress(MPI_Comm comm) {
  int is_there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &is_there, MPI_STATUS_IGNORE);
}

/// The cores that this process may use; empty when the system does not say (more than fit the type).
cpu_set_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

} // namespace

// ---- Segment ----

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  return *this;
}

Segment::~Segment() {
  if (data_ != nullptr) munmap(data_, bytes_);
  close_fd();
}

void Segment::close_fd() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Segment Segment::map(int fd, std::size_t bytes) noexcept {
  Segment s;
  s.fd_ = fd;
  const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  // A huge page needs an address that is a multiple of it: reserve more, keep the aligned part.
  const std::size_t reserve = bytes + huge_page;
  void* space = mmap(nullptr, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return s;
  const auto begin = reinterpret_cast<std::uintptr_t>(space);
  const std::uintptr_t at = round_up(begin, huge_page);
  void* data = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, fd, 0);
  if (data == MAP_FAILED) {
    munmap(space, reserve);
    return s;
  }
  if (at > begin) munmap(space, at - begin);
  const std::uintptr_t end = at + round_up(bytes, small_page);
  if (begin + reserve > end) munmap(reinterpret_cast<void*>(end), begin + reserve - end);
  madvise(data, bytes, MADV_HUGEPAGE); // a wish
  s.data_ = static_cast<char*>(data);
  s.bytes_ = bytes;
  return s;
}

Segment Segment::create(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), small_page);
  const int fd = memfd_create("dyngrid", MFD_CLOEXEC);
  if (fd < 0) return {};
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    ::close(fd);
    throw std::bad_alloc();
  }
  Segment s = map(fd, bytes);
  if (!s) throw std::bad_alloc();
  return s;
}

Segment Segment::create_private(std::size_t bytes) {
  Segment s = map(-1, round_up(std::max<std::size_t>(bytes, 1), small_page));
  if (!s) throw std::bad_alloc();
  return s;
}

Segment Segment::open(std::int64_t pid, int fd, std::size_t bytes, std::uint64_t inode) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(pid), fd);
  const int mine = ::open(path, O_RDWR | O_CLOEXEC);
  if (mine < 0) return {};
  struct stat what;
  if (fstat(mine, &what) != 0 || !S_ISREG(what.st_mode) || what.st_size < static_cast<off_t>(bytes) ||
      (inode != 0 && what.st_ino != inode)) {
    ::close(mine);
    return {};
  }
  Segment s = map(mine, bytes);
  s.close_fd();
  return s;
}

// ---- SharedHost ----

struct alignas(64) SharedHost::Control {
  std::uint64_t cookie[2];
  std::int64_t panels_bytes;
  alignas(64) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> asleep;
  // the meeting place of minimum(), used in rank 0's segment only
  alignas(64) std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::int64_t> numbers[2][numbers_at_once];
  alignas(64) std::atomic<std::uint32_t> told;
  alignas(64) Offer offers[offers_at_most];
};

struct alignas(64) SharedHost::PanelState {
  std::atomic<std::uint32_t> busy;
};

struct alignas(64) SharedHost::Queue {
  static constexpr std::uint32_t depth = 64; ///< more than a sender has panels: it cannot overflow
  struct Entry {
    std::uint32_t panel;
    std::uint32_t bytes;
  };
  std::atomic<std::uint32_t> head;             ///< written by the sender
  alignas(64) std::atomic<std::uint32_t> tail; ///< written by the receiver
  alignas(64) Entry entries[depth];
};

SharedHost::PanelState* SharedHost::states_of(int rank) const {
  return reinterpret_cast<PanelState*>(base_of(rank) + states_at_);
}
std::atomic<std::uint8_t>* SharedHost::seen_of(int rank) const {
  return reinterpret_cast<std::atomic<std::uint8_t>*>(base_of(rank) + seen_at_);
}
SharedHost::Queue* SharedHost::queue_of(int rank, int sender) const {
  return reinterpret_cast<Queue*>(base_of(rank) + queues_at_) + sender;
}
char* SharedHost::panel_of(int rank, int index) const {
  return base_of(rank) + panels_at_ + static_cast<std::size_t>(index) * panel_bytes_;
}

SharedHost::SharedHost(MPI_Comm comm, std::size_t panels_bytes, int key) : comm_(comm) {
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  panel_bytes_ = std::max(panels_bytes / usual_panels / small_page * small_page, small_page);
  panel_count_ = static_cast<int>(std::clamp(panels_bytes / panel_bytes_, std::size_t{2}, std::size_t{Queue::depth}));
  const auto size = static_cast<std::size_t>(size_);
  states_at_ = sizeof(Control);
  seen_at_ = states_at_ + static_cast<std::size_t>(panel_count_) * sizeof(PanelState);
  queues_at_ = round_up(seen_at_ + size, 64);
  panels_at_ = round_up(queues_at_ + size * sizeof(Queue), small_page);
  const std::size_t bytes = panels_at_ + static_cast<std::size_t>(panel_count_) * panel_bytes_;

  struct Card { // what the others need to find me; kernel 0: not to be found
    std::uint64_t kernel, cookie[2];
    std::int64_t pid, fd, key;
    cpu_set_t cores;
  };
  Card card = {};
  int failed = 0;
  std::vector<Card> cards;
  try {
    peers_.resize(size);
    pids_.reserve(size);
    ring_pending_.assign(size, false);
    known_to_.assign(size, 0);
    to_ring_.reserve(size);
    cards.resize(size);
    mine_ = Segment::create(bytes);
  } catch (const std::bad_alloc&) {
    failed = 1;
  }
  if (failed == 0 && mine_) {
    std::random_device random;
    auto* control = reinterpret_cast<Control*>(mine_.data()); // all atomics begin as zero
    for (auto& word : control->cookie) word = (static_cast<std::uint64_t>(random()) << 32) | random();
    for (auto& word : control->numbers)
      for (auto& number : word) number.store(INT64_MAX, std::memory_order_relaxed);
    control->panels_bytes = static_cast<std::int64_t>(bytes);
    peers_[static_cast<std::size_t>(rank_)].control = control;
    card = {kernel_id(), {control->cookie[0], control->cookie[1]}, getpid(), mine_.fd(), key, usable_cores()};
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (failed != 0)
    throw base::Error(base::Status::out_of_memory, "redist: executor: no memory for its shared panels on some rank");
  check(MPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, comm), "MPI_Allgather");
  for (const Card& other : cards) pids_.push_back(other.pid);
  for (int r = 0; r < size_; ++r) {
    const Card& other = cards[static_cast<std::size_t>(r)];
    if (r == rank_ || card.kernel == 0 || other.kernel != card.kernel || other.key != card.key) continue;
    Peer& peer = peers_[static_cast<std::size_t>(r)];
    peer.segment = Segment::open(other.pid, static_cast<int>(other.fd), bytes);
    if (!peer.segment) continue;
    auto* control = reinterpret_cast<Control*>(peer.segment.data());
    if (control->cookie[0] != other.cookie[0] || control->cookie[1] != other.cookie[1] ||
        control->panels_bytes != static_cast<std::int64_t>(bytes)) { // another process that has this number here
      peer.segment = Segment();
      continue;
    }
    peer.control = control;
    seen_of(r)[rank_].store(1, std::memory_order_release);
  }
  check(MPI_Barrier(comm), "MPI_Barrier"); // all have signed; nobody needs my descriptor any more
  mine_.close_fd();
  if (mine_) {
    for (int r = 0; r < size_; ++r) {
      Peer& peer = peers_[static_cast<std::size_t>(r)];
      if (r == rank_ || peer.control == nullptr) continue;
      if (seen_of(rank_)[r].load(std::memory_order_acquire) == 1) {
        ++reached_;
      } else { // I found it, but it did not find me
        peer.control = nullptr;
        peer.segment = Segment();
      }
    }
  }
  int all = reached_ == size_ ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  everybody_ = all == 1;
  // Each rank may be bound to a core of its own: what counts is what they have together.
  cpu_set_t together = usable_cores();
  for (int r = 0; r < size_; ++r)
    if (reaches(r)) CPU_OR(&together, &together, &cards[static_cast<std::size_t>(r)].cores);
  cores_ = CPU_COUNT(&together);
  if (cores_ == 0) cores_ = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  crowded_ = reached_ > cores_;
}

int SharedHost::free_panels() const {
  const PanelState* states = states_of(rank_);
  int free = 0;
  for (int k = 0; k < panel_count_; ++k) free += states[k].busy.load(std::memory_order_acquire) == 0 ? 1 : 0;
  return free;
}

int SharedHost::take_panel(int peer) {
  PanelState* states = states_of(rank_);
  std::uint64_t& known = known_to_[static_cast<std::size_t>(peer)];
  int found = -1;
  for (int k = 0; k < panel_count_; ++k) {
    const int index = (next_panel_ + k) % panel_count_;
    if (states[index].busy.load(std::memory_order_acquire) != 0) continue;
    const bool is_known = (known >> index & 1) != 0;
    if (found < 0 || is_known) found = index;
    if (is_known) break;
  }
  if (found < 0) return -1;
  next_panel_ = (found + 1) % panel_count_;
  known |= std::uint64_t{1} << found;
  states[found].busy.store(1, std::memory_order_relaxed);
  return found;
}

void SharedHost::ring(int rank) {
  Control* control = control_of(rank);
  control->bell.fetch_add(1); // sequentially consistent with `asleep`, see wait()
  if (control->asleep.load() != 0) futex_wake_all(&control->bell);
}

void SharedHost::post(int peer, int index, std::size_t bytes) {
  Queue* queue = queue_of(peer, rank_);
  const std::uint32_t head = queue->head.load(std::memory_order_relaxed);
  queue->entries[head % Queue::depth] = {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(bytes)};
  queue->head.store(head + 1, std::memory_order_release);
  if (!ring_pending_[static_cast<std::size_t>(peer)]) {
    ring_pending_[static_cast<std::size_t>(peer)] = true;
    to_ring_.push_back(peer);
  }
  if (!crowded_) flush();
}

void SharedHost::flush() {
  for (int peer : to_ring_) {
    ring_pending_[static_cast<std::size_t>(peer)] = false;
    ring(peer);
  }
  to_ring_.clear();
}

const char* SharedHost::take(int peer, std::size_t& bytes) const {
  Queue* queue = queue_of(rank_, peer);
  const std::uint32_t tail = queue->tail.load(std::memory_order_relaxed);
  if (queue->head.load(std::memory_order_acquire) == tail) return nullptr;
  const Queue::Entry entry = queue->entries[tail % Queue::depth];
  bytes = entry.bytes;
  return panel_of(peer, static_cast<int>(entry.panel));
}

void SharedHost::release(int peer) {
  Queue* queue = queue_of(rank_, peer);
  const std::uint32_t tail = queue->tail.load(std::memory_order_relaxed);
  const std::uint32_t index = queue->entries[tail % Queue::depth].panel;
  queue->tail.store(tail + 1, std::memory_order_release);
  states_of(peer)[index].busy.store(0, std::memory_order_release);
  if (crowded_) {
    if (!ring_pending_[static_cast<std::size_t>(peer)]) {
      ring_pending_[static_cast<std::size_t>(peer)] = true;
      to_ring_.push_back(peer);
    }
  } else {
    ring(peer);
  }
}

std::uint32_t SharedHost::bell() const {
  return control_of(rank_)->bell.load();
}

void SharedHost::wait(std::uint32_t seen, double timeout_s, bool is_short) {
  Control* control = control_of(rank_);
  const int yields = is_short ? yields_of_a_short_wait : yields_before_sleep;
  for (int k = 0; k < yields; ++k) {
    if (control->bell.load() != seen) return;
    sched_yield();
  }
  // Who rings adds to the bell first and looks at `asleep` afterwards; here it is the other way round, so one
  // of the two notices.
  control->asleep.store(1);
  if (control->bell.load() == seen) futex_wait(&control->bell, seen, timeout_s);
  control->asleep.store(0);
}

void SharedHost::minimum(std::int64_t (&numbers)[numbers_at_once], const Liveness& processes) {
  Control* place = control_of(0);
  const std::uint32_t now = place->generation.load(std::memory_order_acquire);
  auto& slot = place->numbers[now % 2];
  for (int k = 0; k < numbers_at_once; ++k) {
    std::int64_t seen = slot[k].load(std::memory_order_relaxed);
    while (numbers[k] < seen && !slot[k].compare_exchange_weak(seen, numbers[k])) {
    }
  }
  if (place->arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(size_)) {
    // everybody has read the numbers of the time before: its slot is the next one
    for (auto& number : place->numbers[(now + 1) % 2]) number.store(INT64_MAX, std::memory_order_relaxed);
    place->arrived.store(0, std::memory_order_relaxed);
    place->generation.store(now + 1);
    futex_wake_all(&place->generation);
  } else {
    const int looks = crowded_ ? yields_before_sleep : 2000;
    for (int k = 0; k < looks && place->generation.load(std::memory_order_acquire) == now; ++k) {
      if (crowded_)
        sched_yield();
      else
        __builtin_ia32_pause();
    }
    // Who is late may be waiting for a message of mine: stock PDGEMR2D, for one, returns with its sends under way, and
    // a large message gets on only while its sender is inside MPI. So a long wait looks into MPI from time to time
    // (seen as a deadlock with MPICH).
    double slice_s = 1e-3, since_check_s = 0;
    while (place->generation.load(std::memory_order_acquire) == now) {
      futex_wait(&place->generation, now, slice_s);
      if (place->generation.load(std::memory_order_acquire) != now) break;
      let_mpi_progress(comm_);
      since_check_s += slice_s;
      slice_s = std::min(2 * slice_s, longest_slice_s);
      if (since_check_s < 1.0) continue;
      processes.check_all();
      since_check_s = 0;
    }
  }
  for (int k = 0; k < numbers_at_once; ++k) numbers[k] = slot[k].load(std::memory_order_relaxed);
}

void SharedHost::offer(int transfer, const Offer& mine) {
  control_of(rank_)->offers[transfer] = mine;
}
SharedHost::Offer SharedHost::offer_of(int rank, int transfer) const {
  return control_of(rank)->offers[transfer];
}

const char* SharedHost::map_offer(int rank, const Offer& offer) {
  for (Mapped& m : mapped_)
    if (m.inode == offer.inode && m.segment.bytes() == static_cast<std::size_t>(offer.bytes)) {
      m.used = exchange_;
      return m.segment.data() + offer.offset;
    }
  Segment segment = Segment::open(pids_[static_cast<std::size_t>(rank)], static_cast<int>(offer.fd),
                                  static_cast<std::size_t>(offer.bytes), offer.inode);
  if (!segment) return nullptr;
  try {
    mapped_.push_back({std::move(segment), offer.inode, exchange_});
  } catch (const std::bad_alloc&) {
    return nullptr; // as when it cannot be mapped
  }
  return mapped_.back().segment.data() + offer.offset;
}

void SharedHost::drop_unused() {
  constexpr std::uint64_t kept_for = 32; // an array that its owner has freed holds no memory, so there is no hurry
  ++exchange_;
  mapped_.erase(
      std::remove_if(mapped_.begin(), mapped_.end(), [this](const Mapped& m) { return m.used + kept_for < exchange_; }),
      mapped_.end());
}

void SharedHost::tell_read(int rank) {
  control_of(rank)->told.fetch_add(1);
  ring(rank);
}

std::uint32_t SharedHost::told() const {
  return control_of(rank_)->told.load(std::memory_order_acquire);
}

} // namespace redist::detail
