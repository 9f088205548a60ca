// SPDX-License-Identifier: BSD-3-Clause
// The C++20 face of ringside.h: handles that release what they own, spans, exceptions with the same line. A header
// only.
//
//     ringside::Writer run({.solver = "heat"}, {ringside::field<double>("temperature", {n}, "K")});
//     for (std::uint64_t k = run.next_iteration(); k <= 100 && run.claim(); ++k) {
//       iterate(run.buffer<double>(0));
//       run.publish(k);
//     }
//     run.detach();
//
// The functions without a handle (ringside_version, ringside_dtype_bytes ...) are called as in C. Everything else
// (threads, fork, lifetimes, units) is as ringside.h says.
#ifndef RINGSIDE_HPP
#define RINGSIDE_HPP

#include "ringside/reader.hpp"
#include "ringside/variables.hpp"
#include "ringside/writer.hpp"

#endif  // RINGSIDE_HPP
