#include <troupe/framework/internal/caf_port/asker.hpp>

#include <utility>

#include <caf/default_attachable.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <troupe/framework/internal/caf_port/exactly.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

asker::asker(caf::actor_config& config, caf::strong_actor_ptr actor, caf::message_id question,
             std::unique_ptr<const request_context> context, const handling_start& began)
    : caf::actor_proxy(config),
      actor_(std::move(actor)),
      question_(question),
      context_(std::move(context)),
      began_(began) {
  link().begin_answer();
}

asker::~asker() {
  if (is_excused_.load(std::memory_order_relaxed))
    return;
  const auto dropped = caf::make_message(
      to_caf_error({node_errc::broken_promise, "the actor dropped the request's promise without answering"}));
  if (context_ && context_->answers_to) // The handler may have done its work.
    context_->answers_to->answered(dropped);
  note_handled();
  actor_->enqueue(nullptr, question_.response_id(), dropped, nullptr);
  link().end_answer();
}

proxy_link& asker::link() const noexcept {
  return *static_cast<proxy&>(*actor_->get()).link();
}

void asker::note_handled() const noexcept {
  if (began_.stands_for != 0)
    link().note_handled(std::chrono::steady_clock::now() - began_.at, began_.stands_for);
}

void asker::excuse() noexcept {
  if (is_excused_.exchange(true, std::memory_order_relaxed))
    return;
  if (context_ && context_->answers_to) // If the answer has passed here, it counts. Otherwise it comes another way.
    context_->answers_to->passed_on();
  link().end_answer();
}

void asker::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  const auto answers = what->mid.is_response() && what->mid.request_id() == question_.request_id();
  if (answers && context_ && context_->answers_to)
    context_->answers_to->answered(what->copy_content_to_message());
  if (answers && !is_excused_.load(std::memory_order_relaxed))
    note_handled(); // Before the requester has the answer, so that its figures never run ahead of these.
  actor_->get()->enqueue(std::move(what), context);
  if (answers) // Once the answer is on its way.
    excuse();
}

void asker::attach(caf::attachable_ptr what) {
  actor_->get()->attach(std::move(what));
}

std::size_t asker::detach(const caf::attachable::token& what) {
  return actor_->get()->detach(what);
}

namespace {

/// Keeps an asker alive while a CAF link refers to it.
class keeping final : public caf::attachable {
public:
  static constexpr std::size_t token_type = 0x7473;
  struct key {
    const caf::actor_control_block* asker;
    static constexpr std::size_t token_type = keeping::token_type;
  };

  explicit keeping(caf::strong_actor_ptr asker) : asker_(std::move(asker)) {}
  bool matches(const token& what) override {
    return what.subtype == token_type && static_cast<const key*>(what.ptr)->asker == asker_.get();
  }

private:
  caf::strong_actor_ptr asker_;
};

std::size_t detach_link(caf::abstract_actor& from, const caf::abstract_actor* other) {
  const caf::default_attachable::observe_token which{other->address(), caf::default_attachable::link};
  return from.detach(caf::attachable::token{which});
}

} // namespace

/// The link belongs to the proxy. But its other end refers to this asker, which must live as long as the link. Linking
/// again through any request of the same actor changes nothing.
bool asker::add_backlink(caf::abstract_actor* other) {
  excuse();
  const auto was_linked = detach_link(*actor_->get(), other) > 0;
  actor_->get()->attach(caf::default_attachable::make_link(actor_->get()->address(), other->address()));
  if (!was_linked)
    actor_->get()->attach(caf::attachable_ptr{new keeping(caf::strong_actor_ptr{ctrl()})});
  return !was_linked;
}

bool asker::remove_backlink(caf::abstract_actor* other) {
  const auto count = detach_link(*actor_->get(), other);
  actor_->get()->detach(caf::attachable::token{keeping::key{ctrl()}});
  return count > 0;
}

caf::strong_actor_ptr make_asker(caf::actor_system& system, caf::strong_actor_ptr actor, caf::message_id question,
                                 std::unique_ptr<const request_context> context, const handling_start& began) {
  caf::actor_config config;
  auto id = actor->id();
  auto node = actor->node();
  return caf::make_actor<asker, caf::strong_actor_ptr>(id, std::move(node), &system, config, std::move(actor), question,
                                                       std::move(context), began);
}

asker* as_asker(const caf::strong_actor_ptr& actor) {
  // Askers have the ids of other nodes' actors, as proxies do.
  if (!actor || actor->home_system->node() == actor->nid)
    return nullptr;
  return exactly<asker>(actor->get());
}

} // namespace troupe::internal
