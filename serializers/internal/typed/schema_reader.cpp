#include <troupe/serializers/internal/typed/schema_reader.hpp>

#include <algorithm>

#include <troupe/serializers/internal/coding/dynamic.hpp>
#include <troupe/serializers/internal/typed/typed_walk.hpp>

namespace troupe::detail {

schema_reader::schema_reader(const troupe::context& ctx, std::span<const std::byte> schema,
                             std::span<const std::byte> body, std::size_t prefix_bytes, std::span<const frame> frames,
                             std::size_t received_bytes)
    : value_reader(ctx, received_bytes),
      body_bytes_(body.size()),
      wire_(ctx, body.subspan(prefix_bytes), frames, received_bytes) {
  std::size_t root = 0;
  static_cast<void>(parse(schema, root)); // If it fails, every later call fails.
}

schema_reader::schema_reader(const typed_reader& from)
    : value_reader(from.context(), 0), nodes_(1), wire_(from.context(), from) {}

void schema_reader::begin_named(typed_reader& from, std::size_t number) {
  exchange_state(from);
  wire_.resume(from);
  std::size_t node = 0;
  if (named_node(number, *type_named(number), node))
    expect(node);
}

void schema_reader::hand_back(typed_reader& from) {
  from.exchange_state(*this);
  from.resume(wire_);
  if (failed())
    from.fail_as(*this);
}

bool schema_reader::transfer() {
  if (!failed())
    fail(serialize_errc::malformed, wire_.reason());
  return false;
}

bool schema_reader::nullable(std::size_t node) const {
  const auto code = static_cast<schema_code>(nodes_[behind_forms(node)].code);
  return code == schema_code::optional || code == schema_code::shared || code == schema_code::none
         || code == schema_code::record || code == schema_code::foreign;
}

void schema_reader::expect(std::size_t node, state as) {
  node_ = node;
  state_ = as;
}

// The node of a type that the input named. Parsed when it is first needed.
bool schema_reader::named_node(std::size_t number, const named_type& named, std::size_t& node) {
  if (named_nodes_.size() <= number)
    named_nodes_.resize(number + 1);
  if (named_nodes_[number] == 0 && !parse(named.layout, named_nodes_[number]))
    return false;
  node = named_nodes_[number];
  return !failed();
}

// Reads the form that a value of the registry's codec names, and expects that form next.
bool schema_reader::enter_foreign() {
  named_type named;
  std::size_t number = 0;
  bool is_named = false;
  std::size_t node = 0;
  if (!read_named_type(wire_, *this, named, number, is_named))
    return transfer();
  if (!is_named)
    return fail(serialize_errc::malformed, "a value that does not state its form");
  if (!named_node(number, named, node))
    return false;
  expect(node);
  return true;
}

bool schema_reader::enter_record() {
  std::uint64_t alternative = 0;
  if (!varint(alternative))
    return false;
  if (alternative >= here().parts.size())
    return fail(serialize_errc::malformed, "alternative " + grouped(alternative) + " of a record");
  expect(here().parts[alternative]);
  return true;
}

bool schema_reader::begin_pointee(level& opened) {
  named_type named;
  std::size_t number = 0;
  bool is_named = false;
  if (!read_named_type(wire_, *this, named, number, is_named))
    return transfer();
  opened.value = here().parts[0];
  if (is_named && !named_node(number, named, opened.value))
    return false;
  opened.label = named.alias;
  return true;
}

// Only maps need to know that their key is complete. All other levels set what comes next in next() or field().
void schema_reader::complete() {
  if (levels_.empty() || !levels_.back().at_key)
    return;
  levels_.back().at_key = false;
  expect(nodes_[levels_.back().node].parts[1]);
}

// A present optional looks like its value, unless that value could itself be null.
bool schema_reader::settle() {
  while (!failed()
         && (is(schema_code::foreign) || is(schema_code::record) || is(schema_code::form)
             || (is(schema_code::optional) && !nullable(here().parts[0])))) {
    if (is(schema_code::form)) {
      expect(here().parts[0]);
      continue;
    }
    if (!is(schema_code::optional)) {
      if (!(is(schema_code::foreign) ? enter_foreign() : enter_record()))
        return false;
      continue;
    }
    if (!wire_.need(1))
      return transfer();
    if (wire_.peek() != 1)
      return true; // The value is absent, or invalid, which null() detects.
    wire_.advance(1);
    expect(here().parts[0]);
  }
  return !failed();
}

value_kind schema_reader::kind() {
  if (!settle())
    return value_kind::invalid;
  switch (state_) {
  case state::shape:
  case state::data_shape:
    return value_kind::list;
  case state::label:
    return value_kind::text;
  case state::element:
    return value_kind::number;
  case state::block:
    return levels_.back().kind == number_kind::u8 ? value_kind::bytes : value_kind::list;
  case state::node:
    break;
  }
  if (is_number())
    return value_kind::number;
  switch (static_cast<schema_code>(here().code)) {
  case schema_code::boolean:
    return value_kind::boolean;
  case schema_code::text:
  case schema_code::enumeration:
    return value_kind::text;
  case schema_code::none:
    return value_kind::null;
  case schema_code::optional:
    return nullable(here().parts[0]) && wire_.left() > 0 && wire_.peek() == 1 ? value_kind::some : value_kind::null;
  case schema_code::shared:
    return wire_.left() > 0 && wire_.peek() == 0 ? value_kind::null : value_kind::shared;
  case schema_code::numbers:
    return here().kind == number_kind::u8 ? value_kind::bytes : value_kind::list;
  case schema_code::fixed:
    return nodes_[here().parts[0]].code == static_cast<std::uint8_t>(number_kind::u8) ? value_kind::bytes
                                                                                      : value_kind::list;
  case schema_code::tuple:
  case schema_code::list:
    return value_kind::list;
  case schema_code::variant:
  case schema_code::pointee:
  case schema_code::map:
  case schema_code::structure:
  case schema_code::array:
    return value_kind::map;
  case schema_code::frame:
    return value_kind::frame;
  case schema_code::unit:
    return value_kind::number;
  case schema_code::again:
  case schema_code::foreign:
  case schema_code::record:
  case schema_code::form:
  case schema_code::unsupported:
    break;
  }
  return value_kind::invalid;
}

/// The node's form in the words of contracts.
std::string schema_reader::form_of(std::size_t node, std::size_t depth_max) const {
  const auto& of = nodes_[node];
  if (is_number_kind(of.code))
    return std::string(name_of(static_cast<number_kind>(of.code)));
  const auto form = static_cast<schema_code>(of.code);
  const std::string word{word_of(form)};
  const auto chain = [&](const std::string& begin) {
    return depth_max == 0 ? begin : begin + ' ' + form_of(of.parts[0], depth_max - 1);
  };
  switch (form) {
  case schema_code::optional:
  case schema_code::shared:
  case schema_code::list:
    return chain(word);
  case schema_code::fixed:
    return chain(word + ' ' + std::to_string(of.count));
  case schema_code::unit:
    return chain(word + " '" + std::string(of.text.substr(0, 100)) + "'");
  case schema_code::array:
  case schema_code::numbers:
  case schema_code::enumeration:
    return word + ' ' + std::string(name_of(of.kind));
  case schema_code::boolean:
  case schema_code::text:
  case schema_code::none:
  case schema_code::variant:
  case schema_code::structure:
  case schema_code::tuple:
  case schema_code::map:
  case schema_code::frame:
  case schema_code::record:
    return word;
  case schema_code::form:
  case schema_code::pointee:
  case schema_code::again:
  case schema_code::foreign:
  case schema_code::unsupported:
    break;
  }
  return "another form";
}

std::string schema_reader::found() {
  if (kind() == value_kind::invalid || state_ != state::node)
    return value_reader::found();
  constexpr std::size_t depth_max = 4;
  return "the sender's version has " + form_of(node_, depth_max);
}

bool schema_reader::null() {
  if (kind() != value_kind::null)
    return !failed() && unexpected("nothing");
  if (!is(schema_code::none)) { // The mark of an absent optional or pointer.
    if (!wire_.need(1))
      return transfer();
    if (wire_.peek() != 0)
      return fail(serialize_errc::malformed, "a mark that is neither 0 nor 1");
    wire_.advance(1);
  }
  complete();
  return true;
}

bool schema_reader::boolean(bool& value) {
  if (!settle())
    return false;
  if (!is(schema_code::boolean))
    return unexpected("a boolean");
  if (!typed_read(wire_, value))
    return transfer();
  complete();
  return true;
}

bool schema_reader::number(troupe::number& value) {
  if (!settle())
    return false;
  if (state_ == state::element) {
    auto& block = levels_.back();
    const auto width = size_of(block.kind);
    value = troupe::number::load(block.kind, block.numbers.data() + (block.done - 1) * width);
    return true;
  }
  if (!is_number())
    return unexpected(is(schema_code::unit) ? "a number without a unit" : "a number");
  const auto as = static_cast<number_kind>(here().code);
  if (!wire_.need(size_of(as)))
    return transfer();
  value = troupe::number::load(as, wire_.position());
  wire_.advance(size_of(as));
  complete();
  return true;
}

bool schema_reader::unit(std::string_view text) {
  if (!settle())
    return false;
  if (!is(schema_code::unit))
    return unexpected("a time in units of '" + std::string(text) + "'");
  if (here().text != text)
    return fail(serialize_errc::layout_mismatch, "expected a time in units of '" + std::string(text)
                                                     + "', the sender's version has units of '"
                                                     + std::string(here().text.substr(0, 100)) + "'");
  expect(here().parts[0]);
  return true;
}

bool schema_reader::text(std::string_view& value) {
  if (!settle())
    return false;
  if (state_ == state::label) {
    value = levels_.back().label;
    state_ = state::node;
    return true;
  }
  if (is(schema_code::enumeration)) {
    if (!wire_.need(size_of(here().kind)))
      return transfer();
    const auto stored = troupe::number::load(here().kind, wire_.position());
    wire_.advance(size_of(here().kind));
    const auto wanted =
        stored.form() == troupe::number::sort::integer ? stored.integer() : static_cast<std::int64_t>(stored.natural());
    const auto found = std::ranges::lower_bound(here().enumerators, wanted, {}, &schema_node::enumerator::first);
    if (found == here().enumerators.end() || found->first != wanted)
      return fail(serialize_errc::malformed, stored.text() + " is no value of the sender's enum");
    value = found->second;
    complete();
    return true;
  }
  if (!is(schema_code::text))
    return unexpected("a text");
  typed_reader::block found;
  if (!wire_.contiguous(found, 1))
    return transfer();
  if (!check_text(found.bytes.size()))
    return false;
  value = {reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size()};
  complete();
  return true;
}

bool schema_reader::bytes(std::span<const std::byte>& value) {
  if (kind() != value_kind::bytes)
    return !failed() && unexpected("bytes");
  if (state_ == state::block) {
    if (!pack_block())
      return false;
    value = levels_.back().numbers;
    return true;
  }
  if (is(schema_code::fixed)) {
    if (!wire_.need(here().count))
      return transfer();
    value = {wire_.position(), static_cast<std::size_t>(here().count)};
    wire_.advance(value.size());
  } else {
    typed_reader::block found;
    if (!wire_.contiguous(found, 1))
      return transfer();
    value = found.bytes;
  }
  complete();
  return true;
}

bool schema_reader::open(level opened) {
  if (levels_.size() >= open_max())
    return fail(serialize_errc::limit_exceeded,
                "nested deeper than " + grouped(context().limits.depth) + " (limits::depth)");
  if (levels_.size() == levels_.capacity()) {
    const auto capacity = std::max<std::size_t>(8, 2 * levels_.capacity());
    if (!charge_scratch(capacity * sizeof(level)))
      return false;
    levels_.reserve(capacity);
  }
  levels_.push_back(std::move(opened));
  return true;
}

bool schema_reader::open_block(number_kind kind, std::span<const std::byte> bytes, std::size_t node) {
  level opened;
  opened.node = node;
  opened.total = bytes.size() / size_of(kind);
  opened.numbers = bytes;
  opened.kind = kind;
  return open(std::move(opened));
}

bool schema_reader::begin_list(std::size_t& expected) {
  if (!settle())
    return false;
  level opened;
  opened.node = node_;
  if (state_ == state::shape || state_ == state::data_shape || state_ == state::block) {
    const auto& array = levels_.back();
    const auto of_lengths = state_ != state::block;
    if (!of_lengths && !pack_block())
      return false;
    const std::span<const std::byte> lengths = state_ == state::shape ? array.shape : array.data_shape;
    if (!open_block(of_lengths ? number_kind::u64 : array.kind, of_lengths ? lengths : array.numbers, node_))
      return false;
    expected = levels_.back().total;
    return true;
  }
  if (is(schema_code::numbers)) {
    typed_reader::block found;
    if (!wire_.contiguous(found, size_of(here().kind)))
      return transfer();
    expected = found.bytes.size() / size_of(here().kind);
    return open_block(here().kind, found.bytes, node_);
  } else if (is(schema_code::list)) {
    if (!wire_.count(opened.total, 0) || !charge(opened.total, 1))
      return failed() ? false : transfer();
  } else if (is(schema_code::tuple)) {
    opened.total = here().parts.size();
  } else if (is(schema_code::fixed)) {
    if (!charge(here().count, 1))
      return false;
    opened.total = here().count;
  } else {
    return unexpected("a list");
  }
  expected = std::min(opened.total, wire_.left());
  return open(std::move(opened));
}

bool schema_reader::next(bool& more) {
  if (failed())
    return false;
  auto& top = levels_.back();
  more = top.done < top.total;
  const auto& of = nodes_[top.node];
  const auto code = static_cast<schema_code>(of.code);
  if (!more) {
    levels_.pop_back();
    complete();
    return true;
  }
  ++top.done;
  if (top.numbers.data() != nullptr)
    return expect(top.node, state::element), true;
  if (code == schema_code::variant || code == schema_code::pointee)
    return expect(top.value, state::label), true;
  top.at_key = code == schema_code::map;
  const auto part = code == schema_code::tuple ? top.done - 1 : 0;
  expect(of.parts[part]);
  return true;
}

bool schema_reader::begin_map(std::size_t& expected) {
  if (!settle())
    return false;
  level opened;
  opened.node = node_;
  if (is(schema_code::map)) {
    if (!wire_.count(opened.total, 0) || !charge(opened.total, 1))
      return failed() ? false : transfer();
    expected = std::min(opened.total, wire_.left());
  } else if (is(schema_code::variant)) {
    std::uint64_t index = 0;
    if (!varint(index))
      return false;
    if (index >= here().parts.size())
      return fail(serialize_errc::malformed, "an alternative that the sender's variant does not have");
    opened.label = here().names[index];
    opened.value = here().parts[index];
    opened.total = expected = 1;
  } else if (is(schema_code::pointee)) {
    if (!begin_pointee(opened))
      return false;
    opened.total = expected = 1;
  } else if (is(schema_code::structure) || is(schema_code::array)) {
    return unexpected("a map");
  } else {
    return unexpected("a map");
  }
  return open(std::move(opened));
}

bool schema_reader::begin_structure() {
  if (!settle())
    return false;
  if (is(schema_code::array))
    return begin_array();
  if (!is(schema_code::structure))
    return unexpected("a structure");
  level opened;
  opened.node = node_;
  opened.total = here().parts.size();
  return open(std::move(opened));
}

bool schema_reader::field(std::string_view& name, bool& more) {
  if (failed())
    return false;
  auto& top = levels_.back();
  const auto& of = nodes_[top.node];
  more = top.done < top.total;
  if (!more) {
    levels_.pop_back();
    complete();
    return true;
  }
  const auto index = top.done++;
  if (static_cast<schema_code>(of.code) == schema_code::array) {
    array_field_at(index, name);
    return true;
  }
  name = of.names[index];
  expect(of.parts[index]);
  return true;
}

bool schema_reader::shared(bool& first, std::size_t& number) {
  if (!settle())
    return false;
  if (!is(schema_code::shared))
    return unexpected("a shared object");
  std::uint64_t code = 0;
  if (!varint(code))
    return false;
  if (code == 0)
    return fail(serialize_errc::malformed, "a shared object was announced and is missing");
  first = code == 1;
  number = first ? shared_count() : code - 2;
  if (first)
    expect(here().parts[0]);
  else
    complete();
  return true;
}

bool schema_reader::begin_some() {
  if (kind() != value_kind::some)
    return !failed() && unexpected("a value that could be nothing itself");
  wire_.advance(1);
  expect(here().parts[0]);
  return true;
}

bool schema_reader::attached(frame& target) {
  if (!settle())
    return false;
  if (!is(schema_code::frame))
    return unexpected("a frame");
  const frame* found = nullptr;
  if (!wire_.next_frame(found))
    return transfer();
  target = *found;
  complete();
  return true;
}

bool schema_reader::at_structure() {
  return settle() && (is(schema_code::structure) || is(schema_code::array));
}

// A map of texts and records could also be the map of a record.
bool schema_reader::at_container_map() {
  return settle() && is(schema_code::map)
         && nodes_[here().parts[1]].code != static_cast<std::uint8_t>(schema_code::record);
}

bool schema_reader::take_unit(std::string_view& unit) {
  if (!settle())
    return false;
  unit = is(schema_code::unit) ? here().text : std::string_view();
  return !is(schema_code::unit) || this->unit(unit);
}

std::size_t schema_reader::position() const {
  return body_bytes_ - wire_.left();
}

// A value without bytes of its own is charged as memory, although it only costs time. Otherwise structures of such
// structures could be nested without end.
constexpr std::size_t skipped_bytes = 16;

bool schema_reader::skip() {
  const auto before = wire_.left();
  if (!enter() || !skip_value(before))
    return false;
  leave();
  return wire_.left() < before || charge(1, skipped_bytes);
}

// `before`: the number of bytes that were left before the value.
bool schema_reader::skip_value(std::size_t before) {
  troupe::number ignored;
  std::span<const std::byte> view;
  std::string_view name;
  frame passed;
  std::size_t expected = 0;
  bool more = false;
  bool flag = false;
  if (state_ == state::shape || state_ == state::data_shape || state_ == state::block)
    return true; // The number was read when the array was begun.
  switch (kind()) {
  case value_kind::null:
    return null();
  case value_kind::boolean:
    return boolean(flag);
  case value_kind::number:
    return is(schema_code::unit) ? unit(here().text) && number(ignored) : number(ignored);
  case value_kind::text:
    return text(name);
  case value_kind::bytes:
    return bytes(view);
  case value_kind::frame:
    return attached(passed);
  case value_kind::list:
    if (is(schema_code::numbers)) {
      typed_reader::block found;
      if (!wire_.contiguous(found, size_of(here().kind)))
        return transfer();
      complete();
      return true;
    }
    if (!begin_list(expected) || (wire_.left() == before && !charge_scratch(skipped_bytes)))
      return false;
    while (next(more) && more)
      if (!skip())
        return false;
    return !failed();
  case value_kind::map: {
    const auto named = is(schema_code::structure) || is(schema_code::array);
    if ((named ? !begin_structure() : !begin_map(expected))
        || (wire_.left() == before && !charge_scratch(skipped_bytes)))
      return false;
    while (named ? field(name, more) && more : next(more) && more)
      if (!skip() || (!named && !skip()))
        return false;
    return !failed();
  }
  case value_kind::some:
    return begin_some() && skip();
  case value_kind::shared:
    if (!shared(flag, expected))
      return false;
    if (!flag)
      return true;
    static_cast<void>(number_shared()); // The object uses up a number, although it is skipped.
    return charge(1, 64) && skip();
  case value_kind::invalid:
    break;
  }
  return fail(serialize_errc::malformed, "a layout that does not hold");
}

bool schema_reader::finish() {
  return !failed() && (wire_.finish() || transfer());
}

} // namespace troupe::detail
