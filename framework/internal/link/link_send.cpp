// The way out: what a proxy was given is encoded on the caller's thread and appended to what the I/O thread writes.
#include <exception>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/stage.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/outgoing_message.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// What a thread uses again from message to message.
struct sending_scratch {
  std::shared_ptr<message_owner> owner = std::make_shared<message_owner>();
  outgoing_message message;

  /// Takes the element when it was sent; else gives it back, with the error. Whatever happens, an exception included,
  /// nothing stays counted that was not sent.
  std::expected<void, node_error> send(link_core& link, std::uint64_t receiver, caf::mailbox_element_ptr& what,
                                       receipt* owed, bytes_view extensions) {
    struct clearing {
      sending_scratch& scratch;
      caf::mailbox_element_ptr& what;
      bool sent = false;
      ~clearing() {
        scratch.message.clear();
        if (!sent)
          what = std::move(scratch.owner->element);
        // Where no frame borrows the values, the owner serves for the next message; else the frames keep it.
        constexpr long own_uses = 2; // Here and in the message's context.
        if (scratch.owner.use_count() <= own_uses) {
          scratch.owner->element.reset();
        } else {
          scratch.message.let_go_of_values();
          scratch.owner = std::make_shared<message_owner>();
        }
      }
    } at_end{*this, what};
    owner->element = std::move(what);
    auto done = attempt(link, receiver, false, owed, extensions);
    if (!done && message.is_outdated()) {
      if (owed != nullptr)
        *owed = message.take_owed();
      message.clear();
      done = attempt(link, receiver, true, owed, extensions);
    }
    at_end.sent = done.has_value();
    return done;
  }

  std::expected<void, node_error> attempt(link_core& link, std::uint64_t receiver, bool is_counted, receipt* owed,
                                          bytes_view extensions) {
    auto done = message.encode(link, receiver, owner, is_counted);
    if (done && !extensions.empty())
      message.extend(extensions);
    if (done && owed != nullptr)
      message.owe(std::move(*owed));
    return done ? message.commit(receiver, owner->element->sender, owner->element->mid) : done;
  }
};

/// Whether that type's one value is all that there is. Asks for the token first, which costs less than to compare.
template <class T>
bool is_only(const caf::type_erased_tuple& content) {
  return content.type_token() == caf::make_type_token<T>() && content.match_elements<T>();
}

} // namespace

/// Why a message of this sort does not cross the link; nullopt when it does.
std::optional<node_error> link_core::why_not(const caf::mailbox_element& what) const {
  auto unsupported = [](std::string text) { return node_error{node_errc::unsupported, std::move(text)}; };
  if (what.mid.is_stream_message())
    return unsupported("CAF streams do not cross links");
  const auto& content = what.content();
  if (is_only<caf::down_msg>(content))
    return unsupported("a down message is not sent: monitor the actor instead");
  if (is_only<caf::error>(content) && !what.mid.is_request() && !what.mid.is_response() && !agreed().peer.takes_exits)
    return node_error{node_errc::not_allowed, "an error that answers a plain message ends who gets it, which "
                                                  + agreed().peer.name + " lets no link do without allow_exit"};
  if (is_only<caf::exit_msg>(content) && !agreed().peer.takes_exits)
    return node_error{node_errc::not_allowed, agreed().peer.name
                                                  + " does not let this link end its actors; its end of the link "
                                                    "must have allow_exit"};
  return std::nullopt;
}

/// False where the message has failed already.
bool link_core::begin_to_send(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context) {
  if (!is_open()) {
    undo(receiver, *what, {node_errc::link_down, "the link to " + agreed().peer.name + " is down"}, context);
    return false;
  }
  if (!what->stages.empty())
    what = without_stages(node_->system(), std::move(what));
  if (auto reason = why_not(*what)) {
    undo(receiver, *what, *reason, context);
    return false;
  }
  return true;
}

void link_core::send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (!begin_to_send(receiver, what, context))
    return;
  if ((offload_bytes_.load(std::memory_order_relaxed) > 0 || !encoding_.is_idle())
      && encode_elsewhere(receiver, what, context))
    return;
  send_now(receiver, std::move(what), context);
}

void link_core::pass_on(std::uint64_t receiver, caf::mailbox_element_ptr what, receipt owed, bytes_view extensions) {
  if (!begin_to_send(receiver, what, dispatching_unit()))
    return;
  // What is being encoded of the same pair came before.
  if (encoding_.has(receiver, itself(what->sender).get())
      && encode_elsewhere(receiver, what, dispatching_unit(), extensions))
    return;
  send_now(receiver, std::move(what), dispatching_unit(), &owed, extensions);
}

/// On this thread. Requires: a message of a supported sort. `owed`, where there is any, is held until it has left, and
/// it waits for that as long as need be.
void link_core::send_now(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context,
                         receipt* owed, bytes_view extensions) {
  thread_local sending_scratch kept;
  // A codec may itself send something while it encodes.
  std::unique_ptr<sending_scratch> nested;
  auto* scratch = &kept;
  if (kept.message.in_use()) {
    nested = std::make_unique<sending_scratch>();
    scratch = nested.get();
  }
  std::expected<void, node_error> sent;
  try {
    sent = scratch->send(*this, receiver, what, owed, extensions);
  } catch (const std::exception& failure) { // No memory, mostly; who asked is told all the same.
    sent = std::unexpected{
        node_error{node_errc::unserializable, "cannot be encoded: " + std::string{exception_text(failure)}}};
  }
  if (!sent && what)
    undo(receiver, *what, sent.error(), context);
}

/// The message was not sent: counts and logs it by its reason, and tells who waits.
void link_core::undo(std::uint64_t receiver, caf::mailbox_element& what, const node_error& reason,
                     caf::execution_unit* context) {
  count_unsent(reason);
  // A link that is down has said so; who goes on sending to it may do so for long. And CAF answers what has no handler,
  // or a handler without a result that anybody waits for, by errors that nobody has asked for.
  const auto is_expected = reason.code() == node_errc::link_down
                           || (!what.mid.is_response() && is_only<caf::error>(std::as_const(what).content()));
  warnings_.say(is_expected ? log_level::debug : log_level::warning,
                [&] { return "not sent to " + agreed().peer.name + ": " + reason.message(); });
  tell_who_waits(receiver, what, reason, context);
}

/// Who asked gets the reason; who waits for this answer gets the reason instead, as long as there is a link.
void link_core::tell_who_waits(std::uint64_t receiver, caf::mailbox_element& what, const node_error& reason,
                               caf::execution_unit* context) {
  if (what.mid.is_request() && what.sender)
    what.sender->enqueue(nullptr, what.mid.response_id(), caf::make_message(to_caf_error(reason)), context);
  else if (what.mid.is_response() && reason.code() != node_errc::link_down
           && !is_only<caf::error>(std::as_const(what).content()))
    send(receiver, caf::make_mailbox_element(what.sender, what.mid, {}, to_caf_error(reason)), context);
}

/// Defines the header for the peer where it is new. Nothing where the peer has changed its lists since the terms were
/// taken, and does not wait for this message: then it may not accept the family any more.
std::optional<std::uint64_t> link_core::header_number(const family& by, const type_entry& type,
                                                      const sending_terms& terms, bool is_counted) {
  auto held = mutex_.lock();
  if (!is_counted && terms.peer_epoch != negotiation_.peer_epoch())
    return std::nullopt;
  auto* out = connection_->open_outbox(held);
  const auto [number, is_new] = sent_words_.header(held, by, type, out);
  if (is_new && out != nullptr)
    connection_->flush_soon(held); // Leaves with the message at the latest.
  held.unlock();
  if (is_new)
    warnings_.say(log_level::debug, [&] {
      return "to " + agreed().peer.name + ": header " + grouped(number) + " is \"" + type.alias() + "\" by "
             + std::string{by.name()};
    });
  return number;
}

} // namespace troupe::internal
