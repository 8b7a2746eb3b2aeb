// The objects of which a reference was serialized outside of a message. Process-wide, since what is decoded there has
// no node to ask: its name says which store it is of.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// In place of object_form::mention: `bytes` are an out_of_band_name in msgpack.
inline constexpr std::uint32_t out_of_band_mention = UINT32_MAX;

/// Which object it is, for whoever has the same store open. Without one, for this process only. `number` is what nobody
/// can make up: at random, or, where there is a store, a sum of the rest with a secret that lies there.
struct out_of_band_name {
  std::uint64_t store = 0;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;
};
TROUPE_DESCRIBE(out_of_band_name, store, index, generation, number)

/// An object that is kept since a reference to it was serialized outside of a message.
struct out_of_band_pin {
  std::optional<store::object_id> object; // None: it lies in this process's memory.
  std::uint64_t size_bytes = 0;
  std::chrono::system_clock::time_point since;
  std::string where; // "file:line" of the guard that allowed it, or what did.
  std::uint64_t serializations = 0;
};

/// Tells that a node is open, whose references may be read back; and that it ends, which unpins what was its store's if
/// no other one has it.
void open_out_of_band(const void* node, const std::optional<store::object_store>& store,
                      std::shared_ptr<const object_environment> environment, bool is_allowed);
void close_out_of_band(const void* node);

/// Of that store (0: of this process's memory), in the order in which they were pinned.
[[nodiscard]] std::vector<out_of_band_pin> out_of_band_pins(std::uint64_t store);

/// Pins the object and gives what travels. Fails with `out_of_band_handle` where nobody has allowed it.
[[nodiscard]] std::expected<object_form, serialize_error> out_of_band_form(const object_state_ptr& state);
/// The object of that form. One that is there no more, or whose name no process with its store has given, is a
/// reference whose get() fails with `object_freed`. Fails with `out_of_band_handle` where no node of this process has
/// the store open, and `malformed`.
[[nodiscard]] std::expected<object_state_ptr, serialize_error> found_out_of_band(object_form&& from);

/// This thread's guards; see allow_out_of_band_handles.
void push_out_of_band_guard(std::uint64_t store, const std::source_location& where);
void pop_out_of_band_guard();

} // namespace troupe::internal
