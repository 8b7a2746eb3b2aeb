// What references refer to here, and waiting for it.
#pragma once

#include <troupe/framework/node.hpp>
#include <troupe/serializers/array.hpp>

#include <cstddef>
#include <expected>
#include <functional>
#include <string>

namespace bench {

using bytes = troupe::array<char>;
using bytes_ref = troupe::object_ref<bytes>;

void add_value_types(troupe::type_registry& types);

/// A value of so many characters in the store, of which only the first and the last are written. Requires: some.
[[nodiscard]] std::expected<bytes_ref, std::string> make_value(troupe::node& node, std::size_t size_bytes);

/// Ends a process that has another value before it than it has to have: its result would mean nothing.
void check_value(const bytes& value, std::size_t size_bytes);

/// Calls `then` once the bytes are on this host, or with why they are not; on any thread, also before this returns.
void when_here(const bytes_ref& ref, std::function<void(std::expected<void, std::string>)> then);

/// The value, once its bytes are here. Blocks.
[[nodiscard]] std::expected<bytes, std::string> value_of(const bytes_ref& ref);

} // namespace bench
