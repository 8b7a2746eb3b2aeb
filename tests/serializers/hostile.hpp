// Shared by the tests of hostile bytes: target types, and attacks, each with the error that must answer it.
#pragma once

#include <ctime>

#include <gtest/gtest.h>

#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

#include "allocated_bytes.hpp"
#include "rich.hpp"

namespace hostile {

using namespace troupe;

struct nothing {};
TROUPE_DESCRIBE(nothing)

/// Does not know the fields that senders send.
struct unaware {
  int known = 0;
};
TROUPE_DESCRIBE(unaware, known)

/// Takes hundreds of bytes even while empty.
struct large {
  std::string names[16];
};
TROUPE_DESCRIBE(large, names)

/// Takes hundreds of bytes for one received byte.
struct roomy {
  std::optional<std::array<std::int64_t, 64>> part;
};
TROUPE_DESCRIBE(roomy, part)

struct flag {
  bool on = false;
};
TROUPE_DESCRIBE(flag, on)

struct painted {
  rich::color paint = rich::color::red;
};
TROUPE_DESCRIBE(painted, paint)

struct choice {
  std::variant<int, std::string> of;
};
TROUPE_DESCRIBE(choice, of)

struct mixed {
  std::shared_ptr<rich::leaf> leaf;
  std::shared_ptr<rich::point> point;
};
TROUPE_DESCRIBE(mixed, leaf, point)

class late;
struct late_form {
  std::shared_ptr<late> next;
};
TROUPE_DESCRIBE(late_form, next)

/// Exists only once all of it has been read: its parts cannot refer to it.
class late {
public:
  explicit late(std::shared_ptr<late> next) : next_(std::move(next)) {}
  [[nodiscard]] const std::shared_ptr<late>& next() const { return next_; }

private:
  std::shared_ptr<late> next_;
};

struct lateness {
  std::shared_ptr<late> first;
};
TROUPE_DESCRIBE(lateness, first)

struct figure {
  virtual ~figure() = default;
  std::string label;
};
TROUPE_DESCRIBE(figure, label)

struct disc : figure {
  double radius = 0;
};
TROUPE_DESCRIBE_DERIVED(disc, (figure), radius)

struct stranger {
  int value = 0;
};
TROUPE_DESCRIBE(stranger, value)

struct drawing {
  std::vector<std::unique_ptr<figure>> owned;
  std::vector<std::shared_ptr<figure>> shared;
};
TROUPE_DESCRIBE(drawing, owned, shared)

/// Has no description; the registry has its form.
class lockbox {
public:
  lockbox() = default;
  explicit lockbox(std::string content) : content_(std::move(content)) {}
  [[nodiscard]] const std::string& content() const { return content_; }

private:
  std::string content_;
};

struct boxes {
  std::vector<lockbox> all;
};
TROUPE_DESCRIBE(boxes, all)

struct envelope {
  std::string to;
  serialized content;
};
TROUPE_DESCRIBE(envelope, to, content)

/// Travels attribute by attribute.
struct model {
  std::string name;
  int epoch = 0;
  std::vector<double> weights;
  std::vector<std::string> notes;
};
TROUPE_DESCRIBE(model, name, epoch, weights, notes)

using names = std::vector<std::string>;
using leaves = std::vector<std::shared_ptr<rich::leaf>>;
using by_number = std::map<int, int>;
using numbers_once = std::set<int>;
using matrix = std::vector<std::vector<int>>;

/// A registry with all of the types above, and a set with all families.
const type_registry& types();
const family_set& families();

/// The result of decoding.
struct outcome {
  serialize_errc code = serialize_errc::none;
  std::string message;
  std::size_t allocated = 0;
  double seconds = 0; // Processor time.
};

template <class T>
outcome decode(const payload& from, const context& ctx = {}) {
  const auto begun = std::clock();
  const auto before = allocated_bytes.load();
  const auto back = deserialize<T>(from, {.deserializers = {"typed", "msgpack", "json", "cereal"}, .context = ctx},
                                   types(), families());
  outcome made;
  made.allocated = allocated_bytes.load() - before;
  made.seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  if (!back) {
    made.code = back.error().code();
    made.message = back.error().message();
  }
  return made;
}

/// A hostile payload, and how decoding it must end.
struct attack {
  std::string name;
  serialize_errc expected;
  payload sent;
  outcome (*decode)(const payload&, const context&);
  std::size_t allocated_max = 64_KiB;
};

inline void PrintTo(const attack& of, std::ostream* to) {
  *to << of.name;
}

/// Decoding takes longer only in builds that are slowed down on purpose.
inline constexpr double seconds_max = 2;

inline void expect_repelled(const attack& of) {
  const auto result = of.decode(of.sent, {});
  EXPECT_EQ(result.code, of.expected) << result.message;
  EXPECT_LT(result.allocated, of.allocated_max) << result.message;
  EXPECT_LT(result.seconds, seconds_max) << result.message;
}

std::string bytes(std::initializer_list<int> values);
std::string repeated(std::string_view what, std::size_t times);

inline std::vector<std::byte> as_bytes(std::string_view text) {
  const auto span = std::as_bytes(std::span(text));
  return {span.begin(), span.end()};
}

/// The form and fingerprint that precede a value of the family `typed` with this layout.
std::string typed_prelude(std::span<const std::byte> layout);

/// The test name of an attack.
std::string name_of_attack(const testing::TestParamInfo<attack>& of);

/// Seven bits a byte, the lowest first, as `typed` writes numbers.
std::string varint(std::uint64_t value);

/// The header of the family's values of type T.
template <class T>
frame header_by(std::string_view family) {
  return standard_header(*families().find(family), *types().find<T>());
}

/// A payload of `family` with this body. For `typed` and `cereal`, the body follows the prefix of every value.
template <class T>
attack by(std::string_view family, std::string name, serialize_errc expected, const std::string& value,
          std::vector<frame> frames = {}, std::size_t allocated_max = 64_KiB) {
  const auto ahead = family == "typed" ? typed_prelude(types().find<T>()->schema()) : family == "cereal" ? "\x01" : "";
  frames.insert(frames.begin(), rich::frame_of(ahead + value));
  return {.name = std::string(family) + "_" + std::move(name),
          .expected = expected,
          .sent = {header_by<T>(family), std::move(frames)},
          .decode = &decode<T>,
          .allocated_max = allocated_max};
}

} // namespace hostile

template <>
struct troupe::codec<hostile::late> {
  using form = hostile::late_form;
  static std::expected<form, serialize_error> reduce(const hostile::late& value, const context&) {
    return form{value.next()};
  }
  static std::expected<hostile::late, serialize_error> rebuild(form&& from, const context&) {
    return hostile::late(std::move(from.next));
  }
};
