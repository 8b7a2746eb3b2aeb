#include <troupe/framework/internal/link/message_addresses.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<message_ends, node_error> message_addresses::find_ends(const message_head& head,
                                                                     taken_question& returned) {
  const auto has = [&](std::uint8_t flag) { return (head.flags & flag) != 0; };
  const auto is_returned = has(message_flags::returned);
  // The peer returns a question of this end for another actor of this end to answer. Only a pending question can be
  // returned: it may have been answered meanwhile, given up, or forwarded to several.
  const auto brings_question = is_returned && has(message_flags::request);
  auto held = link_.mutex.lock();
  auto receiver = of_.actors.own(held, head.receiver);
  if (!receiver)
    return violation("the peer sends to actor " + grouped(head.receiver) + ", which it was never given");
  // Otherwise the peer could send in the name of every actor that it was ever given.
  const auto is_believed =
      !is_returned || brings_question || (!has(message_flags::response) && of_.actors.take_return(held, head.sender));
  if (brings_question)
    if (const question_key key{head.sender, head.request_number}; auto asked = of_.asked.take(key, 0))
      returned.take(of_.asked, link_.mutex, key, 0, *std::move(asked));
  const auto side = head.sender == 0 ? actor_name::side::nobody
                    : is_returned    ? actor_name::side::yours
                                     : actor_name::side::mine;
  // Never this node's own actor by introduction: the answer has to go back the way that the message came.
  auto sender = of_.actors.find(held, {side, head.sender}, false);
  held.unlock();
  if (returned) // Its room has become free without an answer that could be consumed.
    of_.replies.wake();
  if (!sender)
    return std::unexpected{std::move(sender).error()};
  if (!is_believed)
    sender->reset();
  return message_ends{.receiver = std::move(receiver),
                      .sender = *std::move(sender),
                      .is_unasked = brings_question && !returned,
                      .hides_own_sender = !is_believed};
}

bool message_addresses::serves_all_links(const caf::strong_actor_ptr& actor) const {
  return of_.helpers.has(actor);
}

} // namespace troupe::internal
