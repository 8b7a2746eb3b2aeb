// A thread's default stack is enough to read large values that are nested as deeply as the limits allow.
#include <pthread.h>

#include <functional>

#include "every_family.hpp"

namespace {

using namespace conformance;

constexpr std::size_t levels = 250;

template <class Map, class T>
struct keyed {
  using type = Map;
  static type of(T&& inner) {
    type made;
    made.emplace(1, std::move(inner));
    return made;
  }
  static const T& inner(const type& of) { return of.begin()->second; }
};
template <class T>
struct in_map : keyed<std::map<int, T>, T> {};
template <class T>
struct in_unordered_map : keyed<std::unordered_map<int, T>, T> {};
template <class T>
struct in_multimap : keyed<std::multimap<int, T>, T> {};

template <class T>
struct in_pairs {
  using type = std::map<int, std::pair<int, T>>;
  static type of(T&& inner) {
    type made;
    made.try_emplace(1, 2, std::move(inner));
    return made;
  }
  static const T& inner(const type& of) { return of.begin()->second.second; }
};

template <class T>
struct in_set {
  using type = std::set<T>;
  static type of(T&& inner) {
    type made;
    made.insert(std::move(inner));
    return made;
  }
  static const T& inner(const type& of) { return *of.begin(); }
};

template <class T>
struct in_optional {
  using type = std::vector<std::optional<T>>;
  static type of(T&& inner) {
    type made(1);
    made[0].emplace(std::move(inner));
    return made;
  }
  static const T& inner(const type& of) { return **of.begin(); }
};

template <class T>
struct in_variant {
  using type = std::vector<std::variant<int, T>>;
  static type of(T&& inner) {
    type made(1);
    made[0].template emplace<1>(std::move(inner));
    return made;
  }
  static const T& inner(const type& of) { return std::get<1>(*of.begin()); }
};

template <std::size_t Bytes, template <class> class In>
struct large {
  std::array<char, Bytes> content{};
  typename In<large>::type within;
  bool operator<(const large& other) const { return within.size() < other.within.size(); }
  TROUPE_DESCRIBE_INSIDE(large, content, within)
};

void on_a_usual_stack(const std::function<void()>& step) {
  constexpr std::size_t stack_bytes = std::size_t{8} << 20;
  pthread_attr_t with;
  pthread_attr_init(&with);
  pthread_attr_setstacksize(&with, stack_bytes);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &with,
                [](void* run) -> void* {
                  (*static_cast<const std::function<void()>*>(run))();
                  return nullptr;
                },
                const_cast<std::function<void()>*>(&step)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&with);
}

class large_values : public every_family {
protected:
  large_values() { ctx.limits.memory_free_bytes = std::size_t{1} << 30; }

  template <std::size_t Bytes, template <class> class In>
  void expect_read_at_depth() {
    using value = large<Bytes, In>;
    add_cereal<value>(types, "large");
    on_a_usual_stack([&] {
      auto outermost = std::make_unique<value>();
      for (std::size_t i = 1; i < levels; ++i) {
        auto around = std::make_unique<value>();
        around->within = In<value>::of(std::move(*outermost));
        outermost = std::move(around);
      }
      const auto back = decoded<value>(encoded(*outermost));
      ASSERT_TRUE(back.has_value()) << back.error().message();
      std::size_t depth = 1;
      for (const auto* at = &*back; !at->within.empty(); at = &In<value>::inner(at->within))
        ++depth;
      EXPECT_EQ(depth, levels);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(, large_values, testing::ValuesIn(all_families), name_of_row);

TEST_P(large_values, of_maps_are_read_at_any_allowed_depth) {
  expect_read_at_depth<17'000, in_map>();
}

TEST_P(large_values, of_maps_are_read_at_any_allowed_depth_however_large) {
  expect_read_at_depth<33'000, in_map>();
}

TEST_P(large_values, of_hash_tables_are_read_at_any_allowed_depth) {
  expect_read_at_depth<33'000, in_unordered_map>();
}

TEST_P(large_values, of_multimaps_are_read_at_any_allowed_depth) {
  expect_read_at_depth<33'000, in_multimap>();
}

TEST_P(large_values, in_pairs_are_read_at_any_allowed_depth) {
  expect_read_at_depth<33'000, in_pairs>();
}

TEST_P(large_values, of_sets_are_read_at_any_allowed_depth) {
  expect_read_at_depth<33'000, in_set>();
}

TEST_P(large_values, that_are_optional_are_read_at_any_allowed_depth) {
  expect_read_at_depth<33'000, in_optional>();
}

TEST_P(large_values, of_variants_are_read_at_any_allowed_depth) {
  expect_read_at_depth<33'000, in_variant>();
}

} // namespace
