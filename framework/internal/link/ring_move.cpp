#include <troupe/framework/internal/link/ring_move.hpp>

#include <utility>

#include <unistd.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/net/ring_memory.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

std::unexpected<node_error> out_of_place(const char* what) {
  return violation(std::string{what} + " is out of place in the exchange about rings");
}

} // namespace

void ring_move::open(connection& over, wishes mine) {
  if (!mine.wanted || over.rings() == nullptr || !link_.agreed().features.has(feature::rings))
    return;
  over_ = &over;
  mine_ = mine;
  if (link_.agreed().side == link_side::acceptor)
    over.rings()->expect_descriptor();
  else
    offer();
}

void ring_move::offer() {
  if (!take_budget(mine_.ring_bytes)) {
    link_.log.say(log_level::debug, "ring_memory_bytes is used up by this node's links: the link to "
                                        + link_.peer_name() + " stays in its socket");
    return;
  }
  auto made = ring_memory::make(mine_.ring_bytes);
  if (!made) {
    link_.log.say(log_level::debug, made.error().message());
    end();
    return;
  }
  ring_bytes_ = mine_.ring_bytes;
  over_->rings()->set_rings(*std::move(made), link_side::dialer);
  auto held = link_.mutex.lock();
  auto* const out = over_->open_outbox(held);
  if (out == nullptr)
    return;
  over_->append_descriptor(held);
  admin_output::append(*out, admin_op::ring_offer, ring_offer{ring_bytes_});
  step_ = step::offered;
  over_->flush(held);
}

std::expected<void, node_error> ring_move::on_offer(const ring_offer& what) {
  const auto& agreed = link_.agreed();
  if (agreed.side != link_side::acceptor || !agreed.features.has(feature::rings) || step_ != step::idle)
    return out_of_place("an offer of rings");
  step_ = step::declined;
  if (over_ == nullptr) {
    decline(-1, "this end wants no rings");
    return {};
  }
  const auto descriptor = over_->rings()->take_descriptor();
  if (descriptor < 0)
    return violation("rings are offered, and no descriptor came with them");
  if (!is_ring_size(what.ring_bytes)) {
    ::close(descriptor);
    return violation("rings of " + grouped(what.ring_bytes)
                     + " bytes are offered; the size must be a power of two between 4,096 and 16,777,216");
  }
  if (what.ring_bytes > mine_.ring_bytes) {
    decline(descriptor, "rings of " + grouped(what.ring_bytes) + " bytes, this end takes " + grouped(mine_.ring_bytes));
    return {};
  }
  return accept(descriptor, static_cast<std::size_t>(what.ring_bytes));
}

std::expected<void, node_error> ring_move::accept(int descriptor, std::size_t ring_bytes) {
  if (!take_budget(ring_bytes)) {
    decline(descriptor, "its ring_memory_bytes is used up");
    return {};
  }
  auto theirs = ring_memory::adopt(descriptor, ring_bytes);
  if (!theirs) {
    if (theirs.error().code() == node_errc::protocol_violation)
      return std::unexpected{std::move(theirs).error()};
    decline(-1, theirs.error().message());
    return {};
  }
  ring_bytes_ = ring_bytes;
  over_->rings()->set_rings(*std::move(theirs), link_side::acceptor);
  step_ = step::begun;
  begin();
  return {};
}

void ring_move::decline(int descriptor, std::string reason) {
  if (descriptor >= 0)
    ::close(descriptor);
  budget_.give_back(std::exchange(taken_bytes_, 0));
  link_.admin.send(admin_op::ring_decline, ring_decline{std::move(reason)});
}

/// Announces the move; the output after that goes into this end's ring.
void ring_move::begin() {
  auto held = link_.mutex.lock();
  auto* const out = over_->open_outbox(held);
  if (out == nullptr)
    return;
  admin_output::append(*out, admin_op::ring_begin, ring_begin{ring_bytes_});
  over_->move_output(held);
  over_->flush(held);
}

std::expected<void, node_error> ring_move::on_begin(const ring_begin& what) {
  const auto is_dialer = link_.agreed().side == link_side::dialer;
  if (step_ != (is_dialer ? step::offered : step::begun) || what.ring_bytes != ring_bytes_)
    return out_of_place("the begin of rings");
  over_->move_input();
  step_ = step::complete;
  if (is_dialer)
    begin();
  is_complete_.store(true, std::memory_order_relaxed);
  return {};
}

std::expected<void, node_error> ring_move::on_decline(const ring_decline& what) {
  if (step_ != step::offered)
    return out_of_place("an answer to an offer of rings");
  step_ = step::declined;
  if (over_ != nullptr)
    over_->rings()->drop_rings();
  budget_.give_back(std::exchange(taken_bytes_, 0));
  link_.log.say(log_level::debug,
                "the peer " + link_.peer_name() + " declines rings: " + one_line(cut(what.reason), quoted_bytes_max));
  return {};
}

void ring_move::end() {
  over_ = nullptr;
  budget_.give_back(std::exchange(taken_bytes_, 0));
}

bool ring_move::take_budget(std::size_t ring_bytes) {
  const auto bytes = ring_memory::total_bytes(ring_bytes);
  if (!budget_.take(bytes))
    return false;
  taken_bytes_ = bytes;
  return true;
}

} // namespace troupe::internal
