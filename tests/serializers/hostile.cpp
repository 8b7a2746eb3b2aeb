#include "hostile.hpp"

#include <cstring>

#include <troupe/serializers/cereal/cereal_type.hpp>

namespace hostile {

const type_registry& types() {
  static const auto& all = []() -> const type_registry& {
    static type_registry made;
    rich::add_to(made);
    made.add<lockbox>("lockbox").register_serializer<lockbox>([](const lockbox& box) { return box.content(); },
                                                              [](std::string content) { return lockbox(content); });
    made.add<unaware>("unaware")
        .add<large>("large")
        .add<std::vector<large>>("larges")
        .add<std::vector<roomy>>("roomy")
        .add<std::vector<unaware>>("unawares")
        .add<lateness>("lateness");
    made.add<figure>("figure").add<disc>("disc").add<stranger>("stranger").add<drawing>("drawing").add<boxes>("boxes");
    made.add<envelope>("envelope").add<matrix>("matrix");
    made.register_generic<model>("model");
    add_cereal<by_number>(made, "by number");
    add_cereal<numbers_once>(made, "numbers once");
    add_cereal<flag>(made, "flag");
    add_cereal<painted>(made, "painted");
    add_cereal<choice>(made, "choice");
    add_cereal<mixed>(made, "mixed");
    add_cereal<leaves>(made, "leaves");
    add_cereal<std::vector<nothing>>(made, "nothings");
    add_cereal<std::vector<rich::point>>(made, "points");
    add_cereal<std::vector<frame>>(made, "frames");
    return made;
  }();
  return all;
}

const family_set& families() {
  static const auto all = [] {
    family_set made;
    made.add(std::make_unique<cereal_family>());
    return made;
  }();
  return all;
}

std::string bytes(std::initializer_list<int> values) {
  std::string made;
  for (const auto each : values)
    made += static_cast<char>(each);
  return made;
}

std::string repeated(std::string_view what, std::size_t times) {
  std::string made;
  made.reserve(what.size() * times);
  for (std::size_t i = 0; i < times; ++i)
    made += what;
  return made;
}

std::string name_of_attack(const testing::TestParamInfo<attack>& of) {
  return of.param.name;
}

std::string varint(std::uint64_t value) {
  std::string made;
  for (; value >= 0x80; value >>= 7)
    made += static_cast<char>(value | 0x80);
  return made + static_cast<char>(value);
}

std::string typed_prelude(std::span<const std::byte> layout) {
  std::string made(1 + sizeof(std::uint32_t), '\x01');
  const auto fingerprint = detail::fingerprint_of(layout);
  std::memcpy(made.data() + 1, &fingerprint, sizeof(fingerprint));
  return made;
}

} // namespace hostile
