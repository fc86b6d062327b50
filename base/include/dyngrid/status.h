/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of every dyngrid routine, the same numbers in C, C++ and Fortran. 0 is success, errors are negative, so that
 * the routines that answer with an outcome (DYNGRID_SAME, DYNGRID_RESIZED, DYNGRID_LEAVE, DYNGRID_REDIRECT) can use 0
 * and up. Of several errors the smallest number is the worst and wins the agreement of a collective call. */
#ifndef DYNGRID_STATUS_H
#define DYNGRID_STATUS_H

#if defined(__GNUC__)
#define DYNGRID_API __attribute__((visibility("default")))
#else
#define DYNGRID_API
#endif

enum {
  DYNGRID_SUCCESS = 0,
  DYNGRID_ERR_ARGUMENT = -1,    /* a value that is not allowed */
  DYNGRID_ERR_NULL = -2,        /* a null pointer where an object is expected */
  DYNGRID_ERR_TYPE = -3,        /* not one of the element types s d c z i */
  DYNGRID_ERR_SHAPE = -4,       /* sizes or grids that do not fit each other */
  DYNGRID_ERR_DESCRIPTOR = -5,  /* an array descriptor that is not valid */
  DYNGRID_ERR_MISMATCH = -6,    /* a global argument that differs between processes */
  DYNGRID_ERR_STATE = -7,       /* before init, after finalize, an object of an older grid, different resize points */
  DYNGRID_ERR_NOT_FOUND = -8,   /* no such name, file or program */
  DYNGRID_ERR_UNSUPPORTED = -9, /* not possible with this MPI or on this machine */
  DYNGRID_ERR_MEMORY = -10,     /* no memory */
  DYNGRID_ERR_IO = -11,         /* reading or writing failed */
  DYNGRID_ERR_SLOTS = -12,      /* fewer processors than asked for */
  DYNGRID_ERR_SPAWN = -13,      /* new processes could not be started */
  DYNGRID_ERR_TIMEOUT = -14,    /* a process did not arrive in time */
  DYNGRID_ERR_MPI = -15,        /* an MPI call failed */
  DYNGRID_ERR_INTERNAL = -16    /* a mistake of dyngrid's own */
};

/* Placements: where the processes of a grid go when it changes. dyngrid.h and dyngrid/gridmap.h take them. */
enum {
  DYNGRID_OPTIMAL = 0, /* exact assignment: the most elements stay (default) */
  DYNGRID_GLOBAL = 1,  /* row-major numbering anew */
  DYNGRID_LOCAL1 = 2,  /* new rows and columns at the end */
  DYNGRID_LOCAL2 = 3   /* new rows and columns at the centres of equal divisions */
};

#ifdef __cplusplus
extern "C" {
#endif
/* ---- statuses and the text of the last error ---- */

/* A short name of a status ("out of memory"), never null; "unknown status" for other numbers. */
DYNGRID_API const char* dyngrid_status_string(int status);
/* What, got, expected, where of the last error on this thread; "" when there was none. Valid until the next call of
 * this thread. */
DYNGRID_API const char* dyngrid_last_message(void);
#ifdef __cplusplus
}
#endif
#endif
