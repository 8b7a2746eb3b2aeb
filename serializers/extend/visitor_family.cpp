#include <algorithm>
#include <vector>

#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/internal/shape/self_contained.hpp>
#include <troupe/serializers/internal/visit/field_names.hpp>

namespace troupe {

value_writer::~value_writer() = default;

bool value_writer::numbers(const number_block& block) {
  if (!begin_list(block.count))
    return false;
  for (std::size_t i = 0; i < block.count; ++i)
    if (!number(block, i))
      return within(i);
  return end_list();
}

bool value_writer::number(const number_block& block, std::size_t index) {
  const auto value = troupe::number::load(block.kind, block.bytes.data() + index * size_of(block.kind));
  if (block.kind == number_kind::f32)
    return real32(static_cast<float>(value.real()));
  if (value.form() == troupe::number::sort::real)
    return real64(value.real());
  return value.form() == troupe::number::sort::integer ? integer(value.integer()) : natural(value.natural());
}

bool value_writer::begin_array(const array_form& form) {
  const bool is_repeated = !std::ranges::equal(form.shape, form.data_shape);
  const bool is_fortran = form.order == memory_order::fortran;
  const auto lengths = [&](std::string_view name, std::span<const std::size_t> all) {
    if (!field(name) || !begin_list(all.size()))
      return false;
    for (const auto length : all)
      if (!natural(length))
        return false;
    return end_list();
  };
  data_shape_ = form.data_shape;
  return begin_structure(2U + (is_repeated ? 1 : 0) + (is_fortran ? 1 : 0) + array_fields())
         && lengths("shape", form.shape) && (!is_repeated || lengths("data_shape", form.data_shape))
         && (!is_fortran || (field("order") && text("F"))) && add_array_fields(form) && field("data");
}

bool value_writer::array_numbers(const number_block& block) {
  if (data_shape_.empty())
    return number(block, 0);
  return rows(block, 0);
}

// Writes one empty list if there are no elements, because the lengths of the other dimensions may then be anything.
bool value_writer::rows(const number_block& block, std::size_t dimension) {
  if (dimension + 1 == data_shape_.size() || block.count == 0)
    return numbers(block);
  const auto rows_here = data_shape_[dimension];
  const number_block row{block.kind, block.count / rows_here, block.bytes.first(block.bytes.size() / rows_here)};
  if (!begin_list(rows_here))
    return false;
  for (std::size_t i = 0; i < rows_here; ++i)
    if (!rows({row.kind, row.count, block.bytes.subspan(i * row.bytes.size(), row.bytes.size())}, dimension + 1))
      return false;
  return end_list();
}

bool value_writer::attach(const frame& attached) {
  weigh(detail::copied_bytes(attached.size_bytes()));
  return bytes(attached.bytes());
}

bool value_writer::shared_again(std::size_t) {
  return fail(serialize_errc::not_supported,
              "the same object appears twice, and this family cannot tell it from a copy");
}

value_reader::~value_reader() = default;

std::string_view name_of(value_kind kind) {
  constexpr std::string_view names[] = {"nothing", "a boolean",       "a number",
                                        "a text",  "bytes",           "a list",
                                        "a map",   "a shared object", "an optional of what can be nothing",
                                        "a frame", "the end"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// A part that skip() has begun and not yet ended.
enum class open_part : std::uint8_t {
  list,
  map,
  key,    // Behind a key of a map: the value follows.
  shared, // The value follows.
  some,   // The value follows.
  end     // The end of a begin_some() follows.
};

bool skip_begin(value_reader& from, std::vector<open_part>& open, open_part part) {
  if (open.size() >= from.open_max())
    return from.fail(serialize_errc::limit_exceeded,
                     "nested deeper than " + grouped(from.context().limits.depth) + " (limits::depth)");
  if (open.size() == open.capacity() && !from.charge_scratch((2 * open.size() + 1) * sizeof(part)))
    return false;
  open.push_back(part);
  return true;
}

// Skips one value, or the beginning of a value that consists of others.
bool skip_one(value_reader& from, std::vector<open_part>& open) {
  bool flag = false;
  std::size_t ignored = 0;
  std::string_view text;
  std::span<const std::byte> bytes;
  troupe::number number;
  frame attached;
  switch (from.kind()) {
  case value_kind::null:
    return from.null();
  case value_kind::boolean:
    return from.boolean(flag);
  case value_kind::number:
    return from.number(number);
  case value_kind::text:
    return from.text(text);
  case value_kind::bytes:
    return from.bytes(bytes);
  case value_kind::frame:
    return from.attached(attached);
  case value_kind::list:
    return from.begin_list(ignored) && skip_begin(from, open, open_part::list);
  case value_kind::map:
    return from.begin_map(ignored) && skip_begin(from, open, open_part::map);
  case value_kind::some:
    return from.begin_some() && skip_begin(from, open, open_part::some);
  case value_kind::shared:
    if (!from.shared(flag, ignored))
      return false;
    if (!flag)
      return true;
    static_cast<void>(from.number_shared()); // The object uses up a number, although it is skipped.
    return from.charge(1, 64) && skip_begin(from, open, open_part::shared);
  case value_kind::invalid:
    break;
  }
  return from.unexpected("a value");
}

// Ends the parts that are complete. `more`: another value of an open part follows.
bool skip_ends(value_reader& from, std::vector<open_part>& open, bool& more) {
  for (more = false; !open.empty(); open.pop_back()) {
    auto& top = open.back();
    switch (top) {
    case open_part::key:
      top = open_part::map;
      return more = true;
    case open_part::some:
      top = open_part::end;
      return more = true;
    case open_part::shared:
      open.pop_back();
      return more = true;
    case open_part::list:
    case open_part::map:
      if (!from.next(more))
        return false;
      if (!more)
        break;
      if (top == open_part::map)
        top = open_part::key;
      return from.charge(1, 0);
    case open_part::end:
      if (!from.end_some())
        return false;
      break;
    }
  }
  return true;
}

} // namespace

// Without recursion, because the sender of the input decides how deep the value is.
bool value_reader::skip() {
  std::vector<open_part> open;
  for (bool more = true; more;)
    if (!skip_one(*this, open) || !skip_ends(*this, open, more))
      return false;
  return true;
}

bool value_reader::begin_structure() {
  std::size_t expected = 0;
  return begin_map(expected);
}

bool value_reader::field(std::string_view& name, bool& more) {
  return next(more) && (!more || text(name));
}

bool value_reader::shared(bool&, std::size_t&) {
  return unexpected("a shared object");
}

bool value_reader::begin_some() {
  std::size_t expected = 0;
  bool more = false;
  return begin_list(expected) && next(more) && (more || fail(serialize_errc::malformed, "an empty list for a value"));
}

bool value_reader::end_some() {
  bool more = false;
  return next(more) && (!more || fail(serialize_errc::malformed, "a list of several values for one"));
}

bool value_reader::attached(frame& target) {
  std::span<const std::byte> view;
  if (!bytes(view) || !charge(1, detail::copied_bytes(view.size())))
    return false;
  target = frame::copy_of(view);
  return true;
}

std::string value_reader::found() {
  return "found " + std::string(name_of(kind()));
}

bool value_reader::unexpected(std::string_view expected) {
  return fail(serialize_errc::malformed, "expected " + std::string(expected) + ", " + found());
}

std::size_t detail::place_of(std::string_view name, std::span<const std::string_view> names) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

} // namespace troupe
