// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "packet.hpp"

namespace blacs_dyn {

class Application;

/// The grid and process 0 while that stands outside of it. It sleeps there, and goes on with what it does for the
/// others: it writes a letter when it wants them, for which the first process of the grid looks at each resize point,
/// and it is called when they want it. Who is called takes part in what is agreed as if it were in the grid.
/// docs/decisions/0094.
class Council {
public:
  explicit Council(Application& app) : app_(app) {}

  /// What process 0 is called for.
  enum class Call : int {
    point = 1, ///< something is wanted at a resize point
    change,    ///< the program wants another grid: the goal follows
    rebalance, ///< dyngrid_rebalance
    launcher,  ///< dyngrid_set_processes: the way follows
    end,       ///< of the application
    // these have no answer
    steps, ///< how long they took
    word   ///< of one of the calls that are local: its number and its text follow
  };
  enum class Word : int { allow = 1, steps, experiment, balance };
  /// So many alike.
  struct Steps {
    std::int64_t count;
    double each_s, size;   ///< size: of a panel, in first ones
    std::string panels_of; ///< Balancing::Factored::place; empty: the program's own
  };

  // ---- a process of the grid
  bool is_needed() const;      ///< process 0 stands outside, and this process does not
  std::uint64_t flags() const; ///< PlaceWord::outside_request: there is a letter. Local
  /// Process 0 comes and knows what the grid knows. Collective over the grid. @return `flags` of all, and process 0's
  std::uint64_t call(Call what, const Packet& more, std::uint64_t flags);
  void is_over() { has_called_ = false; } ///< what it was called for
  /// On the first process, at a resize point: how long the step took that ends there.
  /// size: of a panel.
  void step_ended(double size = 1);
  void step_begins();
  double put_step_aside() { return std::exchange(begun_s_, -1); } ///< panels come; when it has begun
  void go_on_with_step(double begun_s);                           ///< after them
  /// What the program says and process 0 has to know. Of the first process of the grid; local.
  void tell(Word word, const std::string& text);

  // ---- process 0 outside
  bool is_attending() const; ///< this process is it
  /// Asleep until it is called. wants: whether a letter is to be written.
  Packet wait(const std::function<bool()>& wants);
  /// Answers a call: takes what the grid knows, and gives its own flags. flags: asked once that is known.
  std::uint64_t answer(Packet& packet, const std::function<std::uint64_t()>& flags);
  void hear_steps(Packet& packet) const;
  void hear_word(Packet& packet) const;

  /// What the grid knows of matrices now, to process 0, after it laid them out anew. Collective over both.
  void share_matrices();

private:
  bool is_first() const;
  int rank_of_process0() const;
  void post_steps(double now);
  void write_steps(Packet& packet);
  void hear(const std::vector<Steps>& steps) const;
  void write(Packet& packet) const;
  void read(Packet& packet);
  void read_matrices(Packet& packet);
  std::uint64_t agree(std::uint64_t flags, bool has_letter);

  Application& app_;
  // of the first process of the grid
  bool has_called_ = false;
  double begun_s_ = -1;      ///< of this step
  std::vector<Steps> steps_; ///< not sent yet
  std::vector<char> posted_; ///< on their way
  MPI_Request post_ = MPI_REQUEST_NULL;
  double posted_s_ = -1;
  // of process 0
  bool has_letter_out_ = false;
};

template <class Archive> void fields(Archive& a, Council::Steps& steps) {
  a(steps.count, steps.each_s, steps.size, steps.panels_of);
}

} // namespace blacs_dyn
