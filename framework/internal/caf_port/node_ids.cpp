#include <troupe/framework/internal/caf_port/node_ids.hpp>

#include <cstddef>
#include <cstring>
#include <span>

#include <caf/make_counted.hpp>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

node_id_text text_of(const caf::node_id& node) {
  const auto& data = static_cast<const caf::node_id::default_data&>(*node);
  return {data.process_id(), hex(std::as_bytes(std::span{data.host_id()}))};
}

caf::node_id read_node_id(std::uint32_t process, std::string_view host) {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  caf::node_id::default_data::host_id_type bytes{};
  if (host.size() != 2 * bytes.size())
    return {};
  for (std::size_t i = 0; i < host.size(); ++i) {
    auto digit = hex_digits.find(host[i]);
    if (digit == std::string_view::npos)
      return {};
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] << 4 | digit);
  }
  if (!caf::node_id::default_data::valid(bytes))
    return {};
  return caf::node_id{caf::make_counted<caf::node_id::default_data>(process, bytes)};
}

std::uint64_t handle_number_of(const caf::node_id& node) {
  const auto text = caf::to_string(node);
  const auto hash = sha256(std::as_bytes(std::span{text}));
  std::uint64_t number = 0;
  std::memcpy(&number, hash.data(), sizeof number);
  return number;
}

} // namespace troupe::internal
