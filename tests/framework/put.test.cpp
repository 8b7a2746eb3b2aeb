// Values in the store: values that are stored once, read in place, or refer to other objects.
#include <numeric>

#include <troupe/framework/internal/objects/putting.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using numbers = array<double>;
using number_ref = object_ref<numbers>;

/// Arrays that share memory, in several places.
struct gallery {
  std::string name;
  std::vector<numbers> pictures;
  numbers cover;
  std::string text;
  frame raw;
};
TROUPE_DESCRIBE(gallery, name, pictures, cover, text, raw)

/// Refers to others.
struct index_page {
  std::string title;
  std::vector<number_ref> entries;
  std::map<std::string, object_ref<reading>> readings;
  std::optional<number_ref> best;
};
TROUPE_DESCRIBE(index_page, title, entries, readings, best)

struct book {
  std::vector<object_ref<index_page>> pages;
  std::vector<number_ref> loose;
};
TROUPE_DESCRIBE(book, pages, loose)

void add_types(type_registry& types) {
  types.add<gallery>("test.gallery");
  types.add<index_page>("test.index_page");
  types.add<book>("test.book");
  types.add<object_ref<gallery>>("test.ref_gallery");
  types.add<object_ref<index_page>>("test.ref_index_page");
  types.add<object_ref<book>>("test.ref_book");
}

numbers many(double first = 0) {
  std::vector<double> values(10'000);
  std::iota(values.begin(), values.end(), first);
  return numbers(std::move(values));
}

class putting : public two_nodes {
protected:
  putting() { near_types_ = far_types_ = add_types; }

  node& home() { return *near().home; }
  store::object_store objects() { return *home().store(); }
  std::size_t count() { return objects().summary().value().objects; }
  template <class T>
  object_ref<T> put(const T& value) {
    auto ref = home().put(value);
    EXPECT_TRUE(ref) << ref.error().message();
    return ref ? *ref : object_ref<T>{};
  }
};

bool lies_in(const void* place, const store::object_store& of, const internal::object_state_ptr& object) {
  const auto bytes = object->source->here()->bytes();
  return of.number() == object->source->place()->store && place >= bytes.data() && place < bytes.data() + bytes.size();
}

TEST_F(putting, one_array_that_is_used_99_times_is_there_once_and_comes_back_as_one) {
  const gallery value{"same", std::vector<numbers>(98, many()), many(), std::string(5'000, 'x'), {}};
  auto again = value;
  again.cover = again.pictures[0];
  for (const auto* family : {"typed", "msgpack"}) {
    near_.reset();
    near_options_.store_families = {family};
    const auto ref = put(again);
    EXPECT_LT(ref.size_bytes(), 100'000u);
    const auto back = ref.get();
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->cover, many());
    EXPECT_EQ(back->text, again.text);
    for (const auto& each : back->pictures)
      EXPECT_EQ(each.data(), back->cover.data());
    EXPECT_TRUE(lies_in(back->cover.data(), objects(), internal::state_of(ref)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back->cover.data()) % 64, 0u);
  }
}

// Goal: an object does not carry bytes of an earlier one to other hosts, which pull it whole.
// Method: the new object lies where an object of ones was, and has gaps behind frames of 65 bytes.
TEST_F(putting, an_objects_gaps_have_no_bytes_of_earlier_objects) {
  near_options_.store_families = {"msgpack"};
  put(array<std::uint8_t>(std::vector<std::uint8_t>(1'000'000, 0xff)));
  ASSERT_TRUE(eventually([&] { return count() == 0; }));
  const std::string text(65, 's');
  const auto raw = frame::copy_of(std::as_bytes(std::span(text)));
  const auto ref = put(gallery{"n", {}, many(), text, raw});
  const auto state = internal::state_of(ref);
  const auto bytes = state->source->here()->bytes();
  std::size_t end = 0;
  std::size_t gaps = 0;
  for (const auto& each : state->layout.frames) {
    for (; end < each.offset; ++end, ++gaps)
      EXPECT_EQ(bytes[end], std::byte{0}) << end;
    end = each.offset + each.size_bytes;
  }
  EXPECT_GT(gaps, 0u);
  EXPECT_EQ(end, bytes.size());
}

TEST_F(putting, frames_are_aligned_and_read_in_place_and_strings_are_copies) {
  const std::string large(10'001, 's');
  const auto ref =
      put(gallery{"n", {many(1), many(2)}, many(3), large, frame::copy_of(std::as_bytes(std::span(large)))});
  const auto back = ref.get().value();
  for (const auto& each : {back.pictures[0], back.pictures[1], back.cover}) {
    EXPECT_TRUE(lies_in(each.data(), objects(), internal::state_of(ref)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each.data()) % 64, 0u);
  }
  EXPECT_TRUE(lies_in(back.raw.bytes().data(), objects(), internal::state_of(ref)));
  EXPECT_FALSE(lies_in(back.text.data(), objects(), internal::state_of(ref)));
  EXPECT_EQ(back.text, large);
}

TEST_F(putting, arrays_are_put_as_they_are_whatever_their_strides) {
  const auto square = numbers(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(put(square).get().value(), square);
  EXPECT_EQ(put(square.transposed()).get().value(), square.transposed());
  EXPECT_EQ(put(numbers()).get().value(), numbers());
}

TEST_F(putting, objects_say_what_they_are) {
  const auto array = put(many());
  const auto value = put(reading{"roof", 1, {}});
  const auto type_of = [](const auto& ref) {
    const auto bytes = *internal::state_of(ref)->source->here();
    const auto* at = dynamic_cast<const internal::stored_bytes*>(bytes.owner().get());
    return msgpack::decode_described<internal::object_notes>(at->metadata()).value().type;
  };
  EXPECT_EQ(type_of(array), "array<f64>");
  EXPECT_EQ(type_of(value), "test.reading");
}

TEST_F(putting, what_is_not_looked_at_may_go_to_disk) {
  auto directory = std::filesystem::temp_directory_path() / unique_name("troupe-put");
  near_options_.store.edit()->spill_directory = directory;
  std::vector<number_ref> refs;
  const auto large = numbers(std::vector<double>(1 << 20, 1.5));
  for (int i = 0; i < 20; ++i) // 160 MiB into 64.
    refs.push_back(put(large));
  for (const auto& ref : refs)
    EXPECT_EQ(ref.get().value(), large);
  refs.clear();
  near_.reset();
  std::filesystem::remove_all(directory);
}

TEST_F(putting, a_full_store_says_so_with_numbers) {
  near_options_.store.edit()->full_grace = 0ms;
  const auto refused = home().put(numbers(std::vector<double>(9 << 20)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::store_full);
  EXPECT_NE(refused.error().message().find("75,497,472"), std::string::npos) << refused.error().message();
}

TEST(store_failures, a_full_disk_is_told_from_a_full_store_by_its_code) {
  const auto code = [](store::store_errc from) {
    return internal::from_store({from, "the disk has no 5 bytes left for /x: No space left on device"}).code();
  };
  EXPECT_EQ(code(store::store_errc::disk_full), node_errc::disk_full);
  EXPECT_EQ(code(store::store_errc::full), node_errc::store_full);
}

TEST_F(putting, what_cannot_be_encoded_says_why) {
  near_types_ = [](type_registry& types) { types.add<index_page>("test.index_page"); };
  const auto unregistered = home().put(gallery{});
  ASSERT_FALSE(unregistered);
  EXPECT_EQ(unregistered.error().code(), node_errc::unserializable);
  const auto actors = home().put(guest_list{"h", {near().system.spawn([](caf::event_based_actor*) -> caf::behavior {
                                              return {[](int value) { return value; }};
                                            })}});
  ASSERT_FALSE(actors);
  EXPECT_EQ(actors.error().code(), node_errc::unserializable);
  EXPECT_NE(actors.error().message().find("cannot be put into the store"), std::string::npos)
      << actors.error().message();
}

// -- builders

TEST_F(putting, a_shaped_array_is_filled_in_place_in_c_order) {
  auto build = home().make_array<std::int32_t>({2, 3});
  ASSERT_TRUE(build) << build.error().message();
  EXPECT_EQ(build->shape(), (std::vector<std::size_t>{2, 3}));
  for (std::int32_t row = 0; row < 2; ++row)
    for (std::int32_t column = 0; column < 3; ++column)
      (*build)[row, column] = 10 * row + column;
  EXPECT_EQ(build->values()[4], 11);
  auto last = build->at(1, 2);
  ASSERT_TRUE(last);
  last->get() = 99;
  const auto outside = build->at(2, 0);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().code(), node_errc::bad_option);
  EXPECT_EQ(outside.error().message(), "the array of shape [2, 3] has no element [2, 0]");
  EXPECT_FALSE(build->at(1));
  const auto* place = build->values().data();
  const auto ref = std::move(*build).seal();
  ASSERT_TRUE(ref) << ref.error().message();
  const auto back = ref->get().value();
  EXPECT_EQ(back, array<std::int32_t>(std::vector<std::int32_t>{0, 1, 2, 10, 11, 99}, {2, 3}));
  EXPECT_EQ(std::memcmp(place, back.data(), 24), 0);
}

TEST_F(putting, a_shape_beyond_all_memory_is_refused) {
  for (const auto& shape : {std::vector<std::size_t>{SIZE_MAX, 2}, {std::size_t{1} << 62, 1}, {SIZE_MAX / 8}}) {
    const auto refused = home().make_array<double>(shape);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), node_errc::store_full);
  }
  EXPECT_TRUE(home().make_array<double>({0, 5}));
  EXPECT_TRUE(home().make_array<double>(std::vector<std::size_t>{}));
}

// -- objects that refer to others

TEST_F(putting, objects_live_as_long_as_the_one_that_refers_to_them) {
  object_ref<index_page> outer;
  {
    const auto first = put(many(1));
    outer = put(index_page{"i", {first, put(many(2)), first}, {{"r", put(reading{"roof", 2, {}})}}, first});
  }
  EXPECT_EQ(count(), 4u);
  {
    const auto page = outer.get().value();
    EXPECT_EQ(page.entries[0].get().value(), many(1));
    EXPECT_EQ(page.entries[1].get().value(), many(2));
    EXPECT_EQ(page.entries[0], page.entries[2]);
    EXPECT_EQ(page.best, page.entries[0]);
    EXPECT_EQ(page.readings.at("r").get().value().celsius, 2);
    const auto rows = objects().summary().value().rows;
    const auto row = std::ranges::find(rows, *internal::state_of(outer)->source->place(), &store::object_row::id);
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(row->captures.size(), 3u); // The same one once.
  }
  outer = {};
  EXPECT_TRUE(store_empties());
}

TEST_F(putting, objects_within_objects_within_objects) {
  object_ref<book> outer;
  {
    const auto page = put(index_page{"i", {put(many(1))}, {}, {}});
    outer = put(book{{page, page}, {put(many(7))}});
  }
  EXPECT_EQ(count(), 4u);
  EXPECT_EQ(outer.get().value().pages[1].get().value().entries[0].get().value(), many(1));
  EXPECT_EQ(outer.get().value().loose[0].get().value(), many(7));
  const auto inner = outer.get().value().pages[0];
  outer = {};
  EXPECT_TRUE(eventually([&] { return count() == 2; }));
  EXPECT_EQ(inner.get().value().entries[0].get().value(), many(1));
}

TEST_F(putting, references_are_kept_by_every_family_that_carries_them) {
  for (const std::string family : {"typed", "msgpack", "json"}) {
    near_.reset();
    near_options_.store_families = {family};
    if (family == "json") { // Has no frames, and references need none.
      const auto ref = home().put(index_page{"i", {put(many(1))}, {}, {}});
      ASSERT_TRUE(ref) << ref.error().message();
      EXPECT_EQ(ref->get().value().entries[0].get().value(), many(1));
      continue;
    }
    const auto outer = put(index_page{"i", {put(many(1)), {}}, {}, {}});
    EXPECT_EQ(outer.get().value().entries[0].get().value(), many(1)) << family;
    EXPECT_TRUE(outer.get().value().entries[1].empty());
  }
}

TEST_F(putting, at_most_1024_references_are_kept_by_one_object) {
  std::vector<number_ref> refs;
  for (int i = 0; i < 1025; ++i)
    refs.push_back(put(numbers(std::vector<double>{1.0 * i})));
  const auto refused = home().put(book{{}, refs});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::unserializable);
  EXPECT_NE(refused.error().message().find("at most 1,024"), std::string::npos) << refused.error().message();
  refs.pop_back();
  refs.push_back(refs.front());
  const auto outer = put(book{{}, refs});
  refs.clear();
  const auto back = outer.get().value();
  for (std::size_t i = 0; i < 1024; ++i)
    EXPECT_EQ(back.loose[i].get().value()[0], static_cast<double>(i));
}

TEST_F(putting, an_object_with_references_is_found_by_who_has_the_store_open_whatever_the_link_shares) {
  publish("reader", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const object_ref<index_page>& ref) -> caf::result<double> {
      auto page = ref.get();
      if (!page)
        return to_caf_error(page.error());
      return page->entries.at(0).get().value()[1];
    }};
  }));
  connect();
  auto outer = put(index_page{"i", {put(many(5))}, {}, {}});
  EXPECT_EQ(ask<double>(near().system, find("reader"), outer), 6.0);
  connect({.share_store = false});
  EXPECT_EQ(ask<double>(near().system, find("reader"), outer), 6.0);
  outer = {};
  EXPECT_TRUE(store_empties());
}

TEST_F(putting, what_lies_in_a_process_memory_is_copied_into_the_store_of_what_refers_to_it) {
  auto other = node_options{.name = "other", .store = std::nullopt};
  side without{other, add_types};
  const auto heap = without.home->put(many(7));
  ASSERT_TRUE(heap) << heap.error().message();
  auto kept = put(book{{}, {*heap, *heap}});
  EXPECT_EQ(count(), 2u);
  const auto back = kept.get().value();
  EXPECT_EQ(back.loose[0], back.loose[1]);
  EXPECT_EQ(back.loose[0].get().value(), many(7));
  EXPECT_TRUE(lies_in(back.loose[0].get().value().data(), objects(), internal::state_of(back.loose[0])));
}

TEST_F(putting, what_lies_in_another_store_is_copied_too_unless_it_refers_to_others) {
  side elsewhere{{.name = "other", .store = store::options{.name = unique_name("other"), .capacity_bytes = 16_MiB}},
                 add_types};
  const auto one = elsewhere.home->put(many(7));
  const auto page = elsewhere.home->put(index_page{"i", {one.value()}, {}, {}});
  EXPECT_EQ(put(book{{}, {*one}}).get().value().loose[0].get().value(), many(7));
  const auto refused = home().put(book{{page.value()}, {}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("put its value by this node"), std::string::npos)
      << refused.error().message();
}

TEST_F(putting, a_node_without_a_store_keeps_references_too) {
  near_options_.store = std::nullopt;
  object_ref<book> outer;
  {
    const auto one = put(many(3));
    outer = put(book{{put(index_page{"i", {one}, {}, {}})}, {one, one}});
  }
  const auto back = outer.get().value();
  outer = {};
  EXPECT_EQ(back.loose[0], back.loose[1]);
  EXPECT_EQ(back.loose[0].get().value(), many(3));
  EXPECT_EQ(back.pages[0].get().value().entries[0].get().value(), many(3));
}

TEST_F(putting, an_array_that_is_taken_for_something_else_says_what_it_is) {
  const auto taken = internal::ref_to<index_page>(internal::state_of(put(many()))).get();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), node_errc::undecodable);
  EXPECT_EQ(taken.error().message(), "the object is an array of f64, expected a value that is not an array");
  // A damaged layout may contain any text, so it is not passed on unchanged.
  auto damaged = *internal::state_of(put(many()));
  damaged.layout.element = "f\x1b\xff";
  const auto odd = internal::ref_to<array<double>>(std::make_shared<internal::object_state>(damaged)).get();
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message(), "the object is an array of f??, expected an array of f64");
  damaged.layout.element = "f64";
  damaged.layout.shape.clear();
  const auto scalar = internal::ref_to<array<double>>(std::make_shared<internal::object_state>(damaged)).get();
  ASSERT_FALSE(scalar);
  EXPECT_NE(scalar.error().message().find("its layout says 1 elements of type f64"), std::string::npos)
      << scalar.error().message();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // They end the process instead.
TEST_F(putting, what_no_memory_could_hold_is_an_error_without_a_store_too) {
  near_options_.store = std::nullopt;
  constexpr auto count = std::size_t{1} << 44;
  const auto room = home().make_array<double>(count);
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().code(), node_errc::store_full) << room.error().message();
  EXPECT_NE(room.error().message().find("140,737,488,355,328 bytes"), std::string::npos) << room.error().message();
  const auto same = numbers(std::vector<double>{1}).broadcast_to({count});
  ASSERT_TRUE(same);
  const auto refused = home().put(*same);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::store_full) << refused.error().message();
}
#endif

} // namespace
} // namespace troupe::tests
