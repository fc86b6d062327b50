// SPDX-License-Identifier: BSD-3-Clause
#include "grid/place.hpp"

#include <utility>

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/fnv1a.hpp"
#include "base/status.hpp"
#include "grid/registered_name.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

const std::string& program_name() {
  static const auto* const name = new std::string(base::file_name(own_program()));
  return *name;
}

} // namespace

Place::Place(Kind kind_, std::string text_) : kind(kind_), text(std::move(text_)) {
  if (kind == Kind::plain) program = program_name();
  hash = base::Fnv1a().number(static_cast<std::int64_t>(kind)).text(text).value();
}

Place Place::in_source(const char* file, int line) {
  return Place(Kind::plain, fmt::format("{}:{}", base::file_name(file ? file : ""), line));
}

Place Place::of_call(const void* return_address) {
  Dl_info info{};
  link_map* object = nullptr;
  if (!dladdr1(return_address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object)
    return Place(Kind::plain, "a call in code made at run time"); // where that lies is another address on each process
  // in the call, not after it
  const auto offset = reinterpret_cast<std::uintptr_t>(return_address) - object->l_addr - 1;
  const std::string name = base::file_name(info.dli_fname ? info.dli_fname : "");
  return Place(Kind::plain, fmt::format("{}+{:#x}{}", name, offset,
                                        info.dli_sname ? fmt::format(" in {}", info.dli_sname) : std::string()));
}

Place Place::named(const char* name) {
  if (!name) return Place(Kind::null_name);
  const std::string text = name;
  return Place(text.empty() || text.size() > longest_name ? Kind::bad_name : Kind::named, text);
}

void Place::check_name() const {
  if (kind == Kind::null_name)
    throw Error(Status::null_pointer, "blacs-dyn: dyngrid_resize_point_at: the name is null");
  if (kind == Kind::bad_name)
    throw Error(Status::bad_argument,
                "blacs-dyn: dyngrid_resize_point_at: the name has {} characters, expected 1 .. {}", text.size(),
                longest_name);
}

bool Place::meets(const Place& other) const {
  if (kind >= Kind::end || other.kind >= Kind::end) return false;
  const auto is_alone = [](Kind k) { return k == Kind::within || k == Kind::call; };
  if (!is_alone(kind) && !is_alone(other.kind) && (kind == Kind::any || other.kind == Kind::any)) return true;
  return kind == other.kind && (text == other.text || program != other.program);
}

std::string Place::shown() const {
  switch (kind) {
  case Kind::any:
    return "a routine that changes the grid";
  case Kind::plain:
    return fmt::format("the resize point of {}", text);
  case Kind::named:
    return fmt::format("the resize point \"{}\"", text);
  case Kind::within:
    return fmt::format("a panel of {}", text);
  case Kind::query:
    return "dyngrid_pending";
  case Kind::call:
    return text;
  case Kind::end:
    return "dyngrid_finalize";
  case Kind::null_name:
  case Kind::bad_name:
    return "a resize point of no name";
  }
  return {};
}

} // namespace blacs_dyn
