// SPDX-License-Identifier: BSD-3-Clause
// called_off off|starved|now TIMES: other grids are requested while new processes start.
// off: until TIMES growths of 1x2 were cancelled at varying moments of their start, by a request for the present grid;
// others are complete by then. The next growth works.
// starved: requests arrive faster than processes start, until the grid has grown TIMES times
// now: dyngrid_resize to the grid whose processes start already lets these in
#include <cstring>

#include <unistd.h>

#include "dyngrid/control.h"
#include "follow.hpp"

namespace {

using follow::expect;

struct State {
  int times = 0, size = 2, left = 0, growths = 0, growths_before = 0, called_off = 0, requests = 0;
  enum : int { idle, growing, going_back, last_growth } phase = idle;
} s; ///< shared

const std::pair<int, int> shapes[] = {{2, 2}, {1, 3}, {1, 2}, {2, 3}, {1, 3}, {1, 2}, {2, 2}};

/// One more step of the first program. True: it is finished.
bool off(int times) {
  switch (s.phase) {
  case State::idle:
    if (s.called_off == times) {
      expect(!dyngrid_request(2, 2), "request");
      s.phase = State::last_growth;
      break;
    }
    expect(!dyngrid_request(2, 2 + s.times % 2), "request");
    s.growths_before = s.growths;
    s.left = 1 + s.times * 97 % 250; // the start takes some hundred steps
    s.phase = State::growing;
    break;
  case State::growing:
    if (--s.left > 0) break;
    expect(!dyngrid_request(1, 2), "request");
    s.phase = State::going_back;
    break;
  case State::going_back:
    if (dyngrid_pending() != 0 || s.size != 2) break;
    if (s.growths == s.growths_before) ++s.called_off;
    ++s.times;
    s.phase = State::idle;
    break;
  case State::last_growth:
    return s.size == 4;
  }
  return false;
}

int now() {
  dyngrid_matrix* a = follow::create("a", 'd', 53, 47, 4, 3);
  if (dyngrid_is_newcomer()) {
    expect(dyngrid_resize_point_at("step") == DYNGRID_RESIZED, "a new process");
  } else {
    follow::fill(a, 'd', 5);
    expect(!dyngrid_request(2, 2), "request");
    expect(dyngrid_resize_point_at("step") == DYNGRID_SAME, "the processes start");
    expect(dyngrid_resize(2, 2, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "the growth");
    dyngrid_resize_report report;
    expect(!dyngrid_last_resize(&report) && report.spawned == 2 && report.asked_at_step == -1, "its report");
  }
  expect(follow::wrong(a, 'd', 5) == 0, "data");
  if (dyngrid_is_first()) std::puts("called_off: right, none");
  return dyngrid_finalize();
}

bool starved(int times) {
  if (s.growths >= times) return true;
  if (--s.left > 0) return false;
  s.left = 60;
  const auto [nprow, npcol] = shapes[s.requests++ % 7];
  expect(!dyngrid_request(nprow, npcol), "request");
  return false;
}

} // namespace

int main(int argc, char** argv) {
  const bool is_off = argc > 1 && !std::strcmp(argv[1], "off");
  const int times = argc > 2 ? std::atoi(argv[2]) : 1;
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  if (argc > 1 && !std::strcmp(argv[1], "now")) return now();
  dyngrid_matrix* a = follow::create("a", 'd', 53, 47, 4, 3);
  expect(!dyngrid_share("state", &s, sizeof s), "share");
  if (!dyngrid_is_newcomer()) follow::fill(a, 'd', 5);
  for (;;) {
    const int outcome = dyngrid_resize_point_at("step");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(outcome >= 0, std::string("no growth fails: ") + dyngrid_last_message());
    if (outcome == DYNGRID_RESIZED) {
      int nprow = 0, npcol = 0;
      dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
      expect(follow::wrong(a, 'd', 5) == 0, "data");
      s.growths += nprow * npcol > s.size ? 1 : 0;
      s.size = nprow * npcol;
    }
    if (is_off ? off(times) : starved(times)) break;
    usleep(1000);
  }
  if (dyngrid_is_first())
    std::printf("called_off: right, %d called off, %d growths, %d requests\n", s.called_off, s.growths, s.requests);
  return dyngrid_finalize();
}
