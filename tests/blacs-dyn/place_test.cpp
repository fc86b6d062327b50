// SPDX-License-Identifier: BSD-3-Clause
// The eight bytes of a resize point: both processes see places that differ, whatever else the bytes contain.
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "grid/place.hpp"

namespace {

using blacs_dyn::Place;
using blacs_dyn::PlaceWord;

Place at(std::uint64_t hash) {
  Place place;
  place.hash = hash;
  return place;
}

constexpr std::uint64_t all_flags = PlaceWord::own_request | PlaceWord::outside_request | PlaceWord::fewer_looks |
                                    PlaceWord::far_fewer_looks | PlaceWord::loads | PlaceWord::process0_sends |
                                    PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come;

TEST(PlaceWord, OfOnePlaceCarriesEveryFlag) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 1000; ++k) {
    const Place place = at(random());
    const std::uint64_t flags = random() & all_flags;
    const std::uint64_t all = PlaceWord::of(place, flags) | PlaceWord::of(place, 0);
    EXPECT_TRUE(PlaceWord::is_one_place(all));
    EXPECT_EQ(all & all_flags, flags);
  }
}

TEST(PlaceWord, OfTwoPlacesIsSeen) {
  for (int bit = 0; bit < 28; ++bit) {
    const std::uint64_t flags = bit % 2 == 0 ? all_flags : 0;
    EXPECT_FALSE(PlaceWord::is_one_place(PlaceWord::of(at(0), flags) | PlaceWord::of(at(std::uint64_t{1} << bit), 0)));
  }
}

TEST(PlaceWord, SaysHowManyPointsArePassedBy) {
  const std::uint64_t none = PlaceWord::of(at(7), all_flags & ~(PlaceWord::fewer_looks | PlaceWord::far_fewer_looks));
  for (const int points : {0, 1, 3, 7}) EXPECT_EQ(PlaceWord::points_to_pass(none | PlaceWord::passing(points)), points);
}

} // namespace
