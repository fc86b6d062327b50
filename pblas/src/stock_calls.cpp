// SPDX-License-Identifier: BSD-3-Clause
#include "pblas/stock_calls.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/stock_symbol.hpp"

namespace pblas {
namespace {

constexpr std::size_t most_arguments = 20;

StockCaller& caller() {
  static StockCaller set = nullptr; // set while other files are initialized
  return set;
}

template <std::size_t> using Address = void*;
using Length = std::size_t;

/// A Fortran routine takes the length of each CHARACTER argument behind the others, and may write to that place when it
/// ends by calling another (gfortran's -foptimize-sibling-calls; the trouble of LAPACK's callers in 2019). No routine
/// has more than six; one that has fewer, or is in C, does not look at them.
template <std::size_t... I> void call_with(void* routine, void* const* a, std::index_sequence<I...>) {
  using Routine = void (*)(Address<I>..., Length, Length, Length, Length, Length, Length);
  reinterpret_cast<Routine>(routine)(a[I]..., 1, 1, 1, 1, 1, 1);
}

using With = void (*)(void*, void* const*);
template <std::size_t N> void call_with_count(void* routine, void* const* a) {
  call_with(routine, a, std::make_index_sequence<N>());
}
template <std::size_t... N> constexpr std::array<With, sizeof...(N)> table(std::index_sequence<N...>) {
  return {call_with_count<N>...};
}

void invoke_with(void* routine, void* const* arguments, std::size_t count) {
  static constexpr auto by_count = table(std::make_index_sequence<most_arguments>());
  if (count >= most_arguments) std::abort();
  by_count[count](routine, arguments);
}

} // namespace

void invoke(void* routine, const std::vector<void*>& arguments) {
  invoke_with(routine, arguments.data(), arguments.size());
}

void route_stock_calls(StockCaller set) {
  caller() = set;
}

bool are_stock_calls_routed() {
  return caller() != nullptr;
}

void call_stock(const char* name, void* routine, std::initializer_list<const void*> arguments, const void* from) {
  base::was_replaced_called = true;
  void* const* addresses = const_cast<void* const*>(arguments.begin());
  if (caller() == nullptr) return invoke_with(routine, addresses, arguments.size());
  caller()({name, routine, {addresses, addresses + arguments.size()}, from});
}

} // namespace pblas
