#include <troupe/framework/internal/wire/admin.hpp>

#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {

template <class Admin>
std::vector<std::byte> encode_admin(const Admin& what) {
  return msgpack::encode_described(what);
}

template <class Admin>
std::expected<Admin, serialize_error> decode_admin(std::span<const std::byte> body, const limits& bounds) {
  return msgpack::decode_described<Admin>(body, bounds);
}

#define TROUPE_INSTANTIATE_ADMIN(message)                                                                              \
  template std::vector<std::byte> encode_admin(const message&);                                                        \
  template std::expected<message, serialize_error> decode_admin<message>(std::span<const std::byte>, const limits&);

TROUPE_INSTANTIATE_ADMIN(greet)
TROUPE_INSTANTIATE_ADMIN(prove)
TROUPE_INSTANTIATE_ADMIN(hello)
TROUPE_INSTANTIATE_ADMIN(ready)
TROUPE_INSTANTIATE_ADMIN(opened)
TROUPE_INSTANTIATE_ADMIN(refuse)
TROUPE_INSTANTIATE_ADMIN(goodbye)
TROUPE_INSTANTIATE_ADMIN(find_query)
TROUPE_INSTANTIATE_ADMIN(found)
TROUPE_INSTANTIATE_ADMIN(name_changed)
TROUPE_INSTANTIATE_ADMIN(monitor)
TROUPE_INSTANTIATE_ADMIN(introduce)
TROUPE_INSTANTIATE_ADMIN(withdraw)
TROUPE_INSTANTIATE_ADMIN(down)
TROUPE_INSTANTIATE_ADMIN(release_actor)
TROUPE_INSTANTIATE_ADMIN(release_object)
TROUPE_INSTANTIATE_ADMIN(credit)
TROUPE_INSTANTIATE_ADMIN(type_refused)
TROUPE_INSTANTIATE_ADMIN(family_change)
TROUPE_INSTANTIATE_ADMIN(reconfigured)
TROUPE_INSTANTIATE_ADMIN(whereabouts)
TROUPE_INSTANTIATE_ADMIN(ring_offer)
TROUPE_INSTANTIATE_ADMIN(ring_begin)
TROUPE_INSTANTIATE_ADMIN(ring_decline)
TROUPE_INSTANTIATE_ADMIN(ping)

#undef TROUPE_INSTANTIATE_ADMIN

} // namespace troupe::internal
