// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/step_time.hpp"

namespace advise {

/// The grids that an application can use. Pure.
class Allowed {
public:
  /// Without clauses: every grid that is requested by its shape. Where dyngrid chooses the shape, none longer than
  /// three times its width.
  Allowed() = default;

  /// Clauses separated by `;`, all of which must hold:
  ///   any                    every grid, 1 x n too (alone)
  ///   4:32:*2   4,9,16       numbers of processes, as parse_set
  ///   2x2,2x4,4x4            these grids
  ///   aspect 2               longer side over shorter side at most 2; `aspect_p`, `aspect_q` as in TopologyRequest
  ///   rows 1:4   cols 2,4,8  rows, columns
  /// e.g. "4:32:*2; aspect 2". Empty text: no limit.
  /// @throws base::Error{bad_argument} that quotes the clause.
  static Allowed parse(const std::string& text);

  /// Those of them that only add rows and columns to a grid, and that grid. Source: Chinnusamy 2004, section 5.2.1.2.
  /// @pre largest() and quickest() of the result are asked for at least as many processes as `from` has
  Allowed adding_to(base::GridShape from) const;
  bool only_adds() const { return limits_.from_nprow > 0; }

  bool permits(base::GridShape shape) const;
  /// The permitted grid with the most processes, at_least .. at_most of them. Among grids with equally many, the one
  /// nearest to square with nprow <= npcol. Empty when there is none.
  std::optional<base::GridShape> largest(int at_most, int at_least = 1) const;
  /// The fastest permitted grid of at most `at_most` processes, among and between the measured ones. Empty when there
  /// is none.
  std::optional<Topology> quickest(int at_most, const StepModel& steps) const;
  /// The text as it was given; "" for no clauses.
  const std::string& text() const { return text_; }

private:
  TopologyRequest request(int at_most) const;

  std::string text_;
  bool is_any_ = false;
  TopologyRequest limits_; ///< aspects and valid sets
  std::vector<base::GridShape> grids_;
};

} // namespace advise
