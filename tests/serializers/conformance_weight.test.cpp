// Goal: for every value and family, decoding takes exactly the memory that encoding predicts for it.
// Method: values of many shapes have memory that differs from their bytes. Both numbers come from context::taken_bytes.
#include <bitset>

#include <troupe/serializers/array.hpp>
#include <troupe/serializers/bitset.hpp>
#include <troupe/serializers/record.hpp>

#include "every_family.hpp"

namespace weights {

using namespace conformance;

struct plain {
  std::string name;
  double celsius = 0;
  std::vector<double> samples;
};
TROUPE_DESCRIBE(plain, name, celsius, samples)

/// Takes memory as soon as it is constructed.
struct filled {
  std::string text = std::string(300, 'x');
  std::vector<int> numbers = std::vector<int>(50);
};
TROUPE_DESCRIBE(filled, text, numbers)

struct chain {
  int value = 0;
  std::shared_ptr<chain> next;
};
TROUPE_DESCRIBE(chain, value, next)

struct queues {
  std::deque<int> first;
  std::deque<std::string> second;
};
TROUPE_DESCRIBE(queues, first, second)

struct animal {
  virtual ~animal() = default;
  std::string name;
};
TROUPE_DESCRIBE(animal, name)

struct dog : animal {
  std::vector<std::string> tricks;
  std::deque<int> bones;
};
TROUPE_DESCRIBE_DERIVED(dog, (animal), tricks, bones)

/// Its encoded form takes memory, and rebuilding it takes more.
struct unfolding {
  int size = 0;
};

/// Only the registry has a codec for it.
class lockbox {
public:
  lockbox() = default;
  explicit lockbox(std::vector<std::string> content) : content_(std::move(content)) {}
  [[nodiscard]] const std::vector<std::string>& content() const { return content_; }

private:
  std::vector<std::string> content_;
};

} // namespace weights

template <>
struct troupe::codec<weights::unfolding> {
  using form = std::vector<int>;
  static std::expected<form, serialize_error> reduce(const weights::unfolding& from, const context&) {
    return form(static_cast<std::size_t>(from.size));
  }
  static std::expected<weights::unfolding, serialize_error> rebuild(form&& from, const context&) {
    return weights::unfolding{static_cast<int>(from.size())};
  }
  static std::size_t rebuilt_bytes(const form& from) { return 100 * from.size(); }
};

namespace weights {

template <class T>
std::vector<T> many(std::size_t count, auto&& make) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(make(i));
  return all;
}

template <class T>
T filled_by_index(std::size_t count, auto&& element) {
  T all;
  for (std::size_t i = 0; i < count; ++i)
    all.insert(all.end(), element(i));
  return all;
}

inline std::string word(std::size_t index) {
  return "word " + std::to_string(index);
}

class stated_memory : public every_family {
protected:
  stated_memory() {
    types.add<animal>("animal").add<dog>("dog");
    types.register_serializer<lockbox>([](const lockbox& of) { return of.content(); },
                                       [](std::vector<std::string>&& from) { return lockbox(std::move(from)); });
    ctx.types = &types;
  }

  /// Registers a type that the family cereal also carries.
  template <class T>
  void expect_weighed(const T& value) {
    if (types.find<T>() == nullptr) // Otherwise every registry has it, for every family.
      add_cereal<T>(types, next_alias());
    expect_weighed_as_added(value);
  }

  /// Registers a type that the family cereal does not carry.
  template <class T>
  void expect_weighed_by_description(const T& value) {
    types.add<T>(next_alias());
    if (std::string_view(GetParam().name) != "cereal")
      expect_weighed_as_added(value);
  }

  std::string next_alias() { return "weighed." + std::to_string(++aliases_); }

  template <class T>
  void expect_weighed_as_added(const T& value) {
    for (const auto how : {iterate::automatic, iterate::elements}) {
      std::size_t stated = 0;
      std::size_t charged = 0;
      auto with = ctx;
      with.taken_bytes = &stated;
      // The family cereal has no functions for pointers in a collection sent element by element.
      const std::vector<std::string> by{GetParam().name, how == iterate::elements ? "typed" : GetParam().name};
      auto made = serialize(value, {.serializers = by, .on_error = on_error::raise, .iterate = how, .context = with},
                            types, families);
      ASSERT_TRUE(made.has_value()) << made.error().message();
      with.taken_bytes = &charged;
      const auto back = deserialize<T>(*made, {.deserializers = by, .context = with}, types, families);
      ASSERT_TRUE(back.has_value()) << back.error().message();
      constexpr std::size_t small = 128;
      const auto* const mode = how == iterate::elements ? ", element by element" : "";
      EXPECT_GE(stated, charged) << types.find<T>()->alias() << ' ' << detail::type_text(typeid(T)) << mode;
      EXPECT_LE(stated, 2 * charged + small) << types.find<T>()->alias() << ' ' << detail::type_text(typeid(T)) << mode;
    }
  }

private:
  int aliases_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, stated_memory, testing::ValuesIn(all_families), name_of_row);

TEST_P(stated_memory, covers_numbers_and_texts) {
  expect_weighed(7);
  expect_weighed(rich::point{1, 2});
  expect_weighed(std::string());
  expect_weighed(plain{.name = std::string(100, 'n'), .samples = std::vector<double>(20)});
  expect_weighed(std::vector<double>(1000));
  expect_weighed(std::vector<std::byte>(777));
  expect_weighed(std::vector<bool>(500, true));
  expect_weighed(std::vector<std::vector<bool>>(20, std::vector<bool>(300)));
  expect_weighed(std::filesystem::path("/one/two/three/four/five"));
  expect_weighed(std::bitset<200>(5));
  expect_weighed(std::chrono::milliseconds(5));
  expect_weighed(std::array<std::string, 4>{"one", "two", "three", word(4)});
}

TEST_P(stated_memory, covers_large_blocks) {
  expect_weighed(std::string(100'000, 'x'));
  expect_weighed(std::vector<float>(50'000));
  expect_weighed(std::vector<std::string>(3, std::string(10'000, 'x')));
}

TEST_P(stated_memory, covers_sequences) {
  expect_weighed(many<std::string>(33, word));
  expect_weighed(std::vector<std::string>(65, std::string(40, 'x')));
  expect_weighed(std::vector<std::vector<int>>(40, std::vector<int>(3)));
  expect_weighed(std::vector<std::vector<std::vector<int>>>(9, std::vector<std::vector<int>>(17)));
  expect_weighed(std::list<int>(50));
  expect_weighed(std::list<std::string>(50, std::string(30, 'x')));
  expect_weighed(std::vector<std::list<int>>(50, std::list<int>(3)));
  expect_weighed(std::deque<int>(700));
  expect_weighed(std::vector<std::deque<int>>(40));
  expect_weighed(std::deque<std::deque<std::string>>(12, std::deque<std::string>(5)));
  expect_weighed(std::list<std::deque<int>>(10));
  expect_weighed(queues{.first = {1}, .second = {"two"}});
  expect_weighed(std::vector<queues>(10));
  expect_weighed(std::vector<rich::point>(100));
}

TEST_P(stated_memory, covers_sets_and_maps) {
  expect_weighed(filled_by_index<std::set<std::string>>(40, word));
  expect_weighed(filled_by_index<std::unordered_set<int>>(40, [](auto i) { return static_cast<int>(i); }));
  expect_weighed(filled_by_index<std::multiset<int>>(40, [](auto) { return 1; }));
  expect_weighed(
      filled_by_index<std::map<int, std::string>>(40, [](auto i) { return std::pair(static_cast<int>(i), word(i)); }));
  expect_weighed(filled_by_index<std::map<std::string, std::vector<int>>>(
      40, [](auto i) { return std::pair(word(i), std::vector<int>(i)); }));
  expect_weighed(filled_by_index<std::unordered_map<std::string, std::deque<int>>>(
      20, [](auto i) { return std::pair(word(i), std::deque<int>()); }));
  expect_weighed(filled_by_index<std::multimap<int, std::string>>(40, [](auto i) { return std::pair(1, word(i)); }));
  expect_weighed(filled_by_index<std::map<int, std::map<int, int>>>(20, [](auto i) {
    return std::pair(static_cast<int>(i), std::map<int, int>{{1, 2}, {3, 4}});
  }));
}

TEST_P(stated_memory, covers_what_may_be_absent) {
  expect_weighed(std::optional<std::string>(std::string(50, 'x')));
  expect_weighed(std::vector<std::optional<std::array<std::int64_t, 64>>>(50));
  expect_weighed(std::vector<std::optional<std::string>>(50, std::string(30, 'x')));
  expect_weighed(std::variant<int, std::string, std::deque<int>>(std::deque<int>(3)));
  expect_weighed(std::vector<std::variant<std::monostate, std::string, plain>>(
      30, plain{.name = "a", .samples = std::vector<double>(4)}));
  expect_weighed(std::tuple<int, std::string, std::list<int>>(1, word(2), std::list<int>(3)));
}

TEST_P(stated_memory, covers_what_is_pointed_to) {
  expect_weighed(many<std::shared_ptr<int>>(50, [](auto i) { return std::make_shared<int>(static_cast<int>(i)); }));
  expect_weighed(std::vector<std::shared_ptr<std::string>>(50, std::make_shared<std::string>(500, 'x')));
  expect_weighed(many<std::unique_ptr<int>>(50, [](auto) { return std::make_unique<int>(); }));
  expect_weighed(many<std::unique_ptr<std::deque<int>>>(20, [](auto) { return std::make_unique<std::deque<int>>(); }));
  expect_weighed(std::vector<std::shared_ptr<int>>(50));
  expect_weighed(filled_by_index<std::map<int, std::shared_ptr<plain>>>(
      30, [](auto i) { return std::pair(static_cast<int>(i), std::make_shared<plain>()); }));
  auto first = std::make_shared<chain>();
  for (int i = 0; i < 20; ++i)
    first = std::make_shared<chain>(chain{i, first});
  expect_weighed(first);
  expect_weighed(
      rich::tree{.value = 1, .children = many<rich::tree>(5, [](auto) { return rich::tree{}; }), .next = {}});
}

TEST_P(stated_memory, covers_values_that_begin_filled) {
  expect_weighed(filled{});
  expect_weighed(std::vector<filled>(10));
  expect_weighed(std::list<filled>(10));
  expect_weighed(many<std::shared_ptr<filled>>(10, [](auto) { return std::make_shared<filled>(); }));
}

TEST_P(stated_memory, covers_what_a_codec_rebuilds) {
  expect_weighed(unfolding{30});
  expect_weighed(std::vector<unfolding>(20, unfolding{7}));
  expect_weighed_by_description(std::vector<lockbox>(5, lockbox({"one", std::string(200, 'x')})));
}

TEST_P(stated_memory, covers_objects_of_derived_classes) {
  expect_weighed_by_description(many<std::shared_ptr<animal>>(20, [](auto i) -> std::shared_ptr<animal> {
    return i % 2 == 0 ? std::make_shared<animal>() : std::make_shared<dog>();
  }));
  expect_weighed_by_description(
      many<std::unique_ptr<animal>>(20, [](auto) -> std::unique_ptr<animal> { return std::make_unique<dog>(); }));
}

TEST_P(stated_memory, covers_frames_and_arrays) {
  using numbers = array<double>;
  expect_weighed(frame::copy_of(std::as_bytes(std::span("some bytes"))));
  expect_weighed(std::vector<frame>(10, rich::frame_of(std::string(1000, 'x'))));
  expect_weighed(numbers(std::vector<double>(100)));
  expect_weighed(numbers(std::vector<double>(105), {3, 5, 7}));
  expect_weighed(numbers(std::vector<double>(10'000), {100, 100}));
  expect_weighed(numbers(std::vector<double>(100), {10, 10}).contiguous(memory_order::fortran));
  expect_weighed(*numbers(std::vector<double>(1)).broadcast_to(std::vector<std::size_t>{50}));
  expect_weighed(array<std::byte>(std::vector<std::byte>(500)));
  expect_weighed(many<numbers>(10, [](auto) { return numbers(std::vector<double>(20)); }));
  expect_weighed(std::vector<numbers>(10, numbers(std::vector<double>(200)))); // All ten share their memory.
}

TEST_P(stated_memory, covers_records) {
  expect_weighed(record("a text"));
  expect_weighed(record(record::list(100, record(7))));
  expect_weighed(record(record::list(31, record("x"))));
  expect_weighed(record(record::list(10, record(record::list(10, record(1.5))))));
  record::map fields;
  for (std::size_t i = 0; i < 20; ++i)
    fields.emplace_back(word(i), record(record::map{{"one", record(1)}, {"two", record("two")}}));
  expect_weighed(record(fields));
  expect_weighed(record(array<double>(std::vector<double>(60), {6, 10})));
  expect_weighed(record(rich::frame_of(std::string(300, 'x'))));
}

TEST_P(stated_memory, covers_a_value_of_every_sort) {
  rich::add_to(types);
  expect_weighed_as_added(rich::full());
  expect_weighed_as_added(rich::everything{});
}

} // namespace weights
