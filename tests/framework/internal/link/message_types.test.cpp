// A message's signature gets its number once. After that, the sending thread knows the number.
#include <troupe/framework/internal/link/message_types.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {
namespace {

class types_of_a_message : public testing::Test {
protected:
  static known_type known(const type_entry& type) { return {.link = 1, .of = {}, .type = &type}; }
  sent_dictionary::numbered number() { return types_.number(mutex_.lock(), words_, out_).value(); }

  const type_registry registry_;
  known_type text_ = known(*registry_.find("str"));
  known_type whole_ = known(*registry_.find("i32"));
  link_mutex mutex_;
  sent_dictionary words_;
  outbox out_;
  message_types types_;
};

TEST_F(types_of_a_message, are_defined_once) {
  types_.add(*text_.type, text_.signature);
  types_.add(*whole_.type, whole_.signature);
  EXPECT_EQ(types_.aliases(), (std::vector<std::string>{"str", "i32"}));
  EXPECT_TRUE(number().is_new);
  EXPECT_FALSE(number().is_new);
}

TEST_F(types_of_a_message, of_one_element_are_known_to_its_thread) {
  types_.add(*text_.type, text_.signature);
  const auto first = number();
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(text_.signature, first.number);
  types_.clear();
  text_.signature = 77; // So the dictionary is not asked.
  types_.add(*text_.type, text_.signature);
  EXPECT_EQ(number().number, 77u);
}

TEST_F(types_of_a_message, of_several_elements_are_not) {
  types_.add(*text_.type, text_.signature);
  types_.add(*text_.type, text_.signature);
  EXPECT_TRUE(number().is_new);
  EXPECT_EQ(text_.signature, known_type::unknown_signature);
}

TEST_F(types_of_a_message, that_is_passed_on_need_not_be_known_here) {
  const signature theirs{.aliases = {"nobody.knows"}};
  types_.forward(theirs);
  EXPECT_EQ(number().number, 0u);
  EXPECT_EQ(number().number, 0u);
  types_.clear();
  types_.add(*text_.type, text_.signature);
  EXPECT_EQ(number().number, 1u); // Both kinds share one sequence of numbers.
}

} // namespace
} // namespace troupe::internal
