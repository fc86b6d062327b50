// SPDX-License-Identifier: BSD-3-Clause
#include "shared_state.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "mpi_util.hpp"
#include "registered_name.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

std::vector<char> SharedState::Item::content() const {
  const auto* first = static_cast<const char*>(data);
  return has_place ? std::vector<char>(first, first + bytes) : early;
}

void SharedState::Item::take(const std::vector<char>& content) {
  if (has_place)
    std::copy(content.begin(), content.end(), static_cast<char*>(data));
  else
    early = content;
}

SharedState::Item* SharedState::find(const std::string& name) {
  const auto at = std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.name == name; });
  return at == items_.end() ? nullptr : &*at;
}

void SharedState::check_share(const char* name, const void* data, std::size_t bytes) {
  check_registered_name("dyngrid_share", name);
  if (bytes > PTRDIFF_MAX)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_share: \"{}\" has {} bytes, expected 0 .. {}",
                                                  name, bytes, PTRDIFF_MAX));
  if (!data && bytes > 0)
    throw Error(Status::null_pointer, fmt::format("blacs-dyn: dyngrid_share: data of \"{}\" is null", name));
  const Item* known = find(name);
  if (!known) return;
  if (known->has_place)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_share: \"{}\" is shared already", name));
  if (known->bytes != bytes)
    throw Error(Status::rank_mismatch,
                fmt::format("blacs-dyn: dyngrid_share: \"{}\" has {} bytes here and {} on the others", name, bytes,
                            known->bytes));
}

void SharedState::share(const char* name, void* data, std::size_t bytes, MPI_Comm grid) {
  const auto check = [&] { check_share(name, data, bytes); };
  if (Item* early = name ? find(name) : nullptr; early && !early->has_place) { // it came with the join
    check();
    early->has_place = true;
    early->data = data;
    early->take(early->early);
    early->early.clear();
    return;
  }
  if (grid == MPI_COMM_NULL) {
    check();
  } else {
    together(grid, check);
    const auto same = [&](std::int64_t mine, const std::string& message) { check_same(grid, mine, message.c_str()); };
    same(base::Fnv1a().text(name).positive(),
         fmt::format("blacs-dyn: dyngrid_share: name differs between the processes of the grid (\"{}\" here)", name));
    same(static_cast<std::int64_t>(bytes),
         fmt::format("blacs-dyn: dyngrid_share: bytes of \"{}\" differ between the processes of the grid ({} here)",
                     name, bytes));
  }
  items_.push_back({name, true, data, bytes, {}});
}

void SharedState::unshare(const char* name) {
  check_registered_name("dyngrid_unshare", name);
  const Item* item = find(name);
  if (!item)
    throw Error(Status::not_found, fmt::format("blacs-dyn: dyngrid_unshare: nothing is shared as \"{}\"", name));
  items_.erase(items_.begin() + (item - items_.data()));
}

void SharedState::write(Packet& packet) const {
  packet.put(static_cast<int>(items_.size()));
  for (const Item& item : items_) packet.put(item.name).put(item.content());
}

void SharedState::read(Packet& packet) {
  for (int count = packet.get<int>(); count > 0; --count) {
    const std::string name = packet.get_text();
    const std::vector<char> content = packet.get_vector<char>();
    if (Item* known = find(name); !known)
      items_.push_back({name, false, nullptr, content.size(), content});
    else if (known->bytes != content.size())
      throw Error(Status::rank_mismatch,
                  fmt::format("blacs-dyn: shared \"{}\" has {} bytes on a new process and {} on the others", name,
                              known->bytes, content.size()));
    else
      known->take(content);
  }
}

std::vector<SavedShared> SharedState::saved() const {
  std::vector<SavedShared> all;
  for (const Item& item : items_) all.push_back({item.name, item.content()});
  return all;
}

void SharedState::check(const std::vector<SavedShared>& saved) const {
  check_place(saved);
  for (const Item& item : items_) {
    const auto at =
        std::find_if(saved.begin(), saved.end(), [&](const SavedShared& one) { return one.name == item.name; });
    if (at == saved.end())
      throw Error(Status::not_found, fmt::format("blacs-dyn: the checkpoint has no shared \"{}\"", item.name));
    if (at->content.size() != item.bytes)
      throw Error(Status::rank_mismatch,
                  fmt::format("blacs-dyn: shared \"{}\" has {} bytes in the program and {} in the checkpoint",
                              item.name, item.bytes, at->content.size()));
  }
}

void SharedState::check_place(const std::vector<SavedShared>& saved) const {
  for (const SavedShared& one : saved) {
    const bool is_here = std::any_of(items_.begin(), items_.end(), [&](const Item& i) { return i.name == one.name; });
    if (one.name.rfind(within, 0) == 0 && !is_here)
      throw Error(Status::bad_state,
                  fmt::format("blacs-dyn: the checkpoint was written in the middle of {}, between two panels; expected "
                              "to go on there: a run that is restarted (dyngrid_is_restarted) has to come to that call "
                              "before any other resize point or dyngrid_restore",
                              one.name));
  }
}

void SharedState::take(const std::vector<SavedShared>& saved) {
  for (const SavedShared& one : saved) {
    if (Item* known = find(one.name))
      known->take(one.content);
    else
      items_.push_back({one.name, false, nullptr, one.content.size(), one.content});
  }
}

} // namespace blacs_dyn
