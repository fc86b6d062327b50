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

#define DYNGRID_CALL(name, count)                                                                                      \
  void name##_(DYNGRID_ADDRESSES_##count);                                                                             \
  DYNGRID_API void name##_(DYNGRID_ADDRESSES_##count) {                                                                \
    static void* const stock = pblas::stock_routine(#name "_");                                                        \
    pblas::call_stock(#name "_", stock, {DYNGRID_GIVEN_##count}, __builtin_return_address(0));                         \
  }

extern "C" {
DYNGRID_CALL(psposv, 12)
DYNGRID_CALL(pdposv, 12)
DYNGRID_CALL(pcposv, 12)
DYNGRID_CALL(pzposv, 12)
DYNGRID_CALL(psgeqrf, 10)
DYNGRID_CALL(pdgeqrf, 10)
DYNGRID_CALL(pcgeqrf, 10)
DYNGRID_CALL(pzgeqrf, 10)
DYNGRID_CALL(pssyev, 15)
DYNGRID_CALL(pdsyev, 15)
DYNGRID_CALL(pssyevd, 17)
DYNGRID_CALL(pdsyevd, 17)
DYNGRID_CALL(pcheev, 17)
DYNGRID_CALL(pzheev, 17)
DYNGRID_CALL(pcheevd, 19)
DYNGRID_CALL(pzheevd, 19)
}

DYNGRID_SPELLINGS(psposv, PSPOSV)
DYNGRID_SPELLINGS(pdposv, PDPOSV)
DYNGRID_SPELLINGS(pcposv, PCPOSV)
DYNGRID_SPELLINGS(pzposv, PZPOSV)
DYNGRID_SPELLINGS(psgeqrf, PSGEQRF)
DYNGRID_SPELLINGS(pdgeqrf, PDGEQRF)
DYNGRID_SPELLINGS(pcgeqrf, PCGEQRF)
DYNGRID_SPELLINGS(pzgeqrf, PZGEQRF)
DYNGRID_SPELLINGS(pssyev, PSSYEV)
DYNGRID_SPELLINGS(pdsyev, PDSYEV)
DYNGRID_SPELLINGS(pssyevd, PSSYEVD)
DYNGRID_SPELLINGS(pdsyevd, PDSYEVD)
DYNGRID_SPELLINGS(pcheev, PCHEEV)
DYNGRID_SPELLINGS(pzheev, PZHEEV)
DYNGRID_SPELLINGS(pcheevd, PCHEEVD)
DYNGRID_SPELLINGS(pzheevd, PZHEEVD)
