// SPDX-License-Identifier: BSD-3-Clause
// The terminal while `dyngrid watch` draws on it: keys as they are pressed, no cursor, a block of lines drawn over the
// previous one.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "watch_view.hpp"

namespace command {

/// One at a time. The terminal's state is restored when this ends, and when a signal ends or stops the process.
class Terminal {
public:
  /// Standard output is a terminal. `wants_colour`: NO_COLOR and TERM=dumb are checked in addition.
  explicit Terminal(bool wants_colour);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  /// Keys can be read: standard input is the terminal, and this process in its foreground.
  bool has_keys() const { return has_keys_; }
  /// Its size now, and colour.
  Screen screen() const;
  /// Draws over the previous lines. In one write, so that nothing flickers.
  void draw(const std::vector<ViewLine>& lines);
  /// Waits for a key or for input at fd (-1: none), for at most `seconds`. Returns one key: those typed ahead stay for
  /// the next reader.
  KeyPress wait(int fd, double seconds);

private:
  bool has_colour_ = false, has_keys_ = false;
  std::size_t drawn_ = 0;
  std::string typed_; ///< the beginning of a key
  std::deque<KeyPress> ahead_;
};

} // namespace command
