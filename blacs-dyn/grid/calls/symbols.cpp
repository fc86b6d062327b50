// SPDX-License-Identifier: BSD-3-Clause
// ScaLAPACK's names for the routines that are only taken to be carried out elsewhere (DYNGRID_CALLS); pblas has those
// that it computes itself, too. All arguments are addresses.
#include "base/spellings.hpp"
#include "dyngrid/status.h"
#include "pblas/stock_calls.hpp"

#define DYNGRID_ADDRESSES_10                                                                                           \
  const void *a0, const void *a1, const void *a2, const void *a3, const void *a4, const void *a5, const void *a6,      \
      const void *a7, const void *a8, const void *a9
#define DYNGRID_ADDRESSES_12 DYNGRID_ADDRESSES_10, const void *a10, const void *a11
#define DYNGRID_ADDRESSES_15 DYNGRID_ADDRESSES_12, const void *a12, const void *a13, const void *a14
#define DYNGRID_ADDRESSES_17 DYNGRID_ADDRESSES_15, const void *a15, const void *a16
#define DYNGRID_ADDRESSES_19 DYNGRID_ADDRESSES_17, const void *a17, const void *a18
#define DYNGRID_GIVEN_10 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9
#define DYNGRID_GIVEN_12 DYNGRID_GIVEN_10, a10, a11
#define DYNGRID_GIVEN_15 DYNGRID_GIVEN_12, a12, a13, a14
#define DYNGRID_GIVEN_17 DYNGRID_GIVEN_15, a15, a16
#define DYNGRID_GIVEN_19 DYNGRID_GIVEN_17, a17, a18

#define DYNGRID_CALL(name, NAME, count)                                                                                \
  extern "C" {                                                                                                         \
  void name##_(DYNGRID_ADDRESSES_##count);                                                                             \
  DYNGRID_API void name##_(DYNGRID_ADDRESSES_##count) {                                                                \
    static void* const stock = pblas::stock_routine(#name "_");                                                        \
    pblas::call_stock(#name "_", stock, {DYNGRID_GIVEN_##count}, __builtin_return_address(0));                         \
  }                                                                                                                    \
  }                                                                                                                    \
  DYNGRID_SPELLINGS(name, NAME)

DYNGRID_CALL(psposv, PSPOSV, 12)
DYNGRID_CALL(pdposv, PDPOSV, 12)
DYNGRID_CALL(pcposv, PCPOSV, 12)
DYNGRID_CALL(pzposv, PZPOSV, 12)
DYNGRID_CALL(psgeqrf, PSGEQRF, 10)
DYNGRID_CALL(pdgeqrf, PDGEQRF, 10)
DYNGRID_CALL(pcgeqrf, PCGEQRF, 10)
DYNGRID_CALL(pzgeqrf, PZGEQRF, 10)
DYNGRID_CALL(pssyev, PSSYEV, 15)
DYNGRID_CALL(pdsyev, PDSYEV, 15)
DYNGRID_CALL(pssyevd, PSSYEVD, 17)
DYNGRID_CALL(pdsyevd, PDSYEVD, 17)
DYNGRID_CALL(pcheev, PCHEEV, 17)
DYNGRID_CALL(pzheev, PZHEEV, 17)
DYNGRID_CALL(pcheevd, PCHEEVD, 19)
DYNGRID_CALL(pzheevd, PZHEEVD, 19)
