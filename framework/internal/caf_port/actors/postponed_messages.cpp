#include <troupe/framework/internal/caf_port/actors/postponed_messages.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <unordered_set>
#include <utility>

#include <caf/message.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>

namespace troupe::internal {

namespace {

/// A message's elements, some of them replaced by values. Lives during one call of a handler.
class resolved_elements final : public caf::type_erased_tuple {
public:
  resolved_elements(caf::type_erased_tuple& original, const std::vector<resolved_argument>& arguments)
      : original_(original), exchanged_(original.size(), nullptr) {
    for (const auto& argument : arguments)
      exchanged_[argument.position] = &argument;
  }

  void* get_mutable(std::size_t pos) override {
    return exchanged_[pos] != nullptr ? exchanged_[pos]->value.get() : original_.get_mutable(pos);
  }
  caf::error load(std::size_t, caf::deserializer&) override { return value_of_object(); }
  std::size_t size() const noexcept override { return exchanged_.size(); }
  std::uint32_t type_token() const noexcept override {
    auto token = caf::make_type_token<>();
    for (std::size_t i = 0; i < size(); ++i)
      token = caf::add_to_type_token(token, type(i).first);
    return token;
  }
  caf::rtti_pair type(std::size_t pos) const noexcept override {
    return exchanged_[pos] != nullptr ? exchanged_[pos]->kind->type : std::as_const(original_).type(pos);
  }
  const void* get(std::size_t pos) const noexcept override {
    return exchanged_[pos] != nullptr ? exchanged_[pos]->value.get() : std::as_const(original_).get(pos);
  }
  std::string stringify(std::size_t pos) const override {
    return exchanged_[pos] != nullptr ? "<value of an object>" : original_.stringify(pos);
  }
  caf::type_erased_value_ptr copy(std::size_t pos) const override {
    return exchanged_[pos] != nullptr ? copy_of(*exchanged_[pos]->kind, exchanged_[pos]->value.get())
                                      : original_.copy(pos);
  }
  caf::error save(std::size_t, caf::serializer&) const override { return value_of_object(); }

private:
  caf::type_erased_tuple& original_;
  std::vector<const resolved_argument*> exchanged_; // Null: the message's own element.
};

/// The sender for purposes of message order. For a request over a link, the proxy behind the asker.
const caf::actor_control_block* sender_of(const caf::mailbox_element& element) {
  return element.sender ? itself(element.sender).get() : nullptr;
}

constexpr std::uint64_t no_timeout = std::numeric_limits<std::uint64_t>::max();

} // namespace

standing_in open_element(const stand_ins& others, const caf::type_erased_tuple& elements, std::size_t position) {
  const auto* type = elements.type(position).second;
  if (type == nullptr)
    return {};
  if (*type == *others.reference)
    return others.of_reference(elements.get(position));
  if (*type == *others.either)
    return others.of_either(elements.get(position));
  return {};
}

resolved_message::~resolved_message() {
  for (const auto& argument : arguments_)
    if (argument.fetch)
      argument.fetch->give_up();
}

bool resolved_message::fetch(std::function<void()> when_here) {
  auto left = std::make_shared<std::atomic<std::size_t>>(1);
  auto answered = [left, call = std::move(when_here)] {
    if (left->fetch_sub(1) == 1)
      call();
  };
  for (auto& argument : arguments_) {
    if (argument.value)
      continue;
    left->fetch_add(1);
    argument.fetch = running_fetch::start(argument.state, std::nullopt, answered);
  }
  return left->fetch_sub(1) == 1;
}

bool resolved_message::is_answered() const {
  return std::ranges::all_of(arguments_,
                             [](const auto& argument) { return !argument.fetch || argument.fetch->answer(); });
}

std::expected<void, node_error> resolved_message::decode() {
  for (auto& argument : arguments_) {
    if (argument.value)
      continue;
    const auto& bytes = *argument.fetch->answer();
    if (!bytes)
      return std::unexpected{bytes.error()};
    auto value = argument.kind->read(*argument.state, *bytes);
    if (!value)
      return std::unexpected{std::move(value).error()};
    argument.value = *std::move(value);
  }
  return {};
}

bool resolved_message::is_of(const caf::type_erased_tuple& elements) const {
  if (elements.size() != handler_.parameters.size())
    return false;
  return std::ranges::all_of(arguments_, [&](const auto& argument) {
    const auto held = open_element(*handler_.parameters[argument.position].others, elements, argument.position);
    return argument.is_held ? held.value != nullptr && held.value == argument.value.get()
                            : held.state != nullptr && *held.state == argument.state;
  });
}

caf::match_case::result resolved_message::run(caf::detail::invoke_result_visitor& visitor,
                                              caf::type_erased_tuple& elements) const {
  if (handler_.may_change_arguments && elements.shared()) {
    auto own = caf::message::copy(elements); // The handler may change elements that others see.
    // Values that point into the message must now point into the copy.
    auto arguments = arguments_;
    for (auto& argument : arguments)
      if (argument.is_held)
        argument.value = {
            std::shared_ptr<void>(),
            open_element(*handler_.parameters[argument.position].others, own.content(), argument.position).value};
    resolved_elements resolved(own.content(), arguments);
    return handler_.run->invoke(visitor, resolved);
  }
  resolved_elements resolved(elements, arguments_);
  return handler_.run->invoke(visitor, resolved);
}

postponed_messages::postponed_messages(caf::scheduled_actor* self) : self_(self), itself_(self->ctrl()) {}

postponed_messages::~postponed_messages() {
  all_.clear();
  watch_or_not();
}

postponed_messages::entry* postponed_messages::find(const caf::mailbox_element& element) {
  auto found = std::ranges::find(all_, &element, &entry::element);
  if (found == all_.end())
    return nullptr;
  if (found->message->is_of(element.content()))
    return &*found;
  all_.erase(found); // That message is gone, and another one has its address.
  watch_or_not();
  return nullptr;
}

bool postponed_messages::is_behind_another(const caf::mailbox_element& element) {
  const auto* sender = sender_of(element);
  const auto category = element.mid.category();
  for (auto one = all_.begin(); one != all_.end() && one->element != &element;) {
    if (one->sender != sender || one->category != category || !one->in_order) {
      ++one;
      continue;
    }
    // Earlier messages that are still in the mailbox have been skipped before the one that is handled now.
    const auto is_in = [&](auto& skipped) {
      return std::any_of(skipped.begin(), skipped.end(), [&](const auto& there) { return &there == one->element; });
    };
    if (category == caf::message_id::urgent_message_category ? is_in(self_->get_urgent_queue().cache())
                                                             : is_in(self_->get_normal_queue().cache()))
      return true;
    one = all_.erase(one);
  }
  watch_or_not();
  return false;
}

void postponed_messages::add(const caf::mailbox_element& element, std::unique_ptr<resolved_message> message,
                             bool in_order) {
  if (all_.size() >= sweep_at_)
    forget_those_gone();
  all_.push_back({&element, sender_of(element), element.mid.category(), in_order, std::move(message)});
  watch_or_not();
}

void postponed_messages::watch_or_not() {
  if (watches_ == !all_.empty())
    return;
  const auto alive = itself_.lock();
  if (!alive)
    return;
  watches_ = !watches_;
  if (!watches_)
    return unwatch_end(alive, this);
  watch_end(alive, this, [this](const caf::error&) {
    watches_ = false; // The actor has already dropped the watch.
    all_.clear();
  });
}

postponed_messages::taken postponed_messages::take(entry* which) {
  auto index = static_cast<std::size_t>(which - all_.data());
  taken result{std::move(*which), index};
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(index));
  watch_or_not();
  return result;
}

void postponed_messages::put_back(taken back) {
  back.what.in_order = false;
  auto index = std::min(back.index, all_.size());
  all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(index), std::move(back.what));
  watch_or_not();
}

void postponed_messages::forget_those_gone() {
  std::unordered_set<const caf::mailbox_element*> there;
  const auto note = [&](auto& queue) {
    for (const auto& one : queue.cache())
      there.insert(&one);
    queue.peek_all([&](const auto& one) { there.insert(&one); });
  };
  note(self_->get_normal_queue());
  note(self_->get_urgent_queue());
  std::erase_if(all_, [&](const auto& one) { return !there.contains(one.element); });
  sweep_at_ = 2 * all_.size() + 16;
}

std::function<void()> postponed_messages::waking(const caf::mailbox_element& element) const {
  // CAF drops an expired timeout message without calling a handler, and then goes through the skipped messages.
  return [whom = itself_.lock(), id = caf::message_id().with_category(element.mid.category())] {
    if (whom)
      whom->enqueue(nullptr, id, caf::make_message(caf::timeout_msg{caf::receive_atom::value, no_timeout}), nullptr);
  };
}

} // namespace troupe::internal
