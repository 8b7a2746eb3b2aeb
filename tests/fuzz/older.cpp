#include "older.hpp"

#include "decoding.hpp"

namespace fuzz {

namespace {

using namespace troupe;

enum class color : std::int64_t { blue = -3, red = 1000 };
TROUPE_DESCRIBE_ENUM(color, blue, red)

struct point {
  std::optional<std::string> label = "gone";
  double y = 2;
  std::int64_t x = 1;
};
TROUPE_DESCRIBE(point, label, y, x)

struct leaf {
  std::string name = "leaf";
  std::shared_ptr<int> weight = std::make_shared<int>(4);
};
TROUPE_DESCRIBE(leaf, name, weight)

struct tree {
  std::list<tree> children;
  std::int8_t value = 3;
};
TROUPE_DESCRIBE(tree, children, value)

struct everything {
  frame blob = rich::frame_of("blob");
  bool yes = true;
  int letter = 'b';
  std::uint64_t raw = 5;
  std::int64_t i8 = -5;
  std::optional<std::uint32_t> u16 = 16;
  float i64 = 64;
  std::uint8_t u64 = 6;
  double f32 = 0.5;
  float f64 = 1.5F;
  color paint = color::red;
  std::int16_t bits = 9;
  std::filesystem::path text = "text";
  std::string where = "where";
  std::chrono::duration<std::int32_t, std::milli> wait{7};
  std::chrono::system_clock::time_point when;
  short maybe = 5;
  std::optional<std::optional<std::int64_t>> perhaps = std::optional<std::int64_t>(6);
  std::tuple<short, std::string> two = {2, "two"};
  std::pair<bool, point> gone;
  std::variant<std::string, point, int> one_of = point();
  std::vector<int> fixed = {1, 2, 3};
  std::pair<std::string, std::string> names = {"a", "b"};
  std::array<std::int64_t, 2> built_in = {3, 4};
  std::vector<float> numbers = {1, 2};
  std::vector<std::uint16_t> bytes = {1, 255};
  std::vector<bool> switches = {true, false};
  std::set<std::string> strings = {"s", "t"};
  std::vector<point> points = {{}, {}};
  std::vector<std::uint8_t> queue = {1, 2};
  std::deque<std::string> words = {"v", "w"};
  std::vector<std::int16_t> seen = {3, 4};
  std::array<int, 3> dice = {1, 1, 6};
  std::unordered_map<std::string, std::list<int>> index = {{"i", {1, 2}}};
  std::map<std::string, std::variant<int, point>> lost = {{"l", point()}};
  std::map<std::int64_t, color> paints = {{1, color::blue}};
  std::map<std::string, float> prices = {{"p", 1.0F}};
  std::optional<leaf> owned = leaf();
  std::shared_ptr<leaf> hidden = std::make_shared<leaf>();
  std::shared_ptr<leaf> left = std::make_shared<leaf>();
  std::shared_ptr<leaf> right = left;
  std::weak_ptr<leaf> watched = left;
  tree root{{tree(), tree()}, 1};
  std::optional<std::optional<int>> vanished = std::optional<int>(1);
  std::optional<std::shared_ptr<leaf>> deep = hidden;
  std::monostate nothing;
  array<float> square = array<float>(std::vector<float>{1, 2});
  frame stray = rich::frame_of("stray");
  array<std::int16_t> grid = array<std::int16_t>(std::vector<std::int16_t>{1, 2});
};
TROUPE_DESCRIBE(everything, blob, yes, letter, raw, i8, u16, i64, u64, f32, f64, paint, bits, text, where, wait, when,
                maybe, perhaps, two, gone, one_of, fixed, names, built_in, numbers, bytes, switches, strings, points,
                queue, words, seen, dice, index, lost, paints, prices, owned, hidden, left, right, watched, root,
                vanished, deep, nothing, square, stray, grid)

namespace older {

struct figure {
  virtual ~figure() = default;
  std::shared_ptr<figure> next;
  std::filesystem::path name = "older";
};
TROUPE_DESCRIBE(figure, next, name)

struct disc : figure {
  float radius = 2;
  std::vector<int> gone = {1, 2};
};
TROUPE_DESCRIBE_DERIVED(disc, (figure), gone, radius)

struct late {
  std::optional<double> removed = 1;
  record anything = record::of({{"a", 1}, {"b", record::list{record(2), record("c")}}});
  std::unordered_map<std::string, lockbox> boxes_by_name;
  std::list<std::shared_ptr<figure>> figures;
  std::shared_ptr<figure> lost;
  std::unique_ptr<figure> single = std::make_unique<disc>();
  std::deque<record> records = {record(1.5), record()};
  std::shared_ptr<disc> sun;
  std::unique_ptr<lockbox> top = std::make_unique<lockbox>();
  std::optional<ticket> spare = ticket({rich::frame_of("stamp")});
  std::shared_ptr<record> note = std::make_shared<record>("note");
  std::shared_ptr<record> same_note = note;
  std::list<std::vector<std::int16_t>> rows = {{1, 2}, {}};
};
TROUPE_DESCRIBE(late, removed, anything, boxes_by_name, figures, lost, single, records, sun, top, spare, note,
                same_note, rows)

} // namespace older

template <class T>
payload sent_as_older(const T& value, const type_registry& types) {
  auto sent = serialize(value, {.serializers = {"typed"}, .on_error = on_error::raise}, types, families());
  expect(sent.has_value(), "no older payload", sent ? "" : sent.error().message());
  return std::move(*sent);
}

} // namespace

payload older_late_payload() {
  type_registry types;
  add_late_codecs(types);
  types.add<older::figure>("figure").add<older::disc>("disc").add<older::late>("late");
  older::late value;
  value.sun = std::make_shared<older::disc>();
  value.figures = {value.sun, nullptr, std::make_shared<older::figure>()};
  value.sun->next = value.figures.back();
  value.lost = value.figures.back();
  value.boxes_by_name.emplace("b", lockbox("tin"));
  auto sent = sent_as_older(value, types);
  const auto back = deserialize<fuzz::late>(sent, {}, fuzz::types(), families());
  expect(back.has_value(), "the older payload is refused", back ? "" : back.error().message());
  return sent;
}

payload older_payload() {
  type_registry types;
  types.add<everything>("everything");
  auto sent = sent_as_older(everything(), types);
  const auto back = deserialize<rich::everything>(sent, {}, fuzz::types(), families());
  expect(back.has_value(), "the older payload is refused", back ? "" : back.error().message());
  return sent;
}

} // namespace fuzz
