/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libringside_mpi: keep every step of a solver that runs as several MPI ranks (docs/publish/mpi.md).
 *
 * Each node has an analyzer and a ring. The ranks of a node write their parts of a step into buffers that they share,
 * and the node's analyzer copies them into its ring. No part of a step crosses the network.
 *
 *     ringside_mpi_writer* run = NULL;
 *     ringside_variable x = {.size = sizeof x, .dtype = RINGSIDE_F64, .name = "x", .dims = 1, .shape = {n}};
 *     ringside_mpi_part part = {.size = sizeof part, .offset = {first_row}, .extent = {rows}};
 *     ringside_error error = {.size = sizeof error};
 *     if (ringside_mpi_attach(MPI_COMM_WORLD, NULL, &x, &part, 1, NULL, 0, &run, &error) != RINGSIDE_OK) die(error.line);
 *     for (uint64_t k = 1; k <= iterations; ++k) {
 *       if (ringside_mpi_claim(run) != RINGSIDE_OK) die(ringside_mpi_error(run)->line);
 *       iterate(ringside_mpi_buffer(run, 0));
 *       ringside_mpi_publish(run, k, NULL, 0);
 *     }
 *     if (ringside_mpi_detach(run, RINGSIDE_OUTCOME_FINISHED) != RINGSIDE_OK) die(ringside_mpi_error(run)->line);
 *     ringside_mpi_free(run);
 *
 * Statuses, structs, memory and threads are as in ringside.h; [handle] and [any] have the same meaning as there.
 * [collective]: every rank of the communicator must call the function, and every rank gets the same status. Collective
 * functions and publish call MPI: with MPI_THREAD_FUNNELED, only the main thread may call them; with
 * MPI_THREAD_SERIALIZED, only one thread at a time. If one rank fails in a collective function, all ranks report its
 * failure, as "rank 3: ...".
 *
 * This library works with only one MPI implementation: the one with whose mpi.h it was built.
 */
#ifndef RINGSIDE_MPI_H
#define RINGSIDE_MPI_H

#include <mpi.h>

#include "ringside.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RINGSIDE_MPI_API __attribute__((visibility("default")))

/* How a variable is spread over the ranks. */
enum {
  RINGSIDE_MPI_BOXES = 1,     /* each rank has a box of it; the boxes do not overlap, and together they fill it */
  RINGSIDE_MPI_REPLICATED = 2 /* every rank has all of it; each node keeps it once, from its first rank */
};

/* A rank's part of a variable. */
typedef struct ringside_mpi_part {
  uint32_t size;
  uint32_t distribution; /* RINGSIDE_MPI_...; 0 means RINGSIDE_MPI_BOXES */
  /* The box, in entries of the variable's global shape. With an extent of 0, this rank has no entries. Both members
   * are ignored for a replicated variable. */
  uint64_t offset[RINGSIDE_MOST_DIMS];
  uint64_t extent[RINGSIDE_MOST_DIMS];
} ringside_mpi_part;

typedef struct ringside_mpi_writer ringside_mpi_writer;

/*
 * Attaches all ranks of `comm`: the ranks of a node to that node's analyzer. variables: with their global shapes.
 * parts: this rank's parts, one for each variable. The scalars belong to the whole step: every rank publishes the same
 * values, and each ring keeps the values of its node's first rank. options: as for ringside_writer_attach, but
 * on_analyzer_loss must be WAIT or STOP, and the coordination must be locks. The options must be the same on all ranks,
 * except `socket` (which identifies the node), `stop` and shares_core. problem_bytes: those of the whole problem. If
 * `stop` may be set before the last step, the ranks must agree on it before they claim: otherwise a rank that claims no
 * further step and a rank that still claims wait for each other. `comm` is duplicated.
 * RINGSIDE_USAGE: MPI is not initialised, or may not be called from this thread; ranks differ in variables, scalars,
 * options or the library's version; boxes overlap, exceed the variable, or leave entries out; a node has no entry of a
 * variable; the rings hold different runs, or no common step (with RINGSIDE_POOL_RESUME or RINGSIDE_RESUME_FROM).
 * RINGSIDE_RESUME_FROM can name the rings of an earlier job, which may have had other ranks, nodes and boxes. The run
 * then begins with the newest step of these rings: the library publishes that step as the first one, `published` counts
 * it, and ringside_mpi_kept returns it.
 * Otherwise this works as ringside_writer_attach does. [collective]
 */
RINGSIDE_MPI_API ringside_status ringside_mpi_attach(MPI_Comm comm, const ringside_writer_options* options,
                                                 const ringside_variable* variables, const ringside_mpi_part* parts,
                                                 size_t variable_count, const ringside_scalar* scalars,
                                                 size_t scalar_count, ringside_mpi_writer** out, ringside_error* error);

/* The iteration from which the run continues: the newest one that every node's ring holds intact. RINGSIDE_ABSENT: the
 * run began anew, or has published a step. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_kept(ringside_mpi_writer* writer, uint64_t* iteration);

/* This rank's part of a variable of the step that ringside_mpi_kept returns, row-major and contiguous. Valid until the
 * first publish. data and bytes may be NULL. RINGSIDE_ABSENT: there is no such step. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_kept_variable(ringside_mpi_writer* writer, uint32_t variable, const void** data,
                                                        size_t* bytes);

/* Does the same as ringside_writer_kept_scalar. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_kept_scalar(ringside_mpi_writer* writer, uint32_t scalar,
                                                      ringside_value* value);

/* Claims this rank's part of the buffer of the next step. Waits while the node's analyzer copies from this buffer. A
 * rank may be buffers - 1 steps ahead of the slowest rank of its node; a rank that is so far ahead waits for the
 * slowest rank, too. RINGSIDE_PEER_LOST: the analyzer, or another rank of this node, no longer exists. The other
 * statuses are those of ringside_writer_claim. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_claim(ringside_mpi_writer* writer);

/* This rank's part of a variable of the claimed step, for writing: row-major and contiguous. NULL if no step is claimed
 * or there is no such variable. The part directly follows the part of the node's previous rank. So it is aligned for
 * its dtype, but to 64 bytes only if the sizes of all earlier parts are multiples of 64 bytes. [any, between a claim
 * and its publish] */
RINGSIDE_MPI_API void* ringside_mpi_buffer(ringside_mpi_writer* writer, uint32_t variable);

/* This rank's part of a variable of the previous step, for reading. NULL if there is none. Valid until the next
 * publish. [any, between a claim and its publish] */
RINGSIDE_MPI_API const void* ringside_mpi_previous(ringside_mpi_writer* writer, uint32_t variable);

/* Marks this rank's part of the claimed step as written. The last rank of the node to call it publishes the step. Every
 * rank must publish the same iterations. On the nodes' first ranks, it also advances the exchange of the counters that
 * ringside_mpi_progress returns. Otherwise it works as ringside_writer_publish does. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_publish(ringside_mpi_writer* writer, uint64_t iteration,
                                                  const ringside_value* scalars, size_t scalar_count);

/* The state of the whole run, as this rank's node has received it; the counters lag behind the steps. */
typedef struct ringside_mpi_state {
  uint32_t size;
  uint32_t rank;
  uint32_t ranks;
  uint32_t node;  /* of this rank; counted from 0 in the order of first ranks */
  uint32_t nodes;
  uint32_t waited_for_node;   /* the node whose analyzer kept its ranks waiting longest */
  int64_t waited_ns;          /* how long it kept them waiting, since the run attached */
  uint64_t published;         /* steps that this rank has published */
  uint64_t global_iteration;  /* the newest iteration that every node has committed; 0: none yet */
  uint64_t global_persisted;  /* the newest of this run that every node has on its medium; 0: none, or not required */
  int64_t idle_ns;            /* the time that this rank's claims waited */
} ringside_mpi_state;

/* Fills *out. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_progress(ringside_mpi_writer* writer, ringside_mpi_state* out);

/* Ends the run on all nodes. RINGSIDE_OK: each step is committed in every ring (and on the medium, if the durability
 * requires that). outcome: must be the same on all ranks, and all ranks must have published the same number of steps;
 * else RINGSIDE_USAGE. If a rank's claim was interrupted or failed, FINISHED is recorded as STOPPED.
 * Waits as ringside_writer_detach does. After a detach, even a failed one, only ringside_mpi_free may be called.
 * [collective] */
RINGSIDE_MPI_API ringside_status ringside_mpi_detach(ringside_mpi_writer* writer, uint32_t outcome);

/* The handle's last failure. [handle] */
RINGSIDE_MPI_API const ringside_error* ringside_mpi_error(const ringside_mpi_writer* writer);

/* Frees the handle, which may be NULL. A run that was not detached ends as if its solver had died. Call it before
 * MPI_Finalize. It is not collective: if the handle was not detached, its communicators are not freed. [handle] */
RINGSIDE_MPI_API void ringside_mpi_free(ringside_mpi_writer* writer);

#ifdef __cplusplus
}
#endif

#endif
