// How values become objects.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// The metadata of an object in the store, in msgpack, for people and tools. Arrays that were filled in place have
/// none.
struct object_notes {
  std::string type; // The alias of the value's type, or "array<f64>".
  std::vector<std::uint64_t> shape;
};
TROUPE_DESCRIBE(object_notes, type, shape)

class object_exchange;

/// Where objects of one node are put: in its store, or in this process's memory if the node has no store.
class object_place {
public:
  object_place(const std::optional<store::object_store>& store, std::shared_ptr<const object_environment> environment,
               std::shared_ptr<object_exchange> exchange)
      : store_(store), environment_(std::move(environment)), exchange_(std::move(exchange)) {}

  /// Encodes the value with the environment's families. Large parts are copied once, into the object. Objects to which
  /// the value refers are captured. While one of them is on another host, the new object's bytes stay in this process.
  [[nodiscard]] std::expected<object_state_ptr, node_error> put_value(const type_entry& type, const void* value,
                                                                      const std::source_location& where);
  [[nodiscard]] std::expected<object_state_ptr, node_error>
  put_array(std::span<const std::byte> values, object_layout layout, const std::source_location& where);
  /// Makes an object to be filled in place.
  [[nodiscard]] std::expected<std::unique_ptr<object_room>, node_error> make_room(std::size_t size_bytes,
                                                                                  const std::source_location& where);

private:
  [[nodiscard]] std::expected<object_state_ptr, node_error> put_encoded(const type_entry& type, const void* value,
                                                                        const std::source_location& where);
  [[nodiscard]] std::expected<std::unique_ptr<object_room>, node_error>
  make_room(std::size_t size_bytes, std::span<const std::byte> metadata, std::span<const store::object_id> captured,
            std::vector<object_source_ptr> sources, const std::source_location& where);

  std::optional<store::object_store> store_;
  std::shared_ptr<const object_environment> environment_;
  std::shared_ptr<object_exchange> exchange_; // Null without a store.
};

} // namespace troupe::internal
