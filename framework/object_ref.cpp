#include <troupe/framework/object_ref.hpp>

#include <optional>
#include <string>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/framework/internal/link_extension.hpp>
#include <troupe/framework/internal/object_tables.hpp>

namespace troupe::internal {

std::expected<link_extension*, serialize_error> extension_of(const context& ctx, std::string_view what) {
  if (auto* extension = dynamic_cast<link_extension*>(ctx.extension))
    return extension;
  return std::unexpected{serialize_error{
      serialize_errc::out_of_band_handle,
      std::string{what}
          + " can only be serialized inside a message to a remote actor, where it is counted; send it in one, "
            "or send what it stands for"}};
}

std::expected<object_form, serialize_error> reduce_object(const object_state_ptr& state, const context& ctx) {
  if (auto extension = extension_of(ctx, "an object_ref"); !extension)
    return std::unexpected{std::move(extension).error()};
  if (!state)
    return object_form{};
  return object_form{state->layout, state->bytes};
}

bool is_same_object(const object_state_ptr& one, const object_state_ptr& other) {
  if (one == other)
    return true;
  if (!one || !other)
    return false;
  // Of an object in the store every process, and every link that it comes by, has a state of its own.
  const auto place_of = [](const object_state_ptr& state) {
    const auto* stored = dynamic_cast<const stored_bytes*>(state->bytes.owner().get());
    return stored != nullptr ? std::optional{stored->object().id()} : std::nullopt;
  };
  const auto place = place_of(one);
  return place && place == place_of(other);
}

std::expected<object_state_ptr, serialize_error> rebuild_object(object_form&& from, const context& ctx) {
  auto extension = extension_of(ctx, "an object_ref");
  if (!extension)
    return std::unexpected{std::move(extension).error()};
  if (from.layout.header.empty() && from.layout.element.empty())
    return object_state_ptr{};
  return std::make_shared<object_state>(
      object_state{std::move(from.layout), std::move(from.bytes), (*extension)->objects()});
}

namespace {

std::unexpected<node_error> empty_reference() {
  return std::unexpected{node_error{node_errc::object_lost, "the reference is empty"}};
}

} // namespace

std::expected<void, node_error> check_array(const object_state_ptr& state, const std::string& element) {
  if (!state)
    return empty_reference();
  const auto& actual = state->layout.element;
  if (actual != element)
    return std::unexpected{
        node_error{node_errc::undecodable, "the object is " + (actual.empty() ? "no array" : "an array of " + actual)
                                               + ", asked for is an array of " + element}};
  return {};
}

node_error misfit(const object_state_ptr& state) {
  std::string shape;
  for (auto length : state->layout.shape)
    shape += (shape.empty() ? "" : " x ") + grouped(length);
  return {node_errc::undecodable, "the object has " + grouped(state->bytes.size_bytes()) + " bytes, its layout says "
                                      + shape + " elements of type " + state->layout.element};
}

std::expected<payload, node_error> payload_of(const object_state_ptr& state) {
  if (!state)
    return empty_reference();
  payload result{.header = frame::copy_of(state->layout.header), .frames = {}};
  auto size = state->bytes.size_bytes();
  for (const auto& extent : state->layout.frames) {
    if (extent.offset > size || extent.size_bytes > size - extent.offset)
      return std::unexpected{
          node_error{node_errc::object_lost, "the object has " + grouped(size) + " bytes, its layout names "
                                                 + grouped(extent.size_bytes) + " at " + grouped(extent.offset)}};
    result.frames.push_back(state->bytes.slice(extent.offset, extent.size_bytes));
  }
  return result;
}

node_error read_failure(const serialize_error& error) {
  auto code = error.code() == serialize_errc::refused_family ? node_errc::refused_family : node_errc::undecodable;
  return {code, error.message()};
}

} // namespace troupe::internal
