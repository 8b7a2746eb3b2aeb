#include <troupe/framework/internal/objects/object_proof.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe::internal {

std::uint64_t object_proof(const store::object_id& name, std::string_view purpose, const store::object_store& in) {
  std::array<std::byte, 16> named{};
  std::memcpy(named.data(), &name.store, 8);
  std::memcpy(named.data() + 8, &name.index, 4);
  std::memcpy(named.data() + 12, &name.generation, 4);
  const auto text = std::as_bytes(std::span{purpose});
  byte_vector message{text.begin(), text.end()};
  message.insert(message.end(), named.begin(), named.end());
  const auto hash = hmac_sha256(in.secret(), message);
  std::uint64_t proof = 0;
  std::memcpy(&proof, hash.data(), sizeof proof);
  return proof;
}

} // namespace troupe::internal
