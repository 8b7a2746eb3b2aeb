// Shows the arrays of a sender's layout as structures: "shape", then "data_shape" and "order" if needed, then "data".
#include <troupe/serializers/internal/coding/common.hpp>
#include <troupe/serializers/internal/typed/schema_reader.hpp>
#include <troupe/serializers/internal/typed/typed_arrays.hpp>

namespace troupe::detail {

namespace {

std::vector<std::byte> as_block(std::span<const std::size_t> lengths) {
  const auto bytes = std::as_bytes(lengths);
  return {bytes.begin(), bytes.end()};
}

} // namespace

bool schema_reader::begin_array() {
  level opened;
  opened.node = node_;
  opened.kind = here().kind;
  wire_array found;
  const auto element_bytes = size_of(opened.kind);
  if (!read_wire_array(wire_, element_bytes, found))
    return transfer();
  const auto is_repeated = found.form == array_form::once;
  const auto in_order = found.form == array_form::c || is_repeated;
  if (!charge_scratch((found.shape.size() + found.data_shape.size()) * sizeof(std::size_t)))
    return false;
  opened.shape = as_block(found.shape);
  opened.data_shape = as_block(found.data_shape);
  opened.numbers = found.data.bytes;
  opened.array_fields = {array_field::shape};
  if (is_repeated)
    opened.array_fields.push_back(array_field::data_shape);
  if (found.form == array_form::fortran)
    opened.array_fields.push_back(array_field::order);
  opened.array_fields.push_back(array_field::data);
  opened.total = opened.array_fields.size();
  if (found.form != array_form::strided)
    opened.whole = found.data.whole;
  if (!in_order) {
    if (!charge_scratch(sizeof(found)))
      return false;
    opened.unpacked = std::make_unique<wire_array>(std::move(found));
  }
  return open(std::move(opened));
}

// Brings the elements of the innermost open array into C order.
bool schema_reader::pack_block() {
  auto& top = levels_.back();
  if (top.unpacked == nullptr)
    return true;
  const auto element_bytes = size_of(top.kind);
  const auto bytes = *count_of(top.unpacked->shape) * element_bytes; // Checked for overflow when read.
  if (!charge_scratch(bytes))
    return false;
  top.packed.resize(bytes);
  if (!pack_wire_array(*std::exchange(top.unpacked, nullptr), element_bytes, top.packed))
    return fail_array(*this);
  top.numbers = top.packed;
  return true;
}

const frame* schema_reader::array_frame(std::string_view& type) {
  if (state_ != state::block)
    return nullptr;
  const auto& top = levels_.back();
  type = name_of(top.kind);
  return top.whole;
}

void schema_reader::array_field_at(std::size_t index, std::string_view& name) {
  auto& top = levels_.back();
  switch (top.array_fields[index]) {
  case array_field::shape:
    name = "shape";
    return expect(top.node, state::shape);
  case array_field::data_shape:
    name = "data_shape";
    return expect(top.node, state::data_shape);
  case array_field::order:
    name = "order";
    top.label = "F";
    top.value = top.node;
    return expect(top.node, state::label);
  case array_field::data:
    name = "data";
    return expect(top.node, state::block);
  }
}

} // namespace troupe::detail
