// SPDX-License-Identifier: BSD-3-Clause
// How a function is declared that stands in front of the one of the C library.
#pragma once

#define RINGSIDE_MEMORY_INTERPOSED extern "C" __attribute__((visibility("default"), used, noinline))
