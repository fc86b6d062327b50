// SPDX-License-Identifier: BSD-3-Clause
// Calls that go to ScaLAPACK's own routines behind the names that this library takes.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace pblas {

/// A call of the routine `name` ("pdgetrf_"), which is found at `routine`; its arguments, all of them addresses.
struct StockCall {
  const char* name;
  void* routine;
  std::vector<void*> arguments;
  const void* from; ///< where the call returns to
};

/// The routine of that name that this library hides. Ends the program when there is none.
void* stock_routine(const char* name);
/// Calls it.
void invoke(void* routine, const std::vector<void*>& arguments);

/// Sets the function that carries out such calls instead of `invoke`; null: none. Local.
using StockCaller = void (*)(const StockCall& call);
void route_stock_calls(StockCaller caller);
bool are_stock_calls_routed();

/// Hands the call to the function of route_stock_calls if there is one, otherwise calls the routine.
void call_stock(const char* name, void* routine, std::initializer_list<const void*> arguments, const void* from);

/// Which products and factorizations are ours in contexts of prefer_ours, by DYNGRID_PBLAS, for a person to read.
std::string choice_in_words();

} // namespace pblas
