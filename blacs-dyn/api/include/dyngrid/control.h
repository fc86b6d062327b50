/* SPDX-License-Identifier: BSD-3-Clause */
/* How, where and to what the grid may change: which grids are allowed, resize points with a name, how new processes are
 * started, which processes leave, what a scheduler has to grant. Statuses, outcomes and "collective" are those of
 * dyngrid.h. */
#ifndef DYNGRID_CONTROL_H
#define DYNGRID_CONTROL_H

#include <stdint.h>

#include "dyngrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- changes without some processes, to a granted grid, and back ---- */

/* As dyngrid_resize, without some processes, which are not in the new grid: ids "3,5" (dyngrid_process_id), "host:NAME"
 * for all of one host, "slowest" or "slowest:2" by dyngrid_set_speed, any of them joined by commas. The grid may keep
 * its shape, where a sleeping process takes the place. The others stay where least has to move. A process that mpirun
 * started, or whose group has others in the grid, sleeps in this call until a later change needs it. Others leave for
 * good. No new process is started. Process 0 stays in every grid, and "slowest" passes it over. DYNGRID_ERR_NOT_FOUND
 * when no process has that name; DYNGRID_ERR_ARGUMENT for process 0 or its host, when too few are left, and for the
 * slowest of processes of equal speed; DYNGRID_ERR_MISMATCH when processes name different ones. The same on all, and
 * the grid stays. */
DYNGRID_API int dyngrid_resize_without(int nprow, int npcol, int placement, const char* without);
/* As dyngrid_request, without some processes in the same way. Local. */
DYNGRID_API int dyngrid_request_without(int nprow, int npcol, const char* without);
/* Goes on with one of these grids, written as for dyngrid_allow: "8:32", "4,9,16", "4:32:*2; aspect 2". Collective; the
 * outcome is that of dyngrid_resize. DYNGRID_SAME where the grid is one of them. Otherwise the scheduler that started
 * the job (dyngrid submit) is asked, and all processes sleep, without a time limit, until it grants one. The
 * scheduler starts no job on the processors that it keeps for them, and has others shrink for it where its policy does.
 * Where a grid that is not larger than the present one would do, a larger one is requested, and not waited for. Of the
 * grids that are granted and that dyngrid_allow permits, it takes the one nearest to square. DYNGRID_ERR_SLOTS when the
 * scheduler refuses: it never has that many processors, or jobs would wait for each other. DYNGRID_ERR_UNSUPPORTED
 * without a scheduler, or where it cannot be reached. DYNGRID_ERR_ARGUMENT for a text that is no list of grids.
 * DYNGRID_ERR_MISMATCH when processes name different ones. The same on all, and the grid stays. */
DYNGRID_API int dyngrid_need(const char* grids);
/* The number of this process, which stays the same while it lives and is given once. Rank in MPI_COMM_WORLD of
 * processes that mpirun started, higher numbers for later ones; -1 on a new process before its first resize point.
 * Local. */
DYNGRID_API int dyngrid_process_id(void);
/* Goes back to the grid before the last growth: one level down the stack. DYNGRID_ERR_STATE on the first level.
 * Collective. */
DYNGRID_API int dyngrid_pop(void);
/* Levels on the stack, 1 for the first grid. Local. */
DYNGRID_API int dyngrid_depth(void);

/* ---- resize points with a name ---- */

/* A resize point with a name, of at most 63 characters: the same one wherever it is called, another one than those of
 * other names or without a name. Processes that join or wake can be led to it. Collective. */
DYNGRID_API int dyngrid_resize_point_at(const char* name);
/* Name of the resize point at which the other processes wait and where this process has to go on. Not empty on a new
 * process before its first resize point, if the growth was requested at a named one, and after DYNGRID_REDIRECT.
 * Otherwise "". Valid until the next call of any routine here. Local. A process that calls it declares that it can be
 * led, now or later. When it wakes or joins at another resize point than the others, it gets DYNGRID_REDIRECT there.
 * The others wait until it comes to the one named. At any other resize point, or at dyngrid_finalize, the change is
 * given up: DYNGRID_ERR_STATE on the others. */
DYNGRID_API const char* dyngrid_entry_point(void);

/* ---- how the grid changes ---- */

/* Placement used by requests; default DYNGRID_OPTIMAL or DYNGRID_EXCHANGE=placement. Collective. */
DYNGRID_API int dyngrid_set_placement(int placement);
/* Order of the messages of an exchange: one of DYNGRID_SCHEDULE_AUTO (default), _CATERPILLAR, _CIRCULANT, _MATCHING,
 * _ASYNC; the environment's DYNGRID_EXCHANGE=schedule=auto|... (dyngrid env) sets it at the start.
 * Collective. */
DYNGRID_API int dyngrid_set_schedule(int schedule);
/* How new processes are started. DYNGRID_BACKGROUND (default where it can be used): started in the same mpirun at one
 * resize point, and admitted at a later one, while the application computes. DYNGRID_BLOCKING: by MPI_Comm_spawn, which
 * the application waits for. DYNGRID_JOIN: each process group is an mpirun of its own on one host, which connects to
 * the application over an ompi-server. mpirun has to be started with --ompi-server, as `dyngrid run --processes join`
 * does. With DYNGRID_BACKGROUND and DYNGRID_JOIN a growth at a resize point only starts the new processes:
 * DYNGRID_SAME, until a later resize point finds them ready and admits them. dyngrid_resize waits for them, and with
 * DYNGRID_WAIT=on every resize point does. The environment's DYNGRID_PROCESSES=background|blocking|join sets it at the
 * start. Collective; not after a growth, nor while processes are outside the grid (DYNGRID_ERR_STATE);
 * DYNGRID_ERR_UNSUPPORTED where it cannot be used. */
enum { DYNGRID_BLOCKING = 0, DYNGRID_JOIN = 1, DYNGRID_BACKGROUND = 2 };
DYNGRID_API int dyngrid_set_processes(int way);

/* ---- what others may ask for while it runs (docs/protocol.md; local calls, what process 0 says counts) ---- */

/* The grids that this application can use, for requests from outside: numbers of processes "4:32:*2", "4,9,16", grids
 * "2x2,2x3,3x3", "aspect 2", "rows 1:4", "cols 2:8", several joined by ";" ("4:32:*2; aspect 2"), or "any". Without it:
 * any grid that is named, and where dyngrid chooses, none longer than three times its width. The environment's
 * DYNGRID_ALLOW overrides it. The program's own changes are not held to it. */
DYNGRID_API int dyngrid_allow(const char* grids);
/* Steps of the whole run, one between two resize points; 0: not known. With it, a growth from outside that cannot pay
 * off in the steps that are left is declined. The environment's DYNGRID_DECIDE=steps=N overrides it. */
DYNGRID_API int dyngrid_set_steps(int64_t steps);
/* Tries these grids in the first steps, "2x2,2x3,3x3@3": three steps on each besides the first one there, and then goes
 * to the quickest. The environment's DYNGRID_DECIDE=experiment=PxQ,... overrides it. */
DYNGRID_API int dyngrid_experiment(const char* grids);
/* Name by which `dyngrid resize JOB 3x3` finds this application: DYNGRID_JOB or the number of process 0, and for a pool
 * (dyngrid_init_on) JOB/POOL. "" on other processes. Valid until dyngrid_finalize. */
DYNGRID_API const char* dyngrid_job(void);

#ifdef __cplusplus
}
#endif
#endif
