// Writes the fuzz targets' first inputs: real payloads, cut into the parts from which each target rebuilds them.
//   make_seeds FOLDER     makes FOLDER/<target>/<name> for each
#include <cmath>
#include <filesystem>
#include <limits>

#include <troupe/serializers/serialized.hpp>

#include "decoding.hpp"
#include "forged.hpp"
#include "older.hpp"
#include "parts.hpp"
#include "seeds.hpp"

namespace {

using namespace troupe;
using bytes = std::span<const std::byte>;

std::filesystem::path folder;

void write(const std::string& target, const std::string& name, bytes input) {
  fuzz::write_seed(folder, target, name, input);
}

template <class T>
payload sent(const T& value, const std::string& family) {
  auto made = serialize(value, {.serializers = {family}, .on_error = on_error::raise}, fuzz::types(), fuzz::families());
  fuzz::expect(made.has_value(), "no seed", made ? "" : made.error().message());
  return std::move(*made);
}

// The parts come first, then the frames behind the body, last the body without its first `dropped` bytes.
std::vector<std::byte> input_of(std::vector<bytes> parts, const payload& of, std::size_t dropped,
                                std::size_t type = 0) {
  for (std::size_t i = 1; i < of.frames.size(); ++i)
    parts.push_back(of.frames[i].bytes());
  parts.push_back(of.frames[0].bytes().subspan(dropped));
  return fuzz::join(parts, type);
}

void write_any(const std::string& name, const payload& of) {
  write("any", name, input_of({of.header.bytes()}, of, 0));
  write("header", name, of.header.bytes());
  write("payload_bytes", name, *to_bytes(of));
}

template <class T>
void write_any(const std::string& name, const T& value) {
  for (const auto& family : fuzz::families().names())
    write_any(name + "." + family, sent(value, family));
}

// The receiver's layout with one more field, and a value for that field.
void write_layout_with(const std::string& name, const payload& of, bytes layout, bytes field, bytes value,
                       std::size_t type) {
  std::vector<std::byte> longer(layout.begin(), layout.end());
  longer[1] = static_cast<std::byte>(std::to_integer<int>(longer[1]) + 1); // The number of fields.
  for (const auto byte : {1, int{'?'}})
    longer.push_back(static_cast<std::byte>(byte));
  longer.insert(longer.end(), field.begin(), field.end());
  std::vector<std::byte> body(of.frames[0].bytes().begin(), of.frames[0].bytes().end());
  body.insert(body.end(), value.begin(), value.end());
  auto made = of;
  made.frames[0] = frame::adopt(std::move(body));
  write("typed_layout", name, input_of({longer}, made, fuzz::typed_prefix_bytes, type));
}

template <class T>
void write_value(const std::string& name, const T& value) {
  const auto& entry = *fuzz::types().find<T>();
  const auto type = fuzz::number_of(entry);
  const auto typed = sent(value, "typed");
  const auto layout = entry.schema();
  write("typed", name, input_of({}, typed, fuzz::typed_prefix_bytes, type));
  write("msgpack", name, input_of({}, sent(value, "msgpack"), 0, type));
  const auto text = std::string(type, '\t') + rich::text_of(sent(value, "json").frames[0]);
  write("json", name, std::as_bytes(std::span(text)));
  if (layout.size() < 2 || layout[0] != std::byte{0x18})
    return write("typed_layout", name, input_of({layout}, typed, fuzz::typed_prefix_bytes, type)); // No structure.
  const auto same_bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  using namespace std::literals;
  write_layout_with(name + ".number_more", typed, layout, same_bytes("\x04"sv), same_bytes("\1\2\3\4"sv), type);
  // An optional value of the same type, all of which is skipped.
  std::vector<std::byte> again{std::byte{1}};
  const auto body = typed.frames[0].bytes().subspan(fuzz::typed_prefix_bytes);
  again.insert(again.end(), body.begin(), body.end());
  again.push_back(std::byte{0});
  auto twice = typed;
  twice.frames.insert(twice.frames.end(), typed.frames.begin() + 1, typed.frames.end());
  write_layout_with(name + ".itself_more", twice, layout, same_bytes("\x0e\x19\0"sv), again, type);
}

rich::tree nested(std::size_t levels, bool in_lists) {
  rich::tree root;
  for (auto* at = &root; levels > 0; --levels) {
    if (in_lists)
      at = &at->children.emplace_back();
    else
      at = (at->next = std::make_unique<rich::tree>()).get();
  }
  return root;
}

rich::everything extremes() {
  using real = std::numeric_limits<double>;
  auto it = rich::full();
  it.f32 = std::numeric_limits<float>::denorm_min();
  it.f64 = real::infinity();
  it.numbers = {real::quiet_NaN(), -real::infinity(), real::max(), real::denorm_min(), 0.1, 1e23};
  it.i64 = INT64_MAX;
  it.text = "\"\\\n\t\x01\x7f \xc3\xa4 \xe2\x82\xac \xf0\x9f\x8d\xb5";
  it.where = "relative/../path//with/empty/parts/";
  it.one_of = std::string("text");
  it.index = {{"$id", {1}}, {"$$", {}}, {"\xff", {2, 3}}, {"", {}}};
  it.prices = {{"$bytes", real::quiet_NaN()}, {"", -0.0}};
  it.perhaps = 3;
  it.right = std::make_shared<rich::leaf>(rich::leaf{"another"});
  it.watched = it.right;
  it.root.children[0].children.resize(3);
  it.grid = array<double>(std::vector<double>());
  it.blob = frame();
  return it;
}

rich::everything large() {
  auto it = rich::full();
  it.text.assign(4096, 'x');
  it.bytes.assign(4096, std::byte{3});
  return it;
}

// The payload under an alias that the receiver does not have.
payload renamed(payload of) {
  const auto header = parse_header(of.header.bytes());
  of.header = make_header(
      {.family = header->family, .type = "unknown", .schema = header->schema, .frame_codecs = header->frame_codecs});
  return of;
}

// Writes values large enough to be compressed.
void write_compressed() {
  for (const auto how : {compression::lz4, compression::zstd}) {
    const auto name = "compressed." + std::string(to_string(how));
    const auto by = [&](const auto& value, const std::string& family) {
      context ctx;
      ctx.compression = how;
      return *fuzz::serialize_as(*fuzz::types().find<std::remove_cvref_t<decltype(value)>>(), &value,
                                 {.serializers = {family}, .on_error = on_error::raise, .context = ctx});
    };
    std::vector<double> numbers(1'500);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<double>(i);
    std::vector<std::string> texts;
    for (int i = 0; i < 800; ++i)
      texts.push_back("text " + std::to_string(i) + " of many");
    for (const auto& family : fuzz::families().names()) {
      write_any(name + ".numbers." + family, by(numbers, family));
      write_any(name + ".texts." + family, by(texts, family));
    }
    write_any(name + ".within", by(serialized(by(texts, "typed")), "msgpack"));
  }
}

void write_late() {
  auto it = fuzz::full_late();
  write_value("late_default", fuzz::late());
  write_value("late", it);
  const auto unknown = renamed(sent(it, "typed"));
  for (const auto& family : fuzz::families().names())
    write_any("unknown." + family, renamed(sent(it, family)));
  it.payloads = {serialized(sent(fuzz::full_model(), "typed")), serialized(), serialized(unknown)};
  it.payloads.push_back(to_serialize(serialized(sent(record("within"), "msgpack"))));
  write_value("late_with_payloads", it);
  write_any("late", it);
  const auto older = fuzz::older_late_payload();
  write("typed_layout", "older_late",
        input_of({parse_header(older.header.bytes())->schema}, older, fuzz::typed_prefix_bytes, 1));
  write_any("older_late", older);
  write_any("older_unknown", renamed(older));

  fuzz::cut_late_circles(*fuzz::types().find<fuzz::late>(), &it);

  write_value("record", it.anything);
  write_value("record_list", record(it.records));
  write_value("odd", fuzz::full_odd());
  write_any("record", it.anything);
  write_any("serialized", to_serialize(it.anything));
  write_any("model", fuzz::full_model());
  write_any("rows", it.rows);
  const auto by_element = [](const std::string& name, const auto& value) {
    write_any(name,
              *fuzz::serialize_as(
                  *fuzz::types().find<std::remove_cvref_t<decltype(value)>>(), &value,
                  {.serializers = {"typed", "msgpack"}, .on_error = on_error::raise, .iterate = iterate::elements}));
  };
  by_element("elements_texts", std::map<std::string, std::string>{{"k", "v"}, {"", "\xff"}});
  by_element("elements_rows", it.rows);
  by_element("elements_models", fuzz::models{{"a", fuzz::full_model()}, {"b", {}}});
  by_element("elements_choice", fuzz::choice(fuzz::full_model()));
  by_element("elements_choices", fuzz::choices{1, "text", fuzz::disc()});
}

void write_all() {
  write_late();
  write_compressed();
  write_value("full", rich::full());
  write_value("default", rich::everything());
  write_value("extremes", extremes());
  for (const bool in_lists : {false, true}) {
    rich::everything deep;
    deep.root = nested(in_lists ? 120 : 240, in_lists);
    write_value(in_lists ? "deep_lists" : "deep_pointers", deep);
    write_any(in_lists ? "deep_lists" : "deep_pointers", nested(in_lists ? 120 : 240, in_lists));
  }
  const auto out_of_band = sent(large(), "typed");
  write("typed", "large", input_of({}, out_of_band, fuzz::typed_prefix_bytes));

  const auto older = fuzz::older_payload();
  const auto header = parse_header(older.header.bytes());
  write("typed_layout", "older", input_of({header->schema}, older, fuzz::typed_prefix_bytes));

  write_any("full", rich::full());
  write_any("odd", fuzz::full_odd());
  write_any("odd_default", fuzz::odd());
  fuzz::ring circle;
  circle.next = std::make_shared<fuzz::ring>();
  circle.next->next = circle.next;
  write_any("ring", circle);
  circle.next->next.reset();
  auto chain = fuzz::odd();
  for (int i = 0; i < 600; ++i) {
    chain.rings.push_back(std::make_shared<fuzz::ring>());
    if (i > 0)
      chain.rings.back()->next = chain.rings[chain.rings.size() - 2];
  }
  write_any("chain", chain);
  auto colliding = fuzz::odd();
  for (int i = 0; i < 1200; ++i)
    colliding.weak.insert(4 * i);
  write_any("colliding", colliding);
  auto flat = fuzz::odd();
  flat.grids = {*array<float>::filled(1, std::vector<std::size_t>(20, 6)), *array<float>::filled(1, {1 << 20})};
  write_any("repeated", flat);
  write_any("nothings", std::vector<fuzz::nothing>(5));
  write_any("texts", std::map<std::string, std::string>{{"k", "v"}, {"", "\xff"}});
  write_any("frame", rich::frame_of("frame"));
  write_any("list", std::vector<double>{1, 2.5});
  write_any("bytes", std::vector<std::byte>(5));
  write_any("number", std::int16_t{-5});
  write_any("array", array<std::int32_t>(std::vector<std::int32_t>{1, 2, 3}));
  write_any("album", sent(fuzz::album{"sea", {rich::frame_of("waves"), rich::frame_of("sand")}}, "typed"));
  write_any("error", {make_header({.family = "error", .type = "ring", .schema = {}, .extra = {}}),
                      {rich::frame_of("why it could not be sent")}});
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  folder = arguments[1];
  write_all();
  fuzz::write_wire_seeds(folder);
  fuzz::write_script_seeds(folder);
  fuzz::write_tape_seeds(folder);
  return 0;
}
