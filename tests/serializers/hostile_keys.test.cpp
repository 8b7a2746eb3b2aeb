// Goal: long keys with one hash cost no more than short ones, because their comparisons are charged by length.
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include <cereal/types/string.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/unordered_set.hpp>
#include <gmock/gmock.h>

#include <troupe/serializers/cereal/cereal_family.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>

#include "hostile.hpp"

namespace {

using namespace troupe;
using std::filesystem::path;

/// The hash of keys chosen by a peer that knows the hash function.
struct one_hash {
  std::size_t operator()(const auto&) const { return 7; }
};
template <class Key>
using same_hashes = std::unordered_set<Key, one_hash>;
template <class Key>
using other_hashes = std::unordered_set<Key>;
using counts = std::unordered_map<std::string, int, one_hash>;

// Keys that differ only at their ends.
std::string long_text(std::size_t number) {
  return std::string(10'000, 'x') + std::to_string(number);
}
path long_path(std::size_t number) {
  return hostile::repeated("/folder", 100) + "/" + std::to_string(number);
}

template <class Set>
Set filled(std::size_t count, auto make) {
  Set made;
  for (std::size_t i = 0; i < count; ++i)
    if constexpr (requires { typename Set::mapped_type; })
      made.emplace(make(i), 1);
    else
      made.insert(make(i));
  return made;
}

class hostile_keys : public testing::TestWithParam<const char*> {
protected:
  hostile_keys() {
    families.add(std::make_unique<cereal_family>());
    add_cereal<same_hashes<std::string>>(types, "texts");
    add_cereal<same_hashes<path>>(types, "paths");
    add_cereal<counts>(types, "counts");
    add_cereal<other_hashes<std::string>>(elsewhere, "texts");
    add_cereal<other_hashes<path>>(elsewhere, "paths");
    add_cereal<std::unordered_map<std::string, int>>(elsewhere, "counts");
  }

  /// Encodes a container with a better hash, because filling one of the receiver's type takes long.
  template <class T>
  payload sent(const T& value) {
    return *serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise}, elsewhere, families);
  }
  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from, const type_registry& by) {
    return deserialize<T>(from, {.deserializers = {GetParam()}}, by, families);
  }
  template <class T>
  void expect_refused(const payload& from) {
    const auto begun = std::clock();
    const auto refused = decoded<T>(from, types);
    EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, hostile::seconds_max);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("(limits::hash_probes)"));
  }
  template <class T>
  void expect_passes(const T& value, const payload& from, const type_registry& by) {
    const auto back = decoded<T>(from, by);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(*back, value);
  }

  type_registry types;
  type_registry elsewhere;
  family_set families;
};
INSTANTIATE_TEST_SUITE_P(, hostile_keys, testing::Values("typed", "msgpack", "json", "cereal"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(hostile_keys, that_are_long_texts_are_refused_sooner) {
  expect_refused<same_hashes<std::string>>(sent(filled<other_hashes<std::string>>(1'000, long_text)));
  expect_refused<counts>(sent(filled<std::unordered_map<std::string, int>>(1'000, long_text)));
}

TEST_P(hostile_keys, that_are_long_paths_are_refused_sooner) {
  expect_refused<same_hashes<path>>(sent(filled<other_hashes<path>>(3'000, long_path)));
}

TEST_P(hostile_keys, pass_where_they_are_few) {
  expect_passes(filled<same_hashes<std::string>>(200, long_text),
                sent(filled<other_hashes<std::string>>(200, long_text)), types);
  expect_passes(filled<same_hashes<path>>(200, long_path), sent(filled<other_hashes<path>>(200, long_path)), types);
}

TEST_P(hostile_keys, pass_where_their_hashes_differ) {
  const auto texts = filled<other_hashes<std::string>>(1'000, long_text);
  expect_passes(texts, sent(texts), elsewhere);
  const auto paths = filled<other_hashes<path>>(5'000, long_path);
  expect_passes(paths, sent(paths), elsewhere);
}

} // namespace
