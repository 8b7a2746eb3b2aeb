#include <troupe/framework/object_inspect.hpp>

#include <span>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {

namespace {

/// An object_form whose bytes are the object's name.
struct inspected_form {
  object_layout layout;
  std::vector<std::byte> name;
};
TROUPE_DESCRIBE(inspected_form, layout, name)

caf::error to_error(const serialize_error& error) {
  const auto code =
      error.code() == serialize_errc::out_of_band_handle ? node_errc::out_of_band_handle : node_errc::undecodable;
  return to_caf_error(node_error{code, error.message()});
}

} // namespace

std::expected<std::string, caf::error> out_of_band_text(const object_state_ptr& state) {
  if (!state)
    return {};
  auto form = out_of_band_form(state);
  if (!form)
    return std::unexpected{to_error(form.error())};
  const auto name = form->bytes.bytes();
  const auto bytes = msgpack::encode_described(inspected_form{std::move(form->layout), {name.begin(), name.end()}});
  return std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::expected<object_state_ptr, caf::error> found_by_text(const std::string& text) {
  if (text.empty())
    return object_state_ptr{};
  auto form = msgpack::decode_described<inspected_form>(std::as_bytes(std::span{text}));
  if (!form)
    return std::unexpected{to_error(form.error())};
  auto found = found_out_of_band({std::move(form->layout), out_of_band_mention, frame::adopt(std::move(form->name))});
  if (!found)
    return std::unexpected{to_error(found.error())};
  return *std::move(found);
}

std::string shown(const object_state_ptr& state) {
  return state ? "object_ref of " + grouped(state->source->size_bytes()) + " bytes" : "object_ref of nothing";
}

} // namespace troupe::internal
