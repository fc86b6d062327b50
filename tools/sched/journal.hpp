// SPDX-License-Identifier: BSD-3-Clause
// The journal of a scheduler: a line for every event, written before it is acted on. Pure: text in, text out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

struct Entry {
  enum class Kind {
    open,    ///< the scheduler began: processors, policy, next job, boot id
    submit,  ///< name, allow, priority, rigid, folder, steps, number of variables, variables, command
    start,   ///< processors (ids), pid, start time of that process
    ask,     ///< another size was requested: size, processors reserved for it (ids)
    size,    ///< it has these processors (ids) now, and this number of processes
    answer,  ///< the request is over without a change: why, and until when no new one is sent
    cancel,  ///< its end was requested; by the scheduler itself: why
    requeue, ///< it never began: back into the queue
    end,     ///< status, why
    finish,  ///< its required end, the times that its user states; right after `submit`
    suspend, ///< it ignored a shrink and is stopped: the processors (ids) that it keeps in the records
    resume,  ///< it goes on: its processors (ids), the same number as before
  };
  Kind kind = Kind::open;
  double at_s = 0; ///< since 1970
  std::int64_t job = 0;
  std::vector<std::string> fields;
};

/// One line, its end included: checksum, kind, time, job, fields, with tabs between them.
std::string encode(const Entry& entry);

/// The first line, its end included. A journal without one is older, and read in the same way.
constexpr int journal_version = 2;
std::string journal_head(int version);

struct ReadJournal {
  std::vector<Entry> entries;
  std::size_t good_bytes = 0; ///< the rest is the half-written line of a crash, to be cut off
};
/// Only a last line without an end may be cut off: a complete line that cannot be read is damage, wherever it is.
/// @throws base::Error{io_failure} with line and byte; Error{unsupported} for another version.
ReadJournal read_journal(std::string_view text);

/// "0,1,5" and back. @throws base::Error{io_failure}
std::string join_ids(const std::vector<int>& ids);
std::vector<int> split_ids(std::string_view text);

} // namespace sched
