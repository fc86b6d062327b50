// SPDX-License-Identifier: BSD-3-Clause
#include "grid/contexts.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <dlfcn.h>

#include "base/mpi/blacs.hpp"
#include "grid/stock_blacs.hpp"
#include "processes/mpi_util.hpp"
#include "redist/closed_contexts.hpp"

namespace blacs_dyn::contexts {
namespace {

/// A buffer of messages, as stock BLACS lays it out: the array of its requests has as many as there were processes when
/// it was made.
struct Buffer {
  char* bytes;
  int length, pending;
  MPI_Request* requests;
  MPI_Datatype type;
  int count;
  Buffer *previous, *next;
};

/// The tables that stock BLACS keeps for the whole process. It sizes these by blacs_pinfo when the first grid is made
/// and never again, but for blacs_exit.
struct Tables {
  int* capacity;    ///< of `contexts`; 0 before the first grid
  void*** contexts; ///< by number, null when closed
  int* nprocs;      ///< how many requests and statuses there is room for
  Buffer* aux;
  Buffer** ready;  ///< the one buffer that is kept for the next message, or null
  Buffer** active; ///< list of those whose messages are on their way
  MPI_Status** statuses;
};

/// The one that all of the BLACS use: the program's own where it has some of the BLACS in itself.
void* table(const char* name) {
  void* const first = dlsym(RTLD_DEFAULT, name);
  return first ? first : next_symbol(name);
}

/// Empty when this BLACS does not show its tables: then a change closes all contexts, after which it makes new ones.
const std::optional<Tables>& tables() {
  static const std::optional<Tables> found = []() -> std::optional<Tables> {
    try {
      return Tables{static_cast<int*>(table("BI_MaxNCtxt")),     static_cast<void***>(table("BI_MyContxts")),
                    static_cast<int*>(table("BI_Np")),           static_cast<Buffer*>(table("BI_AuxBuff")),
                    static_cast<Buffer**>(table("BI_ReadyB")),   static_cast<Buffer**>(table("BI_ActiveQ")),
                    static_cast<MPI_Status**>(table("BI_Stats"))};
    } catch (const base::Error&) {
      return std::nullopt;
    }
  }();
  return found;
}

/// Stands where a context was that a change closed. All integers in it are -1, which is what blacs_gridinfo says of it,
/// as of every context that is not there.
void* closed_mark() {
  static const auto mark = [] {
    std::array<unsigned char, 1024> bytes{};
    bytes.fill(0xff);
    return bytes;
  }();
  return const_cast<unsigned char*>(mark.data());
}

int keyval = MPI_KEYVAL_INVALID; ///< on the communicators of contexts that a change closes
int in_making = 0;

bool is_claimed(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (keyval != MPI_KEYVAL_INVALID) check_mpi(MPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr");
  return found != 0;
}

template <class T> T* longer(T* old, int count) {
  auto* array = static_cast<T*>(std::realloc(old, static_cast<std::size_t>(count) * sizeof(T)));
  if (!array) throw std::bad_alloc();
  return array;
}

/// Room for messages to `nprocs` processes, with contexts open and messages on their way.
void make_room(const Tables& t, int nprocs) {
  if (*t.capacity == 0 || *t.nprocs >= nprocs) return; // the first grid asks blacs_pinfo
  t.aux->requests = longer(t.aux->requests, nprocs);
  *t.statuses = longer(*t.statuses, nprocs);
  std::free(*t.ready);
  *t.ready = nullptr;
  for (Buffer* b = *t.active; b; b = b->next) { // becomes the ready one later; its short array is a part of it, so the
                                                // long one is never freed: some bytes
    auto* requests = longer<MPI_Request>(nullptr, nprocs);
    std::memcpy(requests, b->requests, static_cast<std::size_t>(b->pending) * sizeof(MPI_Request));
    b->requests = requests;
  }
  *t.nprocs = nprocs;
}

bool may_stay(MPI_Comm comm, const base::Group& staying, const base::Group& world) {
  if (is_claimed(comm)) return false;
  const base::Group all = base::Group::of(comm);
  const auto is_within = [&](const base::Group& group) {
    return group.get() != MPI_GROUP_NULL && all.common_with(group).size() == all.size();
  };
  return is_within(world) || is_within(staying);
}

} // namespace

MPI_Comm comm_of(int context) {
  constexpr int own_communicator =
      10; // the Fortran call gives the communicator itself, the C one a place in a table that grows
  int handle = 0;
  stock::get_fortran(context, own_communicator, &handle);
  return MPI_Comm_f2c(handle);
}

bool is_open(int context) {
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  Cblacs_gridinfo(context, &nprow, &npcol, &myrow, &mycol);
  return nprow > 0;
}

Making::Making(MPI_Comm base, bool base_is_ours) : is_ours_(base_is_ours || is_claimed(base)) {
  check_mpi(MPI_Comm_size(base, &in_making), "MPI_Comm_size");
  if (!tables()) return;
  make_room(*tables(), in_making);
  before_ = *tables()->nprocs;
  if (*tables()->capacity > 0) *tables()->nprocs = in_making; // for its check of the grid
}

Making::~Making() {
  if (tables() && *tables()->nprocs < before_) *tables()->nprocs = before_;
  in_making = 0;
}

void Making::made(int context) {
  if (context < 0 || !is_ours_) return;
  if (keyval == MPI_KEYVAL_INVALID)
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr),
              "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(comm_of(context), keyval, nullptr), "MPI_Comm_set_attr");
}

int processes_in_making() {
  return in_making;
}

void close_ours(const base::Group& staying, const base::Group& world, const std::string& by) {
  if (!tables()) { // which are made anew under the same numbers
    stock::exit(1);
    return;
  }
  for (int context = 0; context < *tables()->capacity; ++context) {
    if (!is_open(context) || may_stay(comm_of(context), staying, world)) continue;
    stock::gridexit(context);
    (*tables()->contexts)[context] = closed_mark();
    redist::context_was_closed(context, by);
  }
}

void close_all(int not_done) {
  if (tables())
    for (int context = 0; context < *tables()->capacity; ++context)
      if ((*tables()->contexts)[context] == closed_mark()) {
        (*tables()->contexts)[context] = nullptr;
        redist::context_is_open(context); // may be, from here on
      }
  stock::exit(not_done);
}

void close_rest() {
  if (tables() && *tables()->capacity > 0) close_all(1);
}

} // namespace blacs_dyn::contexts
