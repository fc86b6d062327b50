/* SPDX-License-Identifier: BSD-3-Clause */
/* Expectations of a test in C: an error is printed, after TEST_NAME, and recorded. */
#ifndef DYNGRID_TESTS_EXPECT_H
#define DYNGRID_TESTS_EXPECT_H
#include <dyngrid.h>
#include <stdio.h>

static int wrong;

static void expect(int is_true, const char* what, long long got) {
  if (is_true) return;
  printf("%s: %s, got %lld: %s\n", TEST_NAME, what, got, dyngrid_last_message());
  wrong = 1;
}

#endif
