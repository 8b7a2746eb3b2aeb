// What a handshake comes to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/flow/receive_window.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/features.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// What the peer has said of itself.
struct peer_terms {
  caf::node_id node;
  std::string id; // The same as text.
  std::string name = "unknown peer";
  byte_vector token;               // What it is known again by.
  handles::node_name handles;      // Whose objects come over this link; no incarnation: they come with their bytes.
  store::process_id process;       // Its place in the shared store.
  std::uint64_t link = 0;          // Its name for this link ...
  byte_vector introduction_key;    // ... and how to prove to it what it has given away on it.
  std::uint64_t runner = 0;        // The actor there that runs tasks; 0: its end of the link does not allow them.
  std::uint64_t spawner = 0;       // The same for spawning ...
  std::uint64_t inspector = 0;     // ... and for looking.
  bool takes_exits = false;        // Exit messages may go there.
  bool verifies = false;           // It wants everything to be encoded.
  std::uint64_t message_bytes = 0; // The largest message that it takes ...
  std::uint64_t header_bytes = 0;  // ... the largest header ...
  std::uint64_t frames = 0;        // ... and the most frames of an element.
  family_names families;           // As its hello lists them; what is listed later, the negotiation knows.
};

/// What the two ends of a link have agreed on; never changed once the link is open.
struct agreed_terms {
  link_side side = link_side::dialer; // This end's.
  std::string own_id;                 // This node's id, as text.
  peer_terms peer;
  feature_set features;        // What both ends have.
  bool shares_store = false;   // Both have opened the same store, and want to hand objects over in it.
  bool counts_handles = false; // Objects are mentioned by handles that both nodes count.
  receive_bounds windows;      // Of either direction.
  receive_bounds handle_windows{UINT64_MAX, UINT64_MAX}; // The same for bytes behind handles.
  std::uint64_t channel = 0; // Even: what the dialer sends; the next number: what the acceptor sends.

  [[nodiscard]] std::uint64_t send_channel() const noexcept { return channel + (side == link_side::acceptor ? 1 : 0); }
  [[nodiscard]] std::uint64_t receive_channel() const noexcept { return channel + (side == link_side::dialer ? 1 : 0); }
};

/// Says what a link's handshake has come to; before that, that nothing is known of the peer.
///
/// Threads: reach() by one, once; now() by any.
class agreement {
public:
  void reach(agreed_terms what) {
    reached_ = std::make_unique<const agreed_terms>(std::move(what));
    now_.store(reached_.get(), std::memory_order_release);
  }
  [[nodiscard]] const agreed_terms& now() const noexcept { return *now_.load(std::memory_order_acquire); }

private:
  static const agreed_terms& nothing() {
    static const agreed_terms none;
    return none;
  }

  std::unique_ptr<const agreed_terms> reached_;
  std::atomic<const agreed_terms*> now_{&nothing()};
};

} // namespace troupe::internal
