#include <troupe/framework/internal/tape/link_recording.hpp>

#include <utility>

#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t questions_max = 1024;

} // namespace

void link_recording::on_sent(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept {
  if (is_recorded(kind))
    to_->packet(link_, tape_side::recorder, kind, detail, begin, end);
  else if (kind == packet_kind::admin && end.empty())
    learn(tape_side::recorder, detail, begin);
}

void link_recording::on_received(packet_kind kind, std::uint8_t detail, bytes_view body) noexcept {
  if (is_recorded(kind))
    to_->packet(link_, tape_side::peer, kind, detail, body);
  else if (kind == packet_kind::admin)
    learn(tape_side::peer, detail, body);
}

/// Learns the name of an actor from the question for a name and its answer.
void link_recording::learn(tape_side writer, std::uint8_t operation, bytes_view body) noexcept {
  const auto op = static_cast<admin_op>(operation);
  if (op != admin_op::find && op != admin_op::found)
    return;
  try {
    if (op == admin_op::find) {
      auto asked = decode_admin<find_query>(body);
      std::lock_guard guard{mutex_};
      auto& open = writer == tape_side::peer ? of_peer_ : of_recorder_;
      if (asked && open.size() < questions_max)
        open.insert_or_assign(asked->query, std::move(asked->name));
      return;
    }
    const auto answer = decode_admin<found>(body);
    if (!answer)
      return;
    std::unique_lock held{mutex_};
    auto& open = writer == tape_side::peer ? of_recorder_ : of_peer_; // The other end has asked.
    const auto asked = open.extract(answer->query);
    held.unlock();
    const auto asker = writer == tape_side::peer ? tape_side::recorder : tape_side::peer;
    if (asked && answer->actor != 0)
      to_->name_actor(link_, answer->readers ? asker : writer, answer->actor, asked.mapped());
  } catch (...) { // No memory: the actor has no name on the tape.
    return;
  }
}

} // namespace troupe::internal
