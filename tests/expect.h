/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests in C, behind a header that declares dyngrid_last_message: what does not hold is printed and counted. */
#ifndef DYNGRID_TESTS_EXPECTATIONS_H
#define DYNGRID_TESTS_EXPECTATIONS_H
#include <stdio.h>

static int failures = 0;
#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s is false (%s)\n", __FILE__, __LINE__, #condition, dyngrid_last_message());            \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

#endif
