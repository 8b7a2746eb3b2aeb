// Objects whose references were serialized outside a message. The table is process-wide, because decoding there has no
// node to ask. The name says in which store the object is.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Stands in object_form::mention if `bytes` are an out_of_band_name in msgpack.
inline constexpr std::uint32_t out_of_band_mention = UINT32_MAX;

/// Names an object for every process that has its store open; without a store, for this process only. `number` cannot
/// be guessed. Without a store it is random. Otherwise it is a sum over the other fields, with the store's secret as
/// key.
struct out_of_band_name {
  std::uint64_t store = 0;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;
};
TROUPE_DESCRIBE(out_of_band_name, store, index, generation, number)

/// An object that is kept because a reference to it was serialized outside a message.
struct out_of_band_pin {
  std::optional<store::object_id> object; // Nullopt: it lies in this process's memory.
  std::uint64_t size_bytes = 0;
  std::chrono::system_clock::time_point since;
  std::string where; // "file:line" of the guard that allowed it, or a text that names what allowed it.
  std::uint64_t serializations = 0;
};

/// open: allows reading back references to objects of the node's store. close: the node ends. If no other node has its
/// store open, close unpins the store's objects.
void open_out_of_band(const void* node, const std::optional<store::object_store>& store,
                      std::shared_ptr<const object_environment> environment, bool is_allowed);
void close_out_of_band(const void* node);

/// The pins of that store (0: of this process's memory), oldest first.
[[nodiscard]] std::vector<out_of_band_pin> out_of_band_pins(std::uint64_t store);

/// Ends the pins of that name: of the object with that id, or of all objects in this process's memory that were pinned
/// at that place (`where`). Returns false if there are none. References that were serialized then fail with
/// `object_freed`, unless something else holds the object.
[[nodiscard]] bool release_out_of_band(std::uint64_t store, std::string_view object);

/// Pins the object and returns the form that travels. Fails with `out_of_band_handle` if that is not allowed.
[[nodiscard]] std::expected<object_form, serialize_error> out_of_band_form(const object_state_ptr& state);
/// The object of that form. If the object is gone, or no process with its store made its name, the result is a
/// reference whose get() fails with `object_freed`. Fails with `out_of_band_handle` if no node of this process has the
/// store open, and with `malformed`.
[[nodiscard]] std::expected<object_state_ptr, serialize_error> found_out_of_band(object_form&& from);

/// This thread's guards; see allow_out_of_band_handles.
void push_out_of_band_guard(std::uint64_t store, const std::source_location& where);
void pop_out_of_band_guard();

} // namespace troupe::internal
