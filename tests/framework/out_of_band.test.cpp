// References outside of messages: refused, or allowed and pinned.
#include <cstdlib>
#include <numeric>

#include <caf/deep_to_string.hpp>

#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/object_inspect.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "fake_object.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using numbers = array<double>;
using number_ref = object_ref<numbers>;

/// A type with a CAF inspect function that contains a reference.
struct inspected {
  int count = 0;
  number_ref ref;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, inspected& x) {
  return f(caf::meta::type_name("inspected"), x.count, x.ref);
}

numbers array_of_numbers() {
  return numbers(std::vector<double>(10'000, 2.5));
}

class out_of_band : public two_nodes {
protected:
  void TearDown() override { ::unsetenv("TROUPE_ALLOW_OUT_OF_BAND_HANDLES"); }

  node& home() { return *near().home; }
  std::uint64_t number() { return home().store() != nullptr ? home().store()->number() : 0; }

  std::expected<payload, serialize_error> saved(const number_ref& ref, const std::string& family = "typed") {
    return serialize(ref, {.serializers = {family}, .on_error = on_error::raise}, near().types, near().families);
  }
  std::expected<number_ref, serialize_error> read(const payload& from, const std::string& family = "typed") {
    return deserialize<number_ref>(from, {.deserializers = {family}}, near().types, near().families);
  }
};

TEST_F(out_of_band, is_refused_and_the_error_says_what_to_do) {
  const auto ref = home().put(array_of_numbers()).value();
  for (const std::string family : {"typed", "msgpack", "json"}) {
    const auto refused = saved(ref, family);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), serialize_errc::out_of_band_handle);
    for (const auto* words :
         {"inside a message", "get()", "allow_out_of_band_handles", "TROUPE_ALLOW_OUT_OF_BAND_HANDLES=1"})
      EXPECT_NE(refused.error().message().find(words), std::string::npos) << refused.error().message();
  }
  EXPECT_TRUE(internal::out_of_band_pins(number()).empty());
}

TEST_F(out_of_band, a_guard_allows_it_in_its_block_and_the_list_says_where) {
  auto ref = home().put(array_of_numbers()).value();
  const auto id = internal::state_of(ref)->source->place();
  std::vector<payload> kept;
  {
    allow_out_of_band_handles guard{home()};
    for (const std::string family : {"typed", "msgpack", "json"})
      kept.push_back(saved(ref, family).value());
  }
  EXPECT_FALSE(saved(ref));
  ref = {};
  const auto pins = internal::out_of_band_pins(number());
  ASSERT_EQ(pins.size(), 1u);
  EXPECT_EQ(pins[0].object, id);
  EXPECT_EQ(pins[0].size_bytes, 80'000u);
  EXPECT_EQ(pins[0].serializations, 3u);
  EXPECT_NE(pins[0].where.find("out_of_band.test.cpp:"), std::string::npos) << pins[0].where;
  EXPECT_LE(pins[0].since, std::chrono::system_clock::now());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto back = read(kept[i], std::array{"typed", "msgpack", "json"}[i]);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->get().value(), array_of_numbers());
  }
}

TEST_F(out_of_band, of_what_is_not_here_the_error_says_so_whoever_allows_it) {
  const far_object<numbers> far_away{home().put(array_of_numbers()).value()};
  const auto refused = saved(far_away.ref);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("in code"), std::string::npos) << refused.error().message();
  const allow_out_of_band_handles guard{home()};
  const auto still = saved(far_away.ref);
  ASSERT_FALSE(still);
  EXPECT_NE(still.error().message().find("on another host"), std::string::npos) << still.error().message();
  EXPECT_NE(still.error().message().find("get it first"), std::string::npos) << still.error().message();
}

TEST_F(out_of_band, a_guard_of_one_node_allows_nothing_to_another) {
  far_options_.store.edit()->name = unique_name("other");
  const auto ref = home().put(array_of_numbers()).value();
  allow_out_of_band_handles guard{*far().home};
  EXPECT_FALSE(saved(ref));
}

TEST_F(out_of_band, the_environment_and_the_option_allow_it_too) {
  ::setenv("TROUPE_ALLOW_OUT_OF_BAND_HANDLES", "1", 1);
  EXPECT_TRUE(saved(home().put(array_of_numbers()).value()));
  EXPECT_NE(internal::out_of_band_pins(number()).at(0).where.find("TROUPE_ALLOW_OUT_OF_BAND_HANDLES"),
            std::string::npos);
  ::unsetenv("TROUPE_ALLOW_OUT_OF_BAND_HANDLES");
  near_.reset();
  near_options_.allow_out_of_band_handles = true;
  EXPECT_TRUE(saved(home().put(array_of_numbers()).value()));
  EXPECT_NE(internal::out_of_band_pins(number()).at(0).where.find("node_options"), std::string::npos);
}

TEST_F(out_of_band, objects_stay_until_the_last_node_with_their_store_ends) {
  near_options_.allow_out_of_band_handles = true;
  far(); // It shares the store.
  const auto kept = saved(home().put(array_of_numbers()).value()).value();
  near_->home.reset();
  const auto back = deserialize<number_ref>(kept, {}, near_->types, near_->families);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->get().value(), array_of_numbers());
}

TEST_F(out_of_band, afterwards_a_reference_says_that_its_object_is_freed) {
  near_options_.allow_out_of_band_handles = true;
  auto store = store::object_store::open(**near_options_.store).value(); // Stays open.
  const auto kept = saved(home().put(array_of_numbers()).value()).value();
  EXPECT_EQ(store.summary().value().objects, 1u);
  near_.reset();
  EXPECT_EQ(store.summary().value().objects, 0u);
  const auto back = read(kept);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->get().error().code(), node_errc::object_freed) << back->get().error().message();
}

TEST_F(out_of_band, a_store_that_nobody_has_open_is_an_error) {
  far_options_.store.edit()->name = unique_name("other");
  far_options_.allow_out_of_band_handles = true;
  const auto kept = serialize(far().home->put(array_of_numbers()).value(), {}, far().types, far().families).value();
  far_.reset();
  const auto back = read(kept);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code(), serialize_errc::out_of_band_handle) << back.error().message();
}

TEST_F(out_of_band, without_a_store_it_works_within_the_process) {
  near_options_.store = std::nullopt;
  near_options_.allow_out_of_band_handles = true;
  const auto kept = saved(home().put(array_of_numbers()).value()).value();
  EXPECT_EQ(read(kept)->get().value(), array_of_numbers());
  ASSERT_EQ(internal::out_of_band_pins(0).size(), 1u);
  EXPECT_FALSE(internal::out_of_band_pins(0)[0].object);
  near_.reset();
  EXPECT_EQ(read(kept)->get().error().code(), node_errc::object_freed);
}

TEST_F(out_of_band, forged_names_are_errors) {
  near_options_.allow_out_of_band_handles = true;
  const auto kept = saved(home().put(array_of_numbers()).value()).value();
  auto& last = const_cast<payload&>(kept).frames.back();
  for (std::size_t at = 0; at < last.size_bytes(); ++at)
    for (const int bit : {0, 3, 7}) {
      std::vector<std::byte> bytes{last.bytes().begin(), last.bytes().end()};
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      auto forged = kept;
      forged.frames.back() = frame::adopt(std::move(bytes));
      if (const auto back = read(forged); back && !back->empty())
        static_cast<void>(back->get()); // Any result is allowed.
    }
}

// Goal: a peer that knows a store's number and the rows of its objects cannot name any of the objects.
// Method: a name is changed into that of another living object, and single bits of it are flipped.
TEST_F(out_of_band, a_name_of_an_object_that_was_never_serialized_is_no_name) {
  near_options_.allow_out_of_band_handles = true;
  const auto given = home().put(array_of_numbers()).value();
  const auto other = home().put(array_of_numbers()).value();
  const auto form = internal::out_of_band_form(internal::state_of(given)).value();
  const auto name = msgpack::decode_described<internal::out_of_band_name>(form.bytes.bytes()).value();
  const auto error_of = [&](const internal::out_of_band_name& changed) {
    auto read = form;
    read.bytes = frame::adopt(msgpack::encode_described(changed));
    const auto found = internal::found_out_of_band(std::move(read));
    const auto got = internal::ref_to<numbers>(found.value()).get();
    return got ? node_error{node_errc::none, ""} : got.error();
  };
  EXPECT_EQ(error_of(name).code(), node_errc::none); // The unchanged name is valid.
  const auto place = internal::state_of(other)->source->place().value();
  auto forged = name;
  forged.index = place.index;
  forged.generation = place.generation;
  EXPECT_EQ(error_of(forged).code(), node_errc::object_freed);
  EXPECT_NE(error_of(forged).message().find("made up"), std::string::npos) << error_of(forged).message();
  for (int bit = 0; bit < 64; ++bit) {
    forged = name;
    forged.number ^= std::uint64_t{1} << bit;
    EXPECT_EQ(error_of(forged).code(), node_errc::object_freed);
  }
  forged.number = 0;
  EXPECT_EQ(error_of(forged).code(), node_errc::object_freed);
}

TEST_F(out_of_band, two_nodes_of_a_store_know_each_others_names) {
  near_options_.allow_out_of_band_handles = far_options_.allow_out_of_band_handles = true;
  const auto kept = serialize(far().home->put(array_of_numbers()).value(), {}, far().types, far().families).value();
  const auto here = saved(home().put(array_of_numbers()).value()).value();
  EXPECT_EQ(read(kept)->get().value(), array_of_numbers());
  far_.reset(); // The remaining node keeps the secret.
  EXPECT_EQ(read(here)->get().value(), array_of_numbers());
}

TEST_F(out_of_band, caf_streams_are_refused_or_allowed_alike) {
  const auto ref = home().put(array_of_numbers()).value();
  std::vector<char> bytes;
  caf::binary_serializer sink{near().system, bytes};
  inspected value{7, ref};
  const auto refused = sink(value);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused.category(), error_category);
  EXPECT_EQ(refused.code(), static_cast<std::uint8_t>(node_errc::out_of_band_handle));
  {
    allow_out_of_band_handles guard{home()};
    bytes.clear();
    caf::binary_serializer allowed{near().system, bytes};
    ASSERT_EQ(allowed(value), caf::none);
  }
  inspected back;
  caf::binary_deserializer source{near().system, bytes};
  ASSERT_EQ(source(back), caf::none);
  EXPECT_EQ(back.count, 7);
  EXPECT_EQ(back.ref, ref);
  EXPECT_EQ(back.ref.get().value(), array_of_numbers());
  EXPECT_EQ(caf::deep_to_string(value), R"(inspected(7, "object_ref of 80,000 bytes"))");
}

TEST_F(out_of_band, an_empty_reference_goes_anywhere) {
  EXPECT_TRUE(read(saved({}).value())->empty());
  std::vector<char> bytes;
  inspected value;
  caf::binary_serializer sink{near().system, bytes};
  EXPECT_EQ(sink(value), caf::none);
}

} // namespace
} // namespace troupe::tests
