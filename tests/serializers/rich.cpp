#include "rich.hpp"

#include <cmath>

#include <troupe/serializers/cereal/cereal_type.hpp>

namespace rich {

everything full() {
  everything it;
  it.yes = true;
  it.letter = static_cast<char>(0xe4);
  it.raw = std::byte{0x7f};
  it.i8 = -100;
  it.u16 = 60'000;
  it.i64 = INT64_MIN;
  it.u64 = UINT64_MAX;
  it.f32 = 1.5F;
  it.f64 = -0.0;
  it.paint = color::blue;
  it.bits = static_cast<flags>(0x8001);
  it.text = std::string("with \0 within, and \xff", 20);
  it.where = "/tmp/some where";
  it.wait = std::chrono::milliseconds(-1500);
  it.when = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000));
  it.maybe = 5;
  it.perhaps = std::optional<int>();
  it.two = {7, "seven"};
  it.three = {true, {1, 2.5}, "three"};
  it.one_of = point{3, 4};
  it.fixed = {1, 2, 3};
  it.names = {"a", "b"};
  it.built_in[1] = 9;
  it.numbers = {1, 2.25, -0.0, 1e300};
  it.bytes = {std::byte{1}, std::byte{255}};
  it.switches = {true, false, true};
  it.strings = {"", "x", std::string(300, 'y')};
  it.points = {{1, 1}, {2, 2}};
  it.queue = {1, 2, 3};
  it.words = {"one", "two"};
  it.seen = {4, 5};
  it.dice = {6, 6, 1};
  it.index = {{"k", {1, 2}}, {"l", {}}};
  it.paints = {{-1, color::red}, {1, color::green}};
  it.prices = {{"tea", 2.5}};
  it.owned = std::make_unique<leaf>(leaf{"owned"});
  it.left = std::make_shared<leaf>(leaf{"shared"});
  it.right = it.left;
  it.watched = it.left;
  it.root.value = 1;
  it.root.children.resize(2);
  it.root.children[1].value = 2;
  it.root.next = std::make_unique<tree>();
  it.money = {"me", -5};
  it.round.label = "c";
  it.round.radius = 2;
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  it.grid = troupe::array<double>::copy_of(values, {2, 3});
  it.blob = frame_of("out of band");
  return it;
}

std::string difference(const everything& a, const everything& b) {
#define TROUPE_TEST_SAME(member)                                                                                       \
  if (!(a.member == b.member))                                                                                         \
    return #member;
  TROUPE_TEST_SAME(yes)
  TROUPE_TEST_SAME(letter)
  TROUPE_TEST_SAME(raw)
  TROUPE_TEST_SAME(i8)
  TROUPE_TEST_SAME(u16)
  TROUPE_TEST_SAME(i64)
  TROUPE_TEST_SAME(u64)
  TROUPE_TEST_SAME(f32)
  TROUPE_TEST_SAME(paint)
  TROUPE_TEST_SAME(bits)
  TROUPE_TEST_SAME(text)
  TROUPE_TEST_SAME(where)
  TROUPE_TEST_SAME(wait)
  TROUPE_TEST_SAME(when)
  TROUPE_TEST_SAME(maybe)
  TROUPE_TEST_SAME(perhaps)
  TROUPE_TEST_SAME(two)
  TROUPE_TEST_SAME(three)
  TROUPE_TEST_SAME(one_of)
  TROUPE_TEST_SAME(fixed)
  TROUPE_TEST_SAME(names)
  TROUPE_TEST_SAME(built_in[1])
  TROUPE_TEST_SAME(numbers)
  TROUPE_TEST_SAME(bytes)
  TROUPE_TEST_SAME(switches)
  TROUPE_TEST_SAME(strings)
  TROUPE_TEST_SAME(points)
  TROUPE_TEST_SAME(queue)
  TROUPE_TEST_SAME(words)
  TROUPE_TEST_SAME(seen)
  TROUPE_TEST_SAME(dice)
  TROUPE_TEST_SAME(index)
  TROUPE_TEST_SAME(paints)
  TROUPE_TEST_SAME(prices)
  TROUPE_TEST_SAME(owned->name)
  TROUPE_TEST_SAME(left->name)
  TROUPE_TEST_SAME(root)
  TROUPE_TEST_SAME(money)
  TROUPE_TEST_SAME(round)
  TROUPE_TEST_SAME(grid)
#undef TROUPE_TEST_SAME
  if (std::signbit(a.f64) != std::signbit(b.f64) || std::signbit(a.numbers[2]) != std::signbit(b.numbers[2]))
    return "the sign of zero";
  if (b.left != b.right || b.watched.lock() != b.left)
    return "identity";
  return text_of(a.blob) == text_of(b.blob) ? "" : "blob";
}

void add_to(troupe::type_registry& types) {
  troupe::add_cereal<everything>(types, "everything");
  troupe::add_cereal<tree>(types, "tree");
}

} // namespace rich
