// SPDX-License-Identifier: BSD-3-Clause
#include "grid/program_position.hpp"

#include "processes/messages.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

std::uint64_t ProgramPosition::agree(const Place& place, std::uint64_t flags) {
  const bool counts = plain_places_count_ || place.kind != Place::Kind::plain;
  static const Place some_line(Place::Kind::plain);
  const std::uint64_t mine = PlaceWord::of(counts ? place : some_line, flags);
  std::uint64_t all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, grid_.comm()), "MPI_Allreduce");
  if (PlaceWord::is_one_place(all)) {
    place.check_name();
    return all;
  }
  check(place);
  plain_places_count_ = false; // they are of different programs
  return all;
}

void ProgramPosition::agree_on_call(const char* routine) {
  if (grid_.has_me()) agree(Place(Place::Kind::call, routine), 0);
}

void ProgramPosition::check(const Place& place) const {
  const Place first = value_of_root(place, 0, grid_.comm());
  together(grid_.comm(), [&] {
    place.check_name();
    if (first.meets(place)) return;
    if (first.kind == Place::Kind::call || place.kind == Place::Kind::call)
      throw Error(Status::rank_mismatch,
                  "blacs-dyn: the processes of the grid make different calls: rank 0 is at {}, rank {} at {}; expected "
                  "the same on all",
                  first.shown(), grid_.rank(), place.shown());
    else
      throw Error(
          Status::bad_state,
          "blacs-dyn: the processes of the grid are at different resize points: rank 0 at {}, rank {} at {}; all of "
          "them have to come to the same one (two lines that mean one place take one name, by dyngrid_resize_point_at)",
          first.shown(), grid_.rank(), place.shown());
  });
}

const char* ProgramPosition::entry_point() {
  can_be_led_ = true;
  return entry_point_.c_str();
}

std::string ProgramPosition::name_for_newcomers() const {
  return place_.has_name() ? place_.text : std::string();
}

// ---- those that join

void ProgramPosition::write(Packet& packet) const {
  packet.put(place_).put(plain_places_count_);
}

void ProgramPosition::read(Packet& packet) {
  plain_places_count_ = packet.get<bool>();
  entry_point_.clear(); // this process is where it was led
}

ProgramPosition::Where ProgramPosition::compare(const Place& others, bool may_be_led) const {
  if (others.meets(place_)) return Where::here;
  const bool can_be_led = can_be_led_ && may_be_led && others.has_name() && place_.kind != Place::Kind::end;
  return can_be_led ? Where::elsewhere : Where::nowhere;
}

void ProgramPosition::refuse(const Place& others, const char* who) const {
  throw Error(Status::bad_state,
              "blacs-dyn: a {} process is at {}, the others are at {}: it would go on in another part of the program. "
              "Ask for the change where that process is, or give lines that mean one place one name by "
              "dyngrid_resize_point_at, or lead it to a name by dyngrid_entry_point",
              who, place_.shown(), others.shown());
}

} // namespace blacs_dyn
