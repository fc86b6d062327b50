/* SPDX-License-Identifier: BSD-3-Clause */
/* Included before every source that is compiled for SMPI (-include). SMPI 3.32 has no matched probe and no
   MPI_Type_match_size, and a process that polls must let simulated time go on. Its getpid counts simulated processes:
   an exchange would take the end of another process of this machine, with that number, for the end of its partner. */
#pragma once
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#undef getpid

#ifdef __cplusplus
namespace scale {

/// As MPI_Improbe and MPI_Imrecv of a process with one thread that receives a message as soon as it has found it: the
/// first message of a rank and tag is the one that a receive from there takes.
int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);
int imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);
/// Bytes that a link carries in the time of an empty poll, a thirtieth of a panel of an exchange. Each poll costs real
/// time, so it is no shorter.
constexpr double bytes_of_a_poll = 8192;
void set_link_rate(double bytes_per_s);
int yield_in_simulation();

} // namespace scale

#define MPI_Improbe scale::improbe
#define MPI_Imrecv scale::imrecv
#define sched_yield scale::yield_in_simulation
#else
/* The BLACS asks for the type of its own integer only, an int. */
#define MPI_Type_match_size(type_class, size, type) (*(type) = MPI_INT)
#endif
