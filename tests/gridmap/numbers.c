/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of the C headers by name, for the comparison with C++ and Fortran. */
#include "dyngrid/gridmap.h"

#include <string.h>

int number_of(const char* name);

int number_of(const char* name) {
#define ENTRY(constant)                                                                                                \
  { #constant, constant }
  static const struct {
    const char* name;
    int value;
  } numbers[] = {
      ENTRY(DYNGRID_SUCCESS),
      ENTRY(DYNGRID_ERR_ARGUMENT),
      ENTRY(DYNGRID_ERR_NULL),
      ENTRY(DYNGRID_ERR_TYPE),
      ENTRY(DYNGRID_ERR_SHAPE),
      ENTRY(DYNGRID_ERR_DESCRIPTOR),
      ENTRY(DYNGRID_ERR_MISMATCH),
      ENTRY(DYNGRID_ERR_STATE),
      ENTRY(DYNGRID_ERR_NOT_FOUND),
      ENTRY(DYNGRID_ERR_UNSUPPORTED),
      ENTRY(DYNGRID_ERR_MEMORY),
      ENTRY(DYNGRID_ERR_IO),
      ENTRY(DYNGRID_ERR_SLOTS),
      ENTRY(DYNGRID_ERR_SPAWN),
      ENTRY(DYNGRID_ERR_TIMEOUT),
      ENTRY(DYNGRID_ERR_MPI),
      ENTRY(DYNGRID_ERR_INTERNAL),
      ENTRY(DYNGRID_OPTIMAL),
      ENTRY(DYNGRID_GLOBAL),
      ENTRY(DYNGRID_LOCAL1),
      ENTRY(DYNGRID_LOCAL2),
      ENTRY(DYNGRID_PREFER_COLUMNS),
      ENTRY(DYNGRID_PREFER_ROWS),
      ENTRY(DYNGRID_MAP_BEST),
      ENTRY(DYNGRID_MAP_SVD),
      ENTRY(DYNGRID_MAP_NATURAL),
      ENTRY(DYNGRID_SELECT_BEST),
      ENTRY(DYNGRID_SELECT_GLOBAL),
      ENTRY(DYNGRID_SELECT_LOCAL),
      ENTRY(DYNGRID_SELECT_MIXED),
      ENTRY(DYNGRID_FREE_FIRST),
      ENTRY(DYNGRID_BALANCE_STAY),
      ENTRY(DYNGRID_BALANCE_REBALANCE),
      ENTRY(DYNGRID_BALANCE_REMOVE),
      ENTRY(DYNGRID_BALANCE_TAKE_BACK),
      ENTRY(DYNGRID_BALANCE_REPLACE),
      {"sizeof dyngrid_balance_request", (int)sizeof(dyngrid_balance_request)},
      {"sizeof dyngrid_axis", (int)sizeof(dyngrid_axis)},
      {"sizeof dyngrid_topology_request", (int)sizeof(dyngrid_topology_request)},
  };
  size_t i;
  for (i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
    if (strcmp(numbers[i].name, name) == 0) return numbers[i].value;
  return -12345;
}
