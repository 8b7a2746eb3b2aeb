#include <troupe/framework/internal/caf_port/actors/resolving_behavior.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <caf/blocking_actor.hpp>
#include <caf/scheduled_actor.hpp>

#include <troupe/framework/internal/caf_port/actors/postponed_messages.hpp>
#include <troupe/framework/internal/objects/bell.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using match = caf::match_case::result;

/// Limits the fetches for messages that have to wait for their turn.
constexpr std::size_t fetched_ahead_max = 16;

bool fits_exactly(const resolving_handler& handler, const caf::type_erased_tuple& elements) {
  if (elements.size() != handler.parameters.size())
    return false;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto& exact = handler.parameters[i].exact;
    if (!exact.fun(exact, elements, i))
      return false;
  }
  return true;
}

/// The message for that handler. Null if the handler does not fit even with values.
std::unique_ptr<resolved_message> fit(const resolving_handler& handler, const caf::type_erased_tuple& elements) {
  if (elements.size() != handler.parameters.size())
    return nullptr;
  std::vector<resolved_argument> arguments;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto& parameter = handler.parameters[i];
    if (parameter.exact.fun(parameter.exact, elements, i))
      continue;
    if (parameter.others == nullptr)
      return nullptr;
    const auto held = open_element(*parameter.others, elements, i);
    if (held.state != nullptr)
      arguments.push_back({i, parameter.others->kind, false, *held.state, nullptr, nullptr});
    else if (held.value != nullptr)
      arguments.push_back({i, parameter.others->kind, true, nullptr, nullptr, {std::shared_ptr<void>(), held.value}});
    else
      return nullptr;
  }
  return std::make_unique<resolved_message>(handler, std::move(arguments));
}

/// The part that all resolving behaviors share. They differ in how they wait.
class resolving_behavior : public caf::detail::behavior_impl {
public:
  explicit resolving_behavior(resolving_parts parts)
      : caf::detail::behavior_impl(parts.timeout), parts_(std::move(parts)) {}

  void handle_timeout() override {
    if (parts_.on_timeout)
      parts_.on_timeout();
  }

protected:
  match run_exactly(caf::detail::invoke_result_visitor& visitor, caf::type_erased_tuple& elements) {
    for (const auto& handler : parts_.handlers)
      if (auto result = handler.run->invoke(visitor, elements); result != match::no_match)
        return result;
    return match::no_match;
  }

  [[nodiscard]] bool has_exact_handler(const caf::type_erased_tuple& elements) const {
    return std::ranges::any_of(parts_.handlers, [&](const auto& handler) { return fits_exactly(handler, elements); });
  }

  [[nodiscard]] std::unique_ptr<resolved_message> first_fit(const caf::type_erased_tuple& elements) const {
    for (const auto& handler : parts_.handlers)
      if (auto message = fit(handler, elements))
        return message;
    return nullptr;
  }

  match run(resolved_message& message, caf::detail::invoke_result_visitor& visitor, caf::type_erased_tuple& elements,
            const caf::mailbox_element* element) {
    if (auto decoded = message.decode(); !decoded) {
      if (element != nullptr && element->mid.is_request()) {
        auto reason = to_caf_error(decoded.error());
        visitor(reason);
      } else {
        log_.warn([&] {
          return "a message was dropped: its handler needs the value of an object, which is not available: "
                 + decoded.error().message();
        });
      }
      return match::match;
    }
    return message.run(visitor, elements);
  }

  const resolving_parts parts_;

private:
  limited_log log_{"this actor"};
};

/// For an actor that the scheduler runs. A message whose values are not here is skipped, and handled again when they
/// are.
class postponing_behavior final : public resolving_behavior {
public:
  postponing_behavior(caf::scheduled_actor* self, resolving_parts parts)
      : resolving_behavior(std::move(parts)), self_(self), postponed_(self) {}

  using caf::detail::behavior_impl::invoke;
  match invoke(caf::detail::invoke_result_visitor& visitor, caf::type_erased_tuple& elements) override {
    const auto* element = self_->current_mailbox_element();
    if (element == nullptr || postponed_.empty())
      return meet(visitor, elements, element);
    auto* known = postponed_.find(*element);
    if (postponed_.is_behind_another(*element)) {
      if (known == nullptr && postponed_.size() < fetched_ahead_max && !has_exact_handler(elements))
        fetch_ahead(elements, *element);
      return match::skip;
    }
    known = postponed_.find(*element); // The call above may have moved entries.
    if (known == nullptr)
      return meet(visitor, elements, element);
    if (!known->message->is_answered())
      return match::skip;
    auto turn = postponed_.take(known);
    auto result = run(*turn.what.message, visitor, elements, element);
    if (result == match::skip)
      postponed_.put_back(std::move(turn));
    return result;
  }

private:
  match meet(caf::detail::invoke_result_visitor& visitor, caf::type_erased_tuple& elements,
             const caf::mailbox_element* element) {
    if (auto result = run_exactly(visitor, elements); result != match::no_match)
      return result;
    auto message = first_fit(elements);
    if (!message)
      return match::no_match;
    if (message->fetch(element != nullptr ? postponed_.waking(*element) : [] {})) {
      auto result = run(*message, visitor, elements, element);
      if (result == match::skip && element != nullptr)
        postponed_.add(*element, std::move(message), false); // Spares a second fetch and decoding.
      return result;
    }
    if (element == nullptr)
      return match::no_match; // Called directly: there is no mailbox to leave it in.
    postponed_.add(*element, std::move(message));
    return match::skip;
  }

  void fetch_ahead(const caf::type_erased_tuple& elements, const caf::mailbox_element& element) {
    auto message = first_fit(elements);
    if (!message)
      return;
    std::ignore = message->fetch(postponed_.waking(element));
    postponed_.add(element, std::move(message));
  }

  caf::scheduled_actor* const self_;
  postponed_messages postponed_;
};

/// For an actor with its own thread. Blocks until the values are here.
class waiting_behavior final : public resolving_behavior {
public:
  waiting_behavior(caf::blocking_actor* self, resolving_parts parts)
      : resolving_behavior(std::move(parts)), self_(self) {}

  using caf::detail::behavior_impl::invoke;
  match invoke(caf::detail::invoke_result_visitor& visitor, caf::type_erased_tuple& elements) override {
    if (auto result = run_exactly(visitor, elements); result != match::no_match)
      return result;
    auto message = first_fit(elements);
    if (!message)
      return match::no_match;
    auto fetched = std::make_shared<bell>();
    if (!message->fetch([fetched] { fetched->ring(); }))
      fetched->wait();
    return run(*message, visitor, elements, self_->current_mailbox_element());
  }

private:
  caf::blocking_actor* const self_;
};

} // namespace

caf::intrusive_ptr<caf::detail::behavior_impl> make_resolving_behavior(caf::local_actor* self, resolving_parts parts) {
  if (parts.blocks)
    return caf::make_counted<waiting_behavior>(static_cast<caf::blocking_actor*>(self), std::move(parts));
  return caf::make_counted<postponing_behavior>(static_cast<caf::scheduled_actor*>(self), std::move(parts));
}

} // namespace troupe::internal
