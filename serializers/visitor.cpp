#include <troupe/serializers/value_reader.hpp>
#include <troupe/serializers/value_writer.hpp>

namespace troupe {

value_writer::~value_writer() = default;

bool value_writer::numbers(const number_block& block) {
  if (!begin_list(block.count))
    return false;
  const auto width = size_of(block.kind);
  for (std::size_t i = 0; i < block.count; ++i) {
    const auto value = troupe::number::load(block.kind, block.bytes.data() + i * width);
    const auto written = block.kind == number_kind::f32                  ? real32(static_cast<float>(value.real()))
                         : value.form() == troupe::number::sort::real    ? real64(value.real())
                         : value.form() == troupe::number::sort::integer ? integer(value.integer())
                                                                         : natural(value.natural());
    if (!written)
      return within(i);
  }
  return end_list();
}

bool value_writer::begin_array(number_kind, std::span<const std::size_t> shape) {
  if (!begin_structure(2) || !field("shape") || !begin_list(shape.size()))
    return false;
  for (const auto length : shape)
    if (!natural(length))
      return false;
  return end_list() && field("data");
}

bool value_writer::shared_again(std::size_t) {
  return fail(serialize_errc::not_supported,
              "the same object a second time, which this family cannot tell from a copy");
}

value_reader::~value_reader() = default;

std::string_view name_of(value_kind kind) {
  constexpr std::string_view names[] = {"nothing", "a boolean", "a number",        "a text",  "bytes",
                                        "a list",  "a map",     "a shared object", "a frame", "the end"};
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
