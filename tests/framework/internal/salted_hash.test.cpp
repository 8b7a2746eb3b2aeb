// Goal: a peer that chooses the keys of a table cannot make the table slow.
#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/base/salted_hash.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::tests {
namespace {

/// Returns the number of entries in the fullest bucket.
template <class Map>
std::size_t most_in_one_bucket(const Map& map) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < map.bucket_count(); ++i)
    most = std::max(most, map.bucket_size(i));
  return most;
}

constexpr std::size_t count = 50'000;
constexpr std::size_t harmless = 24; // About 8 are likely with as many buckets as entries.

/// Returns numbers that the library's own hash, which is the identity, puts into one bucket of a table of this size.
std::vector<std::uint64_t> chosen_numbers() {
  std::unordered_map<std::uint64_t, int> of_the_library;
  of_the_library.reserve(count);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < count; ++i)
    numbers.push_back(i * of_the_library.bucket_count());
  return numbers;
}

TEST(salted_hash, spreads_numbers_that_were_chosen_to_meet) {
  std::unordered_map<std::uint64_t, int> plain;
  std::unordered_map<std::uint64_t, int, detail::salted_hash> salted;
  plain.reserve(count);
  salted.reserve(count);
  const auto numbers = chosen_numbers();
  for (const auto each : numbers)
    salted.emplace(each, 0);
  EXPECT_LE(most_in_one_bucket(salted), harmless);
  for (std::size_t i = 0; i < 100; ++i) // Adding all would take long.
    plain.emplace(numbers[i], 0);
  EXPECT_EQ(most_in_one_bucket(plain), 100u) << "else these numbers show nothing";
}

TEST(salted_hash, spreads_numbers_that_differ_in_few_bits) {
  for (const int shift : {0, 16, 32, 47}) {
    std::unordered_map<std::uint64_t, int, detail::salted_hash> salted;
    for (std::uint64_t i = 0; i < count; ++i)
      salted.emplace(i << shift, 0);
    EXPECT_EQ(salted.size(), count);
    EXPECT_LE(most_in_one_bucket(salted), harmless) << shift;
  }
}

TEST(salted_hash, spreads_names_of_objects) {
  std::unordered_map<store::object_id, int> objects;
  objects.reserve(count);
  constexpr std::uint64_t factor = 0x9e37'79b9'7f4a'7c15;
  for (std::uint32_t i = 0; i < count; ++i) // Without a salt, one part cancels the other.
    objects.emplace(store::object_id{.store = i * factor, .index = 0, .generation = i}, 0);
  EXPECT_LE(most_in_one_bucket(objects), harmless);
}

TEST(salted_hash, is_the_same_as_long_as_the_process_lives) {
  EXPECT_EQ(detail::salted_hash{}(7), detail::salted_hash{}(7));
  EXPECT_NE(detail::salted_hash{}(7), detail::salted_hash{}(8));
}

} // namespace
} // namespace troupe::tests
