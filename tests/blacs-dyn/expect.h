/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test in C expects: what is wrong is printed, after TEST_NAME, and remembered. */
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
