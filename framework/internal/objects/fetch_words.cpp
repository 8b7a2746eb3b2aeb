#include <troupe/framework/internal/objects/fetch_words.hpp>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

std::string words_of_size(std::uint64_t size_bytes) {
  return "the object's " + grouped(size_bytes) + " bytes";
}

std::string words_of_time(const fetch_facts& facts) {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(facts.waited);
  return " within " + grouped(static_cast<std::uint64_t>(passed.count())) + " ms";
}

} // namespace

node_error words_of(const handles::fetch_error& error, const fetch_facts& facts) {
  using enum handles::handle_errc;
  const auto object = words_of_size(facts.size_bytes);
  const auto peer = facts.peer + (error.is_behind ? ", or a node from which it gets them," : "");
  switch (error.code) {
  case timed_out:
    return facts.why_late ? *facts.why_late
                          : node_error{node_errc::fetch_timed_out, object + " did not arrive" + words_of_time(facts)};
  case stalled:
    return {node_errc::fetch_timed_out, object + " did not arrive: the node that has them sent nothing for too long"};
  case cancelled:
    return {node_errc::fetch_timed_out, object + " did not arrive: the fetch was abandoned"};
  case busy:
    return {node_errc::fetch_timed_out, object + " did not arrive: " + (error.was_told ? peer : "the local store")
                                            + " was too busy" + words_of_time(facts)};
  case full:
    if (error.was_told)
      return {error.is_disk_full ? node_errc::disk_full : node_errc::store_full,
              "the store of " + peer + " had no room to restore " + object + " from its disk"
                  + (error.is_disk_full ? ", which is also full," : "") + words_of_time(facts)};
    return {facts.why_no_room.code(), "the local store has no room for " + object + ": " + facts.why_no_room.message()};
  case too_many:
    return {node_errc::unsupported, error.imports_max == 0
                                        ? object + " refer to more objects than a host on the way accepts at a time"
                                        : object + " and the objects that they refer to name " + grouped(error.imports)
                                              + " objects, limit " + grouped(error.imports_max)};
  default:
    return words_of_loss(error, facts.size_bytes, facts.why_link_ended);
  }
}

node_error words_of_loss(const handles::fetch_error& error, std::uint64_t size_bytes,
                         const std::string* why_link_ended) {
  const auto object = words_of_size(size_bytes);
  if (error.was_told)
    return {node_errc::object_lost, object
                                        + " are lost: the node that sent the handle reports so; it had them from other "
                                          "nodes, or has released them"};
  if (why_link_ended != nullptr)
    return {node_errc::object_lost,
            object + " are lost: " + *why_link_ended + ", and the link was not replaced within handle_grace"};
  return {node_errc::object_lost, object + " are lost: the node that had them is gone, or has released them"};
}

node_error words_of_end(std::uint64_t size_bytes) {
  return {node_errc::link_down, "the node has ended, and " + words_of_size(size_bytes) + " were not fetched in time"};
}

std::optional<node_error> words_of_delay(const fetch_facts& facts, const room_book::room& waits, const room_book& of) {
  const auto has_builder = waits.state == room_state::filling || (waits.state == room_state::sealing && !waits.is_own);
  if (has_builder)
    return std::nullopt;
  const auto object = words_of_size(facts.size_bytes);
  if (waits.state == room_state::left)
    return node_error{node_errc::fetch_timed_out, object + " did not arrive" + words_of_time(facts) + ": process "
                                                      + std::to_string(waits.writer)
                                                      + " of this host fetches them, and has not finished"};
  if (waits.why_full)
    return node_error{waits.why_full->code(), "the local store had no room for " + object + words_of_time(facts) + ": "
                                                  + waits.why_full->message()};
  if (of.full_now())
    return node_error{of.full_now()->code(), "the local store had no room for " + object + words_of_time(facts)
                                                 + ", nor for the fetches before them: " + of.full_now()->message()};
  if (of.reserved_bytes() == 0)
    return std::nullopt;
  return node_error{node_errc::fetch_timed_out, object + " did not arrive" + words_of_time(facts)
                                                    + ": other fetches already use half of this store"};
}

} // namespace troupe::internal
