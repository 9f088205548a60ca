/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction of your own (docs/use/questions.md): a shared library that `ringside run --reduce-with ./libl3.so:l3`
 * loads into the analyzer, and `ringside replay --reduce-with` again. It links nothing of Ringside.
 *
 *     static void init(void* self, void* state) { *(double*)state = 0; }
 *     static void block(void* self, void* state, const ringside_reduction_block* b) {
 *       const double* x = b->values;
 *       for (size_t i = 0; i < b->count; ++i) *(double*)state += fabs(x[i] * x[i] * x[i]);
 *     }
 *     static void merge(void* self, void* state, const void* other) { *(double*)state += *(const double*)other; }
 *     static uint64_t finish(void* self, const void* state, ringside_value* const* values) {
 *       values[0][0].f64 = cbrt(*(const double*)state);
 *       return 0;
 *     }
 *     static const ringside_reduction_result results[] = {{.type = RINGSIDE_VALUE_F64}};
 *     static const ringside_reduction l3 = {.abi = RINGSIDE_REDUCTION_ABI, .size = sizeof l3, .name = "l3",
 *       .result_size = sizeof *results, .results = results, .result_count = 1, .state_bytes = sizeof(double),
 *       .init = init, .block = block, .merge = merge, .finish = finish};
 *     RINGSIDE_REDUCTIONS(&l3);
 *
 * Each field is reduced in blocks of RINGSIDE_REDUCTION_BLOCK entries (the last one may be shorter). Every block of
 * every step is passed once to `block`, by any thread of the analyzer, in any order, each with a state of its own that
 * `init` has made. One thread then merges the states in the order of the blocks, and calls `finish`. So the results
 * have the same bits for any number of threads, provided that `block` depends on its arguments only. A reduction that
 * depends on no order of the blocks at all (counts, extremes) may say so with RINGSIDE_REDUCTION_ANY_ORDER: then there
 * is one state for each thread instead of one for each block.
 *
 * Threads. `init` and `block` run in several threads at once, with different states; all other functions in one thread.
 * A plug-in that crashes, or does not return, ends the analyzer, which another one replaces; no step is lost. After
 * its second death in a run it is left out, and its results are absent.
 *
 * Later versions add fields at the end of structs, flags and constants. `abi` changes only if an old plug-in could no
 * longer be loaded.
 */
#ifndef RINGSIDE_REDUCTION_H
#define RINGSIDE_REDUCTION_H

#include "ringside.h"

#define RINGSIDE_REDUCTION_ABI 1
#define RINGSIDE_REDUCTION_BLOCK 1024

/* Classes of dtypes, to be added. */
enum {
  RINGSIDE_CLASS_REAL = 1,    /* f32, f64 */
  RINGSIDE_CLASS_COMPLEX = 2, /* c64, c128 */
  RINGSIDE_CLASS_INTEGER = 4,
  RINGSIDE_CLASS_ANY = 7
};

/* Flags of a reduction. */
enum {
  RINGSIDE_REDUCTION_RAW = 1,       /* blocks have entries of the variable's dtype, not doubles */
  RINGSIDE_REDUCTION_ANY_ORDER = 2, /* merging gives the same bits in any order */
  RINGSIDE_REDUCTION_NEEDS_PREVIOUS = 4 /* it reads the step before; without one, its results are absent */
};

/* A named result: a number, or an array of numbers, which the ring keeps and records leave out. */
typedef struct ringside_reduction_result {
  const char* name; /* VARIABLE.REDUCTION.NAME; NULL or "": VARIABLE.REDUCTION. As a variable's name */
  const char* unit; /* NULL or "": the variable's unit */
  uint32_t type;    /* RINGSIDE_VALUE_F64 or RINGSIDE_VALUE_I64 */
  uint32_t count;   /* 0 means 1; at most 65536 */
  uint32_t classes; /* 0: those of the reduction */
  uint32_t flags;   /* 0 */
} ringside_reduction_result;

/* KEY=VALUE of the command line. */
typedef struct ringside_reduction_setting {
  const char* key;
  const char* value;
} ringside_reduction_setting;

/* What `create` is told: the field that an instance reduces, and its settings. Valid until `destroy` returns. */
typedef struct ringside_reduction_field {
  uint32_t size;
  uint32_t dtype; /* RINGSIDE_F64, ... */
  const char* variable;
  const char* unit;
  uint32_t dims;
  uint32_t setting_count;
  const uint64_t* shape;
  uint64_t entries;
  const ringside_reduction_setting* settings;
} ringside_reduction_field;

/* Consecutive entries of a field. values, previous: doubles (of a complex entry its modulus, as in
 * docs/inside/kernels.md), or with RINGSIDE_REDUCTION_RAW entries of the dtype, aligned to their size. They are
 * copies, valid during the call only: what is written to them changes neither the iterate nor what other reductions
 * see. */
typedef struct ringside_reduction_block {
  uint32_t size;
  uint32_t reserved;
  const void* values;
  const void* previous; /* the same entries of the step before; NULL: there is none, or it is not wanted */
  size_t count;         /* 1 to RINGSIDE_REDUCTION_BLOCK */
  uint64_t first_index; /* of the field, whose entries are numbered row-major from 0 */
} ringside_reduction_block;

/* A reduction. self: what `create` returned, or NULL; states are aligned to 64 bytes. */
typedef struct ringside_reduction {
  uint32_t abi;  /* RINGSIDE_REDUCTION_ABI */
  uint32_t size; /* sizeof(ringside_reduction) */
  const char* name;
  const char* summary; /* one line for people; may be NULL */
  uint32_t classes;    /* which fields it reduces; 0: real and complex ones */
  uint32_t flags;
  uint32_t result_size; /* sizeof(ringside_reduction_result) */
  uint32_t result_count;
  const ringside_reduction_result* results;
  size_t state_bytes; /* 1 to 65536; with RINGSIDE_REDUCTION_ANY_ORDER to 16 MiB */

  /* Makes an instance for a field. Returns 0, or not 0 and a line in `error` if a setting is wrong. NULL: there are no
   * instances, and no settings are accepted. */
  int (*create)(const ringside_reduction_field* field, void** self, char* error, size_t error_bytes);
  void (*destroy)(void* self); /* may be NULL; not called for a self that is NULL */
  void (*init)(void* self, void* state);
  void (*block)(void* self, void* state, const ringside_reduction_block* block);
  /* Takes in the state of the blocks that follow those of `state`. */
  void (*merge)(void* self, void* state, const void* other);
  /* Writes values[r][i] for result r, all of which are 0 before. Returns 0, or bit r set for a result that this step
   * does not have. */
  uint64_t (*finish)(void* self, const void* state, ringside_value* const* values);
} ringside_reduction;

/* What a plug-in exports, once: RINGSIDE_REDUCTIONS(&l3, &entropy); at most 16. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
__attribute__((visibility("default"))) const ringside_reduction* const ringside_reductions[];
#define RINGSIDE_REDUCTIONS(...) const ringside_reduction* const ringside_reductions[] = {__VA_ARGS__, NULL}

#endif
