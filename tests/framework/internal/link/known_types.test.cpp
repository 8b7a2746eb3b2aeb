// A thread caches the facts that links know about types, separately for each link.
#include <troupe/framework/internal/link/known_types.hpp>

#include <string>

#include <gtest/gtest.h>

#include <troupe/serializers/family.hpp>

namespace troupe::internal {
namespace {

struct nameless {};

class types_of_links : public testing::Test {
protected:
  template <class T>
  known_type* find(std::uint64_t link) {
    return known_.find(link, element_type{caf::make_rtti_pair<T>()}, registry_);
  }

  const type_registry registry_;
  const family_set families_;
  known_types known_;
};

TEST_F(types_of_links, are_those_of_the_registry) {
  const auto* found = find<std::string>(1);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->type->alias(), "str");
  EXPECT_EQ(found->header, 0u);
  EXPECT_EQ(find<nameless>(1), nullptr);
}

TEST_F(types_of_links, keep_what_is_noted_of_them) {
  find<std::string>(1)->header = 7;
  EXPECT_EQ(find<std::string>(1)->header, 7u);
  EXPECT_EQ(find<std::string>(2)->header, 0u) << "another link has told its peer nothing";
}

TEST_F(types_of_links, forget_the_header_of_another_family) {
  auto& found = *find<std::string>(1);
  found.encoded_by(families_.find("typed"));
  found.header = 7;
  found.signature = 9;
  found.encoded_by(families_.find("typed"));
  EXPECT_EQ(found.header, 7u);
  found.encoded_by(families_.find("msgpack"));
  EXPECT_EQ(found.header, 0u);
  EXPECT_EQ(found.counted_as, nullptr);
  EXPECT_EQ(found.signature, 9u) << "whichever family, the types are the same";
}

TEST_F(types_of_links, give_way_to_others_and_are_found_anew) {
  find<std::string>(1)->header = 7;
  for (std::uint64_t link = 2; link < 200; ++link)
    EXPECT_NE(find<std::string>(link), nullptr);
  EXPECT_EQ(find<std::string>(1)->header, 0u);
}

} // namespace
} // namespace troupe::internal
