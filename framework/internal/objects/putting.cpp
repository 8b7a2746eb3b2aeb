#include <troupe/framework/internal/objects/putting.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/capturing.hpp>
#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {

namespace {

std::size_t align_up(std::size_t value) {
  return (value + frame::alignment_bytes - 1) / frame::alignment_bytes * frame::alignment_bytes;
}

class store_room final : public object_room {
public:
  store_room(std::shared_ptr<const object_environment> environment, store::builder built)
      : environment_(std::move(environment)), built_(std::move(built)) {}

  std::span<std::byte> bytes() override { return built_.bytes(); }

  std::expected<object_state_ptr, node_error> seal(std::size_t size_bytes, object_layout layout) override {
    built_.shrink(size_bytes);
    auto sealed = std::move(built_).seal();
    if (!sealed)
      return std::unexpected{from_store(sealed.error())};
    return std::make_shared<object_state>(
        object_state{std::move(layout), std::make_shared<stored_object>(*std::move(sealed)), std::move(environment_)});
  }

private:
  std::shared_ptr<const object_environment> environment_;
  store::builder built_;
};

class heap_room final : public object_room {
public:
  heap_room(std::shared_ptr<const object_environment> environment, std::size_t size_bytes,
            std::vector<object_source_ptr> captured)
      : environment_(std::move(environment)), bytes_(std::make_shared<heap_bytes>(size_bytes)) {
    bytes_->captured = std::move(captured);
  }

  std::span<std::byte> bytes() override { return bytes_->bytes(); }

  std::expected<object_state_ptr, node_error> seal(std::size_t size_bytes, object_layout layout) override {
    std::span<const std::byte> kept = bytes_->bytes().first(size_bytes);
    return std::make_shared<object_state>(object_state{
        std::move(layout), std::make_shared<local_object>(frame{kept, std::move(bytes_)}), std::move(environment_)});
  }

private:
  std::shared_ptr<const object_environment> environment_;
  std::shared_ptr<heap_bytes> bytes_;
};

/// The value's bytes during a put, whose caller waits until it is done.
class borrowed_value final : public frame_owner {};

std::vector<std::byte> metadata_of(std::string type, const object_layout& layout) {
  return msgpack::encode_described(object_notes{.type = std::move(type), .shape = layout.shape});
}

/// Places the frames one after the other, each aligned so that arrays of any type can be read in place. Returns the
/// total size.
std::size_t lay_out(std::span<const frame> frames, std::vector<frame_extent>& extents) {
  std::size_t size = 0;
  for (const auto& each : frames) {
    size = align_up(size);
    extents.push_back({size, each.size_bytes()});
    size += each.size_bytes();
  }
  return size;
}

} // namespace

std::expected<object_state_ptr, node_error> object_place::put_value(const type_entry& type, const void* value,
                                                                    const std::source_location& where) {
  try {
    return put_encoded(type, value, where);
  } catch (const std::bad_alloc&) {
    return std::unexpected{
        node_error{node_errc::store_full, "this process has no memory to encode a value of type " + type.alias()}};
  }
}

std::expected<object_state_ptr, node_error> object_place::put_encoded(const type_entry& type, const void* value,
                                                                      const std::source_location& where) {
  capture_list captured{store_, exchange_, environment_};
  serialize_options options{.serializers = environment_->deserializers, .on_error = on_error::raise};
  options.context.limits = environment_->limits;
  options.context.extension = &captured;
  options.context.value_owner = std::make_shared<borrowed_value>();
  auto encoded = serialize_entry(type, value, options, environment_->types, environment_->families);
  if (!encoded && captured.why_not())
    return std::unexpected{*captured.why_not()};
  if (!encoded)
    return std::unexpected{node_error{node_errc::unserializable, encoded.error().message()}};
  object_layout layout{.element = {},
                       .shape = {},
                       .header = {encoded->header.bytes().begin(), encoded->header.bytes().end()},
                       .frames = {}};
  const auto size = lay_out(encoded->frames, layout.frames);
  const auto metadata = store_ ? metadata_of(type.alias(), layout) : std::vector<std::byte>{};
  const auto fill = [&](std::span<std::byte> bytes) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < encoded->frames.size(); ++i) {
      const auto [begin, frame_bytes] = layout.frames[i];
      // The room may contain bytes of earlier objects, which no peer may get.
      std::ranges::fill(bytes.subspan(end, begin - end), std::byte{0});
      std::ranges::copy(encoded->frames[i].bytes(), bytes.subspan(begin).begin());
      end = begin + frame_bytes;
    }
  };
  const auto ids = captured.ids();
  if (!ids) {
    auto own = std::make_shared<heap_bytes>(size);
    own->captured = captured.sources();
    fill(own->bytes());
    const std::span<const std::byte> whole = own->bytes();
    auto source = exchange_->put_unfinished(frame{whole, std::move(own)}, metadata, captured.counted());
    if (!source)
      return std::unexpected{std::move(source).error()};
    return std::make_shared<object_state>(object_state{std::move(layout), *std::move(source), environment_});
  }
  auto room = make_room(size, metadata, *ids, captured.sources(), where);
  if (!room)
    return std::unexpected{std::move(room).error()};
  fill((*room)->bytes());
  return (*room)->seal(size, std::move(layout));
}

std::expected<object_state_ptr, node_error>
object_place::put_array(std::span<const std::byte> values, object_layout layout, const std::source_location& where) {
  const auto metadata = store_ ? metadata_of("array<" + layout.element + '>', layout) : std::vector<std::byte>{};
  auto room = make_room(values.size(), metadata, {}, {}, where);
  if (!room)
    return std::unexpected{std::move(room).error()};
  std::ranges::copy(values, (*room)->bytes().begin());
  return (*room)->seal(values.size(), std::move(layout));
}

std::expected<std::unique_ptr<object_room>, node_error> object_place::make_room(std::size_t size_bytes,
                                                                                const std::source_location& where) {
  return make_room(size_bytes, {}, {}, {}, where);
}

std::expected<std::unique_ptr<object_room>, node_error>
object_place::make_room(std::size_t size_bytes, std::span<const std::byte> metadata,
                        std::span<const store::object_id> captured, std::vector<object_source_ptr> sources,
                        const std::source_location& where) {
  if (!store_) {
    try {
      return std::make_unique<heap_room>(environment_, size_bytes, std::move(sources));
    } catch (const std::bad_alloc&) {
      return std::unexpected{node_error{node_errc::store_full, "this process has no memory for an object of "
                                                                   + grouped(size_bytes)
                                                                   + " bytes, and its node has no store"}};
    }
  }
  auto built = store_->create(size_bytes, metadata, captured, std::nullopt, where);
  if (!built)
    return std::unexpected{from_store(built.error())};
  return std::make_unique<store_room>(environment_, *std::move(built));
}

} // namespace troupe::internal
