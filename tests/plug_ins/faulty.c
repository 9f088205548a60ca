/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that misbehaves as its setting `do` says, from the second block on: once, if a file `once` is given,
 * which it makes first; otherwise each time. With -DTRAPS, it traps floating-point exceptions as soon as it is
 * loaded, as some numerical libraries do. */
#define _GNU_SOURCE /* feenableexcept */
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ringside_reduction.h"

#ifndef ABI
#define ABI RINGSIDE_REDUCTION_ABI
#endif

struct faulty {
  char what[32];
  char once[256];
};

static int create(const ringside_reduction_field* field, void** self, char* error, size_t error_bytes) {
  struct faulty* faulty = calloc(1, sizeof *faulty);
  (void)error;
  (void)error_bytes;
  for (uint32_t s = 0; s < field->setting_count; ++s) {
    const ringside_reduction_setting* setting = &field->settings[s];
    char* to = strcmp(setting->key, "do") == 0 ? faulty->what : faulty->once;
    snprintf(to, to == faulty->what ? sizeof faulty->what : sizeof faulty->once, "%s", setting->value);
  }
  *self = faulty;
  if (strcmp(faulty->what, "without self") == 0) {
    free(faulty);
    *self = NULL; /* like a plug-in that checks settings but keeps none */
  }
  return 0;
}

#ifdef TRAPS
__attribute__((constructor)) static void trap(void) {
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}
#endif

static void init(void* self, void* state) {
  (void)self;
  *(int64_t*)state = 0;
}

static int (*volatile again)(int);
static volatile int* volatile nowhere;

static int endless(int depth) {
  volatile char room[4096];
  room[0] = (char)depth;
  return again(depth + 1) + room[0];
}

static void block(void* self, void* state, const ringside_reduction_block* block) {
  const struct faulty* faulty = self;
  *(int64_t*)state += (int64_t)block->count;
  if (faulty == NULL) return;
  if (block->first_index == 0) return; /* later blocks: then earlier results exist */
  if (faulty->once[0] != '\0') {
    int file = open(faulty->once, O_CREAT | O_EXCL, 0600);
    if (file < 0) return;
    close(file);
  }
  if (strcmp(faulty->what, "crash") == 0) *nowhere = 1;
  if (strcmp(faulty->what, "abort") == 0) abort();
  if (strcmp(faulty->what, "exit") == 0) exit(0);
  if (strcmp(faulty->what, "hang") == 0) for (;;) pause();
  if (strcmp(faulty->what, "recurse") == 0) (again = endless)(0);
  if (strcmp(faulty->what, "divide") == 0) raise(SIGFPE);
  if (strcmp(faulty->what, "round") == 0) fesetround(FE_UPWARD);
  if (strcmp(faulty->what, "entries") == 0) ((double*)(uintptr_t)block->values)[0] = 7;
  if (strcmp(faulty->what, "fork") == 0) {
    const pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0); /* the child ends as soon as it returns from here */
  }
  if (strcmp(faulty->what, "fork late") == 0 && fork() == 0) usleep(20000); /* the child returns later */
  if (strcmp(faulty->what, "close") == 0) {
    for (int descriptor = 3; descriptor < 256; ++descriptor) close(descriptor);
  }
  if (strcmp(faulty->what, "outside") == 0) ((char*)state)[sizeof(int64_t)] = 1;
}

static void merge(void* self, void* state, const void* other) {
  (void)self;
  *(int64_t*)state += *(const int64_t*)other;
}

static uint64_t finish(void* self, const void* state, ringside_value* const* values) {
  (void)self;
  values[0][0].i64 = *(const int64_t*)state;
  return 0;
}

static const ringside_reduction_result results[] = {{.type = RINGSIDE_VALUE_I64}};

static const ringside_reduction faulty = {.abi = ABI,
                                          .size = sizeof(ringside_reduction),
                                          .name = "faulty",
                                          .result_size = sizeof(ringside_reduction_result),
                                          .result_count = 1,
                                          .results = results,
                                          .state_bytes = sizeof(int64_t),
                                          .create = create,
                                          .destroy = free,
                                          .init = init,
                                          .block = block,
                                          .merge = merge,
                                          .finish = finish
#ifdef WRONG /* a part of the declaration, as `.classes = 9` */
                                          ,
                                          WRONG
#endif
};

#ifndef WITHOUT_TABLE
RINGSIDE_REDUCTIONS(&faulty);
#endif
