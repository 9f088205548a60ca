/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader in C: prints a value of each step when the analyzer has committed it. The step is held and read in place, in
 * the pool.
 *     cc -o follow follow.c $(pkg-config --cflags --libs ringside)
 *     ./follow heat.pool        # ends with the run; ./follow POOL SECONDS also ends after this time without a step
 */
#include <inttypes.h>
#include <ringside.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const ringside_error* error) {
  fprintf(stderr, "%s\n", error->line);
  return error->status;
}

static double mean(const double* x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += x[i];
  return sum / (double)count;
}

int main(int argc, char** argv) {
  const double patience_s = argc > 2 ? strtod(argv[2], NULL) : -1;
  ringside_status status;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);  // write each line at once, even into a pipe
  if (argc < 2) {
    fprintf(stderr, "usage: follow POOL [SECONDS]\n");
    return RINGSIDE_USAGE;
  }

  ringside_reader* pool;
  ringside_step* step;
  ringside_step_info at = {.size = sizeof at};
  ringside_error error = {.size = sizeof error};
  const void* x;
  size_t bytes;
  if (ringside_reader_open(argv[1], NULL, &pool, &error)) return fail(&error);
  while ((status = ringside_reader_next(pool, at.commit_seq, patience_s, &at)) == RINGSIDE_OK) {
    if ((status = ringside_reader_hold(pool, at.commit_seq, &step)) > 0) break;
    if (status != RINGSIDE_OK) continue;                // overwritten meanwhile: go to the next step
    ringside_step_view(step, 0, &x, &bytes);            // in place: no byte is copied
    const double value = mean(x, bytes / sizeof(double));  // your analysis
    if (ringside_step_release(step)) continue;          // overwritten meanwhile: the value does not count
    printf("%" PRIu64 " %.17g\n", at.iteration, value);  // your output
  }

  if (status > 0) return fail(ringside_reader_error(pool));
  ringside_reader_free(pool);
  return 0;
}
