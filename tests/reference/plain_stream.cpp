// SPDX-License-Identifier: BSD-3-Clause
// A new implementation of STREAM from its published definition (J. D. McCalpin, www.cs.virginia.edu/stream, 1991 to
// 2013): four loops over static arrays with OpenMP; each loop is timed with the wall clock, the first repeat does not
// count, and a rate is the number of bytes divided by the shortest time. It prints one line of JSON: {"copy": GB/s,
// ...}. Arguments: repeats (10).
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr long kElements = 16 * 1024 * 1024;  // 128 MiB: four times a last-level cache of 32 MiB
constexpr double kScalar = 3.0;
double a[kElements];
double b[kElements];
double c[kElements];

double wall_seconds() {
  timeval time{};
  gettimeofday(&time, nullptr);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

struct Loop {
  const char* name;
  double bytes;  // bytes that are counted per element
  double shortest_s = 1e30;
};

bool wrong(int repeats) {
  double x = 2.0;
  double y = 2.0;
  double z = 0.0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    z = x;
    y = kScalar * z;
    z = x + y;
    x = y + kScalar * z;
  }
  for (long i = 0; i < kElements; ++i) {
    if (!(a[i] == x) || !(b[i] == y) || !(c[i] == z)) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 10;
  Loop loops[4] = {{"copy", 16}, {"scale", 16}, {"add", 24}, {"triad", 24}};
#pragma omp parallel for
  for (long i = 0; i < kElements; ++i) {
    a[i] = 1.0;
    b[i] = 2.0;
    c[i] = 0.0;
  }
#pragma omp parallel for
  for (long i = 0; i < kElements; ++i) a[i] = 2.0 * a[i];

  for (int repeat = 0; repeat < repeats; ++repeat) {
    double at[5];
    at[0] = wall_seconds();
#pragma omp parallel for
    for (long i = 0; i < kElements; ++i) c[i] = a[i];
    at[1] = wall_seconds();
#pragma omp parallel for
    for (long i = 0; i < kElements; ++i) b[i] = kScalar * c[i];
    at[2] = wall_seconds();
#pragma omp parallel for
    for (long i = 0; i < kElements; ++i) c[i] = a[i] + b[i];
    at[3] = wall_seconds();
#pragma omp parallel for
    for (long i = 0; i < kElements; ++i) a[i] = b[i] + kScalar * c[i];
    at[4] = wall_seconds();
    for (int k = 0; k < 4 && repeat > 0; ++k) {
      if (at[k + 1] - at[k] < loops[k].shortest_s) loops[k].shortest_s = at[k + 1] - at[k];
    }
  }
  if (repeats < 2 || wrong(repeats)) {
    std::fprintf(stderr, "plain_stream: wrong results, or fewer than 2 repeats\n");
    return 1;
  }
  std::printf("{");
  for (int k = 0; k < 4; ++k) {
    const double gb_s = loops[k].bytes * static_cast<double>(kElements) / loops[k].shortest_s * 1e-9;
    std::printf("%s\"%s\": %.4f", k == 0 ? "" : ", ", loops[k].name, gb_s);
  }
  std::printf("}\n");
  return 0;
}
