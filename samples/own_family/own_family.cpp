// A user-defined family, "lines": a text with one line for each piece of a value. README.md says what to type.
#include <troupe/serializers/extend/family_library.hpp>
#include <troupe/serializers/extend/value_pieces.hpp>
#include <troupe/serializers/extend/visitor_family.hpp>

constexpr std::string_view marks = "-?#t*[{.!&@"; // One character for each troupe::piece_kind.
struct lines_writer final : troupe::piece_writer {
  using piece_writer::piece_writer;
  bool put(const troupe::value_piece& next) override { // For example, "t4:roof" is a text of 4 characters.
    const auto content = next.content();
    return append(marks[static_cast<std::size_t>(next.kind)] + std::to_string(content.size()) + ':' + content + '\n');
  }
};

struct lines_reader final : troupe::piece_reader {
  using piece_reader::piece_reader;
  std::optional<troupe::value_piece> take() override {
    const auto mark = take_characters(1);
    const auto size = troupe::number::parse_as<std::size_t>(take_until(':').value_or(""));
    const auto content = size ? take_characters(*size) : std::nullopt;
    if (!content || take_until('\n') != "")
      return std::nullopt; // The value is then refused.
    return troupe::value_piece::of(static_cast<troupe::piece_kind>(marks.find(*mark)), *content);
  }
};

struct lines_family final : troupe::visitor_family<lines_writer, lines_reader> {
  std::string_view name() const override { return "lines"; }
};
TROUPE_FAMILIES([](troupe::family_set& families) { families.add(std::make_unique<lines_family>()); })
#ifndef LINES_LIBRARY // The program follows. The lines above are the whole library that other programs load.
#include <iostream>
#include <stdexcept>

#include <troupe/troupe.hpp>

struct reading {
  std::string sensor;
  double celsius = 0;
};
TROUPE_DESCRIBE(reading, sensor, celsius)
struct report {
  std::string station;
  std::vector<reading> readings;
};
TROUPE_DESCRIBE(report, station, readings)

int main(int argument_count, char** arguments) try { // own_family [LIBRARY]
  troupe::type_registry types;
  types.add<report>("own_family.report");
  troupe::family_set families;
  if (argument_count > 1)
    troupe::value_or_throw(families.load(arguments[1]));
  else
    families.add(std::make_unique<lines_family>());
  troupe::system_config far_config, near_config;
  caf::actor_system far_system{far_config}, near_system{near_config};
  const auto address = "unix://@own_family-" + std::to_string(getpid());
  const troupe::node_options serving{.listen = {address}, .accepted_links = {.serializers = {"lines"}}, .store = {}};
  auto far = troupe::value_or_throw(troupe::node::open(far_system, types, families, serving));
  troupe::value_or_throw(far.publish("teller", far_system.spawn([&] {
    return caf::behavior{[&](const report& arrived) { return troupe::to_text(*types.find<report>(), &arrived); }};
  })));
  auto near = troupe::value_or_throw(troupe::node::open(near_system, types, families, {.store = {}}));
  auto link = troupe::value_or_throw(near.connect(address, {.serializers = {"lines"}}));
  caf::scoped_actor self{near_system};
  self->request(troupe::value_or_throw(link.find("teller")), std::chrono::seconds(5),
                report{"hill", {{"roof", 21.5}, {"cellar", -3}}})
      .receive([&](const std::string& arrived) { std::cout << link.serializers()[0] << ": " << arrived << '\n'; },
               [](const caf::error& error) { throw std::runtime_error(troupe::text_of(error)); });
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
#endif
