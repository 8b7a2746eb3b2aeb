// The family cereal: the less common half of the features in cereal's documentation, with each sort of function and
// pointer as its users write it, unchanged. The common half and refused input are in cereal.test.cpp.
#include <complex>
#include <queue>
#include <sstream>
#include <stack>
#include <valarray>

#include <gtest/gtest.h>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/base_class.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/polymorphic.hpp>
#include <cereal/types/queue.hpp>
#include <cereal/types/stack.hpp>
#include <cereal/types/valarray.hpp>

#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/serialize.hpp>

namespace garden {

// -- functions outside the type, of all three sorts

struct seed {
  int depth = 0;
};
template <class Archive>
void serialize(Archive& archive, seed& of) {
  archive(of.depth);
}

struct label {
  std::string text;
};
template <class Archive>
std::string save_minimal(const Archive&, const label& of) {
  return of.text;
}
template <class Archive>
void load_minimal(const Archive&, label& of, const std::string& text) {
  of.text = text;
}

enum class season : std::uint8_t { spring, autumn };

// -- versions

class bed {
public:
  int rows = 0;
  season sown = season::spring; // Since version 2.

private:
  friend class cereal::access;
  template <class Archive>
  void serialize(Archive& archive, const std::uint32_t version) {
    archive(cereal::make_nvp("rows", rows));
    if (version >= 2)
      archive(sown);
  }
};

// -- a container with functions of its own

struct heap {
  std::vector<std::int16_t> stones;
  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_size_tag(stones.size()));
    archive(cereal::binary_data(stones.data(), stones.size() * sizeof(std::int16_t)));
  }
  template <class Archive>
  void load(Archive& archive) {
    cereal::size_type count = 0;
    archive(cereal::make_size_tag(count));
    stones.resize(count);
    archive(cereal::binary_data(stones.data(), stones.size() * sizeof(std::int16_t)));
  }
};

// -- a base with one function, a derived class with two of its own

struct plain_fence {
  int posts = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(posts);
  }
};
struct painted_fence : plain_fence {
  std::string paint;
  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::base_class<plain_fence>(this), paint);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(cereal::base_class<plain_fence>(this), paint);
  }
};

// -- pointers up and down

struct branch : std::enable_shared_from_this<branch> {
  std::string name;
  std::vector<std::shared_ptr<branch>> twigs;
  std::weak_ptr<branch> stem;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, twigs, stem);
  }
};

struct pair_of_owners {
  std::unique_ptr<std::string> alone;
  std::unique_ptr<std::string> nobody;
  std::shared_ptr<const std::string> first;
  std::weak_ptr<const std::string> second;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(alone, nobody, first, second);
  }
};

// Constructed by functions outside the class.
struct post {
  explicit post(int of) : height(of) {}
  int height;
};
template <class Archive>
void save(Archive& archive, const post& of) {
  archive(of.height);
}

// -- polymorphic: two levels, a diamond, a name of its own, a relation that must be registered

struct plant {
  int age = 0;
  virtual ~plant() = default;
  [[nodiscard]] virtual std::string kind() const { return "plant"; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(age);
  }
};
struct bush : virtual plant {
  int berries = 0;
  [[nodiscard]] std::string kind() const override { return "bush"; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::virtual_base_class<plant>(this), berries);
  }
};
struct climber : virtual plant {
  int length = 0;
  [[nodiscard]] std::string kind() const override { return "climber"; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::virtual_base_class<plant>(this), length);
  }
};
struct rose : bush, climber {
  std::string colour;
  [[nodiscard]] std::string kind() const override { return "rose " + colour; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<bush>(this), cereal::base_class<climber>(this), colour);
  }
};
struct weed : plant {
  std::string name;
  [[nodiscard]] std::string kind() const override { return "weed " + name; }
  template <class Archive>
  void save(Archive& archive) const {
    archive(name); // Omits the base.
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(name);
  }
};

struct plot {
  plot() = default;
  plot(plot&&) = default; // Otherwise it would claim to be copyable, which its list is not.
  plot& operator=(plot&&) = default;
  std::vector<std::unique_ptr<plant>> owned;
  std::map<std::string, std::shared_ptr<plant>> shared;
  std::weak_ptr<plant> favourite;
  std::shared_ptr<bush> same_as_bush;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(owned, shared, favourite, same_as_bush);
  }
};

} // namespace garden

CEREAL_CLASS_VERSION(garden::bed, 2)
CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES(garden::painted_fence, cereal::specialization::member_load_save)
CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES(garden::weed, cereal::specialization::member_load_save)
CEREAL_REGISTER_TYPE(garden::bush)
CEREAL_REGISTER_TYPE(garden::climber)
CEREAL_REGISTER_TYPE(garden::rose)
CEREAL_REGISTER_TYPE_WITH_NAME(garden::weed, "a weed")
CEREAL_REGISTER_POLYMORPHIC_RELATION(garden::plant, garden::weed)

namespace cereal {

template <>
struct LoadAndConstruct<garden::post> {
  template <class Archive>
  static void load_and_construct(Archive& archive, cereal::construct<garden::post>& construct) {
    int height = 0;
    archive(height);
    construct(height);
  }
};

} // namespace cereal

namespace {

using namespace troupe;
using namespace garden;

class cereal_complete : public testing::Test {
protected:
  cereal_complete() { families.add(std::make_unique<cereal_family>()); }

  template <class T>
  payload encoded(const T& value) {
    if (types.find<T>() == nullptr)
      add_cereal<T>(types, "value " + std::to_string(types.entries().size()));
    auto sent = serialize(value, {.serializers = {"cereal"}, .on_error = on_error::raise}, types, families);
    if (!sent)
      throw std::runtime_error(sent.error().message());
    return *std::move(sent);
  }
  template <class T>
  T decoded(const payload& from) {
    auto arrived = deserialize<T>(from, {.deserializers = {"cereal"}}, types, families);
    if (!arrived)
      throw std::runtime_error(arrived.error().message());
    return *std::move(arrived);
  }
  template <class T>
  T back(const T& value) {
    return decoded<T>(encoded(value));
  }
  template <class T>
  payload with_body(std::string_view body) {
    auto made = encoded(T());
    made.frames = {frame::copy_of(std::as_bytes(std::span(body)))};
    return made;
  }
  /// Writes the value with cereal's own archive and reads it with the family.
  template <class T>
  T from_cereals_own(const T& value) {
    std::ostringstream stream;
    {
      cereal::PortableBinaryOutputArchive archive(stream);
      archive(value);
    }
    return decoded<T>(with_body<T>(stream.str()));
  }

  type_registry types;
  family_set families;
};

TEST_F(cereal_complete, functions_beside_the_type) {
  EXPECT_EQ(back(seed{3}).depth, 3);
  EXPECT_EQ(back(label{"mint"}).text, "mint");
  EXPECT_EQ(back(std::vector<label>{{"a"}, {"b"}}).at(1).text, "b");
}

TEST_F(cereal_complete, versions_of_a_class_are_told_to_its_function) {
  bed sent;
  sent.rows = 4;
  sent.sown = season::autumn;
  const auto arrived = back(sent);
  EXPECT_EQ(arrived.rows, 4);
  EXPECT_EQ(arrived.sown, season::autumn);
  using namespace std::string_view_literals;
  const auto old = decoded<bed>(with_body<bed>("\x01\x01\0\0\0\x07\0\0\0"sv)); // Version 1 has no season.
  EXPECT_EQ(old.rows, 7);
  EXPECT_EQ(old.sown, season::spring);
}

TEST_F(cereal_complete, containers_with_functions_of_their_own) {
  EXPECT_EQ(back(heap{{1, -2, 300}}).stones, (std::vector<std::int16_t>{1, -2, 300}));
  EXPECT_EQ(from_cereals_own(heap{{1, -2, 300}}).stones.at(2), 300);
}

TEST_F(cereal_complete, functions_of_its_own_beside_those_of_a_base) {
  painted_fence sent;
  sent.posts = 5;
  sent.paint = "green";
  const auto arrived = back(sent);
  EXPECT_EQ(arrived.posts, 5);
  EXPECT_EQ(arrived.paint, "green");
}

TEST_F(cereal_complete, further_types_of_the_standard_library) {
  EXPECT_EQ(back(std::complex<double>(1, -2)), std::complex<double>(1, -2));
  std::queue<int> queue;
  queue.push(1);
  queue.push(2);
  EXPECT_EQ(back(queue), queue);
  std::stack<std::string> stack;
  stack.push("a");
  EXPECT_EQ(back(stack), stack);
  const std::valarray<float> values = {1, 2.5F};
  EXPECT_EQ(back(values)[1], 2.5F);
}

TEST_F(cereal_complete, unique_shared_and_weak_pointers) {
  pair_of_owners sent;
  sent.alone = std::make_unique<std::string>("alone");
  sent.first = std::make_shared<std::string>("shared");
  sent.second = sent.first;
  const auto arrived = back(sent);
  EXPECT_EQ(*arrived.alone, "alone");
  EXPECT_EQ(arrived.nobody, nullptr);
  EXPECT_EQ(*arrived.first, "shared");
  EXPECT_EQ(arrived.second.lock(), arrived.first);
  const auto of_cereal = from_cereals_own(sent);
  EXPECT_EQ(of_cereal.second.lock(), of_cereal.first);
}

TEST_F(cereal_complete, a_weak_pointer_alone_leads_nowhere) {
  pair_of_owners sent;
  const auto kept = std::make_shared<std::string>("kept at home");
  sent.second = kept;
  EXPECT_EQ(back(sent).second.lock(), nullptr);
}

TEST_F(cereal_complete, weak_pointers_up_a_tree_that_shares_itself) {
  const auto stem = std::make_shared<branch>();
  stem->name = "stem";
  for (const auto* name : {"left", "right"}) {
    stem->twigs.push_back(std::make_shared<branch>());
    stem->twigs.back()->name = name;
    stem->twigs.back()->stem = stem;
  }
  const auto arrived = back(stem);
  EXPECT_EQ(arrived->twigs.at(1)->name, "right");
  EXPECT_EQ(arrived->twigs.at(0)->stem.lock(), arrived);
  EXPECT_EQ(arrived->twigs.at(1)->stem.lock(), arrived);
  EXPECT_EQ(arrived->shared_from_this(), arrived);
}

TEST_F(cereal_complete, objects_constructed_by_functions_outside_the_class) {
  EXPECT_EQ(back(std::make_shared<post>(3))->height, 3);
  EXPECT_EQ(back(std::vector<std::unique_ptr<post>>()).size(), 0U);
  std::unique_ptr<post> sent = std::make_unique<post>(4);
  EXPECT_EQ(back(sent)->height, 4);
}

plot some_plot() {
  plot made;
  auto weedy = std::make_unique<weed>();
  weedy->name = "nettle";
  weedy->age = 9; // Its own functions do not carry this.
  made.owned.push_back(std::move(weedy));
  made.owned.push_back(nullptr);
  made.owned.push_back(std::make_unique<plant>());
  const auto red = std::make_shared<rose>();
  red->age = 3;
  red->berries = 4;
  red->length = 5;
  red->colour = "red";
  made.shared = {{"a", red}, {"b", std::make_shared<climber>()}, {"c", red}, {"d", nullptr}};
  made.favourite = red;
  made.same_as_bush = red;
  return made;
}

void expect_some_plot(const plot& arrived) {
  EXPECT_EQ(arrived.owned.at(0)->kind(), "weed nettle");
  EXPECT_EQ(arrived.owned.at(0)->age, 0);
  EXPECT_EQ(arrived.owned.at(1), nullptr);
  EXPECT_EQ(arrived.owned.at(2)->kind(), "plant");
  const auto red = std::dynamic_pointer_cast<rose>(arrived.shared.at("a"));
  ASSERT_NE(red, nullptr);
  EXPECT_EQ(std::tuple(red->age, red->berries, red->length, red->colour), std::tuple(3, 4, 5, "red"));
  EXPECT_EQ(arrived.shared.at("b")->kind(), "climber");
  EXPECT_EQ(arrived.shared.at("c"), red);
  EXPECT_EQ(arrived.shared.at("d"), nullptr);
  EXPECT_EQ(arrived.favourite.lock(), red);
  EXPECT_EQ(arrived.same_as_bush, red);
}

TEST_F(cereal_complete, polymorphic_pointers_of_every_sort) {
  expect_some_plot(back(some_plot()));
}

TEST_F(cereal_complete, polymorphic_pointers_that_cereals_own_archive_wrote) {
  expect_some_plot(from_cereals_own(some_plot()));
}

TEST_F(cereal_complete, polymorphic_pointers_that_cereals_own_archive_reads) {
  const auto sent = encoded(some_plot());
  const auto body = sent.frames.at(0).bytes();
  std::istringstream stream(std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  cereal::PortableBinaryInputArchive archive(stream);
  plot arrived;
  archive(arrived);
  expect_some_plot(arrived);
}

TEST_F(cereal_complete, a_class_that_is_not_known_here_is_an_error_that_names_it) {
  std::string body(reinterpret_cast<const char*>(encoded(some_plot()).frames.at(0).bytes().data()),
                   encoded(some_plot()).frames.at(0).size_bytes());
  body.replace(body.find("a weed"), 6, "a tree");
  try {
    decoded<plot>(with_body<plot>(body));
    FAIL() << "it was read";
  } catch (const std::runtime_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("a tree"), std::string::npos) << refused.what();
  }
}

} // namespace
