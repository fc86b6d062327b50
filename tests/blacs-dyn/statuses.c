/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments, given on one process only, are the same status on every process, with a text everywhere; and the
 * application goes on. Compiled as C99. mpirun -np 4. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "dyngrid/gridmap.h"
#include "dyngrid/layout.h"
#include "dyngrid/phases.h"

static int rank;

static void need(int is_true, const char* what) {
  if (is_true) return;
  fprintf(stderr, "FAILED on rank %d: %s [%s]\n", rank, what, dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* all ranks have this status, and a message that says what was wrong */
static void agreed(int status, int wanted, const char* what) {
  int least = 0, most = 0;
  MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%-32s %d .. %d  %s\n", what, least, most, dyngrid_last_message());
  need(least == wanted && most == wanted, what);
  need(strlen(dyngrid_last_message()) > 15, "a message");
}

static void count(void* counter) {
  ++*(int*)counter;
}

/* of the Fortran binding, whose values are fixed; 2 in Open MPI's mpif.h */
static MPI_Fint null_f(void) {
#ifdef OPEN_MPI
  return 2;
#else
  return (MPI_Fint)MPI_COMM_NULL;
#endif
}

/* collective routines, each called by one process alone */
static int placement(void) {
  return dyngrid_set_placement(DYNGRID_LOCAL1);
}
static int schedule(void) {
  return dyngrid_set_schedule(1);
}
static int processes(void) {
  return dyngrid_set_processes(DYNGRID_BLOCKING);
}
static int balance(void) {
  return dyngrid_set_balance(DYNGRID_BALANCE_OFF);
}
static int speed(void) {
  return dyngrid_set_speed(2);
}
static int reblock(void) {
  return dyngrid_matrix_reblock(dyngrid_matrix_find("a"), 3, 3);
}
static int set_rule(void) {
  return dyngrid_matrix_set_rule(dyngrid_matrix_find("a"), dyngrid_block_rule, NULL);
}
static int copy(void) {
  return dyngrid_copy(dyngrid_matrix_find("a"), dyngrid_matrix_find("a"));
}
static int add(void) {
  const double one = 1;
  return dyngrid_add('N', &one, dyngrid_matrix_find("a"), &one, dyngrid_matrix_find("b"));
}
static int plan(void) {
  return dyngrid_phases_plan(3);
}
static int begin_phase(void) {
  dyngrid_phase* phase = NULL;
  need(dyngrid_phase_create("alone", &phase) == DYNGRID_SUCCESS, "a phase");
  return dyngrid_phase_begin(phase);
}
static const struct {
  const char* name;
  int (*call)(void);
} calls[] = {{"dyngrid_set_placement", placement},
             {"dyngrid_set_schedule", schedule},
             {"dyngrid_set_processes", processes},
             {"dyngrid_set_balance", balance},
             {"dyngrid_set_speed", speed},
             {"dyngrid_matrix_reblock", reblock},
             {"dyngrid_matrix_set_rule", set_rule},
             {"dyngrid_relayout", dyngrid_relayout},
             {"dyngrid_rebalance", dyngrid_rebalance},
             {"dyngrid_copy", copy},
             {"dyngrid_add", add},
             {"dyngrid_phases_plan", plan},
             {"dyngrid_phase_begin", begin_phase}};

int main(int argc, char** argv) {
  dyngrid_matrix *a = NULL, *b = NULL;
  int bad, i, value = 0;
  dyngrid_resize_report report;
  need(dyngrid_resize_point() == DYNGRID_ERR_STATE, "before dyngrid_init");
  need(dyngrid_matrix_create("a", 'd', 1, 1, 1, 1, &a) == DYNGRID_ERR_STATE, "create before dyngrid_init");
  need(dyngrid_context() == -1 && dyngrid_comm() == MPI_COMM_NULL && dyngrid_is_newcomer() == 0 &&
           dyngrid_is_first() == 0,
       "queries before dyngrid_init");
  need(dyngrid_finalize() == DYNGRID_ERR_STATE, "finalize before dyngrid_init");
  need(dyngrid_comm_f() == null_f(), "the null communicator in Fortran, before MPI_Init");
  need(dyngrid_pending() == DYNGRID_ERR_STATE && dyngrid_resize_point_at("x") == DYNGRID_ERR_STATE,
       "before dyngrid_init");
  need(dyngrid_on_change(count, NULL, &value) == DYNGRID_ERR_STATE && !strcmp(dyngrid_entry_point(), ""),
       "before dyngrid_init");
  MPI_Init(&argc, &argv);
  need(dyngrid_comm_f() == MPI_Comm_c2f(MPI_COMM_NULL) && null_f() == MPI_Comm_c2f(MPI_COMM_NULL),
       "the same as after it");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bad = rank == 2; /* the one that is wrong */
  need(dyngrid_init_grid(2, 2) == DYNGRID_SUCCESS, "dyngrid_init_grid");
  need(dyngrid_init() == DYNGRID_ERR_STATE, "a second dyngrid_init");

  agreed(dyngrid_matrix_create("a", 'd', 5, 5, bad ? 0 : 2, 2, &a), DYNGRID_ERR_ARGUMENT, "block size 0 on one rank");
  agreed(dyngrid_matrix_create("a", 'd', bad ? -1 : 5, 5, 2, 2, &a), DYNGRID_ERR_ARGUMENT, "m = -1 on one rank");
  agreed(dyngrid_matrix_create("a", 'd', bad ? (int64_t)INT_MAX + 1 : 5, 5, 2, 2, &a), DYNGRID_ERR_ARGUMENT,
         "m = 2^31 on one rank");
  agreed(dyngrid_matrix_create("a", bad ? 'q' : 'd', 5, 5, 2, 2, &a), DYNGRID_ERR_TYPE, "unknown type on one rank");
  agreed(dyngrid_matrix_create(bad ? NULL : "a", 'd', 5, 5, 2, 2, &a), DYNGRID_ERR_NULL, "null name on one rank");
  agreed(dyngrid_matrix_create("a", 'd', 5, 5, 2, 2, bad ? NULL : &a), DYNGRID_ERR_NULL, "null handle on one rank");
  agreed(dyngrid_matrix_create_by("a", 'd', 5, 5, bad ? NULL : dyngrid_block_rule, NULL, &a), DYNGRID_ERR_NULL,
         "null rule on one rank");
  agreed(dyngrid_matrix_create(bad ? "" : "a", 'd', 5, 5, 2, 2, &a), DYNGRID_ERR_ARGUMENT, "empty name on one rank");
  agreed(dyngrid_matrix_create("a", 'd', bad ? 6 : 5, 5, 2, 2, &a), DYNGRID_ERR_MISMATCH, "other m on one rank");
  agreed(dyngrid_matrix_create("a", bad ? 's' : 'd', 5, 5, 2, 2, &a), DYNGRID_ERR_MISMATCH, "other type on one rank");
  agreed(dyngrid_matrix_create(bad ? "b" : "a", 'd', 5, 5, 2, 2, &a), DYNGRID_ERR_MISMATCH, "other name on one rank");
  need(a == NULL && dyngrid_matrix_find("a") == NULL, "outputs are written on success only");
  need(dyngrid_matrix_create("a", 'd', 5, 5, 2, 2, &a) == DYNGRID_SUCCESS && a != NULL, "a good matrix");
  agreed(dyngrid_matrix_create(bad ? "a" : "b", 'd', 5, 5, 2, 2, &b), DYNGRID_ERR_ARGUMENT, "a name twice on one rank");
  agreed(dyngrid_share("v", bad ? NULL : &value, sizeof value), DYNGRID_ERR_NULL, "null shared on one rank");
  need(dyngrid_share("v", &value, sizeof value) == DYNGRID_SUCCESS, "share");
  agreed(dyngrid_share("v", &value, sizeof value), DYNGRID_ERR_ARGUMENT, "a shared name twice");
  agreed(dyngrid_share(bad ? "x" : "w", &value, sizeof value), DYNGRID_ERR_MISMATCH, "another shared name on one rank");
  agreed(dyngrid_share("w", &value, bad ? 2 : sizeof value), DYNGRID_ERR_MISMATCH, "another shared size on one rank");
  agreed(dyngrid_share("w", &value, bad ? (size_t)PTRDIFF_MAX + 1 : 4), DYNGRID_ERR_ARGUMENT,
         "2^63 shared bytes on one rank");
  agreed(dyngrid_share("w", &value, SIZE_MAX), DYNGRID_ERR_ARGUMENT, "2^64 - 1 shared bytes");
  need(dyngrid_share("w", &value, 0) == DYNGRID_SUCCESS && dyngrid_unshare("w") == DYNGRID_SUCCESS,
       "none of them is left");

  agreed(bad ? dyngrid_share("w", &value, 4) : dyngrid_matrix_create("w", 'd', 5, 5, 2, 2, &b), DYNGRID_ERR_MISMATCH,
         "a create, and a share on one rank");
  need(strstr(dyngrid_last_message(), "dyngrid_share") && strstr(dyngrid_last_message(), "dyngrid_matrix_create"),
       "both are named");
  agreed(bad ? dyngrid_resize_point_at("x") : dyngrid_resize(1, 4, DYNGRID_OPTIMAL), DYNGRID_ERR_MISMATCH,
         "a resize, and a resize point on one rank");
  need(strstr(dyngrid_last_message(), "dyngrid_resize") && strstr(dyngrid_last_message(), "\"x\""), "both are named");
  agreed(bad ? dyngrid_checkpoint("w") : dyngrid_lu(a, 0, &value, &value), DYNGRID_ERR_MISMATCH,
         "a factorization, and a checkpoint on one rank");
  agreed(bad ? dyngrid_pending() : dyngrid_restore("w"), DYNGRID_ERR_MISMATCH, "a restore, and a question on one rank");
  for (i = 0; i < (int)(sizeof calls / sizeof *calls); ++i) {
    agreed(bad ? calls[i].call() : dyngrid_resize_point_at("x"), DYNGRID_ERR_MISMATCH, calls[i].name);
    need(strstr(dyngrid_last_message(), calls[i].name) && strstr(dyngrid_last_message(), "\"x\""), "both are named");
  }
  agreed(dyngrid_resize(bad ? 0 : 1, 2, DYNGRID_OPTIMAL), DYNGRID_ERR_ARGUMENT, "grid of 0 rows on one rank");
  agreed(dyngrid_resize(1, 2, bad ? 17 : DYNGRID_OPTIMAL), DYNGRID_ERR_ARGUMENT, "unknown placement on one rank");
  agreed(dyngrid_resize(bad ? 2 : 1, bad ? 1 : 2, DYNGRID_OPTIMAL), DYNGRID_ERR_MISMATCH, "another grid on one rank");
  agreed(dyngrid_resize(bad ? 1 << 16 : 1, bad ? 1 << 16 : 2, DYNGRID_OPTIMAL), DYNGRID_ERR_ARGUMENT,
         "grid of 2^32 processes on one rank");
  agreed(dyngrid_request(1 << 16, 1 << 16), DYNGRID_ERR_ARGUMENT, "request of 2^32 processes");
  agreed(dyngrid_request(0, 3), DYNGRID_ERR_ARGUMENT, "request of 0 rows");
  agreed(dyngrid_set_placement(bad ? -1 : 0), DYNGRID_ERR_ARGUMENT, "placement -1 on one rank");
  agreed(dyngrid_set_schedule(bad ? 9 : 0), DYNGRID_ERR_ARGUMENT, "schedule 9 on one rank");
  agreed(dyngrid_set_placement(bad ? DYNGRID_GLOBAL : DYNGRID_LOCAL1), DYNGRID_ERR_MISMATCH,
         "another placement on one rank");
  agreed(dyngrid_set_schedule(bad ? 1 : 2), DYNGRID_ERR_MISMATCH, "another schedule on one rank");
  agreed(dyngrid_resize_point_at(bad ? NULL : "x"), DYNGRID_ERR_NULL, "null name of a resize point on one rank");
  agreed(dyngrid_resize_point_at(bad ? "" : "x"), DYNGRID_ERR_ARGUMENT, "empty name of a resize point on one rank");
  agreed(dyngrid_resize_point_at(bad ? "y" : "x"), DYNGRID_ERR_STATE, "another resize point on one rank");
  need(strstr(dyngrid_last_message(), "\"x\"") && strstr(dyngrid_last_message(), "\"y\""), "both are named");
  agreed(bad ? dyngrid_resize_point() : dyngrid_resize_point_at("x"), DYNGRID_ERR_STATE,
         "one with a name and one without");
  if (bad)
    agreed(dyngrid_resize_point(), DYNGRID_ERR_STATE, "another line on one rank");
  else
    agreed(dyngrid_resize_point(), DYNGRID_ERR_STATE, "another line on one rank");
  agreed(bad ? dyngrid_pending() : dyngrid_resize_point_at("x"), DYNGRID_ERR_STATE,
         "one asks, the others are at a resize point");
  if (bad)
    need(dyngrid_resize_point_at("x") == DYNGRID_SAME, "one place on two lines");
  else
    need(dyngrid_resize_point_at("x") == DYNGRID_SAME, "one place on two lines");
  need((dyngrid_resize_point)() == DYNGRID_SAME, "the routine itself");
  {
    int i, outcome = 0;
    for (i = 0; i < 4; ++i)
      outcome |= i == rank ? dyngrid_resize_point_in("a.c", 7) : dyngrid_resize_point_in("folder/a.c", 7);
    need(outcome == DYNGRID_SAME, "one line in two loops of a compiler");
  }
  {
    char file[] = "a.c"; /* Python passes a text that the next call overwrites */
    need(dyngrid_resize_point_in(file, 7) == DYNGRID_SAME, "a text of the program");
    file[0] = 'b';
    need(dyngrid_resize_point_in(bad ? "b.c" : file, 7) == DYNGRID_SAME, "another file at the same address");
  }
  agreed(dyngrid_on_change(NULL, NULL, &value), DYNGRID_ERR_NOT_FOUND, "no routines of that data");
  need(!dyngrid_on_change(count, count, &value) && !dyngrid_on_change(NULL, NULL, &value), "made known and forgotten");
  agreed(dyngrid_allow("four"), DYNGRID_ERR_ARGUMENT, "allowed grids that are none");
  agreed(dyngrid_allow(NULL), DYNGRID_ERR_NULL, "null for allowed grids");
  agreed(dyngrid_need(bad ? NULL : "4"), DYNGRID_ERR_NULL, "null for needed grids on one rank");
  agreed(dyngrid_need(bad ? "four" : "5"), DYNGRID_ERR_ARGUMENT, "needed grids that are none on one rank");
  agreed(dyngrid_need(""), DYNGRID_ERR_ARGUMENT, "no needed grids");
  agreed(dyngrid_need(bad ? "5:9" : "5:8"), DYNGRID_ERR_MISMATCH, "other needed grids on one rank");
  agreed(dyngrid_need("5:9"), DYNGRID_ERR_UNSUPPORTED, "more processes are needed, and no scheduler is there");
  need(strstr(dyngrid_last_message(), "no scheduler") != NULL, "that is said");
  need(dyngrid_need("2,4,9") == DYNGRID_SAME && dyngrid_need("any") == DYNGRID_SAME, "the grid there is will do");
  agreed(dyngrid_set_steps(-1), DYNGRID_ERR_ARGUMENT, "steps -1");
  agreed(dyngrid_experiment("2x2,x"), DYNGRID_ERR_ARGUMENT, "an experiment that is none");
  agreed(dyngrid_experiment(NULL), DYNGRID_ERR_NULL, "null for an experiment");
  need(dyngrid_allow("4:32:*2; aspect 2") == DYNGRID_SUCCESS && dyngrid_allow("any") == DYNGRID_SUCCESS &&
           dyngrid_set_steps(10) == DYNGRID_SUCCESS,
       "allow, steps");
  need((dyngrid_job()[0] != '\0') == (rank == 0), "process 0 has the job's name");
  agreed(dyngrid_pop(), DYNGRID_ERR_STATE, "pop on the first grid");
  agreed(dyngrid_last_resize(NULL), DYNGRID_ERR_NULL, "null report");
  agreed(dyngrid_unshare("nothing"), DYNGRID_ERR_NOT_FOUND, "unshare of nothing");
  need(dyngrid_last_resize(&report) == DYNGRID_SUCCESS && report.to_nprow == 0, "no change yet");
  need(dyngrid_resize(2, 2, DYNGRID_OPTIMAL) == DYNGRID_SAME, "the same grid");
  need(dyngrid_resize_point() == DYNGRID_SAME, "nothing asked for");

  /* of requests on several ranks the lowest rank's counts; a request is carried out once */
  need(dyngrid_pending() == 0, "nothing is asked for");
  if (rank == 1) need(!dyngrid_request(4, 1), "request");
  if (rank == 3) need(!dyngrid_request(1, 4), "request");
  need(dyngrid_pending() == 1 && dyngrid_pending() == 1, "asked for, and not used up by asking");
  agreed(dyngrid_resize_point_at(bad ? "y" : "x"), DYNGRID_ERR_STATE,
         "a request, and another resize point on one rank");
  need(dyngrid_pending() == 1, "it waits");
  need(dyngrid_resize_point() == DYNGRID_RESIZED, "resized");
  {
    int nprow = 0, npcol = 0, size = 0, order = 0;
    dyngrid_grid(&nprow, &npcol, NULL, NULL);
    need(nprow == 4 && npcol == 1, "the request of the lowest rank");
    MPI_Comm_size(dyngrid_comm(), &size);
    MPI_Comm_compare(dyngrid_comm(), MPI_COMM_WORLD, &order);
    need(size == 4 && MPI_Comm_f2c(dyngrid_comm_f()) == dyngrid_comm(), "the grid's communicator");
  }
  need(dyngrid_pending() == 0 && dyngrid_resize_point() == DYNGRID_SAME && value == 0, "once");
  need(dyngrid_matrix_free(&a) == DYNGRID_SUCCESS && a == NULL && dyngrid_matrix_free(&a) == DYNGRID_SUCCESS, "free");
  need(dyngrid_matrix_free(NULL) == DYNGRID_SUCCESS, "free of nothing");
  need(dyngrid_local(NULL) == NULL && dyngrid_desc(NULL) == NULL, "null matrix");
  need(!strcmp(dyngrid_status_string(DYNGRID_ERR_MEMORY), "out of memory") &&
           !strcmp(dyngrid_status_string(99), "unknown status"),
       "names");
  need(dyngrid_payoff_point(2.0, 1.0, 0.5) == 4 && dyngrid_payoff_point(2.0, 0.5, 0.5) == -1 &&
           dyngrid_resize_cost(2.1, 0.5) == 5,
       "figures of merit");
  need(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize");
  need(dyngrid_finalize() == DYNGRID_ERR_STATE, "dyngrid_finalize twice");
  need(dyngrid_init() == DYNGRID_ERR_STATE, "dyngrid_init after dyngrid_finalize");
  MPI_Finalize(); /* we called MPI_Init */
  need(dyngrid_comm_f() == null_f(), "the null communicator in Fortran, after MPI_Finalize");
  return 0;
}
