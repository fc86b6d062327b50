// SPDX-License-Identifier: BSD-3-Clause
#include "calls/workers.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include <dlfcn.h>

#include <fmt/format.h>

#include "application.hpp"
#include "base/clock.hpp"
#include "calls/account.hpp"
#include "contexts.hpp"
#include "launchers/background.hpp"
#include "launchers/this_mpi.hpp"
#include "messages.hpp"
#include "newcomer_command.hpp"
#include "preflight.hpp"
#include "settings.hpp"
#include "stock_blacs.hpp"

extern "C" void Cblacs_gridexit(int ctxt);

namespace blacs_dyn::calls {

using base::Error;
using base::Status;

namespace {

/// In the folder dyngrid beside the library.
std::string worker_program() {
  Dl_info info{};
  static const char here = 0;
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "dyngrid-worker";
  const std::string library = info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "dyngrid/dyngrid-worker";
}

/// PDGETRF and others set them for what they call, and so may the program: where the processes of a grid differ in
/// them, one waits for a message of a ring and another for MPI_Bcast.
template <class Body> void for_topologies(const char* routine, Body&& body) {
  using Topology = void (*)(const int* context, const char* operation, const char* scope, const char* topology);
  void* found = nullptr;
  try {
    found = next_symbol(routine);
  } catch (const Error&) { // these PBLAS have none
    return;
  }
  for (const char operation : {'B', 'C'})
    for (const char scope : {'R', 'C', 'A'}) body(reinterpret_cast<Topology>(found), operation, scope);
}
constexpr int any_context = 0; ///< they are the same in all

/// Why none can be started here; empty when nothing is known against it.
std::string trouble(int count) {
  if (Application::instance().is_active()) return "they are for programs that do not call dyngrid_init";
  if (!contexts::can_widen()) return "these BLACS have no room for grids larger than the first one";
  for (const std::string& why : {spawn_trouble(1), background_trouble(is_on_one_host())})
    if (!why.empty()) return why;
  int started = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &started); // of mpirun, whose slots are counted
  const Slots room = slots();
  if (!room.has_room_for(started + count))
    return fmt::format("{} of mpirun's {} slots are taken; mpirun --oversubscribe, or a larger -H or hostfile, makes "
                       "room",
                       started, room.universe);
  return {};
}

} // namespace

WorkOrder order_for(WorkOrder::What what, const char* name, const Routine& routine, const Problem& problem,
                    const Arguments& a, char type, const CallPlace& place) {
  WorkOrder order;
  order.what = what;
  order.routine = name;
  for (const int at : routine.letters) order.letters.push_back(letter(a, at));
  for (const int at : routine.sizes) order.sizes.push_back(integer(a, at));
  for (const int at : routine.scalars)
    std::memcpy(order.scalars.emplace_back().data(), a[static_cast<std::size_t>(at)], element_bytes(type));
  for (const Operand& operand : problem.operands) {
    const Given x = given(a, operand);
    WorkOrder::Part part{x.i, x.j, {}};
    std::copy_n(x.desc, part.desc.size(), part.desc.begin());
    part.desc[ctxt_at] = -1;
    order.operands.push_back(part);
  }
  order.place = place;
  for_topologies("pb_topget_", [&](auto get, char operation, char scope) {
    order.topologies.push_back(' ');
    get(&any_context, &operation, &scope, &order.topologies.back());
  });
  return order;
}

void take_topologies(const WorkOrder& order) {
  std::size_t next = 0;
  for_topologies("pb_topset_", [&](auto set, char operation, char scope) {
    if (next < order.topologies.size()) set(&any_context, &operation, &scope, &order.topologies[next++]);
  });
}

// ---- both sides

Standing Merged::context(GridShape grid) {
  const contexts::Making room(comm.get(), false);
  return context_of(contexts, grid, comm.get());
}

Everyone Merged::everyone(const Standing& caller) {
  return {comm.get(), size, context({1, size}).ctxt, caller};
}

void Merged::close_contexts() {
  for (const auto& entry : contexts)
    if (entry.second >= 0) Cblacs_gridexit(entry.second);
  contexts.clear();
}

// ---- the program's

Workers& Workers::all() {
  static auto* workers = new Workers;
  return *workers;
}

void Workers::start() {
  if (const std::string why = trouble(asked_for_); !why.empty()) throw Error(Status::unsupported, why);
  const std::string program = worker_program();
  check_program(program);
  limit_s_ = Settings::from_environment().join_limit_s;
  NewcomerCommand command;
  command.set(program, std::vector<std::string>{});
  command.set_role("worker");
  group_.id = 1;
  for (int i = 0; i < asked_for_; ++i) group_.members.push_back(i);
  launcher_ = make_background_launcher({0, {}});
  launch_ = launcher_->start({group_}, command.options(Mode::managed, "", limit_s_));
  started_ = MPI_Wtime();
}

/// The first process says it; the others have it by the next agreement.
void Workers::give_up(const std::string& why) {
  is_given_up_ = true;
  launch_.reset();
  std::fprintf(stderr, "dyngrid: the %d workers of DYNGRID_CALLS do not come: %s; calls go on without them\n",
               asked_for_, why.c_str());
}

std::int64_t Workers::look(bool must_wait) {
  if (asked_for_ == 0 || is_given_up_) return none;
  is_first_ = true;
  if (count() > 0) return launcher_->resting()->has_ended(group_.id, nullptr) ? none : in;
  try {
    if (!launch_) {
      start();
      end_with_mpi();
    }
    for (;;) {
      const Launch::Progress progress = launch_->progress();
      if (!progress.failure.empty()) throw Error(Status::spawn_failure, progress.failure);
      if (progress.is_complete()) return ready;
      if (MPI_Wtime() - started_ > limit_s_)
        throw Error(Status::timeout, fmt::format("{} of them are not there after {:g} s (DYNGRID_START=timeout)",
                                                 progress.coming, limit_s_));
      if (!must_wait) return none;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  } catch (const Error& error) {
    give_up(error.what());
    return none;
  }
}

void Workers::go_by(std::int64_t stage, MPI_Comm comm) {
  if (count() > 0 && stage != in) lose();
  if (count() == 0 && stage == ready) come_in(comm);
}

void Workers::come_in(MPI_Comm comm) {
  std::vector<char> port;
  if (is_first_) {
    try {
      const std::string where = launcher_->meeting()->call_in({group_}).front();
      port.assign(where.begin(), where.end());
    } catch (const Error& error) {
      give_up(error.what());
    }
  }
  broadcast(port, 0, comm);
  if (port.empty()) return;
  const LooksForConnections looks; // the first messages between the program and the workers
  MPI_Comm intercomm = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  const std::string where(port.begin(), port.end());
  check_mpi(MPI_Comm_accept(where.c_str(), MPI_INFO_NULL, 0, comm, &intercomm), "MPI_Comm_accept");
  intercomm_ = Comm::adopt(intercomm);
  check_mpi(MPI_Intercomm_merge(intercomm_.get(), 0, &merged), "MPI_Intercomm_merge");
  if (is_first_) {
    std::vector<Newcomers> nobody; // all have them
    launch_->admit(nobody);
    launcher_->resting()->rest(group_.id);
  }
  own_ = Comm::duplicate(comm);
  program_ = own_.size();
  merged_.comm = Comm::adopt(merged);
  merged_.size = merged_.comm.size();
  counts().workers_came(count());
  end_with_mpi();
}

bool Workers::wake() {
  return !is_first_ || launcher_->resting()->wake(group_.id);
}

void Workers::rest() {
  if (is_first_ && count() > 0) launcher_->resting()->rest(group_.id);
}

void Workers::tell(const WorkOrder& order) {
  if (!is_first_) return;
  Packet packet;
  packet.put(order);
  for (int rank = program_; rank < merged_.size; ++rank) send(merged_.comm.get(), rank, base::tag_work, packet);
}

/// A process of theirs has ended. What is of all of them cannot be disconnected, so it is only freed, which is local.
void Workers::lose() {
  for (const auto& entry : merged_.contexts) contexts::abandon(entry.second);
  if (is_first_) {
    std::string why;
    launcher_->resting()->has_ended(group_.id, &why);
    std::fprintf(stderr, "dyngrid: a worker of DYNGRID_CALLS has ended (%s): calls go on without the %d workers\n",
                 why.c_str(), count());
    launcher_->resting()->abandon(group_.id);
  }
  counts().workers_went();
  merged_.contexts.clear();
  merged_.comm.close();
  merged_.size = 0;
  intercomm_.close();
  is_given_up_ = was_lost_ = true;
}

bool Workers::all_live() {
  return all_agree(wake(), own_.get());
}

void Workers::close_contexts() {
  if (count() == 0 || merged_.contexts.empty()) return;
  if (!all_live()) return lose();
  WorkOrder order;
  order.what = WorkOrder::What::close;
  tell(order);
  merged_.close_contexts();
  rest();
}

void Workers::end() {
  if (count() > 0 && !all_live()) lose();
  if (count() > 0) {
    WorkOrder order;
    order.what = WorkOrder::What::leave;
    tell(order);
    merged_.close_contexts();
    merged_.comm.close();
    merged_.size = 0;
    if (is_first_)
      launcher_->release(group_.id, std::move(intercomm_));
    else
      intercomm_.disconnect();
  }
  own_.close();
  launch_.reset();
  if (launcher_) launcher_->close();
  launcher_.reset();
  is_given_up_ = true;
}

/// What hangs on MPI_COMM_SELF is deleted first of all by MPI_Finalize.
void Workers::end_with_mpi() {
  if (std::exchange(ends_with_mpi_, true)) return;
  const auto hook = [](MPI_Comm, int, void*, void*) -> int {
    try {
      all().end();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "dyngrid: at MPI_Finalize: %s\n", error.what());
    }
    // Open MPI 4 now writes to all processes that it has met, to the dead too; a handler of the program stays
    if (all().was_lost_)
      if (const auto handler = std::signal(SIGPIPE, SIG_IGN); handler != SIG_DFL) std::signal(SIGPIPE, handler);
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, hook, &key, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
}

} // namespace blacs_dyn::calls
