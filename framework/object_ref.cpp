#include <troupe/framework/object_ref.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/capturing.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

/// Shortens a name from a layout, which may come from a peer.
std::string quoted(const std::string& element) {
  constexpr std::size_t bytes_max = 64;
  return one_line(element, bytes_max);
}

serialize_error reference_refused() {
  return {serialize_errc::out_of_band_handle,
          "a reference to an object cannot travel here, because nobody counts it; send the value that it refers to"};
}

} // namespace

std::expected<codec_mentions*, serialize_error> required_mentions(const context& ctx, std::string_view what) {
  if (auto* extension = codec_mentions_of(ctx))
    return extension;
  return std::unexpected{
      serialize_error{serialize_errc::out_of_band_handle,
                      std::string{what}
                          + " can only be serialized inside a message to a remote actor, where it is counted; send it "
                            "in a message, or send the value that it refers to"}};
}

std::expected<object_form, serialize_error> reduce_object(const object_state_ptr& state, const context& ctx) {
  if (!ctx.allow_references)
    return std::unexpected{reference_refused()};
  if (!state)
    return object_form{};
  auto* const extension = codec_mentions_of(ctx);
  if (extension == nullptr)
    return out_of_band_form(state);
  auto mention = extension->mention(*state);
  if (!mention)
    return std::unexpected{std::move(mention).error()};
  if (*mention != 0)
    return object_form{state->layout, *mention, {}};
  auto bytes = state->source->here();
  if (!bytes)
    return std::unexpected{serialize_error{
        serialize_errc::codec_failed, "an object_ref to " + grouped(state->source->size_bytes())
                                          + " bytes on another host cannot be sent as a handle to a node without a "
                                            "store of its own, and its bytes are not on this host; fetch them first"}};
  if (!ctx.shared_store || !state->source->place()) // Only the bytes travel.
    if (const auto captured = captured_by(*state->source); !captured || !captured->empty())
      return std::unexpected{serialize_error{serialize_errc::codec_failed,
                                             "an object_ref to an object that contains references cannot be sent by "
                                             "value to a node that does not share its store; send the object's value"}};
  return object_form{state->layout, 0, *std::move(bytes)};
}

bool is_same_object(const object_state_ptr& one, const object_state_ptr& other) {
  if (one == other)
    return true;
  if (!one || !other)
    return false;
  if (one->source == other->source)
    return true;
  // Each process, and each link through which a stored object arrives, has a state of its own for it.
  const auto place = one->source->place();
  return place && place == other->source->place();
}

std::expected<object_state_ptr, serialize_error> rebuild_object(object_form&& from, const context& ctx) {
  if (!ctx.allow_references)
    return std::unexpected{reference_refused()};
  if (from.layout.header.empty() && from.layout.element.empty())
    return object_state_ptr{};
  auto* const extension = codec_mentions_of(ctx);
  if (extension == nullptr)
    return found_out_of_band(std::move(from));
  object_source_ptr source;
  if (from.mention == 0) {
    source = std::make_shared<local_object>(std::move(from.bytes));
  } else {
    auto mentioned = extension->mentioned_object(from.mention);
    if (!mentioned)
      return std::unexpected{std::move(mentioned).error()};
    source = *std::move(mentioned);
  }
  return std::make_shared<object_state>(object_state{std::move(from.layout), std::move(source), extension->objects()});
}

store::handle local_object::stored() const {
  const auto* owner = stored_bytes_of(bytes_);
  return owner != nullptr ? owner->object() : store::handle{};
}

bool holds(std::span<const std::size_t> shape, std::span<const std::size_t> index) {
  return std::ranges::equal(index, shape, std::less{}); // One index per dimension, each less than the length.
}

node_error out_of_bounds(std::span<const std::size_t> shape, std::span<const std::size_t> index) {
  const auto text = [](std::span<const std::size_t> of) {
    std::string made;
    for (const auto each : of)
      made += (made.empty() ? "" : ", ") + grouped(each);
    return '[' + made + ']';
  };
  return {node_errc::bad_option, "the array of shape " + text(shape) + " has no element " + text(index)};
}

std::expected<frame, node_error> bytes_here(const object_state_ptr& state) {
  if (!state)
    return std::unexpected{node_error{node_errc::object_lost, "the object_ref is empty: it refers to no object"}};
  if (const auto* settled = as_settled(*state->source))
    return settled->bytes(std::chrono::milliseconds{0});
  auto bytes = state->source->here_at_once();
  if (bytes)
    return *std::move(bytes);
  if (const auto object = state->source->stored(); !object.empty()) {
    auto owner = map(object, std::chrono::milliseconds{0});
    if (!owner)
      return std::unexpected{std::move(owner).error()};
    const auto whole = (*owner)->bytes();
    return frame{whole, *std::move(owner)};
  }
  if (auto loss = state->source->why_lost())
    return std::unexpected{*std::move(loss)};
  return std::unexpected{node_error{node_errc::fetch_timed_out, "the object's " + grouped(state->source->size_bytes())
                                                                    + " bytes are not on this host; wait for them with "
                                                                      "a timeout"}};
}

std::expected<void, node_error> check_array(const object_state& state, const std::string& element) {
  const auto& actual = state.layout.element;
  if (actual != element)
    return std::unexpected{node_error{
        node_errc::undecodable, "the object is " + (actual.empty() ? "not an array" : "an array of " + quoted(actual))
                                    + ", expected an array of " + element}};
  return {};
}

node_error misfit(const object_state& state) {
  std::string shape;
  for (auto length : state.layout.shape)
    shape += (shape.empty() ? "" : " x ") + grouped(length);
  if (shape.empty())
    shape = "1";
  return {node_errc::undecodable, "the object has " + grouped(state.source->size_bytes()) + " bytes, its layout says "
                                      + shape + " elements of type " + quoted(state.layout.element)};
}

std::expected<payload, node_error> payload_of(const object_state& state, const frame& bytes) {
  if (const auto& element = state.layout.element; !element.empty())
    return std::unexpected{node_error{node_errc::undecodable, "the object is an array of " + quoted(element)
                                                                  + ", expected a value that is not an array"}};
  payload result{.header = frame::copy_of(state.layout.header), .frames = {}};
  auto size = bytes.size_bytes();
  for (const auto& extent : state.layout.frames) {
    if (extent.offset > size || extent.size_bytes > size - extent.offset)
      return std::unexpected{node_error{
          node_errc::object_lost, "the object has " + grouped(size) + " bytes, its layout needs "
                                      + grouped(extent.size_bytes) + " from byte " + grouped(extent.offset) + " on"}};
    result.frames.push_back(bytes.slice(extent.offset, extent.size_bytes));
  }
  return result;
}

node_error read_failure(const serialize_error& error) {
  if (error.code() != serialize_errc::refused_family)
    return {node_errc::undecodable, error.message()};
  return {node_errc::refused_family, error.message()
                                         + "; store_families of the node that put the object chose this family: name "
                                           "one there that this end accepts, or accept this one here"};
}

} // namespace troupe::internal
