// SPDX-License-Identifier: BSD-3-Clause
#include "grid/shared_state.hpp"

#include <algorithm>
#include <cstdint>
#include <new>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "base/memory.hpp"
#include "grid/registered_name.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

SharedState::Item* SharedState::find(const std::string& name) {
  const auto at = std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.name == name; });
  return at == items_.end() ? nullptr : &*at;
}

void SharedState::check_share(const char* name, const void* data, std::size_t bytes, bool has_gaps) {
  check_registered_name("dyngrid_share", name);
  if (has_gaps)
    throw Error(Status::bad_argument,
                "blacs-dyn: dyngrid_share: \"{}\" is a section with gaps, as a(1, :), expected a variable whose "
                "elements follow each other in memory, as a whole array or a(:, 1)",
                name);
  if (bytes > PTRDIFF_MAX)
    throw Error(Status::bad_argument, "blacs-dyn: dyngrid_share: \"{}\" has {} bytes, expected 0 .. {}", name, bytes,
                PTRDIFF_MAX);
  if (!data && bytes > 0) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_share: data of \"{}\" is null", name);
  const Item* known = find(name);
  if (!known) return;
  if (known->has_place) throw Error(Status::bad_argument, "blacs-dyn: dyngrid_share: \"{}\" is shared already", name);
  if (known->bytes != bytes)
    throw Error(Status::rank_mismatch, "blacs-dyn: dyngrid_share: \"{}\" has {} bytes here and {} on the others", name,
                bytes, known->bytes);
}

void SharedState::share(const char* name, void* data, std::size_t bytes, MPI_Comm grid, bool has_gaps) {
  Item item;
  std::string other_names, other_bytes; // said where they differ
  const auto check = [&] {
    check_share(name, data, bytes, has_gaps);
    other_names =
        fmt::format("blacs-dyn: dyngrid_share: name differs between the processes of the grid (\"{}\" here)", name);
    other_bytes = fmt::format(
        "blacs-dyn: dyngrid_share: bytes of \"{}\" differ between the processes of the grid ({} here)", name, bytes);
    item = {name, true, data, bytes, {}};
    items_.reserve(items_.size() + 1);
  };
  if (has_early(name)) {
    check_share(name, data, bytes, has_gaps);
    Item* const early = find(name);
    early->has_place = true;
    early->data = data;
    std::copy(early->early.begin(), early->early.end(), static_cast<char*>(data));
    early->early = {};
    return;
  }
  if (grid == MPI_COMM_NULL) {
    check();
  } else {
    together(grid, check);
    check_same(grid, base::Fnv1a().text(name).positive(), other_names.c_str());
    check_same(grid, static_cast<std::int64_t>(bytes), other_bytes.c_str());
  }
  items_.push_back(std::move(item));
}

bool SharedState::has_early(const char* name) const {
  return name &&
         std::any_of(items_.begin(), items_.end(), [&](const Item& i) { return !i.has_place && i.name == name; });
}

void SharedState::unshare(const char* name) {
  check_registered_name("dyngrid_unshare", name);
  const Item* item = find(name);
  if (!item) throw Error(Status::not_found, "blacs-dyn: dyngrid_unshare: nothing is shared as \"{}\"", name);
  items_.erase(items_.begin() + (item - items_.data()));
}

std::vector<SavedShared> SharedState::list() const {
  std::vector<SavedShared> all;
  for (const Item& item : items_)
    all.push_back({item.name, static_cast<std::int64_t>(item.bytes), const_cast<Item&>(item).where()});
  return all;
}

void SharedState::expect(const std::vector<SavedShared>& items, bool is_newcomer) {
  for (const SavedShared& one : items) {
    const auto bytes = static_cast<std::size_t>(one.bytes);
    Item* known = find(one.name);
    if (known && known->has_place && known->bytes != bytes)
      throw Error(Status::rank_mismatch, "blacs-dyn: shared \"{}\" has {} bytes on a {} process and {} on the others",
                  one.name, known->bytes, is_newcomer ? "new" : "woken", bytes);
    if (known && known->has_place) continue;
    if (!known) known = &items_.emplace_back(Item{one.name, false, nullptr, 0, {}});
    try {
      known->early.resize(bytes);
    } catch (const std::bad_alloc&) {
      throw base::out_of_memory(fmt::format("shared \"{}\"", one.name), bytes);
    }
    known->bytes = bytes;
  }
  const auto others_lack = [&](const Item& item) {
    return std::none_of(items.begin(), items.end(), [&](const auto& one) { return one.name == item.name; });
  };
  const auto extra = std::find_if(items_.begin(), items_.end(), others_lack);
  if (is_newcomer && extra != items_.end())
    throw Error(
        Status::rank_mismatch,
        "blacs-dyn: a new process shares \"{}\", which the others do not share; expected what they share, or less",
        extra->name);
  items_.erase(std::remove_if(extra, items_.end(), others_lack), items_.end()); // unshared while this process slept
}

namespace {

/// Of the bytes at .. at + count of all contents in a row: action(item, from which of its bytes on, how many, where
/// they are in the row from `at` on).
template <class Action>
void for_stretches(const std::vector<SavedShared>& items, std::int64_t at, std::size_t count, Action&& action) {
  const std::int64_t end = at + static_cast<std::int64_t>(count);
  std::int64_t begin = 0;
  for (const SavedShared& one : items) {
    const std::int64_t from = std::max(at, begin), to = std::min(end, begin + one.bytes);
    if (from < to) action(one, from - begin, static_cast<std::size_t>(to - from), from - at);
    begin += one.bytes;
  }
}

std::int64_t bytes_of(const std::vector<SavedShared>& items) {
  std::int64_t sum = 0;
  for (const SavedShared& one : items) sum += one.bytes;
  return sum;
}

} // namespace

void SharedState::gather(const std::vector<SavedShared>& items, std::int64_t at, std::vector<char>& buffer) {
  for_stretches(items, at, buffer.size(),
                [&](const SavedShared& one, std::int64_t first, std::size_t count, std::int64_t to) {
                  std::copy_n(static_cast<const char*>(one.data) + first, count, buffer.data() + to);
                });
}

void SharedState::scatter(const std::vector<SavedShared>& items, std::int64_t at, const std::vector<char>& buffer) {
  for_stretches(items, at, buffer.size(),
                [&](const SavedShared& one, std::int64_t first, std::size_t count, std::int64_t from) {
                  std::copy_n(buffer.data() + from, count, static_cast<char*>(find(one.name)->where()) + first);
                });
}

std::vector<char> SharedState::buffer_for(const std::vector<SavedShared>& items) {
  constexpr std::int64_t longest = 8 << 20;
  return std::vector<char>(static_cast<std::size_t>(std::min(longest, bytes_of(items))));
}

std::vector<char> SharedState::short_content(const std::vector<SavedShared>& items) {
  constexpr std::int64_t longest = 1024; // of the 4000 bytes that base::broadcast sends at first
  if (bytes_of(items) > longest) return {};
  std::vector<char> content = buffer_for(items);
  gather(items, 0, content);
  return content;
}

void SharedState::spread(MPI_Comm comm, int root, const std::vector<SavedShared>& items, bool takes,
                         std::vector<char>& buffer) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::int64_t end = bytes_of(items);
  for (std::int64_t at = 0; at < end; at += static_cast<std::int64_t>(buffer.size())) {
    buffer.resize(static_cast<std::size_t>(std::min(end - at, static_cast<std::int64_t>(buffer.size()))));
    if (rank == root) gather(items, at, buffer);
    broadcast(buffer.data(), buffer.size(), root, comm);
    if (takes) scatter(items, at, buffer);
  }
}

void SharedState::check(const std::vector<SavedShared>& saved) const {
  check_place(saved);
  for (const Item& item : items_) {
    const auto at =
        std::find_if(saved.begin(), saved.end(), [&](const SavedShared& one) { return one.name == item.name; });
    if (at == saved.end()) throw Error(Status::not_found, "blacs-dyn: the checkpoint has no shared \"{}\"", item.name);
    if (static_cast<std::size_t>(at->bytes) != item.bytes)
      throw Error(Status::rank_mismatch,
                  "blacs-dyn: shared \"{}\" has {} bytes in the program and {} in the checkpoint", item.name,
                  item.bytes, at->bytes);
  }
}

namespace {

/// The name of what a routine of ours shares while it runs: its state, without which no process can go on.
bool is_within(const std::string& name) {
  return name.rfind("dyngrid_lu:", 0) == 0 || name.rfind("dyngrid_cholesky:", 0) == 0;
}

} // namespace

void SharedState::check_place(const std::vector<SavedShared>& saved) const {
  for (const SavedShared& one : saved) {
    const bool is_here = std::any_of(items_.begin(), items_.end(), [&](const Item& i) { return i.name == one.name; });
    if (is_within(one.name) && !is_here)
      throw Error(Status::bad_state,
                  "blacs-dyn: the checkpoint was written in the middle of {}, between two panels; expected to go on "
                  "there: a run that is restarted (dyngrid_is_restarted) has to come to that call before any other "
                  "resize point or dyngrid_restore",
                  one.name);
  }
}

} // namespace blacs_dyn
