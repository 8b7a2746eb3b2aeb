#include <troupe/framework/internal/trust/authentication.hpp>

#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace troupe::internal {

namespace {

// The steps of a transcript; the two sides are 1 and 2.
constexpr std::uint8_t session_step = 3;

std::string_view label_of(link_side by, proof_of what) {
  if (what == proof_of::node_key)
    return by == link_side::dialer ? "troupe dialer has its node key" : "troupe acceptor has its node key";
  if (what == proof_of::secret)
    return by == link_side::dialer ? "troupe dialer knows the secret" : "troupe acceptor knows the secret";
  return by == link_side::dialer ? "troupe dialer is ready" : "troupe acceptor has opened";
}

bytes_view bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

void append(byte_vector& out, bytes_view bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
void append_little_endian(byte_vector& out, T value) {
  for (unsigned shift = 0; shift < 8 * sizeof(value); shift += 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

unsigned char* raw(digest& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

/// If hashing fails, nobody may be admitted.
void must(bool done, const char* what = "SHA-256") {
  if (!done)
    throw std::runtime_error(std::string{"OpenSSL cannot compute "} + what);
}

/// Worded so that it is true at both ends, because a refusal is read at the other end.
std::string one_sided(link_side asking) {
  std::string dialing = "the dialing end", listening = "the listening end";
  const auto& asks = asking == link_side::dialer ? dialing : listening;
  const auto& has_none = asking == link_side::dialer ? listening : dialing;
  return asks + " requires a shared secret and " + has_none
         + " has none; set credentials.secret or credentials.secret_file in its link options";
}

} // namespace

void fill_randomly(std::span<std::byte> into) {
  while (!into.empty()) {
    auto count = ::getrandom(into.data(), into.size(), 0);
    if (count > 0) // Otherwise interrupted: requests of up to 256 bytes fail in no other way.
      into = into.subspan(static_cast<std::size_t>(count));
  }
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  fill_randomly(std::as_writable_bytes(std::span{&number, 1}));
  return number;
}

digest random_digest() {
  digest result;
  fill_randomly(result);
  return result;
}

digest sha256(bytes_view bytes) {
  digest result{};
  must(::EVP_Digest(bytes.data(), bytes.size(), raw(result), nullptr, ::EVP_sha256(), nullptr) == 1);
  return result;
}

digest hmac_sha256(bytes_view key, bytes_view bytes) {
  digest result{};
  const auto* text = reinterpret_cast<const unsigned char*>(bytes.data());
  must(::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), text, bytes.size(), raw(result), nullptr)
       != nullptr);
  return result;
}

bool same_digest(bytes_view left, bytes_view right) noexcept {
  return left.size() == right.size() && ::CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

transcript::transcript() : so_far_(sha256(bytes_of("troupe handshake"))) {
  auto preamble = make_preamble();
  chain(static_cast<std::uint8_t>(link_side::dialer), preamble);
  chain(static_cast<std::uint8_t>(link_side::acceptor), preamble);
}

void transcript::add_packet(link_side from, const packet_head& head, bytes_view body) {
  byte_vector packet;
  packet.reserve(packet_head_bytes + body.size());
  append_packet_head(packet, head);
  append(packet, body);
  chain(static_cast<std::uint8_t>(from), packet);
}

void transcript::add_session(bytes_view keying_material) {
  chain(session_step, keying_material);
}

void transcript::chain(std::uint8_t what, bytes_view bytes) {
  byte_vector step{so_far_.begin(), so_far_.end()};
  step.reserve(step.size() + 1 + sizeof(std::uint64_t) + bytes.size());
  step.push_back(static_cast<std::byte>(what));
  append_little_endian(step, std::uint64_t{bytes.size()});
  append(step, bytes);
  so_far_ = sha256(step);
}

digest make_proof(std::string_view secret, link_side by, proof_of what, const transcript& seen) {
  return make_proof(bytes_of(secret), by, what, seen);
}

digest make_proof(bytes_view secret, link_side by, proof_of what, const transcript& seen) {
  byte_vector text;
  append(text, bytes_of(label_of(by, what)));
  append(text, seen.so_far());
  return hmac_sha256(secret, text);
}

digest make_store_proof(bytes_view store_secret, link_side by, std::uint32_t slot, std::uint64_t nonce,
                        const transcript& seen) {
  byte_vector text;
  append(text, bytes_of(by == link_side::dialer ? "troupe dialer has the store" : "troupe acceptor has the store"));
  append(text, seen.so_far());
  append_little_endian(text, slot);
  append_little_endian(text, nonce);
  return hmac_sha256(store_secret, text);
}

std::string link_id_of(const transcript& seen) {
  constexpr std::size_t id_bytes = 16;
  const auto label = bytes_of("troupe link id");
  byte_vector named{label.begin(), label.end()};
  append(named, seen.so_far());
  return hex(bytes_view{sha256(named)}.first(id_bytes));
}

authentication::authentication(link_side mine, std::uint32_t process, std::string host,
                               std::vector<std::string> secrets, const digest& nonce)
    : mine_(mine), process_(process), host_(std::move(host)), secrets_(std::move(secrets)), nonce_(nonce) {}

authentication::authentication(link_side mine, std::uint32_t process, std::string host, std::string secret,
                               const digest& nonce)
    : authentication(mine, process, std::move(host),
                     secret.empty() ? std::vector<std::string>{} : std::vector{std::move(secret)}, nonce) {}

greet authentication::my_greet() const {
  return {.process = process_,
          .host = host_,
          .nonce = {nonce_.begin(), nonce_.end()},
          .method = static_cast<std::uint8_t>(asks_for_secret() ? greet_method::secret : greet_method::none)};
}

std::expected<void, node_error> authentication::check(const greet& theirs) const {
  if (theirs.nonce.size() != nonce_.size())
    return fail(node_errc::protocol_violation,
                "the peer's nonce has " + std::to_string(theirs.nonce.size()) + " bytes instead of 32");
  if (theirs.process == process_ && theirs.host == host_)
    return fail(node_errc::refused, "the peer has this node's own id; a node does not link to itself");
  if (same_digest(theirs.nonce, nonce_))
    return fail(node_errc::refused, "the peer sends this end's own nonce back");
  if (theirs.method > static_cast<std::uint8_t>(greet_method::secret))
    return fail(node_errc::refused, "the peer requires an authentication method that this node does not know");
  bool they_ask = theirs.method == static_cast<std::uint8_t>(greet_method::secret);
  if (they_ask && !asks_for_secret())
    return fail(node_errc::refused, one_sided(other(mine_)));
  if (!they_ask && asks_for_secret())
    return fail(node_errc::refused, one_sided(mine_));
  return {};
}

byte_vector authentication::my_proof(proof_of what) const {
  if (!asks_for_secret())
    return {};
  auto proof = make_proof(secrets_[in_use_], mine_, what, said);
  return {proof.begin(), proof.end()};
}

bool authentication::peer_proves(proof_of what, bytes_view proof, const transcript& before) const {
  return !asks_for_secret() || same_digest(make_proof(secrets_[in_use_], other(mine_), what, before), proof);
}

std::optional<std::size_t> authentication::find_proven(bytes_view proof, const transcript& before) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < secrets_.size(); ++i)
    if (same_digest(make_proof(secrets_[i], other(mine_), proof_of::secret, before), proof))
      found = i; // Without leaving the loop: the time tells nothing.
  if (found)
    in_use_ = *found;
  return found;
}

// -- node_key

namespace {

using owned_key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using owned_context = std::unique_ptr<EVP_PKEY_CTX, decltype(&::EVP_PKEY_CTX_free)>;

owned_key private_key_of(const digest& part) {
  owned_key key{::EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr,
                                               reinterpret_cast<const unsigned char*>(part.data()), part.size()),
                ::EVP_PKEY_free};
  must(key != nullptr, "X25519");
  return key;
}

} // namespace

node_key::node_key(const digest& private_part) : private_part_(private_part), public_part_{} {
  auto size = public_part_.size();
  must(::EVP_PKEY_get_raw_public_key(private_key_of(private_part_).get(), raw(public_part_), &size) == 1, "X25519");
}

std::optional<digest> node_key::shared_with(bytes_view public_part) const {
  if (public_part.size() != sizeof(digest))
    return std::nullopt;
  const owned_key theirs{::EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr,
                                                       reinterpret_cast<const unsigned char*>(public_part.data()),
                                                       public_part.size()),
                         ::EVP_PKEY_free};
  const auto mine = private_key_of(private_part_);
  const owned_context context{::EVP_PKEY_CTX_new(mine.get(), nullptr), ::EVP_PKEY_CTX_free};
  digest result{};
  auto size = result.size();
  // OpenSSL refuses points of small order, which would give the same secret for every key.
  if (!theirs || !context || ::EVP_PKEY_derive_init(context.get()) != 1
      || ::EVP_PKEY_derive_set_peer(context.get(), theirs.get()) != 1
      || ::EVP_PKEY_derive(context.get(), raw(result), &size) != 1)
    return std::nullopt;
  return result;
}

} // namespace troupe::internal
