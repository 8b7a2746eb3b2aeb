// The result of a handshake.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/flow/receive_window.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/trust/peer_roles.hpp>
#include <troupe/framework/internal/wire/features.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_version.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// What the peer has said about itself.
struct peer_terms {
  caf::node_id node;
  std::string id; // `node` as text.
  std::string name = "unknown peer";
  byte_vector token;               // By which it is recognized as the same node on other links.
  handles::node_name handles;      // Names the peer in handles; incarnation 0: objects come with their bytes.
  store::process_id process;       // The peer's slot in the shared store.
  std::uint64_t link = 0;          // The peer's number for this link ...
  byte_vector introduction_key;    // ... and the key that proves to the peer what it has given away on this link.
  std::uint64_t runner = 0;        // The peer's actor that runs tasks; 0: the peer does not allow them.
  std::uint64_t spawner = 0;       // The peer's actor that spawns actors; 0: the peer does not allow it ...
  std::uint64_t inspector = 0;     // ... and the one that answers queries about the node; 0: none.
  std::string role_of_reader;      // The role that this end has for the peer; empty: none.
  bool takes_exits = false;        // The peer accepts exit messages.
  bool verifies = false;           // The peer wants every message to be encoded.
  std::uint64_t message_bytes = 0; // The largest message that the peer accepts ...
  std::uint64_t header_bytes = 0;  // ... the largest header ...
  std::uint64_t frames = 0;        // ... and the most frames of an element.
  node_version version;
  std::vector<feature_offer> features; // As the peer's hello lists them; `agreed_terms` has those in common.
  family_names families;               // As the peer's hello lists them; `negotiation` has later changes.
};

/// What the two ends of a link have agreed on; never changed once the link is open.
struct agreed_terms {
  link_side side = link_side::dialer; // The side of this end.
  std::string own_id;                 // This node's id, as text.
  std::string link_id;                // link_report::link_id
  peer_terms peer;
  std::string role;            // That the peer has for this end; empty: none.
  peer_rights rights;          // What the peer may do at this end.
  feature_set features;        // The features that both ends have.
  bool shares_store = false;   // Both ends have opened the same store and want to hand objects over in it.
  bool counts_handles = false; // Messages mention objects by handles that both nodes count.
  receive_bounds windows;      // For messages, the same bounds in both directions.
  receive_bounds handle_windows{UINT64_MAX, UINT64_MAX}; // For bytes behind handles.
  std::uint64_t channel = 0; // Even: in-flight objects of the dialer; the next number: of the acceptor.

  [[nodiscard]] std::uint64_t send_channel() const noexcept { return channel + (side == link_side::acceptor ? 1 : 0); }
  [[nodiscard]] std::uint64_t receive_channel() const noexcept { return channel + (side == link_side::dialer ? 1 : 0); }
};

/// Holds the result of a link's handshake. Before the handshake is over, nothing is known of the peer.
///
/// Threads: reach() once, on one thread; now() on any.
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
