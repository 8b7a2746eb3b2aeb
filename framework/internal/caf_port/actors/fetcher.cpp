#include <troupe/framework/internal/caf_port/actors/fetcher.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <caf/actor_proxy.hpp>
#include <caf/detail/message_data.hpp>
#include <caf/error.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>
#include <caf/make_counted.hpp>
#include <caf/message.hpp>
#include <caf/type_erased_value.hpp>

#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/caf_port/context_in_force.hpp>
#include <troupe/framework/internal/caf_port/passing_on.hpp>
#include <troupe/framework/internal/objects/running_fetch.hpp>
#include <troupe/framework/internal/traces/in_use.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// A message of one element: the decoded value, or the error with which decoding failed. The first access decodes the
/// bytes. The actor that handles the answer makes it.
class fetched_message final : public caf::detail::message_data {
public:
  fetched_message(object_state_ptr state, const value_kind& kind, frame bytes)
      : kind_(kind), state_(std::move(state)), bytes_(std::move(bytes)) {}
  fetched_message(const value_kind& kind, std::shared_ptr<void> value, caf::error reason)
      : kind_(kind), value_(std::move(value)), reason_(std::move(reason)) {}
  ~fetched_message() override { takes_over(this); }

  fetched_message* copy() const override {
    const auto is_value = looked();
    return new fetched_message(kind_, is_value ? kind_.copy(value_.get()) : nullptr, reason_);
  }
  void* get_mutable(std::size_t) override { return looked() ? value_.get() : static_cast<void*>(&reason_); }
  caf::error load(std::size_t, caf::deserializer&) override { return value_of_object(); }
  std::size_t size() const noexcept override { return 1; }
  std::uint32_t type_token() const noexcept override {
    return caf::add_to_type_token(caf::make_type_token<>(), type(0).first);
  }
  caf::rtti_pair type(std::size_t) const noexcept override {
    return looked() ? kind_.type : caf::make_rtti_pair<caf::error>();
  }
  const void* get(std::size_t) const noexcept override {
    return looked() ? value_.get() : static_cast<const void*>(&reason_);
  }
  std::string stringify(std::size_t) const override {
    return looked() ? "<value of an object>" : caf::to_string(reason_);
  }
  caf::type_erased_value_ptr copy(std::size_t) const override {
    return looked() ? copy_of(kind_, value_.get()) : caf::make_type_erased_value<caf::error>(reason_);
  }
  caf::error save(std::size_t, caf::serializer&) const override { return value_of_object(); }

private:
  /// Decodes at the first call. Returns whether there is a value.
  bool looked() const {
    takes_over(this);
    std::lock_guard guard{mutex_};
    if (state_) {
      try { // The callers are noexcept.
        if (auto value = kind_.read(*state_, bytes_))
          value_ = *std::move(value);
        else
          reason_ = to_caf_error(value.error());
      } catch (const std::exception& thrown) {
        reason_ = to_caf_error({node_errc::undecodable, std::string{exception_text(thrown)}});
      }
      state_ = nullptr;
      bytes_ = {};
    }
    return value_ != nullptr;
  }

  const value_kind& kind_;
  mutable std::mutex mutex_; // Several threads may read a message.
  // Guarded by mutex_.
  mutable object_state_ptr state_; // Null once decoded.
  mutable frame bytes_;
  mutable std::shared_ptr<void> value_;
  mutable caf::error reason_;
};

/// One request that waits for its answer. Keeps the asker alive until then, as CAF does with the sender of a request,
/// but not beyond the asker's end.
class fetching_request : public std::enable_shared_from_this<fetching_request> {
public:
  fetching_request(caf::strong_actor_ptr asker, caf::message_id id, object_state_ptr state, const value_kind& kind)
      : id_(id), state_(std::move(state)), kind_(kind), context_(context_here(asker)), asker_(std::move(asker)) {}

  /// `asker` must be the constructor's.
  void start(const caf::strong_actor_ptr& asker, fetch_time within) {
    if (state_)
      if (auto bytes = state_->source->here_at_once())
        return send(asker, value_message(*bytes));
    const auto self = shared_from_this();
    watch_end(asker, this, [self](const caf::error&) { self->give_up(); });
    auto fetch = running_fetch::start(state_, within, [self] { self->settle(); });
    auto ended = false;
    auto answered = false;
    {
      std::lock_guard guard{mutex_};
      fetch_ = std::move(fetch);
      ended = has_ended_;
      answered = is_answered_;
    }
    if (ended)
      fetch_->give_up();
    else if (answered)
      answer();
  }

private:
  void settle() {
    {
      std::lock_guard guard{mutex_};
      is_answered_ = true;
      if (!fetch_)
        return; // start() will answer.
    }
    answer();
  }

  void give_up() {
    caf::strong_actor_ptr released; // Released after the lock.
    {
      std::lock_guard guard{mutex_};
      has_ended_ = true;
      released = std::move(asker_);
      if (!fetch_)
        return;
    }
    fetch_->give_up();
  }

  void answer() {
    caf::strong_actor_ptr asker;
    {
      std::lock_guard guard{mutex_};
      asker = std::move(asker_);
    }
    if (!asker)
      return;
    unwatch_end(asker, this);
    const auto& outcome = *fetch_->answer();
    auto content = outcome ? value_message(*outcome) : caf::make_message(to_caf_error(outcome.error()));
    send(asker, std::move(content));
  }

  /// The requester is running on this thread.
  [[nodiscard]] static std::shared_ptr<traced_hop> context_here(const caf::strong_actor_ptr& asker) {
    const auto* const context =
        contexts_are_in_use.load(std::memory_order_relaxed) ? context_for_message_of(asker, true) : nullptr;
    return context != nullptr ? std::make_shared<traced_hop>(*context) : nullptr;
  }

  void send(const caf::strong_actor_ptr& asker, caf::message content) const {
    auto answer = caf::make_mailbox_element(nullptr, id_, {}, std::move(content));
    if (context_)
      answer = annotate(std::move(answer), {.trace = context_}, asker->get());
    asker->enqueue(std::move(answer), nullptr);
  }

  [[nodiscard]] caf::message value_message(const frame& bytes) const {
    auto data = caf::make_counted<fetched_message>(state_, kind_, bytes);
    passes_on(data.get());
    return caf::message{caf::message::data_ptr{data.get()}};
  }

  const caf::message_id id_;
  const object_state_ptr state_;
  const value_kind& kind_;
  const std::shared_ptr<traced_hop> context_; // Null: the request had none.
  std::mutex mutex_;
  // Guarded by mutex_; the fetch is set once.
  std::shared_ptr<running_fetch> fetch_;
  caf::strong_actor_ptr asker_; // Null once answered, or once the asker has ended.
  bool is_answered_ = false;
  bool has_ended_ = false;
};

class fetcher final : public caf::actor_proxy {
public:
  fetcher(caf::actor_config& config, object_state_ptr state, const value_kind& kind, fetch_time within)
      : caf::actor_proxy(config), state_(std::move(state)), kind_(kind), within_(within) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    if (!what->mid.is_request() || !what->sender)
      return;
    std::make_shared<fetching_request>(what->sender, what->mid.response_id(), state_, kind_)
        ->start(what->sender, within_);
  }
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::fetcher"; }

private:
  const object_state_ptr state_;
  const value_kind& kind_;
  const fetch_time within_;
};

} // namespace

caf::actor make_fetcher(caf::actor_system& system, object_state_ptr state, const value_kind& kind,
                        std::optional<std::chrono::milliseconds> within) {
  caf::actor_config config;
  return caf::make_actor<fetcher, caf::actor>(system.next_actor_id(), system.node(), &system, config, std::move(state),
                                              kind, within);
}

} // namespace troupe::internal
