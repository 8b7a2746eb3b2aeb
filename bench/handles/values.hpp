// The values that references refer to, and waiting for their bytes.
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

/// Makes a value of `size_bytes` characters in the store and writes only the first and the last one. Requires:
/// `size_bytes` is not 0.
[[nodiscard]] std::expected<bytes_ref, std::string> make_value(troupe::node& node, std::size_t size_bytes);

/// Ends the process if the value is not the expected one, because its result would mean nothing.
void check_value(const bytes& value, std::size_t size_bytes);

/// Calls `then` once the bytes are on this host, or with the reason why they are not. The call may come on any thread,
/// possibly before this function returns.
void when_here(const bytes_ref& ref, std::function<void(std::expected<void, std::string>)> then);

/// Waits for the bytes and returns the value. Blocks.
[[nodiscard]] std::expected<bytes, std::string> value_of(const bytes_ref& ref);

} // namespace bench
