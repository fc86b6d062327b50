// SPDX-License-Identifier: BSD-3-Clause
#include "council.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "application.hpp"
#include "base/clock.hpp"
#include "base/index.hpp"
#include "messages.hpp"

namespace blacs_dyn {

using base::at;

namespace {

constexpr std::size_t most_steps = 100; ///< that are kept; of more, their mean counts
constexpr double post_every_s = 0.2;

/// Those of one kind that follow each other as their mean; of too many kinds the oldest are lost.
std::vector<Council::Steps> joined(const std::vector<Council::Steps>& list) {
  std::vector<Council::Steps> kinds;
  for (const Council::Steps& next : list) {
    if (kinds.empty() || kinds.back().panels_of != next.panels_of) {
      kinds.push_back(next);
      continue;
    }
    Council::Steps& all = kinds.back();
    const double part = static_cast<double>(next.count) / static_cast<double>(all.count + next.count);
    all.each_s += part * (next.each_s - all.each_s);
    all.size += part * (next.size - all.size);
    all.count += next.count;
  }
  if (kinds.size() > most_steps / 2) kinds.erase(kinds.begin(), kinds.end() - most_steps / 2);
  return kinds;
}

} // namespace

bool Council::is_needed() const {
  return app_.grid.has_me() && app_.processes.is_process0_outside();
}

bool Council::is_attending() const {
  return app_.processes.id() == 0 && app_.processes.is_process0_outside();
}

bool Council::is_first() const {
  return is_needed() && app_.processes.process_set().grid.ids.front() == app_.processes.id();
}

/// In the council, behind the grid.
int Council::rank_of_process0() const {
  return app_.processes.process_set().grid.shape.size();
}

// ---- a process of the grid

std::uint64_t Council::flags() const {
  if (!is_first()) return 0;
  int is_here = 0;
  check_mpi(MPI_Iprobe(rank_of_process0(), base::tag_letter, app_.processes.council(), &is_here, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
  return is_here ? std::uint64_t{PlaceWord::outside_request} : 0;
}

std::uint64_t Council::call(Call what, const Packet& more, std::uint64_t flags) {
  if (is_first()) {
    if (post_ != MPI_REQUEST_NULL) wait_asleep(&post_);
    Packet packet;
    packet.put(what);
    write_steps(packet);
    write(packet);
    packet.put(more.bytes());
    MPI_Request request = start_send(app_.processes.council(), rank_of_process0(), base::tag_wake, packet);
    wait_asleep(&request);
    has_called_ = true;
  }
  return agree(flags, false);
}

/// What all want, and whether process 0 has written a letter, which is taken then: the answer to it begins.
std::uint64_t Council::agree(std::uint64_t flags, bool has_letter) {
  const MPI_Comm council = app_.processes.council();
  const std::array<std::uint64_t, 2> mine{flags, has_letter ? std::uint64_t{1} : 0};
  std::array<std::uint64_t, 2> all{};
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(mine.data(), all.data(), 2, MPI_UINT64_T, MPI_BOR, council, &request), "MPI_Iallreduce");
  wait_asleep(&request);
  if (all[1] != 0 && is_first())
    check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, rank_of_process0(), base::tag_letter, council, MPI_STATUS_IGNORE),
              "MPI_Recv");
  return all[0];
}

void Council::step_begins() {
  if (is_first()) begun_s_ = base::monotonic_s();
}

void Council::go_on_with_step(double begun_s) {
  if (is_first()) begun_s_ = begun_s;
}

void Council::step_ended(double size) {
  if (!is_first()) {
    begun_s_ = -1;
    steps_.clear();
    return;
  }
  const double now = base::monotonic_s();
  if (begun_s_ >= 0) steps_.push_back({1, now - begun_s_, size, app_.balancing.factored().place});
  begun_s_ = -1;
  if (steps_.size() > most_steps) steps_ = joined(steps_);
  post_steps(now);
}

/// One message at most is on its way, so that nothing heaps up where process 0 is stopped; and none after a call, which
/// may end the communicator.
void Council::post_steps(double now) {
  if (steps_.empty() || has_called_ || now - posted_s_ < post_every_s) return;
  int is_done = 1;
  if (post_ != MPI_REQUEST_NULL) check_mpi(MPI_Test(&post_, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
  if (!is_done) return;
  Packet packet;
  packet.put(Call::steps);
  write_steps(packet);
  posted_ = std::move(packet.bytes());
  posted_s_ = now;
  check_mpi(MPI_Issend(posted_.data(), base::mpi_count(posted_.size()), MPI_BYTE, rank_of_process0(), base::tag_wake,
                       app_.processes.council(), &post_),
            "MPI_Issend");
}

/// And what they are of from here on.
void Council::write_steps(Packet& packet) {
  packet.put(steps_).put(app_.balancing.factored());
  steps_.clear();
}

void Council::tell(Word word, const std::string& text) {
  if (!is_first()) return;
  Packet packet;
  packet.put(Call::word).put(word).put(text);
  send(app_.processes.council(), rank_of_process0(), base::tag_wake, packet);
}

// ---- process 0

Packet Council::wait(const std::function<bool()>& wants) {
  const MPI_Comm council = app_.processes.council();
  constexpr int longest_ms = 50, longest_with_letter_ms = 2;
  for (int ms = 1;; ms = std::min(ms + ms / 4 + 1, has_letter_out_ ? longest_with_letter_ms : longest_ms)) {
    if (std::optional<std::vector<char>> bytes = receive_if_there(council, base::tag_wake))
      return Packet(std::move(*bytes));
    if (!has_letter_out_ && wants()) {
      check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, 0, base::tag_letter, council), "MPI_Send");
      has_letter_out_ = true;
      ms = 1; // it is called soon, and the others wait for it then
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }
}

std::uint64_t Council::answer(Packet& packet, const std::function<std::uint64_t()>& flags) {
  hear_steps(packet);
  read(packet);
  return agree(flags(), std::exchange(has_letter_out_, false));
}

void Council::hear_steps(Packet& packet) const {
  const auto steps = packet.get_vector<Steps>();
  const auto factored = packet.get<Balancing::Factored>();
  for (auto first = steps.begin(); first != steps.end();) { // of one kind after the other
    const auto end = std::find_if(first, steps.end(), [&](const Steps& s) { return s.panels_of != first->panels_of; });
    if (first->panels_of != app_.balancing.factored().place)
      app_.balancing.know_factored(
          first->panels_of == factored.place ? factored : Balancing::Factored{first->panels_of, "", -1, 0, 0, 0});
    hear({first, end});
    first = end;
  }
  app_.balancing.know_factored(factored);
}

void Council::hear(const std::vector<Steps>& steps) const {
  std::vector<control::TimedStep> each;
  for (const Steps& s : steps) each.insert(each.end(), at(s.count), control::TimedStep{s.each_s, s.size});
  app_.balancing.steps_were(each);
  if (app_.control) app_.control->steps_were(each);
}

void Council::hear_word(Packet& packet) const {
  const auto word = packet.get<Word>();
  const std::string text = packet.get_text();
  switch (word) {
  case Word::allow:
    app_.control->allow(control::Allowed::parse(text));
    break;
  case Word::steps:
    app_.control->set_steps(std::stoll(text));
    break;
  case Word::experiment:
    app_.control->set_experiment(control::Experiment::parse(text, "dyngrid_experiment"));
    break;
  case Word::balance:
    app_.balancing.set_mode(static_cast<control::BalanceMode>(std::stoi(text)));
    break;
  }
}

// ---- what the grid knows

void Council::write(Packet& packet) const {
  app_.whereabouts.write(packet);
  packet.put(app_.settings).put(app_.processes.process_set());
  Packet matrices;
  app_.matrices.write(matrices);
  packet.put(matrices.bytes());
}

void Council::read(Packet& packet) {
  app_.whereabouts.take_place(packet);
  const control::BalanceMode mode = app_.settings.balance;
  packet.get(app_.settings);
  if (app_.settings.balance != mode) app_.balancing.set_mode(app_.settings.balance);
  app_.processes.know(packet.get<ProcessSet>());
  Packet matrices(packet.get<std::vector<char>>());
  read_matrices(matrices);
  app_.tell_control_who_is_where();
}

/// Where they say something else than is known here: what is known of steps counts as long as nothing changes.
void Council::read_matrices(Packet& packet) {
  Packet known;
  app_.matrices.write(known);
  if (known.bytes() != packet.bytes()) app_.matrices.read(packet, false, false);
}

void Council::share_matrices() {
  Packet packet;
  if (is_first()) app_.matrices.write(packet);
  broadcast(packet.bytes(), 0, app_.processes.council());
  if (is_attending()) {
    read_matrices(packet);
    app_.matrices.changed();
  }
}

} // namespace blacs_dyn
