// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace base {

/// All tags of messages between processes, so that no two algorithms share one. Below 32768, the least that MPI grants.
enum Tag : int {
  tag_border = 1,             ///< halo: successive exchanges keep their order
  tag_slab,                   ///< checkpoints
  tag_hello,                  ///< a new process to the one that started it
  tag_job,                    ///< the same, in dyngrid_init: what mpirun calls its group
  tag_go,                     ///< and what that answers
  tag_wake,                   ///< to a process that sleeps
  tag_join,                   ///< of two communicators that become one
  tag_of_no_message,          ///< never sent, only looked for
  tag_load,                   ///< what a process that sleeps would get of a processor
  tag_exchange_first = 100,   ///< redist: exchanges take turns, so that a late message is not taken for one of the next
  tag_exchange_count = 16384, ///< number of tags, from the first
  tag_panel = 20007,          ///< pblas: panels along a row or a column of the grid
  tag_rows,                   ///< its interchanges of rows
  tag_relay,                  ///< its panels from one process to all in a row
  tag_pivots,                 ///< and what belongs to them
  tag_panel_read = 20012,     ///< to the owner of a panel's slice
  tag_relay_read,             ///< to the process that has a panel
  tag_copy = 20011, ///< p?gemr2d, on a context's own communicator, where BLACS itself sends by tags of its own, 9976
};

} // namespace base
