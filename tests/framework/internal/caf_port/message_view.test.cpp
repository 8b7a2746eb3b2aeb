// Links read the necessary facts from CAF's messages, whatever kind of object holds the elements.
#include <troupe/framework/internal/caf_port/message_view.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <caf/make_message.hpp>
#include <caf/system_messages.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {
namespace {

struct unlisted {};

template <class... Ts>
caf::mailbox_element_ptr element_of(Ts... values) {
  return caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(values)...);
}

TEST(message_view, shows_each_element_with_its_type) {
  const type_registry types;
  const auto of = element_of(std::string{"tea"}, std::int32_t{5});
  const message_view view{*of};
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(*static_cast<const std::string*>(view.value(0)), "tea");
  EXPECT_EQ(*static_cast<const std::int32_t*>(view.value(1)), 5);
  ASSERT_NE(view.type(0).entry_in(types), nullptr);
  EXPECT_EQ(view.type(0).entry_in(types)->alias(), "str");
  EXPECT_FALSE(view.type(0) == view.type(1));
}

TEST(message_view, names_types_that_the_registry_does_not_have) {
  const type_registry types;
  EXPECT_EQ(message_view{*element_of(std::int32_t{5})}.type(0).name(), "int");
  EXPECT_EQ(element_type{caf::make_rtti_pair<unlisted>()}.entry_in(types), nullptr);
  EXPECT_NE(element_type{caf::make_rtti_pair<unlisted>()}.name().find("unlisted"), std::string::npos);
}

TEST(message_view, of_an_empty_message_is_empty) {
  const caf::message none;
  const message_view view{none};
  EXPECT_EQ(view.size(), 0u);
  EXPECT_EQ(view.kind(), message_kind::ordinary);
  EXPECT_FALSE(view.is_shared());
}

TEST(message_view, says_whether_several_hold_the_elements) {
  auto message = caf::make_message(std::string{"tea"});
  EXPECT_FALSE(message_view{message}.is_shared());
  const auto other = message;
  EXPECT_TRUE(message_view{message}.is_shared());
  EXPECT_TRUE(message_view{message}.is_of(other));
  EXPECT_FALSE(message_view{message}.is_of(caf::make_message(std::string{"tea"})));
}

TEST(message_kind, is_that_of_one_value_only) {
  EXPECT_EQ(message_view{*element_of(caf::error{})}.kind(), message_kind::error);
  EXPECT_EQ(message_view{*element_of(caf::exit_msg{})}.kind(), message_kind::exit);
  EXPECT_EQ(message_view{*element_of(caf::down_msg{})}.kind(), message_kind::down);
  EXPECT_EQ(message_view{*element_of(std::string{"tea"})}.kind(), message_kind::ordinary);
  EXPECT_EQ(message_view{*element_of(caf::error{}, caf::error{})}.kind(), message_kind::ordinary);
  EXPECT_EQ(message_view{*element_of(1, 2, 3, 4, 5, 6, 7, caf::error{})}.kind(), message_kind::ordinary);
  EXPECT_EQ(message_view{*element_of(caf::error{}, 1)}.kind(), message_kind::ordinary);
}

TEST(message_kind, of_a_signature_is_that_of_its_messages) {
  type_registry types;
  add_builtin_types(types);
  EXPECT_EQ(resolve_signature({"caf.error"}, types).kind, message_kind::error);
  EXPECT_EQ(resolve_signature({"caf.exit"}, types).kind, message_kind::exit);
  EXPECT_EQ(resolve_signature({"caf.exit", "str"}, types).kind, message_kind::ordinary);
  EXPECT_EQ(resolve_signature({"str"}, types).kind, message_kind::ordinary);
  EXPECT_EQ(resolve_signature({"caf.error", "nobody.knows"}, types).kind, message_kind::ordinary);
}

} // namespace
} // namespace troupe::internal
