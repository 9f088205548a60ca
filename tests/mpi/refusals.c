/* SPDX-License-Identifier: BSD-3-Clause */
/* refusals CASE, or A,B,C,: attaches two rows for each rank, with the one mistake that CASE names, and publishes
 * three steps. Each rank that fails prints "rank R: FUNCTION: STATUS REASON LINE" and exits with the status. A run that
 * ends well prints "fine". The cases of a list run one after another in one job: FUNCTION is then "FUNCTION CASE",
 * "fine" is "fine: CASE", and the exit code is 0. `outside` attaches before MPI_Init, on another thread, and after
 * MPI_Finalize. The exit code is 99 if the library does not behave as its header describes. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ringside_mpi.h"

enum { ROWS = 2, COLUMNS = 3 }; /* rows of each rank; columns of the variable */

static const char* what;
static int is_listed; /* the case is one of a list */
static int rank, ranks;
static volatile int stop; /* the flag in the options */

static int is(const char* name) { return strcmp(what, name) == 0; }
/* Whether the case is `name`, and this rank makes the mistake. */
static int mistaken(const char* name) { return rank == 1 && is(name); }

static int say(const char* where, const ringside_error* error) {
  printf("rank %d: %s%s%s: %d %u %s\n", rank, where, is_listed ? " " : "", is_listed ? what : "", (int)error->status,
         error->reason, error->line);
  fflush(stdout);
  return error->status;
}

static void expect(int right, const char* what_else) {
  if (right) return;
  printf("rank %d: not as the header says: %s\n", rank, what_else);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

static ringside_mpi_writer* run;

static int attach(void) {
  const uint64_t rows = ROWS * (uint64_t)ranks;
  ringside_variable x = {.size = sizeof x, .dtype = RINGSIDE_F64, .name = "x", .dims = 2, .shape = {rows, COLUMNS}};
  ringside_mpi_part part = {.size = sizeof part, .offset = {ROWS * (uint64_t)rank, 0}, .extent = {ROWS, COLUMNS}};
  ringside_scalar t = {.size = sizeof t, .name = "t"};
  ringside_writer_options options = {.size = sizeof options, .solver = "refusals", .stop = &stop};
  const ringside_mpi_part* parts = &part;
  size_t variables = 1, scalars = 1;

  if (mistaken("other_name")) x.name = "y";
  if (mistaken("other_dtype")) x.dtype = RINGSIDE_F32;
  if (mistaken("other_unit")) x.unit = "K";
  if (mistaken("other_role")) x.role = RINGSIDE_ROLE_STATE;
  if (mistaken("other_shape")) x.shape[0] += 1;
  if (mistaken("other_count")) variables = 0;
  if (mistaken("other_distribution")) part.distribution = RINGSIDE_MPI_REPLICATED;
  if (mistaken("other_scalar")) t.name = "s";
  if (mistaken("other_scalar_type")) t.type = RINGSIDE_VALUE_I64;
  if (mistaken("fewer_scalars")) scalars = 0;
  if (mistaken("other_solver")) options.solver = "another";
  if (mistaken("other_parameters")) options.parameters = "dt=1";
  if (mistaken("other_bytes")) options.problem_bytes = "b", options.problem_bytes_count = 1;
  if (mistaken("other_pool_use")) options.pool_use = RINGSIDE_POOL_OVERWRITE;
  if (mistaken("other_buffers")) options.buffers = 3;
  if (mistaken("overlap")) part.offset[0] -= 1;
  if (mistaken("out_of_range")) part.offset[1] = 1;
  if (mistaken("far_out_of_range")) part.offset[0] = UINT64_MAX;
  if (mistaken("gap")) part.extent[0] = 1;
  if (mistaken("empty")) part.extent[1] = 0;
  if (mistaken("bad_name")) x.name = "1 2";
  if (mistaken("no_parts")) parts = NULL;
  if (mistaken("part_size")) part.size = 7;
  if (mistaken("bad_distribution")) part.distribution = 9;
  if (mistaken("bad_dtype")) x.dtype = 77;
  if (mistaken("bad_buffers")) options.buffers = 65;
  if (is("all_bad_names")) x.name = "1 2";
  if (is("reserved_scalar")) t.name = "global_iteration";
  if (is("messages")) options.coordination = RINGSIDE_COORDINATION_MESSAGES;
  if (is("continue")) options.on_analyzer_loss = RINGSIDE_LOSS_CONTINUE;
  if (is("skip")) options.on_analyzer_loss = RINGSIDE_LOSS_SKIP;
  if (is("empty_node")) { /* the first half of the ranks has all rows */
    part.extent[0] = rank < ranks / 2 ? 2 * ROWS : 0;
    part.offset[0] = rank < ranks / 2 ? 2 * ROWS * (uint64_t)rank : 0;
  }
  if (is("environment_continue")) setenv("RINGSIDE_ON_ANALYZER_LOSS", "continue", 1);
  if (is("environment_messages")) setenv("RINGSIDE_COORDINATION", "messages", 1);
  if (is("environment_elastic")) setenv("RINGSIDE_ELASTIC", "on", 1), setenv("RINGSIDE_CORES", "0", 1);
  ringside_error error = {.size = mistaken("error_size") ? 7 : sizeof error};
  run = (ringside_mpi_writer*)&error; /* attach must overwrite it */
  ringside_mpi_writer** out = mistaken("no_out") ? NULL : &run;
  if (mistaken("no_out")) run = NULL;
  const ringside_status status =
      ringside_mpi_attach(MPI_COMM_WORLD, &options, &x, parts, variables, &t, scalars, out, &error);
  unsetenv("RINGSIDE_ON_ANALYZER_LOSS");
  unsetenv("RINGSIDE_COORDINATION");
  unsetenv("RINGSIDE_ELASTIC");
  if (status == RINGSIDE_OK) return 0;
  expect(run == NULL, "a refused attach leaves *out NULL");
  if (mistaken("error_size")) return status; /* the error has no place for a line */
  expect(error.status == status, "the error has the status that is returned");
  return say("attach", &error);
}

/* The iteration that this rank publishes as its k-th step. */
static uint64_t iteration_of(uint64_t k) {
  if (mistaken("other_iteration") && k > 1) return k + 7;
  if (is("other_node") && k > 1)
    return k + 1 - (k == 2 && rank >= ranks / 2); /* all ranks of a node publish the same */
  return k;
}

/* Whether the run ends before its k-th step. All ranks agree on this, like the ranks of a solver after a signal. */
static int agree_on_stop(uint64_t k) {
  if (mistaken("stop_agreed") && k == 3) stop = 1;
  int of_any = stop;
  MPI_Allreduce(MPI_IN_PLACE, &of_any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return of_any;
}

/* Checks that `stop` ends only the claims of the rank on which it is set. */
static void stop_for_a_while(void) {
  stop = 1;
  expect(ringside_mpi_claim(run) == RINGSIDE_INTERRUPTED && ringside_mpi_claim(run) == RINGSIDE_INTERRUPTED,
         "`stop` is set");
  expect(strstr(ringside_mpi_error(run)->line, "interrupted") != NULL && ringside_mpi_buffer(run, 0) == NULL,
         "nothing is claimed");
  stop = 0;
}

static void* attach_elsewhere(void* status) {
  *(int*)status = attach();
  return NULL;
}

static int publish(uint64_t iteration) {
  double* x = ringside_mpi_buffer(run, 0);
  for (int i = 0; x && i < ROWS * COLUMNS; ++i) x[i] = (double)iteration + rank;
  const ringside_value t = {.f64 = 0.5 * (double)iteration};
  return ringside_mpi_publish(run, iteration, &t, 1);
}

/* Makes mistakes that must not affect the run. */
static void make_mistakes(void) {
  const ringside_value values[2] = {{.f64 = 0}, {.f64 = 0}};
  expect(ringside_mpi_claim(NULL) == RINGSIDE_USAGE && ringside_mpi_buffer(NULL, 0) == NULL, "no handle");
  int of_child = 1;
  const pid_t child = fork();
  if (child == 0) _exit(ringside_mpi_claim(run) == RINGSIDE_USAGE ? 0 : 1);
  expect(waitpid(child, &of_child, 0) == child && of_child == 0, "a handle belongs to the process that made it");
  expect(publish(1) == RINGSIDE_USAGE, "publish without a claim");
  expect(strlen(ringside_mpi_error(run)->line) > 0, "it has a line");
  expect(ringside_mpi_buffer(run, 0) == NULL, "no buffer without a claim");
  expect(ringside_mpi_claim(run) == RINGSIDE_OK && ringside_mpi_claim(run) == RINGSIDE_OK, "a second claim");
  expect(ringside_mpi_buffer(run, 1) == NULL && ringside_mpi_previous(run, 1) == NULL, "no such variable");
  expect(ringside_mpi_previous(run, 0) == NULL, "no step before");
  expect(publish(0) == RINGSIDE_USAGE, "iteration 0");
  expect(ringside_mpi_publish(run, 1, values, 2) == RINGSIDE_USAGE, "more scalars than were declared");
  expect(ringside_mpi_publish(run, 1, NULL, 1) == RINGSIDE_USAGE, "no scalars where one is announced");
  expect(ringside_mpi_buffer(run, 0) != NULL, "its part stays claimed");
  uint64_t kept;
  expect(ringside_mpi_kept(run, &kept) == RINGSIDE_ABSENT, "the run began anew");
  expect(ringside_mpi_kept_variable(run, 0, NULL, NULL) == RINGSIDE_ABSENT, "no kept variable");
  ringside_mpi_state state = {.size = sizeof state};
  expect(ringside_mpi_progress(run, &state) == RINGSIDE_OK && state.rank == (uint32_t)rank &&
             state.ranks == (uint32_t)ranks && state.published == 0 && state.global_iteration == 0 &&
             state.node < state.nodes,
         "progress before the first step");
}

/* Checks that each of three attaches is refused. */
static int attach_outside(int* argc, char*** argv) {
  int provided, status = 0, refused = 1;
  pthread_t thread;
  is_listed = ranks = 1;
  what = "before_init";
  refused = refused && attach();
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  what = "other_thread";
  if (pthread_create(&thread, NULL, attach_elsewhere, &status) != 0) return 99;
  pthread_join(thread, NULL);
  MPI_Finalize();
  what = "after_finalize";
  return refused && status && attach() ? 0 : 98;
}

/* Makes a whole run, or the part of it before the mistake. */
static int run_case(void) {
  int status = attach();
  if (status) return status;
  if (is("mistakes")) make_mistakes();
  for (uint64_t k = 1; k <= (mistaken("fewer_steps") ? 2 : 3) || is("die"); ++k) {
    if (is("stop_agreed") && agree_on_stop(k)) break;
    if (mistaken("stop_for_a_while") && k == 2) stop_for_a_while();
    if (is("stop") && k == 2) MPI_Barrier(MPI_COMM_WORLD); /* all ranks have published the first step */
    if (mistaken("stop") && k == 2) stop = 1;
    if (ringside_mpi_claim(run)) exit(say("claim", ringside_mpi_error(run)));
    if (mistaken("die") && k == 2) raise(SIGKILL);
    if (publish(iteration_of(k))) exit(say("publish", ringside_mpi_error(run)));
    if (is("iteration_again") && k == 2) {
      expect(ringside_mpi_claim(run) == RINGSIDE_OK && publish(2) == RINGSIDE_USAGE, "an iteration that was published");
    }
  }
  if (!is("leave")) {
    uint32_t outcome = RINGSIDE_OUTCOME_FINISHED;
    if (mistaken("bad_outcome")) outcome = 9;
    if (mistaken("other_outcome") || is("stop_agreed")) outcome = RINGSIDE_OUTCOME_STOPPED;
    if (ringside_mpi_detach(run, outcome)) {
      status = say("detach", ringside_mpi_error(run));
      ringside_mpi_free(run);
      return status;
    }
    ringside_mpi_state state = {.size = sizeof state};
    expect(ringside_mpi_progress(run, &state) == RINGSIDE_OK && state.published == (is("stop_agreed") ? 2 : 3),
           "progress after the last step");
    expect(ringside_mpi_claim(run) == RINGSIDE_USAGE, "no step follows a detach");
    expect(ringside_mpi_detach(run, RINGSIDE_OUTCOME_FINISHED) == RINGSIDE_USAGE, "a second detach");
  }
  ringside_mpi_free(run);
  ringside_mpi_free(NULL);
  if (rank == 0) printf("fine%s%s\n", is_listed ? ": " : "", is_listed ? what : "");
  return 0;
}

int main(int argc, char** argv) {
  int provided, status = 0;
  what = argc == 2 ? argv[1] : "";
  if (is("outside")) return attach_outside(&argc, &argv);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  is_listed = strchr(what, ',') != NULL;
  if (!is_listed) status = run_case();
  for (char* at = is_listed ? strtok(argv[1], ",") : NULL; at != NULL; at = strtok(NULL, ",")) {
    what = at;
    stop = 0;
    run_case();
  }
  MPI_Finalize();
  return status;
}
