// SPDX-License-Identifier: BSD-3-Clause
// The display of `dyngrid watch` on a terminal, computed as lines of text; no terminal, no connection.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/parse_json.hpp"

namespace command {

/// The usable part of a terminal, in characters.
struct Screen {
  int width = 80, height = 24;
  bool has_colour = false;
};

/// A line before it is clipped and coloured.
struct ViewLine {
  enum class Style { plain, title, label, good, warning, faint, chosen };
  std::string text;
  Style style = Style::plain; ///< label: its first nine characters are faint
};

/// Clips to the width, escapes unprintable characters, colours.
std::string drawn(const ViewLine& line, const Screen& screen);

/// The grid as boxes with the rank of each process (row-major, as in dyngrid_comm). Where boxes do not fit, squares are
/// drawn. Where these do not fit either, the grid is cut with dots.
std::vector<std::string> grid_picture(int nprow, int npcol, int width, int height);

/// The known state of one job.
class JobView {
public:
  /// An answer to `status` or `load`, or an event.
  void take(const base::Json& line);
  void say(const std::string& word) { last_word_ = word; }
  bool is_known() const { return status_.is_object(); }
  int processes() const;
  /// Rows or columns, whichever are fewer: the least number of processes for a row or a column more.
  int least_step() const;
  /// Top to bottom, at most screen.height lines. `keys`: the last line, empty for none.
  std::vector<ViewLine> lines(const Screen& screen, const std::string& keys) const;

private:
  base::Json status_;          ///< no object: nothing is known yet
  base::Json loads_;           ///< the same of an answer to `load`
  std::deque<double> times_;   ///< of the last steps on this grid
  std::string last_word_;      ///< how the last request ended that was not carried out
  bool is_taken_back_ = false; ///< the next change is the way back
};

/// An event as one line, for a pipe.
std::string event_line(const base::Json& event);

/// The jobs to choose from: `statuses` as from `ps`.
std::vector<ViewLine> chooser_lines(const std::vector<base::Json>& statuses, std::size_t chosen, const Screen& screen);

enum class Key { none, quit, up, down, enter, grow, shrink, pause, jobs, digit };
struct KeyPress {
  Key key = Key::none;
  int digit = 0;
};
/// Takes the keys out of a terminal's input. Unknown sequences are skipped; an incomplete key stays there.
std::vector<KeyPress> keys_of(std::string& bytes);

} // namespace command
