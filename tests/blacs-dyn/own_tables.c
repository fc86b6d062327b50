/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the BLACS, as in a program with a statically linked ScaLAPACK: the shared library uses these instead of
 * its own (BLACS/SRC/BI_GlobalVars.c). */
int BI_MaxNCtxt, BI_MaxNSysCtxt, BI_Iam, BI_Np = -1;
void *BI_ReadyB, *BI_ActiveQ, *BI_MyContxts, *BI_SysContxts, *BI_COMM_WORLD, *BI_Stats;
struct {
  char* bytes;
  int length, pending;
  void *requests, *type;
  int count;
  void *previous, *next;
} BI_AuxBuff;
