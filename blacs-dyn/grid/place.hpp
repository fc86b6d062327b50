// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

namespace blacs_dyn {

/// Where in the program a process waits for a change of the grid. A file and its line where the language has them, and
/// not the address alone. Compilers make two calls of one: clang 14 puts a call in a loop's condition before the loop
/// and at its end; an unrolled loop has as many as rounds.
struct Place {
  enum class Kind : int {
    any,    ///< dyngrid_resize, blacs_setup: matches every other in the program itself
    plain,  ///< dyngrid_resize_point
    named,  ///< dyngrid_resize_point_at
    within, ///< a routine of ours that has its own resize points: matches that routine alone
    query,  ///< dyngrid_pending
    call,   ///< a collective routine in which nothing joins: matches the same one
    end,    ///< dyngrid_finalize: matches none
    null_name,
    bad_name
  };
  Kind kind = Kind::any;
  std::string text;       ///< the name; "scf.c:42"; "program+0x1a2b" for addr2line
  std::string program;    ///< of a plain one: places of two programs cannot be compared
  std::uint64_t hash = 0; ///< of kind and text

  Place() = default;
  explicit Place(Kind kind, std::string text = {});
  static Place in_source(const char* file, int line); ///< of the file its name without folders
  static Place of_call(const void* return_address);
  /// An invalid name matches none. That is found where all meet, so that no process waits.
  static Place named(const char* name);
  void check_name() const; ///< @throws Error{null_pointer, bad_argument}

  /// Where a process is led by name.
  bool has_name() const { return kind == Kind::named || kind == Kind::within; }
  /// Whether processes at the two can go on together.
  bool meets(const Place& other) const;
  std::string shown() const;
};

template <class Archive> void fields(Archive& a, Place& place) {
  a(place.kind, place.text, place.program);
}

/// The 8 bytes by which processes find out three things: whether they are at one place, whether any process requests
/// something, and what process 0 knows of new processes. It is their bitwise or. The place's number goes in as it is
/// and inverted, so that every process sees a bit that differs, not only those that lack it.
class PlaceWord {
public:
  enum Flag : std::uint64_t {
    own_request = 1,
    outside_request = 2,
    checkpoint = std::uint64_t{1} << 29,  ///< to be written now
    fewer_looks = std::uint64_t{1} << 30, ///< with the next one two bits of a number, see points_to_pass()
    far_fewer_looks = std::uint64_t{1} << 60,
    ends_after_it = std::uint64_t{1} << 59, ///< the run, after the checkpoint
    loads = std::uint64_t{1} << 31,
    process0_sends = std::uint64_t{1} << 61, ///< which spare processes are there, and whether kept groups leave
    newcomers_are_there = std::uint64_t{1} << 62,
    newcomers_do_not_come = std::uint64_t{1} << 63
  };
  static std::uint64_t of(const Place& place, std::uint64_t flags) {
    const std::uint64_t number = (place.hash ^ (place.hash >> 27) ^ (place.hash >> 54)) & mask;
    return flags | number << 2 | (~number & mask) << 32;
  }
  /// How many points are passed by until the processes ask each other again: 0, 1, 3 or 7.
  static int points_to_pass(std::uint64_t all) {
    return (1 << ((all & fewer_looks ? 1 : 0) + (all & far_fewer_looks ? 2 : 0))) - 1;
  }
  static std::uint64_t passing(int points) { // one of these
    return (points == 1 || points == 7 ? std::uint64_t{fewer_looks} : 0) |
           (points >= 3 ? std::uint64_t{far_fewer_looks} : 0);
  }
  static bool is_one_place(std::uint64_t all) { return ((all >> 2) & (all >> 32) & mask) == 0; }

private:
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 27) - 1;
};

} // namespace blacs_dyn
