#include <troupe/framework/internal/link/message_claims.hpp>

#include <cassert>

#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>

namespace troupe::internal {

message_claims& message_claims::operator=(message_claims&& other) noexcept {
  end();
  tables_ = std::exchange(other.tables_, nullptr);
  actors_ = std::move(other.actors_);
  flights_ = std::move(other.flights_);
  sender_ = std::exchange(other.sender_, 0);
  may_return_ = std::exchange(other.may_return_, false);
  question_ = std::exchange(other.question_, {});
  asked_ = other.asked_;
  epoch_ = std::exchange(other.epoch_, std::nullopt);
  kept_ = std::move(other.kept_);
  to_excuse_ = std::move(other.to_excuse_);
  owed_ = std::move(other.owed_);
  return *this;
}

void message_claims::epoch(const link_held&, std::uint64_t number) {
  tables_->epochs.add_waiting(number);
  epoch_ = number;
}

void message_claims::allow_return(const link_held& held) {
  tables_->actors.allow_return(held, sender_);
  may_return_ = true;
}

void message_claims::question(const link_held&, const question_key& key, std::uint64_t receiver, waiting_asker asker) {
  tables_->requests.add(key, receiver, std::move(asker));
  question_ = key;
  asked_ = receiver;
}

void message_claims::excuse_asker() {
  if (auto* asking = as_asker(to_excuse_))
    asking->excuse();
}

void message_claims::commit(const link_held& held, outbox& out) {
  auto* tables = std::exchange(tables_, nullptr);
  flights_.commit(held);
  if (!epoch_)
    return;
  tables->epochs.remove_waiting(*std::exchange(epoch_, std::nullopt));
  tables->changes.acknowledge_if_due(held, &out);
}

void message_claims::fail(const node_error& why) {
  const auto question = question_;
  if (const auto back = give_back(); back.asker)
    back.asker->fail(question, why);
}

/// If the link has ended meanwhile, its tables are empty and nothing is found in them.
message_claims::given_back message_claims::give_back() {
  auto* tables = std::exchange(tables_, nullptr);
  given_back back;
  flights_.give_back();
  if (tables == nullptr || (actors_.empty() && sender_ == 0 && !epoch_))
    return back;
  auto held = tables->mutex.lock();
  const auto release = [&](std::uint64_t number) {
    if (auto last = tables->actors.take_back(held, number))
      back.senders.push_back(std::move(last));
  };
  for (const auto number : actors_)
    release(number);
  if (may_return_)
    (void)tables->actors.take_return(held, sender_); // The peer has nothing to return in the sender's name.
  release(sender_);
  if (question_.asker != 0)
    back.asker = tables->requests.take(question_, asked_);
  if (epoch_) {
    tables->epochs.remove_waiting(*std::exchange(epoch_, std::nullopt));
    tables->changes.acknowledge_if_due(held, nullptr);
  }
  return back;
}

void message_claims::clear() {
  end();
  empty_for_reuse(actors_);
  flights_.clear();
  sender_ = 0;
  may_return_ = false;
  question_ = {};
  epoch_.reset();
  empty_for_reuse(kept_);
  to_excuse_.reset();
  owed_ = {};
}

} // namespace troupe::internal
