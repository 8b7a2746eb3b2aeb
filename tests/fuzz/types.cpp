#include "types.hpp"

#include <stdexcept>

namespace fuzz {

fraction fraction::rebuild(int over, int under) {
  if (under == 0)
    throw std::domain_error("a fraction over zero");
  return {over, under};
}

odd full_odd() {
  odd it;
  it.weather = {celsius(1), celsius(-2.5)};
  it.shares.emplace(1, fraction(1, 2));
  it.now = celsius(20);
  it.half = std::make_shared<fraction>(1, 2);
  it.nothings.resize(3);
  it.maybe_shared = std::make_shared<std::string>("shared");
  it.shared_maybe = std::make_shared<std::optional<int>>(4);
  const auto list = std::make_shared<std::vector<int>>(3, 7);
  it.lists = {list, nullptr, list};
  it.owned.push_back(std::make_unique<std::optional<std::string>>("owned"));
  it.owned.push_back(std::make_unique<std::optional<std::string>>());
  it.owned.emplace_back();
  it.any_of = std::vector<std::string>{"a", "b"};
  it.by_color = {{rich::color::red, std::nullopt}, {rich::color::blue, std::monostate()}};
  it.twice = {{"k", 1}, {"k", 2}};
  it.by_pair = {{{1, "one"}, {{"yes", true}}}};
  it.frames = {rich::frame_of("first"), troupe::frame(), rich::frame_of("third")};
  const std::vector<float> numbers = {1, 2, 3, 4};
  it.grids = {troupe::array<float>::copy_of(numbers, {2, 2}), troupe::array<float>::copy_of(numbers, {1, 4, 1})};
  it.picture = troupe::array<std::uint8_t>(std::vector<std::uint8_t>{1, 2, 3});
  it.four = {std::byte{1}, std::byte{2}};
  it.letters[1] = 'b';
  it.seconds = std::chrono::duration<double>(1.5);
  it.filled = troupe::writable_array<std::int16_t>({2, 3});
  it.rings = {std::make_shared<ring>(), std::make_shared<ring>()};
  it.rings[1]->next = it.rings[0];
  it.weak = {1, 5, 9};
  it.weak_twice = {{1, true}, {1, false}, {5, true}};
  return it;
}

const troupe::type_registry& types() {
  using namespace troupe;
  static const auto& all = [&]() -> const type_registry& {
    static type_registry made;
    rich::add_to(made);
    add_late(made);
    made.add<ring>("ring").add<odd>("odd").add<std::vector<nothing>>("nothings").add<frame>("frame");
    made.add<album>(
        "album",
        [](const album& from, const context&) -> std::expected<own_form, serialize_error> {
          const auto name = std::as_bytes(std::span(from.name));
          return own_form{{name.begin(), name.end()}, from.pictures};
        },
        [](std::span<const std::byte> header, std::span<const frame> frames,
           const context&) -> std::expected<album, serialize_error> {
          return album{{reinterpret_cast<const char*>(header.data()), header.size()}, {frames.begin(), frames.end()}};
        });
    return made;
  }();
  return all;
}

} // namespace fuzz
