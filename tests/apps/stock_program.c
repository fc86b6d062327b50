/* SPDX-License-Identifier: BSD-3-Clause */
/* stock_program FILE: a program that knows nothing of dyngrid makes a BLACS grid and goes on until FILE is there, 60 s
 * at most. */
#include <stdio.h>
#include <unistd.h>

void Cblacs_pinfo(int* me, int* processes);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int nprow, int npcol);
void Cblacs_exit(int not_done);

int main(int argc, char** argv) {
  int me = 0, processes = 0, context = 0;
  Cblacs_pinfo(&me, &processes);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, processes);
  for (int i = 0; i < 6000 && argc > 1 && access(argv[1], F_OK) != 0; ++i) usleep(100000);
  Cblacs_exit(0);
  return 0;
}
