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

/// What is known here of the object, and of where it should have come from.
struct fetch_facts {
  std::uint64_t size_bytes = 0;
  std::chrono::nanoseconds waited{};
  std::optional<node_error> why_late = std::nullopt; // What kept it, where its time is over.
  node_error why_no_room{node_errc::store_full, ""}; // What the store has said the last time.
  std::string peer = "a peer";                       // By name where its link is up.
  const std::string* why_link_ended = nullptr;       // Of the link that it came by; null where that is not known.
};

[[nodiscard]] node_error words_of(const handles::fetch_error& error, const fetch_facts& facts);
/// Of an object that will never come.
[[nodiscard]] node_error words_of_loss(const handles::fetch_error& error, std::uint64_t size_bytes,
                                       const std::string* why_link_ended);
/// Of an object that was not fetched before the node's end.
[[nodiscard]] node_error words_of_end(std::uint64_t size_bytes);
/// What kept an object whose time is over, where that says more than that it is: what has become of its room.
[[nodiscard]] std::optional<node_error> words_of_delay(const fetch_facts& facts, const room_book::room& waits,
                                                       const room_book& of);

} // namespace troupe::internal
