#include <troupe/framework/internal/authentication.hpp>

#include <troupe/framework/internal/failing.hpp>

#include <stdexcept>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace troupe::internal {

namespace {

// Steps of a transcript; the sides are 1 and 2.
constexpr std::uint8_t session_step = 3;

constexpr std::string_view token_label = "troupe node token";

std::string_view label_of(link_side by, proof_of what) {
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

/// A library that cannot hash must let nobody in.
void must(bool done) {
  if (!done)
    throw std::runtime_error("OpenSSL cannot compute SHA-256");
}

/// In words that are true at both ends, since a refusal is read at the other.
std::string one_sided(link_side asking) {
  std::string dialing = "the dialing end", listening = "the listening end";
  const auto& asks = asking == link_side::dialer ? dialing : listening;
  const auto& has_none = asking == link_side::dialer ? listening : dialing;
  return asks + " asks for a shared secret and " + has_none
         + " was given none; set credentials.secret or credentials.secret_file in its link options";
}

} // namespace

void fill_randomly(std::span<std::byte> into) {
  while (!into.empty()) {
    auto count = ::getrandom(into.data(), into.size(), 0);
    if (count > 0) // Else interrupted: up to 256 bytes never fail otherwise.
      into = into.subspan(static_cast<std::size_t>(count));
  }
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
  byte_vector text;
  append(text, bytes_of(label_of(by, what)));
  append(text, seen.so_far());
  return hmac_sha256(bytes_of(secret), text);
}

authentication::authentication(link_side mine, std::uint32_t process, std::string host, std::string secret,
                               const digest& nonce)
    : mine_(mine), process_(process), host_(std::move(host)), secret_(std::move(secret)), nonce_(nonce) {}

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
    return fail(node_errc::refused, "the peer asks for a way to prove itself that this node does not know");
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
  auto proof = make_proof(secret_, mine_, what, said);
  return {proof.begin(), proof.end()};
}

bool authentication::peer_proves(proof_of what, bytes_view proof, const transcript& before) const {
  return !asks_for_secret() || same_digest(make_proof(secret_, other(mine_), what, before), proof);
}

byte_vector node_token(const digest& node_key, std::uint32_t peer_process, std::string_view peer_host) {
  byte_vector text;
  append(text, bytes_of(token_label));
  append_little_endian(text, peer_process);
  append(text, bytes_of(peer_host));
  auto token = hmac_sha256(node_key, text);
  return {token.begin(), token.end()};
}

} // namespace troupe::internal
