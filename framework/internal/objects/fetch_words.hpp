// Why a fetch has failed, in words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/objects/room_book.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// What this node knows of the object and of the node that should supply it.
struct fetch_facts {
  std::uint64_t size_bytes = 0;
  std::chrono::nanoseconds waited{};
  std::optional<node_error> why_late = std::nullopt; // The cause of the delay, for a fetch past its deadline.
  node_error why_no_room{node_errc::store_full, ""}; // The store's last refusal.
  std::string peer = "a peer";                       // With its name if its link is up.
  const std::string* why_link_ended = nullptr;       // Of the link that the handle came by; null if not known.
};

[[nodiscard]] node_error words_of(const handles::fetch_error& error, const fetch_facts& facts);
/// For an object that will never come.
[[nodiscard]] node_error words_of_loss(const handles::fetch_error& error, std::uint64_t size_bytes,
                                       const std::string* why_link_ended);
/// For an object that was not fetched before the node's end.
[[nodiscard]] node_error words_of_end(std::uint64_t size_bytes);
/// The cause of a delay past the deadline, if the state of the object's room tells more than that the deadline has
/// passed.
[[nodiscard]] std::optional<node_error> words_of_delay(const fetch_facts& facts, const room_book::room& waits,
                                                       const room_book& of);

} // namespace troupe::internal
