/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DYNGRID_GRIDMAP_H
#define DYNGRID_GRIDMAP_H
#include "dyngrid/status.h"

/* Where the processes of a grid go when it changes. */
enum {
  DYNGRID_OPTIMAL = 0, /* exact assignment: the most elements stay (default) */
  DYNGRID_GLOBAL = 1,  /* row-major numbering anew */
  DYNGRID_LOCAL1 = 2,  /* new rows and columns at the end */
  DYNGRID_LOCAL2 = 3   /* new rows and columns at the centres of equal divisions */
};
#endif
