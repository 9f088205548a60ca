/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader in C: prints each step as the analyzer commits it. It looks at the step in place, in the pool, while it holds it.
 *     cc -o follow follow.c $(pkg-config --cflags --libs ringside)
 *     ./follow heat.pool        # ends when no step has come for 10 s; ./follow POOL SECONDS for another time
 */
#include <inttypes.h>
#include <ringside.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* line, ringside_status status) {
  fprintf(stderr, "%s\n", line);
  return status;
}

static double mean(const double* x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += x[i];
  return sum / (double)count;
}

int main(int argc, char** argv) {
  const double patience_s = argc > 2 ? strtod(argv[2], NULL) : 10;
  ringside_status status;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);  // a line at a time, also into a pipe
  if (argc < 2) return fail("usage: follow POOL [SECONDS]", RINGSIDE_USAGE);

  ringside_reader* pool;
  ringside_step* step;
  ringside_step_info at = {.size = sizeof at};
  ringside_error error = {.size = sizeof error};
  const void* x;
  size_t bytes;
  if (ringside_open(argv[1], &pool, &error)) return fail(error.line, error.status);
  while ((status = ringside_next(pool, at.commit_seq, patience_s, NULL, &at)) == RINGSIDE_OK) {
    if (ringside_hold(pool, at.commit_seq, &step)) continue;  // overwritten meanwhile: the next one
    ringside_view(step, 0, &x, &bytes);                       // in place: no byte is copied
    const double value = mean(x, bytes / sizeof(double));     // your analysis
    if (ringside_release(step)) continue;                     // overwritten meanwhile: the value does not count
    printf("%" PRIu64 " %.17g\n", at.iteration, value);       // your output
  }

  if (status != RINGSIDE_TIMEOUT) return fail(ringside_reader_line(pool), status);
  ringside_reader_free(pool);
  return 0;
}
