// SPDX-License-Identifier: BSD-3-Clause
#include "grid/state_transfer.hpp"

#include "grid/balancing.hpp"
#include "grid/machine_figures.hpp"
#include "grid/program_position.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

Packet StateTransfer::write(bool some_wake) const {
  Packet packet;
  packet.put(registered_.matrices.may_lack_rules(some_wake));
  const std::vector<SavedShared> shared = registered_.shared.list();
  packet.put(shared).put(SharedState::short_content(shared));
  program_position_.write(packet);
  packet.put(settings_);
  balancing_.write(packet);
  machine_.write(packet);
  registered_.matrices.write(packet);
  return packet;
}

void StateTransfer::read(Packet& state, const std::vector<SavedShared>& shared, bool is_outside) {
  const bool is_newcomer = processes_.is_newcomer();
  program_position_.read(state);
  registered_.shared.expect(shared, is_newcomer);
  state.get(settings_);
  balancing_.read(state);
  machine_.read(state);
  registered_.matrices.read(state, is_newcomer || is_outside, is_newcomer);
}

bool StateTransfer::share(Processes::Union& gathered, const Participants& who, bool is_outside,
                          std::optional<Packet>& led) {
  return !gathered.change.is_growth() || share_with_joining(gathered, who, is_outside, led);
}

bool StateTransfer::share_with_joining(Processes::Union& gathered, const Participants& who, bool is_outside,
                                       std::optional<Packet>& led) {
  const MPI_Comm comm = gathered.comm.get();
  const bool was_led = led.has_value(), is_sender = who.my_rank == who.old_ranks[0];
  Packet state; // empty: its sender has an error
  std::optional<base::Error> wrong;
  if (was_led) {
    state = std::move(*led);
  } else {
    if (is_sender) wrong = attempt([&] { state = write(!gathered.change.wake.empty()); });
    broadcast(state.bytes(), who.old_ranks[0], comm);
  }
  bool may_lack_rules = false;
  std::vector<SavedShared> shared;
  std::vector<char> content; // none: it follows
  Place others;
  using Where = ProgramPosition::Where;
  Where where = Where::here;
  std::vector<char> buffer;
  const auto look = [&] {
    Packet received(state.bytes());
    received.get(may_lack_rules);
    received.get(shared);
    received.get(content);
    received.get(others);
    if (who.is_joining) where = program_position_.compare(others, !was_led);
    if (where == Where::elsewhere) return;
    if (where == Where::nowhere) program_position_.refuse(others, processes_.is_newcomer() ? "new" : "woken");
    if (content.empty()) buffer = SharedState::buffer_for(shared);
    if (who.is_joining) read(received, shared, is_outside);
  };
  if (!state.bytes().empty()) wrong = attempt(look);
  bool is_one_led = was_led, is_one_wrong = false;
  if (!was_led) { // the worst of all; a process with an error is led nowhere
    const auto worst =
        static_cast<Where>(processes_.exchange_speeds(gathered, static_cast<int>(wrong ? Where::nowhere : where)));
    is_one_led = worst == Where::elsewhere;
    is_one_wrong = worst == Where::nowhere;
  }
  if (where == Where::elsewhere && is_one_led) {
    program_position_.lead_to(others);
    led = std::move(state);
    return false;
  }
  if (is_one_led) { // the others wait for those, and receive again what they send
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    wait_asleep(&request);
    processes_.exchange_speeds(gathered, 0);
  }
  if (is_one_led || is_one_wrong)
    together(comm, [&] {
      if (wrong) throw *wrong;
    });
  if (may_lack_rules) registered_.matrices.compare_rules(comm);
  // before the matrices are laid out, since a rule may look at it
  if (content.empty())
    registered_.shared.spread(comm, who.old_ranks[0], is_sender ? registered_.shared.list() : shared, who.is_joining,
                              buffer);
  else if (who.is_joining)
    registered_.shared.scatter(shared, 0, content);
  return true;
}

} // namespace blacs_dyn
