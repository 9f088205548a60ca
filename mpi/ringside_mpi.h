/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libringside_mpi: keep every step of a solver that runs as several MPI ranks (docs/publish/mpi.md).
 *
 * Each node has an analyzer and a ring. The ranks of a node write their parts of a step into buffers that they share, and
 * the node's analyzer copies them into its ring. No part of a step crosses the network.
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
 * Statuses, structs, memory and threads are as in ringside.h; [handle] and [any] mean the same. [collective]: every
 * rank of the communicator calls the function, and each gets the same status. These functions, and publish, call MPI:
 * with MPI_THREAD_FUNNELED the main thread calls them, with MPI_THREAD_SERIALIZED no two threads at a time. If one rank
 * fails, all ranks report it, as "rank 3: ...".
 *
 * This library works with one MPI implementation: that of the mpi.h it was built with.
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
  RINGSIDE_MPI_BOXES = 1,     /* each rank has a box of it; the boxes do not overlap, and together fill it */
  RINGSIDE_MPI_REPLICATED = 2 /* every rank has all of it; each node keeps it once, from its first rank */
};

/* A rank's part of a variable. */
typedef struct ringside_mpi_part {
  uint32_t size;
  uint32_t distribution; /* RINGSIDE_MPI_...; 0 means RINGSIDE_MPI_BOXES */
  /* The box, in entries of the variable's global shape. An extent of 0: this rank has no entries. Both are ignored
   * for a replicated variable. */
  uint64_t offset[RINGSIDE_MOST_DIMS];
  uint64_t extent[RINGSIDE_MOST_DIMS];
} ringside_mpi_part;

typedef struct ringside_mpi_writer ringside_mpi_writer;

/*
 * Attaches all ranks of `comm`: the ranks of a node to that node's analyzer. variables: with their global shapes.
 * parts: this rank's, one for each variable. The scalars belong to the whole step: every rank publishes the same
 * values, and each ring keeps those of its node's first rank. options: as of ringside_writer_attach, but with
 * on_analyzer_loss WAIT or STOP and locks only, and the same on all ranks except `socket`, which identifies the node,
 * `stop` and shares_core. problem_bytes are of the whole problem. If `stop` may be set before the last step, the ranks
 * must agree on it before they claim: otherwise a rank that claims no more and one that still does wait for each other.
 * `comm` is duplicated.
 * RINGSIDE_USAGE: MPI is not initialised, or may not be called from this thread; ranks differ in variables, scalars,
 * options or the library's version; boxes overlap, exceed the variable, or leave entries out; a node has no entry of a
 * variable; the rings hold different runs, or no common step (with RINGSIDE_POOL_RESUME or RINGSIDE_RESUME_FROM).
 * If RINGSIDE_RESUME_FROM names the rings of an earlier job, whose ranks, nodes and boxes may be others, the run begins
 * with their newest step: the library publishes it as the first one, `published` counts it, and ringside_mpi_kept
 * returns it.
 * Otherwise as ringside_writer_attach. [collective]
 */
RINGSIDE_MPI_API ringside_status ringside_mpi_attach(MPI_Comm comm, const ringside_writer_options* options,
                                                 const ringside_variable* variables, const ringside_mpi_part* parts,
                                                 size_t variable_count, const ringside_scalar* scalars,
                                                 size_t scalar_count, ringside_mpi_writer** out, ringside_error* error);

/* The iteration from which the run continues: the newest that every node's ring holds intact. RINGSIDE_ABSENT: the run
 * began anew, or has published a step. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_kept(ringside_mpi_writer* writer, uint64_t* iteration);

/* This rank's part of that step's variable, row-major and contiguous. Valid until the first publish. data and bytes may
 * be NULL. RINGSIDE_ABSENT: none. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_kept_variable(ringside_mpi_writer* writer, uint32_t variable, const void** data,
                                                        size_t* bytes);

/* As ringside_writer_kept_scalar. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_kept_scalar(ringside_mpi_writer* writer, uint32_t scalar,
                                                      ringside_value* value);

/* Claims this rank's part of the buffer of the next step, waiting while the node's analyzer copies from it. A rank may be
 * buffers - 1 steps ahead of the slowest rank of its node; then it waits for that one, too. RINGSIDE_PEER_LOST: the
 * analyzer, or another rank of this node, is gone; else as ringside_writer_claim. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_claim(ringside_mpi_writer* writer);

/* This rank's part of a variable of the claimed step, to be written: row-major and contiguous. NULL if no step is claimed
 * or there is no such variable. It directly follows the part of the node's previous rank, so it has its dtype's
 * alignment, and 64 bytes only if all earlier parts are multiples of that. [any, between a claim and its publish] */
RINGSIDE_MPI_API void* ringside_mpi_buffer(ringside_mpi_writer* writer, uint32_t variable);

/* The same of the previous step, to be read. NULL if there is none. Valid until the next publish.
 * [any, between a claim and its publish] */
RINGSIDE_MPI_API const void* ringside_mpi_previous(ringside_mpi_writer* writer, uint32_t variable);

/* Marks this rank's part of the claimed step as written. The node's last rank to call it publishes the step. Every rank
 * publishes the same iterations. The first ranks of the nodes advance the exchange of counters (ringside_mpi_progress).
 * Otherwise as ringside_writer_publish. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_publish(ringside_mpi_writer* writer, uint64_t iteration,
                                                  const ringside_value* scalars, size_t scalar_count);

/* The state of the whole run as received by this rank's node: counters lag behind the steps. */
typedef struct ringside_mpi_state {
  uint32_t size;
  uint32_t rank;
  uint32_t ranks;
  uint32_t node;  /* of this rank; counted from 0 in the order of first ranks */
  uint32_t nodes;
  uint32_t waited_for_node;   /* its analyzer kept its ranks waiting longest */
  int64_t waited_ns;          /* for how long, since the run attached */
  uint64_t published;         /* steps that this rank has published */
  uint64_t global_iteration;  /* the newest that every node has committed; 0: none yet */
  uint64_t global_persisted;  /* the newest of this run that every node has on its medium; 0: none, or not required */
  int64_t idle_ns;            /* the time that this rank's claims waited */
} ringside_mpi_state;

/* Fills *out. [handle] */
RINGSIDE_MPI_API ringside_status ringside_mpi_progress(ringside_mpi_writer* writer, ringside_mpi_state* out);

/* Ends the run on all nodes. RINGSIDE_OK: each step is committed in every ring (and on the medium, if the durability
 * requires that). outcome: the same on all ranks, which have published the same number of steps; else RINGSIDE_USAGE.
 * If any rank's claim was interrupted or failed, FINISHED is recorded as STOPPED.
 * Waits as ringside_writer_detach does. After a detach, even a failed one, only ringside_mpi_free may follow.
 * [collective] */
RINGSIDE_MPI_API ringside_status ringside_mpi_detach(ringside_mpi_writer* writer, uint32_t outcome);

/* The handle's last failure. [handle] */
RINGSIDE_MPI_API const ringside_error* ringside_mpi_error(const ringside_mpi_writer* writer);

/* Frees the handle, which may be NULL. A run that was not detached ends as if its solver had died. Call it before
 * MPI_Finalize. It is not collective: if the handle was not detached, its communicators stay. [handle] */
RINGSIDE_MPI_API void ringside_mpi_free(ringside_mpi_writer* writer);

#ifdef __cplusplus
}
#endif

#endif
