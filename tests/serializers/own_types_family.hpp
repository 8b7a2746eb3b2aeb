// Promises of each family that carries only types with support for it, and so cannot have a row in every_family.hpp:
// the same promises as there, with values of the family's own sort.
//
// A subject names the family and its values:
//   using value = ...;
//   using wide = ...;                               // has a list of things, and takes more memory than bytes
//   using nested = ...;                             // can contain itself
//   static std::unique_ptr<family> make();          // the family
//   static void add(type_registry&);                // registers the three
//   static value full();                            // sets every member
//   static bool equal(const value&, const value&);
//   static wide wide_of(std::size_t count);         // `count` things in the list
//   static nested deep(std::size_t depth);          // `depth` levels within the outermost one
//   static value with_text(std::size_t size_bytes); // a text of that size in it
//   static constexpr bool tells_cuts;               // if false, a body cut between two fields is a value
//   static constexpr std::size_t empty_bytes;       // the body of an empty value
#pragma once

#include <random>
#include <thread>

#include <gtest/gtest.h>

#include <troupe/serializers/serialize.hpp>

#include "allocated_bytes.hpp"

namespace conformance {

using namespace troupe;

template <class Subject>
class own_types_family : public testing::Test {
protected:
  own_types_family() {
    auto made = Subject::make();
    name = std::string(made->name());
    families.add(std::move(made));
    Subject::add(types);
  }

  template <class T>
  std::expected<payload, serialize_error> made_of(const T& of) {
    return serialize(of, {.serializers = {name}, .on_error = on_error::raise, .context = ctx}, types, families);
  }
  template <class T>
  payload encoded(const T& of) {
    auto made = made_of(of);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message());
    return made.value_or(payload{});
  }
  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from) {
    return deserialize<T>(from, {.deserializers = {name}, .context = ctx}, types, families);
  }
  template <class T>
  serialize_errc code_of(const payload& from) {
    auto back = decoded<T>(from);
    return back ? serialize_errc::none : back.error().code();
  }

  template <class T>
  void expect_exceeded(const payload& from, const std::string& limit) {
    auto back = decoded<T>(from);
    ASSERT_FALSE(back.has_value());
    EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded);
    EXPECT_NE(back.error().message().find(limit), std::string::npos) << back.error().message();
  }

  /// Expects that encoding predicts at least what decoding takes, and at most twice as much.
  template <class T>
  void expect_stated(const T& value) {
    std::size_t stated = 0;
    ctx.taken_bytes = &stated;
    const auto sent = encoded(value);
    std::size_t taken = 0;
    ctx.taken_bytes = &taken;
    const auto back = decoded<T>(sent);
    ctx.taken_bytes = nullptr;
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_GE(stated, taken);
    EXPECT_LE(stated, 2 * taken + 128);
  }

  static std::vector<std::byte> body_of(const payload& of) {
    return {of.frames[0].bytes().begin(), of.frames[0].bytes().end()};
  }
  static payload with_body(payload from, std::vector<std::byte> body) {
    from.frames[0] = frame::adopt(std::move(body));
    return from;
  }

  /// Decodes. Returns whether that gave a value; if so, expects that it can be encoded. Expects that decoding takes no
  /// more than the limits grant, plus some for an error's text.
  bool survives(const payload& from, const std::string& what) {
    const auto granted = ctx.limits.memory_free_bytes + ctx.limits.memory_ratio * from.size_bytes() + 64_KiB;
    const auto before = allocated_bytes.load();
    auto back = decoded<typename Subject::value>(from);
    EXPECT_LT(allocated_bytes.load() - before, granted) << what;
    if (!back) {
      EXPECT_NE(back.error().message(), "") << what;
      return false;
    }
    const auto again = made_of(*back);
    EXPECT_TRUE(again.has_value()) << what << ": " << again.error().message();
    return true;
  }

  type_registry types;
  family_set families;
  context ctx;
  std::string name;
};

TYPED_TEST_SUITE_P(own_types_family);

TYPED_TEST_P(own_types_family, carries_a_value_of_every_sort) {
  const auto sent = TypeParam::full();
  const auto back = this->template decoded<typename TypeParam::value>(this->encoded(sent));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(TypeParam::equal(sent, *back));
}

TYPED_TEST_P(own_types_family, carries_the_empty_value) {
  const typename TypeParam::value sent{};
  const auto made = this->encoded(sent);
  EXPECT_EQ(made.frames[0].size_bytes(), TypeParam::empty_bytes);
  const auto back = this->template decoded<typename TypeParam::value>(made);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(TypeParam::equal(sent, *back));
}

TYPED_TEST_P(own_types_family, carries_texts_around_every_boundary_of_size) {
  for (const std::size_t size : {0, 1, 15, 16, 127, 128, 4095, 4096, 16'383, 16'384, 200'000}) {
    const auto sent = TypeParam::with_text(size);
    const auto back = this->template decoded<typename TypeParam::value>(this->encoded(sent));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(TypeParam::equal(sent, *back)) << size;
  }
}

TYPED_TEST_P(own_types_family, states_what_decoding_takes) {
  constexpr std::size_t text_bytes = 1000;
  for (const auto most : {this->ctx.limits.text_bytes, text_bytes}) { // With lower limits, more may be charged.
    this->ctx.limits.text_bytes = most;
    this->expect_stated(TypeParam::full());
    this->expect_stated(typename TypeParam::value{});
    this->expect_stated(TypeParam::with_text(text_bytes));
    this->expect_stated(TypeParam::wide_of(1000));
    this->expect_stated(TypeParam::deep(10));
  }
}

TYPED_TEST_P(own_types_family, is_refused_before_anything_is_decoded_where_it_is_not_accepted) {
  const auto refused = deserialize<typename TypeParam::value>(
      this->encoded(TypeParam::full()), {.deserializers = {"typed", "msgpack"}}, this->types, this->families);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
  EXPECT_EQ(refused.error().message(),
            "data serialized with " + this->name + " but this link only accepts [typed, " + "msgpack]");
}

TYPED_TEST_P(own_types_family, leaves_types_that_were_not_given_to_it_to_the_next_family) {
  const auto sent =
      serialize(std::filesystem::path("a"), {.serializers = {this->name, "typed"}}, this->types, this->families);
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_EQ(parse_header(sent->header.bytes())->family, "typed");
  const auto refused = this->made_of(std::filesystem::path("a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::not_supported);
  EXPECT_NE(refused.error().message().find("'path': it was not registered with add_" + this->name), std::string::npos)
      << refused.error().message();
}

TYPED_TEST_P(own_types_family, refuses_bytes_behind_the_value) {
  auto sent = this->encoded(TypeParam::full());
  auto body = this->body_of(sent);
  body.push_back(std::byte{0});
  EXPECT_EQ(this->template code_of<typename TypeParam::value>(this->with_body(sent, body)), serialize_errc::malformed);
}

TYPED_TEST_P(own_types_family, refuses_a_frame_too_many_and_a_frame_too_few) {
  auto sent = this->encoded(TypeParam::full());
  sent.frames.push_back(frame());
  EXPECT_EQ(this->template code_of<typename TypeParam::value>(sent), serialize_errc::malformed);
  sent.frames.clear();
  EXPECT_EQ(this->template code_of<typename TypeParam::value>(sent), serialize_errc::malformed);
}

TYPED_TEST_P(own_types_family, bodies_cut_at_any_byte_are_refused_where_that_can_be_told) {
  const auto sent = this->encoded(TypeParam::full());
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < sent.frames[0].size_bytes(); ++length) {
    auto cut = sent;
    cut.frames[0] = sent.frames[0].slice(0, length);
    accepted += this->survives(cut, "cut at byte " + std::to_string(length)) ? 1 : 0;
  }
  if (TypeParam::tells_cuts)
    EXPECT_EQ(accepted, 0U);
  else
    EXPECT_LT(accepted, sent.frames[0].size_bytes() / 2);
}

TYPED_TEST_P(own_types_family, headers_cut_at_any_byte_are_refused) {
  const auto sent = this->encoded(TypeParam::full());
  for (std::size_t length = 0; length < sent.header.size_bytes(); ++length) {
    auto cut = sent;
    cut.header = sent.header.slice(0, length);
    EXPECT_FALSE(this->survives(cut, "cut at byte " + std::to_string(length)));
  }
}

TYPED_TEST_P(own_types_family, payloads_survive_every_flipped_bit) {
  const auto sent = this->encoded(TypeParam::full());
  const auto flip = [](const frame& of, std::size_t bit) {
    std::vector<std::byte> bytes(of.bytes().begin(), of.bytes().end());
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    return frame::adopt(std::move(bytes));
  };
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < sent.frames[0].size_bytes() * 8; ++bit) {
    auto flipped = sent;
    flipped.frames[0] = flip(sent.frames[0], bit);
    accepted += this->survives(flipped, "bit " + std::to_string(bit)) ? 1 : 0;
  }
  EXPECT_GT(accepted, 0U) << "a bit of a text";
  for (std::size_t bit = 0; bit < sent.header.size_bytes() * 8; ++bit) {
    auto flipped = sent;
    flipped.header = flip(sent.header, bit);
    this->survives(flipped, "bit " + std::to_string(bit) + " of the header");
  }
}

TYPED_TEST_P(own_types_family, bodies_survive_random_bytes) {
  const auto sent = this->encoded(TypeParam::full());
  const auto body = this->body_of(sent);
  std::mt19937 random(42);
  for (int round = 0; round < 3000; ++round) {
    auto bytes = body;
    for (int times = 0; times < 8; ++times)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    this->survives(this->with_body(sent, std::move(bytes)), "round " + std::to_string(round));
  }
}

TYPED_TEST_P(own_types_family, keeps_to_the_limits_of_header_body_and_texts) {
  using value = typename TypeParam::value;
  const auto sent = this->encoded(TypeParam::with_text(1000));
  this->ctx.limits.header_bytes = sent.header.size_bytes();
  this->ctx.limits.body_bytes = sent.frames[0].size_bytes();
  this->ctx.limits.text_bytes = 1000;
  EXPECT_EQ(this->template code_of<value>(sent), serialize_errc::none);
  --this->ctx.limits.text_bytes;
  this->template expect_exceeded<value>(sent, "(limits::text_bytes)");
  --this->ctx.limits.body_bytes;
  this->template expect_exceeded<value>(sent, "(limits::body_bytes)");
  --this->ctx.limits.header_bytes;
  this->template expect_exceeded<value>(sent, "(limits::header_bytes)");
}

TYPED_TEST_P(own_types_family, keeps_to_the_limit_of_elements) {
  using wide = typename TypeParam::wide;
  const auto sent = this->encoded(TypeParam::wide_of(100));
  this->ctx.limits.elements = 100;
  EXPECT_EQ(this->template code_of<wide>(sent), serialize_errc::none);
  this->ctx.limits.elements = 99;
  this->template expect_exceeded<wide>(sent, "(limits::elements)");
}

TYPED_TEST_P(own_types_family, keeps_to_the_limits_of_memory) {
  using wide = typename TypeParam::wide;
  const auto sent = this->encoded(TypeParam::wide_of(10'000));
  EXPECT_EQ(this->template code_of<wide>(this->encoded(TypeParam::wide_of(1000))), serialize_errc::none);
  const auto before = allocated_bytes.load();
  this->template expect_exceeded<wide>(sent, "(limits::memory_ratio, limits::memory_free_bytes)");
  EXPECT_LT(allocated_bytes.load() - before,
            this->ctx.limits.memory_free_bytes + this->ctx.limits.memory_ratio * sent.size_bytes() + 64_KiB);
  this->ctx.limits.memory_ratio = 10'000;
  EXPECT_EQ(this->template code_of<wide>(sent), serialize_errc::none);
  this->ctx.limits.memory_bytes = 100'000;
  this->template expect_exceeded<wide>(sent, "(limits::memory_bytes)");
}

TYPED_TEST_P(own_types_family, keeps_to_the_limit_of_depth_in_both_directions) {
  using value = typename TypeParam::nested;
  const auto deep = TypeParam::deep(40);
  this->ctx.limits.depth = 40;
  const auto sent = this->encoded(deep);
  EXPECT_EQ(this->template code_of<value>(sent), serialize_errc::none);
  this->ctx.limits.depth = 39;
  this->template expect_exceeded<value>(sent, "nested deeper than 39 (limits::depth)");
  const auto refused = this->made_of(deep);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::limit_exceeded);
  EXPECT_NE(refused.error().message().find("nested deeper than 39 (limits::depth)"), std::string::npos)
      << refused.error().message();
}

TYPED_TEST_P(own_types_family, serves_many_threads_at_once) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      const auto value = TypeParam::full();
      for (int round = 0; round < 200; ++round) {
        const auto back = this->template decoded<typename TypeParam::value>(this->encoded(value));
        ASSERT_TRUE(back) << back.error().message();
        EXPECT_TRUE(TypeParam::equal(value, *back));
      }
    });
}

REGISTER_TYPED_TEST_SUITE_P(own_types_family, carries_a_value_of_every_sort, carries_the_empty_value,
                            carries_texts_around_every_boundary_of_size, states_what_decoding_takes,
                            is_refused_before_anything_is_decoded_where_it_is_not_accepted,
                            leaves_types_that_were_not_given_to_it_to_the_next_family, refuses_bytes_behind_the_value,
                            refuses_a_frame_too_many_and_a_frame_too_few,
                            bodies_cut_at_any_byte_are_refused_where_that_can_be_told,
                            headers_cut_at_any_byte_are_refused, payloads_survive_every_flipped_bit,
                            bodies_survive_random_bytes, keeps_to_the_limits_of_header_body_and_texts,
                            keeps_to_the_limit_of_elements, keeps_to_the_limits_of_memory,
                            keeps_to_the_limit_of_depth_in_both_directions, serves_many_threads_at_once);

} // namespace conformance
