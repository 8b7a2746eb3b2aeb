// Writes what the fuzz targets begin with: real payloads, cut into parts as each target puts them together again.
//   make_seeds FOLDER     makes FOLDER/<target>/<name> for each
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "decoding.hpp"
#include "forged.hpp"
#include "older.hpp"
#include "parts.hpp"

namespace {

using namespace troupe;
using bytes = std::span<const std::byte>;

std::filesystem::path folder;

void write(const std::string& target, const std::string& name, bytes input) {
  std::filesystem::create_directories(folder / target);
  std::ofstream file(folder / target / name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  fuzz::expect(file.good(), "cannot write", (folder / target / name).native());
}

template <class T>
payload sent(const T& value, const std::string& family) {
  auto made = serialize(value, {.serializers = {family}, .on_error = on_error::raise}, fuzz::types(), fuzz::families());
  fuzz::expect(made.has_value(), "no seed", made ? "" : made.error().message());
  return std::move(*made);
}

// Parts in front, the frames behind the body, the body without its first bytes.
std::vector<std::byte> input_of(std::vector<bytes> parts, const payload& of, std::size_t dropped) {
  for (std::size_t i = 1; i < of.frames.size(); ++i)
    parts.push_back(of.frames[i].bytes());
  parts.push_back(of.frames[0].bytes().subspan(dropped));
  return fuzz::join(parts);
}

void write_any(const std::string& name, const payload& of) {
  write("any", name, input_of({of.header.bytes()}, of, 0));
  write("header", name, of.header.bytes());
}

template <class T>
void write_any(const std::string& name, const T& value) {
  for (const auto& family : fuzz::families().names())
    write_any(name + "." + family, sent(value, family));
}

// The layout with one field more than the receiver's, and the value of that field.
void write_layout_with(const std::string& name, const payload& of, bytes layout, bytes field, bytes value) {
  std::vector<std::byte> longer(layout.begin(), layout.end());
  longer[1] = static_cast<std::byte>(std::to_integer<int>(longer[1]) + 1); // The number of fields.
  for (const auto byte : {1, int{'?'}})
    longer.push_back(static_cast<std::byte>(byte));
  longer.insert(longer.end(), field.begin(), field.end());
  std::vector<std::byte> body(of.frames[0].bytes().begin(), of.frames[0].bytes().end());
  body.insert(body.end(), value.begin(), value.end());
  auto made = of;
  made.frames[0] = frame::adopt(std::move(body));
  write("typed_layout", name, input_of({longer}, made, fuzz::typed_prefix_bytes));
}

void write_everything(const std::string& name, const rich::everything& value) {
  const auto typed = sent(value, "typed");
  const auto layout = fuzz::types().find("everything")->schema();
  write("typed", name, input_of({}, typed, fuzz::typed_prefix_bytes));
  write("msgpack", name, input_of({}, sent(value, "msgpack"), 0));
  write("json", name, sent(value, "json").frames[0].bytes());
  const auto same_bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  using namespace std::literals;
  write_layout_with(name + ".number_more", typed, layout, same_bytes("\x04"sv), same_bytes("\1\2\3\4"sv));
  // An optional value of the very type, all of which is passed over.
  std::vector<std::byte> again{std::byte{1}};
  const auto body = typed.frames[0].bytes().subspan(fuzz::typed_prefix_bytes);
  again.insert(again.end(), body.begin(), body.end());
  again.push_back(std::byte{0});
  auto twice = typed;
  twice.frames.insert(twice.frames.end(), typed.frames.begin() + 1, typed.frames.end());
  write_layout_with(name + ".itself_more", twice, layout, same_bytes("\x0e\x19\0"sv), again);
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

void write_all() {
  write_everything("full", rich::full());
  write_everything("default", {});
  write_everything("extremes", extremes());
  for (const bool in_lists : {false, true}) {
    rich::everything deep;
    deep.root = nested(in_lists ? 120 : 240, in_lists);
    write_everything(in_lists ? "deep_lists" : "deep_pointers", deep);
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
  return 0;
}
