// SPDX-License-Identifier: BSD-3-Clause
#include "redist/closed_contexts.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "gemr2d/given.hpp"

namespace redist {
namespace {

std::map<int, std::string>& closed() {
  static auto* all = new std::map<int, std::string>; // a routine may be called while static objects go
  return *all;
}

} // namespace

void context_was_closed(int ctxt, std::string by) {
  closed()[ctxt] = std::move(by);
}

void context_is_open(int ctxt) {
  closed().erase(ctxt);
}

void refuse_closed_contexts(const std::string& routine, std::initializer_list<int> contexts) {
  if (closed().empty()) return;
  for (const int ctxt : contexts)
    if (const auto at = closed().find(ctxt); at != closed().end())
      detail::stop(fmt::format("{}: context {} was closed by {}: ask dyngrid_context() and dyngrid_desc() again after "
                               "every change of the grid",
                               routine, ctxt, at->second),
                   1);
}

} // namespace redist
