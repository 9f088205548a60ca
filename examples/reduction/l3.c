/* SPDX-License-Identifier: BSD-3-Clause */
/* Two user-defined reductions in C: norms of a field that Ringside does not compute. `l3` is (sum |x|^3)^(1/3). `lp`
 * takes its exponent as a setting, and counts the finite entries that it adds:
 *
 *     cc -O3 -shared -fPIC l3.c -o libl3.so -lm
 *     ringside run --matrix grid:500 --reduce-with ./libl3.so:l3 --reduce-with ./libl3.so:lp:p=4
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringside_reduction.h"

/* ---- l3: no settings, no instance. ---- */

static void l3_init(void* self, void* state) {
  (void)self;
  *(double*)state = 0;
}

/* Eight running sums, which a compiler may keep in registers. However it compiles the loop, the order of the additions
 * is the one written here. */
static void l3_block(void* self, void* state, const ringside_reduction_block* block) {
  const double* x = block->values;
  double sums[8] = {0};
  size_t i = 0;
  (void)self;
  for (; i + 8 <= block->count; i += 8) {
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += fabs(x[i + lane]) * (x[i + lane] * x[i + lane]);
  }
  for (size_t lane = 0; i < block->count; ++i, ++lane) sums[lane] += fabs(x[i]) * (x[i] * x[i]);
  for (size_t half = 4; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  *(double*)state += sums[0];
}

static void add_double(void* self, void* state, const void* other) {
  (void)self;
  *(double*)state += *(const double*)other;
}

static uint64_t l3_finish(void* self, const void* state, ringside_value* const* values) {
  (void)self;
  values[0][0].f64 = cbrt(*(const double*)state);
  return 0;
}

static const ringside_reduction_result l3_results[] = {{.type = RINGSIDE_VALUE_F64}}; /* x.l3 */

static const ringside_reduction l3 = {
    .abi = RINGSIDE_REDUCTION_ABI,
    .size = sizeof(ringside_reduction),
    .name = "l3",
    .summary = "the cube root of the sum of |x|^3",
    .result_size = sizeof(ringside_reduction_result),
    .result_count = 1,
    .results = l3_results,
    .state_bytes = sizeof(double),
    .init = l3_init,
    .block = l3_block,
    .merge = add_double,
    .finish = l3_finish,
};

/* ---- lp: an instance for each field, made from the settings. ---- */

struct lp {
  double p;
};

struct lp_state {
  double sum;
  int64_t finite;
};

static int lp_create(const ringside_reduction_field* field, void** self, char* error, size_t error_bytes) {
  struct lp* lp = malloc(sizeof *lp);
  if (lp == NULL) return 1;
  lp->p = 3;
  for (uint32_t s = 0; s < field->setting_count; ++s) {
    const ringside_reduction_setting* setting = &field->settings[s];
    char* end = NULL;
    if (strcmp(setting->key, "p") == 0) lp->p = strtod(setting->value, &end);
    if (end == NULL || *end != '\0' || !(lp->p >= 1)) {
      snprintf(error, error_bytes, "found %s=%s, expected p=NUMBER, at least 1", setting->key, setting->value);
      free(lp);
      return 1;
    }
  }
  *self = lp;
  return 0;
}

static void lp_init(void* self, void* state) {
  (void)self;
  memset(state, 0, sizeof(struct lp_state));
}

static void lp_block(void* self, void* state, const ringside_reduction_block* block) {
  const struct lp* lp = self;
  struct lp_state* found = state;
  const double* x = block->values;
  for (size_t i = 0; i < block->count; ++i) {
    if (!isfinite(x[i])) continue;
    found->sum += pow(fabs(x[i]), lp->p);
    ++found->finite;
  }
}

static void lp_merge(void* self, void* state, const void* other) {
  (void)self;
  ((struct lp_state*)state)->sum += ((const struct lp_state*)other)->sum;
  ((struct lp_state*)state)->finite += ((const struct lp_state*)other)->finite;
}

static uint64_t lp_finish(void* self, const void* state, ringside_value* const* values) {
  const struct lp* lp = self;
  values[0][0].f64 = pow(((const struct lp_state*)state)->sum, 1 / lp->p);
  values[1][0].i64 = ((const struct lp_state*)state)->finite;
  return 0;
}

static const ringside_reduction_result lp_results[] = {
    {.name = "norm", .type = RINGSIDE_VALUE_F64},                   /* x.lp.norm */
    {.name = "finite", .unit = "1", .type = RINGSIDE_VALUE_I64}}; /* x.lp.finite */

static const ringside_reduction lp = {
    .abi = RINGSIDE_REDUCTION_ABI,
    .size = sizeof(ringside_reduction),
    .name = "lp",
    .summary = "the p-norm of the finite entries; the setting p=NUMBER gives p (default 3)",
    .classes = RINGSIDE_CLASS_ANY,
    .result_size = sizeof(ringside_reduction_result),
    .result_count = 2,
    .results = lp_results,
    .state_bytes = sizeof(struct lp_state),
    .create = lp_create,
    .destroy = free,
    .init = lp_init,
    .block = lp_block,
    .merge = lp_merge,
    .finish = lp_finish,
};

RINGSIDE_REDUCTIONS(&l3, &lp);
