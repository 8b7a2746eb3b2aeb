#include <troupe/framework/cluster/internal/entities/entity_address.hpp>

#include <caf/make_message.hpp>

#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

namespace {

// The number: 12 bits of the shard, 4 bits of the hops, one bit for markers, 47 bits of the way.
constexpr std::uint64_t shard_mask = shards_max - 1;
constexpr unsigned hops_shift = 12;
constexpr std::uint64_t hops_mask = 15;
constexpr std::uint64_t marker_bit = 1U << 16;
constexpr unsigned way_shift = 17;

} // namespace

caf::message with_address(const caf::message& content, const entity_address& to) {
  const std::uint64_t number = (to.shard & shard_mask) | (to.hops & hops_mask) << hops_shift
                               | (to.is_marker ? marker_bit : 0) | to.way << way_shift;
  auto address = caf::make_message(to.key, number, to.fence);
  return content.empty() ? address : caf::message::concat(content, address);
}

std::optional<entity_address> address_of(const caf::message& addressed) {
  const auto size = addressed.size();
  constexpr auto elements = entity_address::elements;
  if (size < elements || !addressed.match_element<std::string>(size - 3)
      || !addressed.match_element<std::uint64_t>(size - 2) || !addressed.match_element<std::uint64_t>(size - 1))
    return std::nullopt;
  const auto number = addressed.get_as<std::uint64_t>(size - 2);
  entity_address to{.key = addressed.get_as<std::string>(size - 3),
                    .shard = static_cast<std::uint32_t>(number & shard_mask),
                    .hops = static_cast<std::uint32_t>((number >> hops_shift) & hops_mask),
                    .is_marker = (number & marker_bit) != 0,
                    .way = number >> way_shift,
                    .fence = addressed.get_as<std::uint64_t>(size - 1)};
  if (to.key.size() > entity_address::key_bytes_max || (to.is_marker && size != elements))
    return std::nullopt;
  return to;
}

caf::message without_address(const caf::message& addressed) {
  return addressed.drop_right(entity_address::elements);
}

} // namespace troupe::membership
