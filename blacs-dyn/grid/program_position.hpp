// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

#include "grid/grid.hpp"
#include "grid/place.hpp"
#include "processes/packet.hpp"

namespace blacs_dyn {

/// Where this process is in its program, and whether all are at the same place. Local unless stated otherwise.
class ProgramPosition {
public:
  explicit ProgramPosition(const Grid& grid) : grid_(grid) {}

  void come_to(const Place& place) {
    if (place_.hash != place.hash) place_ = place;
  }
  const Place& place() const { return place_; } ///< the last one that this process came to
  /// One all-reduce over the grid: what all its processes request, by PlaceWord::Flag. @throws agreed Error{bad_state}
  /// when they are at different places.
  std::uint64_t agree(const Place& place, std::uint64_t flags);
  /// The first of a collective routine, by a process of the grid; nothing on another. @throws agreed
  /// Error{rank_mismatch} that names both where another process is in another one
  void agree_on_call(const char* routine);

  const char* entry_point(); ///< also says that this process can be led
  void set_entry_point(std::string name) { entry_point_ = std::move(name); }
  void changed() { entry_point_.clear(); }
  std::string name_for_newcomers() const;

  // ---- what new processes receive about the place, and where they meet the others
  enum class Where : int { here, elsewhere, nowhere };
  void write(Packet& packet) const;
  void read(Packet& packet); ///< after the place itself
  Where compare(const Place& others, bool may_be_led) const;
  void lead_to(const Place& others) { entry_point_ = others.text; }
  [[noreturn]] void refuse(const Place& others, const char* who) const;

private:
  void check(const Place& place) const;

  const Grid& grid_;
  Place place_;
  bool plain_places_count_ = true; ///< false where programs differ; the same on all processes of the grid
  std::string entry_point_;
  bool can_be_led_ = false;
};

} // namespace blacs_dyn
