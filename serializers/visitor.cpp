#include <algorithm>

#include <troupe/serializers/value_reader.hpp>
#include <troupe/serializers/value_writer.hpp>

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
  if (form.data_shape.size() > context().limits.depth)
    return fail(serialize_errc::limit_exceeded, "an array of " + grouped(form.shape.size())
                                                    + " dimensions, nested deeper than "
                                                    + grouped(context().limits.depth) + " (limits::depth)");
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

// One empty list when there are no elements: the lengths of the other dimensions may be anything then.
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

bool value_writer::shared_again(std::size_t) {
  return fail(serialize_errc::not_supported,
              "the same object a second time, which this family cannot tell from a copy");
}

value_reader::~value_reader() = default;

std::string_view name_of(value_kind kind) {
  constexpr std::string_view names[] = {"nothing", "a boolean",       "a number",
                                        "a text",  "bytes",           "a list",
                                        "a map",   "a shared object", "an optional of what can be nothing",
                                        "a frame", "the end"};
  return names[static_cast<std::size_t>(kind)];
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
  if (!bytes(view) || !charge(1, view.size()))
    return false;
  target = frame::copy_of(view);
  return true;
}

bool value_reader::unexpected(std::string_view expected) {
  std::string text = "expected ";
  text += expected;
  text += ", found ";
  text += name_of(kind());
  return fail(serialize_errc::malformed, std::move(text));
}

} // namespace troupe
