// The family cereal: every sort of cereal functions, bytes that the library's own archives read and write, and refused
// input. conformance.test.cpp tests the properties that cereal shares with the other families.
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/bitset.hpp>
#include <cereal/types/polymorphic.hpp>

#include <troupe/serializers/cereal/cereal_type.hpp>

#include "allocated_bytes.hpp"
#include "rich.hpp"

namespace lamps {

// One function for both directions. Not described: only cereal carries it.
struct lamp {
  std::string room;
  double lumens = 0;
  std::vector<std::int32_t> hours;
  bool operator==(const lamp&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(room), lumens, hours);
  }
};

// Two functions, private members, a version that travels.
class dimmer {
public:
  dimmer() = default;
  explicit dimmer(int level) : level_(level) {}
  [[nodiscard]] int level() const { return level_; }

private:
  friend class cereal::access;
  template <class Archive>
  void save(Archive& archive, std::uint32_t) const {
    archive(level_ * 2);
  }
  template <class Archive>
  void load(Archive& archive, std::uint32_t version) {
    int doubled = 0;
    archive(doubled);
    level_ = version == 3 ? doubled / 2 : -1;
  }

  int level_ = 0;
};

// Travels as one plain value.
struct colour {
  std::uint32_t rgb = 0;
  template <class Archive>
  std::string save_minimal(const Archive&) const {
    return std::to_string(rgb);
  }
  template <class Archive>
  void load_minimal(const Archive&, const std::string& text) {
    rgb = static_cast<std::uint32_t>(std::stoul(text));
  }
};

// Functions outside the type.
struct spot {
  float x = 0;
  float y = 0;
};
template <class Archive>
void save(Archive& archive, const spot& of) {
  archive(of.x, of.y);
}
template <class Archive>
void load(Archive& archive, spot& of) {
  archive(of.x, of.y);
}

struct silent : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};

struct faulty {
  bool in_save = false;
  bool in_silence = false;
  template <class Archive>
  void save(Archive& archive) const {
    if (in_silence)
      throw silent();
    if (in_save)
      throw std::domain_error("cannot be saved");
    archive(in_save);
  }
  template <class Archive>
  void load(Archive&) {
    throw 5;
  }
};

// Polymorphic, with an abstract base.
struct light {
  int watts = 0;
  virtual ~light() = default;
  [[nodiscard]] virtual std::string kind() const = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(watts);
  }
};
struct bulb : light {
  std::string socket;
  [[nodiscard]] std::string kind() const override { return "bulb " + socket; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<light>(this), socket);
  }
};
struct unheard_of : light {
  [[nodiscard]] std::string kind() const override { return "unheard of"; }
};

// Pointers that may share an object or form a circle.
struct chain {
  std::shared_ptr<chain> next;
  std::shared_ptr<std::string> name;
  std::vector<std::shared_ptr<std::string>> names;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next, name, names);
  }
};

// Has no default constructor; cereal constructs it behind pointers.
struct fuse {
  explicit fuse(int of) : amperes(of) {}
  int amperes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(amperes);
  }
  template <class Archive>
  static void load_and_construct(Archive& archive, cereal::construct<fuse>& construct) {
    int amperes = 0;
    archive(amperes);
    construct(amperes);
  }
};

// Cereal functions around members that have none: a described struct, and this project's arrays and frames.
struct album {
  rich::point at;
  troupe::array<double> pixels;
  troupe::frame raw;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, pixels, raw);
  }
};

// Has a description and cereal functions: the functions are used.
struct both {
  int value = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
};
TROUPE_DESCRIBE(both, value)

struct room {
  std::string name;
  std::vector<lamp> lamps;
};
TROUPE_DESCRIBE(room, name, lamps)

struct room_of_two_floors {
  std::string name;
  std::vector<lamp> lamps;
  int floor = 0;
};
TROUPE_DESCRIBE(room_of_two_floors, name, lamps, floor)

} // namespace lamps

CEREAL_CLASS_VERSION(lamps::dimmer, 3)
CEREAL_REGISTER_TYPE(lamps::bulb)

namespace {

using namespace troupe;
using namespace lamps;

class cereal_test : public testing::Test {
protected:
  cereal_test() {
    families.add(std::make_unique<cereal_family>());
    add_cereal<lamp>(types, "lamp");
  }

  /// Registers T if it is not registered yet. The alias does not matter here.
  template <class T>
  void know() {
    if (types.find<T>() == nullptr)
      add_cereal<T>(types, detail::type_text(typeid(T)));
  }

  template <class T>
  std::expected<payload, serialize_error> encoded(const T& value, std::vector<std::string> by = {"cereal"}) {
    know<T>();
    return serialize(value, {.serializers = std::move(by), .on_error = on_error::raise, .context = ctx}, types,
                     families);
  }

  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from) {
    know<T>();
    return deserialize<T>(from, {.deserializers = {"cereal"}, .context = ctx}, types, families);
  }

  template <class T>
  T back(const T& value) {
    const auto sent = encoded(value);
    if (!sent)
      throw std::runtime_error(sent.error().message());
    auto arrived = decoded<T>(*sent);
    if (!arrived)
      throw std::runtime_error(arrived.error().message());
    return *std::move(arrived);
  }

  /// Returns a payload of type T with this body.
  template <class T>
  payload with_body(std::string_view body) {
    auto made = *encoded(T());
    made.frames = {rich::frame_of(body)};
    return made;
  }

  template <class T>
  std::string error_of(const payload& from) {
    const auto arrived = decoded<T>(from);
    return arrived ? "none" : arrived.error().message();
  }

  static lamp some_lamp() { return {"kitchen", -0.0, {1, -2, 300'000}}; }

  type_registry types;
  family_set families;
  context ctx;
};

// -- values

TEST_F(cereal_test, carries_types_by_every_sort_of_cereal_function) {
  EXPECT_EQ(back(some_lamp()), some_lamp());
  EXPECT_EQ(back(dimmer(21)).level(), 21);
  EXPECT_EQ(back(std::vector<dimmer>{dimmer(1), dimmer(2)}).at(1).level(), 2);
  EXPECT_EQ(back(colour{0xff8800}).rgb, 0xff8800U);
  EXPECT_EQ(back(spot{1, 2.5F}).y, 2.5F);
  EXPECT_EQ(back(both{7}).value, 7);
}

TEST_F(cereal_test, carries_types_of_the_standard_library_alone) {
  const std::map<std::string, std::vector<int>> index = {{"a", {1}}, {"b", {}}};
  EXPECT_EQ(back(index), index);
  const std::set<std::pair<int, std::string>> pairs = {{1, "x"}, {2, "y"}};
  EXPECT_EQ(back(pairs), pairs);
  const std::list<std::optional<std::variant<int, std::string>>> mixed = {std::nullopt, 5, "five"};
  EXPECT_EQ(back(mixed), mixed);
  EXPECT_EQ(back(std::chrono::milliseconds(-3)), std::chrono::milliseconds(-3));
  EXPECT_EQ(back(std::bitset<70>("1011")).to_string(), std::bitset<70>("1011").to_string());
}

TEST_F(cereal_test, carries_what_every_registry_knows_without_being_told) {
  type_registry fresh;
  const std::vector<std::string> texts = {"a", std::string(300, 'b')};
  const auto sent = serialize(texts, {.serializers = {"cereal"}, .on_error = on_error::raise}, fresh, families);
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_EQ(deserialize<std::vector<std::string>>(*sent, {.deserializers = {"cereal"}}, fresh, families), texts);
  for (const auto* entry : fresh.entries())
    EXPECT_EQ(families.find("cereal")->unsupported(*entry), "") << entry->alias();
}

TEST_F(cereal_test, keeps_the_identity_of_shared_objects_and_circles) {
  chain start;
  start.name = std::make_shared<std::string>("one");
  start.names = {start.name, std::make_shared<std::string>("two"), start.name, nullptr};
  start.next = std::make_shared<chain>();
  start.next->next = start.next;
  auto arrived = back(start);
  EXPECT_EQ(*arrived.name, "one");
  EXPECT_EQ(arrived.names[0], arrived.name);
  EXPECT_EQ(arrived.names[2], arrived.name);
  EXPECT_EQ(*arrived.names[1], "two");
  EXPECT_EQ(arrived.names[3], nullptr);
  EXPECT_EQ(arrived.next->next, arrived.next);
  start.next->next.reset();
  arrived.next->next.reset();
}

TEST_F(cereal_test, keeps_the_dynamic_type_of_polymorphic_objects) {
  auto one = std::make_shared<bulb>();
  one->watts = 60;
  one->socket = "E27";
  const auto arrived = back(std::vector<std::shared_ptr<light>>{one, nullptr, one});
  EXPECT_EQ(arrived.at(0)->kind(), "bulb E27");
  EXPECT_EQ(arrived.at(0)->watts, 60);
  EXPECT_EQ(arrived.at(2), arrived.at(0));
  EXPECT_EQ(back(std::unique_ptr<light>(std::make_unique<bulb>()))->kind(), "bulb ");
}

TEST_F(cereal_test, carries_objects_that_cereal_itself_constructs) {
  EXPECT_EQ(back(std::make_shared<fuse>(16))->amperes, 16);
}

TEST_F(cereal_test, arrays_and_frames_within_cereals_functions_leave_without_a_copy) {
  album sent;
  sent.at = {3, 4};
  sent.pixels = troupe::array<double>(std::vector<double>(10'000, 0.5));
  sent.raw = rich::frame_of("raw");
  const auto made = encoded(sent);
  ASSERT_TRUE(made) << made.error().message();
  ASSERT_EQ(made->frames.size(), 3U);
  EXPECT_EQ(made->frames[1].bytes().data(), sent.pixels.bytes().bytes().data());
  const auto arrived = decoded<album>(*made);
  ASSERT_TRUE(arrived) << arrived.error().message();
  EXPECT_EQ(arrived->at, sent.at);
  EXPECT_EQ(arrived->pixels.data(), sent.pixels.data());
  EXPECT_EQ(rich::text_of(arrived->raw), "raw");
}

TEST_F(cereal_test, described_structs_hold_members_with_cereal_functions) {
  const auto arrived = back(room{"attic", {some_lamp(), {}}});
  EXPECT_EQ(arrived.name, "attic");
  EXPECT_EQ(arrived.lamps.at(0), some_lamp());
}

TEST_F(cereal_test, versioned_types_may_be_encoded_by_many_threads) {
  know<dimmer>();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round)
        EXPECT_EQ(back(dimmer(round)).level(), round);
    });
}

// -- the encoded form

TEST_F(cereal_test, writes_what_the_librarys_own_archive_reads) {
  const auto sent = encoded(some_lamp());
  ASSERT_TRUE(sent);
  std::istringstream stream(rich::text_of(sent->frames[0]));
  cereal::PortableBinaryInputArchive archive(stream);
  lamp arrived;
  archive(arrived);
  EXPECT_EQ(arrived, some_lamp());
}

TEST_F(cereal_test, reads_what_the_librarys_own_archive_writes) {
  std::ostringstream stream;
  {
    cereal::PortableBinaryOutputArchive archive(stream);
    archive(some_lamp());
  }
  const auto arrived = decoded<lamp>(with_body<lamp>(stream.str()));
  ASSERT_TRUE(arrived) << arrived.error().message();
  EXPECT_EQ(*arrived, some_lamp());
}

TEST_F(cereal_test, has_golden_bytes) {
  using namespace std::string_view_literals;
  const auto sent = encoded(lamp{"hall", 1.5, {-1}});
  ASSERT_TRUE(sent);
  EXPECT_EQ(rich::text_of(sent->frames[0]), "\x01"                   // little-endian
                                            "\x04\0\0\0\0\0\0\0hall" // a size, the characters
                                            "\0\0\0\0\0\0\xf8\x3f"   // 1.5
                                            "\x01\0\0\0\0\0\0\0"     // one element
                                            "\xff\xff\xff\xff"sv);
  EXPECT_TRUE(parse_header(sent->header.bytes())->schema.empty());
}

// -- choosing the family

TEST_F(cereal_test, is_in_no_set_from_the_start_and_needs_trust) {
  EXPECT_EQ(family_set().find("cereal"), nullptr);
  EXPECT_TRUE(families.find("cereal")->needs_trust());
  EXPECT_FALSE(families.find("typed")->needs_trust());
}

TEST_F(cereal_test, takes_what_the_families_before_it_cannot_carry) {
  const auto sent = encoded(some_lamp(), {"typed", "msgpack", "cereal"});
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_EQ(parse_header(sent->header.bytes())->family, "cereal");
  const auto refused = encoded(some_lamp(), {"typed", "msgpack"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::not_supported);
  EXPECT_NE(refused.error().message().find(
                "no family of [typed, msgpack] can carry 'lamp': lamps::lamp has neither TROUPE_DESCRIBE"),
            std::string::npos)
      << refused.error().message();
}

TEST_F(cereal_test, leaves_types_that_were_not_given_to_it_to_the_next_family) {
  types.add<rich::point>("point");
  const auto sent = encoded(rich::point{1, 2}, {"cereal", "typed"});
  ASSERT_TRUE(sent);
  EXPECT_EQ(parse_header(sent->header.bytes())->family, "typed");
  const auto refused = encoded(rich::point{1, 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "no family of [cereal] can carry 'point': it was not registered "
                                       "with add_cereal<T>(types, alias)");
}

TEST_F(cereal_test, is_refused_before_anything_is_decoded_where_it_is_not_accepted) {
  const auto sent = encoded(some_lamp());
  const auto refused = deserialize<lamp>(*sent, {.deserializers = {"typed", "msgpack"}}, types, families);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
  EXPECT_EQ(refused.error().message(), "data serialized with cereal but this link only accepts [typed, msgpack]");
}

TEST_F(cereal_test, a_clash_of_aliases_is_refused) {
  EXPECT_THROW(add_cereal<spot>(types, "lamp"), registration_error);
}

// -- errors

TEST_F(cereal_test, what_functions_throw_becomes_an_error) {
  const auto saved = encoded(faulty{true});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code(), serialize_errc::codec_failed);
  EXPECT_EQ(saved.error().message(), "cereal: lamps::faulty: a cereal function threw: cannot be saved");
  const auto silently = encoded(faulty{true, true});
  ASSERT_FALSE(silently);
  EXPECT_EQ(silently.error().message(), "cereal: lamps::faulty: a cereal function threw: an exception without a text");
  const auto sent = encoded(faulty{false});
  ASSERT_TRUE(sent);
  EXPECT_EQ(error_of<faulty>(*sent),
            "cereal: lamps::faulty: a cereal function threw: an object that is not a std::exception");
}

TEST_F(cereal_test, what_cereal_does_not_find_in_the_bytes_is_an_error_that_says_why) {
  using namespace std::string_view_literals;
  const auto refused = decoded<std::shared_ptr<light>>(with_body<std::shared_ptr<light>>("\x01\x07\0\0\0"sv));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::malformed);
  EXPECT_NE(refused.error().message().find(
                "cereal cannot read the bytes: Error while trying to deserialize a polymorphic pointer. Could not find "
                "type id 7 (they are damaged, or the sender's cereal functions or registered classes differ from"),
            std::string::npos)
      << refused.error().message();
}

TEST_F(cereal_test, a_polymorphic_type_that_cereal_does_not_know_is_an_error_that_names_it) {
  const auto refused = encoded(std::shared_ptr<light>(std::make_shared<unheard_of>()));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("unregistered polymorphic type (lamps::unheard_of)"), std::string::npos)
      << refused.error().message();
}

TEST_F(cereal_test, two_objects_at_one_address_are_refused_not_mixed_up) {
  const auto whole = std::make_shared<std::pair<std::string, int>>("x", 1);
  const std::shared_ptr<std::string> part(whole, &whole->first);
  const auto refused = encoded(std::pair(whole, part));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::not_supported);
}

TEST_F(cereal_test, a_value_cut_at_any_byte_is_refused) {
  const auto body = rich::text_of(encoded(some_lamp())->frames[0]);
  for (std::size_t length = 0; length < body.size(); ++length)
    EXPECT_FALSE(decoded<lamp>(with_body<lamp>(body.substr(0, length)))) << "cut at byte " << length;
  auto none = with_body<lamp>("");
  none.frames.clear();
  EXPECT_FALSE(decoded<lamp>(none));
}

TEST_F(cereal_test, bytes_behind_the_value_are_refused) {
  const auto body = rich::text_of(encoded(some_lamp())->frames[0]);
  EXPECT_EQ(error_of<lamp>(with_body<lamp>(body + "xy")), "cereal: lamp: 2 bytes are left over after the value");
}

TEST_F(cereal_test, big_endian_values_are_refused) {
  auto body = rich::text_of(encoded(some_lamp())->frames[0]);
  body[0] = 0;
  EXPECT_EQ(error_of<lamp>(with_body<lamp>(body)), "cereal: lamp: the first byte is 0, not 1 for little-endian");
}

TEST_F(cereal_test, flipped_bits_do_no_harm_to_simple_types) {
  chain start;
  start.name = std::make_shared<std::string>("one");
  start.names = {start.name, std::make_shared<std::string>("two")};
  start.next = std::make_shared<chain>();
  const auto one = std::make_shared<bulb>();
  const auto survive = [&]<class T>(const T& value) {
    const auto body = rich::text_of(encoded(value)->frames[0]);
    for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
      auto flipped = body;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      auto arrived = decoded<T>(with_body<T>(flipped));
      if constexpr (std::is_same_v<T, chain>)
        if (arrived && arrived->next)
          arrived->next->next.reset(); // The damage may have made it a circle.
    }
  };
  survive(some_lamp());
  survive(room{"attic", {some_lamp()}});
  survive(start);
  survive(std::vector<std::shared_ptr<light>>{one, one});
}

TEST_F(cereal_test, sizes_are_charged_before_anything_is_allocated) {
  using namespace std::string_view_literals;
  const auto huge = "\x01\0\0\0\0\0\x10\0\0"sv; // 2^44 elements
  know<std::vector<lamp>>();
  const auto texts = with_body<std::string>(huge);
  const auto numbers = with_body<std::vector<double>>(huge);
  const auto lamps = with_body<std::vector<lamp>>(huge);
  const auto before = allocated_bytes.load();
  EXPECT_NE(error_of<std::string>(texts), "none");
  EXPECT_NE(error_of<std::vector<double>>(numbers), "none");
  EXPECT_NE(error_of<std::vector<lamp>>(lamps), "none");
  EXPECT_LT(allocated_bytes.load() - before, 16'384U);
}

TEST_F(cereal_test, a_shared_object_of_another_type_cannot_be_referred_to) {
  using namespace std::string_view_literals;
  using pointers = std::pair<std::shared_ptr<std::int32_t>, std::shared_ptr<std::string>>;
  const auto body = "\x01\x01\0\0\x80\x05\0\0\0\x01\0\0\0"sv; // Number 1, which is 5; number 1 again.
  EXPECT_NE(error_of<pointers>(with_body<pointers>(body)).find("shared object 1, which is of another type"),
            std::string::npos);
}

TEST_F(cereal_test, another_version_of_a_described_type_is_refused) {
  add_cereal<room>(types, "room");
  type_registry later;
  add_cereal<room_of_two_floors>(later, "room");
  const auto sent = serialize(room_of_two_floors{"attic", {}, 2}, {.serializers = {"cereal"}}, later, families);
  ASSERT_TRUE(sent);
  const auto refused = decoded<room>(*sent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::layout_mismatch);
  const auto fingerprint = [](const type_registry& of) { return of.find(std::string_view("room"))->fingerprint(); };
  EXPECT_EQ(refused.error().message(),
            "cereal: room: the sender has another version of the type ("
                + detail::fingerprints_text(fingerprint(later), fingerprint(types))
                + "), which this family cannot read; build both ends from one version of it, or send it by typed or "
                  "msgpack");
}

} // namespace
