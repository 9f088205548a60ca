// SPDX-License-Identifier: BSD-3-Clause
// The declaration of a function that replaces the C library's.
#pragma once

#define RINGSIDE_MEMORY_INTERPOSED extern "C" __attribute__((visibility("default"), used, noinline))
