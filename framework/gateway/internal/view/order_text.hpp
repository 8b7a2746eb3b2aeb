// The page's orders, as strict as what they do: a word that is misspelled must not become another order.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace troupe::web {

/// Checks that the JSON is an order with all that it needs, and nothing else: {"node": "KEY", "order": {"what": "...",
/// ...}}. The values of other fields than `node` and `what` are left to the decoder. Fails with a text that names the
/// field.
[[nodiscard]] std::expected<void, std::string> check_order(std::string_view json);

} // namespace troupe::web
