// SPDX-License-Identifier: BSD-3-Clause
// Whether this build is instrumented. Instrumented programs take up to ten times as long. A sanitizer looks for other
// errors than the tests of the release build, so tests with many similar cases try fewer of them in such a build.
#pragma once

namespace ringside::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace ringside::testing
