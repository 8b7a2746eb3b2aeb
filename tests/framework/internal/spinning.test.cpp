// Tests when a thread checks again before it sleeps.
#include <troupe/framework/internal/net/spinning.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

/// Returns the number of waits, out of `waits`, that check first if each check has the result `finds`.
int looks_of(spinning& spin, int waits, bool finds) {
  int looks = 0;
  for (int i = 0; i < waits; ++i) {
    if (!spin.is_worth())
      continue;
    ++looks;
    finds ? spin.found() : spin.missed();
  }
  return looks;
}

TEST(spinning_test, looks_that_find_something_go_on) {
  spinning spin;
  EXPECT_EQ(looks_of(spin, 1000, true), 1000);
}

TEST(spinning_test, vain_looks_become_rare) {
  spinning spin;
  EXPECT_EQ(looks_of(spin, 1023, false), 10); // After 1, 2, 4, ... waits without a check.
  EXPECT_EQ(looks_of(spin, 100 * (1 + static_cast<int>(spinning::left_out_max)), false), 100);
}

TEST(spinning_test, looks_come_back_when_they_find_something_again) {
  spinning spin;
  looks_of(spin, 10'000, false);
  looks_of(spin, 5'000, true);
  EXPECT_EQ(looks_of(spin, 100, true), 100);
}

} // namespace
} // namespace troupe::internal
