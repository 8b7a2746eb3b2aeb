#include <troupe/framework/link.hpp>

#include <utility>

#include <caf/scoped_actor.hpp>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/link/family_changes.hpp>
#include <troupe/framework/internal/link/lookups.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/link/peer_helpers.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/framework/remote_recording.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe {

namespace {

/// The answer of the peer's inspector.
template <class Answer, class Query>
std::expected<Answer, node_error> asked(internal::node_link& over, std::chrono::milliseconds timeout,
                                        const Query& query) {
  caf::scoped_actor self{over.node().system()};
  std::expected<Answer, node_error> answer = std::unexpected{node_error{node_errc::timed_out, "no answer"}};
  self->request(over.helpers_there().inspector(), bounded_wait(timeout), query)
      .receive([&](Answer& known) { answer = std::move(known); },
               [&](const caf::error& error) { answer = std::unexpected{to_node_error(error)}; });
  return answer;
}

/// The answer, or what it means that the peer cannot read the question.
template <class Answer>
std::expected<Answer, node_error> known_there(std::expected<Answer, node_error> answer, const internal::node_link& over,
                                              std::string_view question) {
  if (!answer && answer.error().code() == node_errc::undecodable)
    return std::unexpected{
        node_error{node_errc::unsupported, over.peer_name() + " runs " + to_string(over.peer_version())
                                               + ", which does not know the question of " + std::string{question} + ": "
                                               + answer.error().message()}};
  return answer;
}

} // namespace

std::uint64_t link::number() const noexcept {
  return core_->number();
}

const std::string& link::peer_name() const {
  return core_->peer_name();
}

const std::string& link::peer_address() const {
  return core_->peer_address();
}

const std::string& link::peer_role() const {
  return core_->peer_role();
}

const node_version& link::peer_version() const {
  return core_->peer_version();
}

std::vector<link_feature> link::peer_features() const {
  return core_->peer_features();
}

troupe::compression link::compression() const {
  return core_->compression_in_force();
}

std::expected<void, node_error> link::reconfigure(const link_changes& changes, std::chrono::milliseconds timeout) {
  return core_->changes().reconfigure(changes, timeout);
}

std::vector<std::string> link::serializers() const {
  return core_->effective_serializers();
}

std::vector<std::string> link::deserializers() const {
  return core_->changes().accepted();
}

bool link::shares_store() const {
  return core_->shares_store();
}

bool link::uses_rings() const {
  return core_->uses_rings();
}

bool link::is_open() const {
  return core_->is_open();
}

link_stats link::stats() const {
  return core_->stats();
}

void link::close() {
  core_->close("closed by its user", core_->node().options().drain_timeout);
}

std::expected<memory_summary, node_error> link::memory_summary(std::chrono::milliseconds timeout,
                                                               const memory_query& query) const {
  return asked<troupe::memory_summary>(*core_, timeout, query);
}

std::expected<node_report, node_error> link::report(std::chrono::milliseconds timeout,
                                                    const report_query& query) const {
  return asked<node_report>(*core_, timeout, query);
}

std::expected<node_activity, node_error> link::activity(const activity_query& query,
                                                        std::chrono::milliseconds timeout) const {
  return known_there(asked<node_activity>(*core_, timeout, query), *core_, "link::activity");
}

std::expected<void, node_error> link::order(const node_order& what, std::chrono::milliseconds timeout) const {
  auto done = known_there(asked<order_receipt>(*core_, timeout, what), *core_, "link::order");
  if (!done)
    return std::unexpected{std::move(done).error()};
  return {};
}

std::expected<recording_part, node_error> link::record(std::chrono::milliseconds timeout, recording_query query) const {
  query.observer = core_->node().options().name;
  return asked<recording_part>(*core_, timeout, query);
}

std::expected<node_contract, node_error> link::contract(std::chrono::milliseconds timeout) const {
  auto known = report(timeout, {.links = false, .types = true});
  if (!known)
    return std::unexpected{std::move(known).error()};
  return node_contract{.name = std::move(known->name),
                       .version = peer_version(),
                       .families = std::move(known->families),
                       .types = std::move(known->contract)};
}

std::expected<std::chrono::nanoseconds, node_error> link::ping(std::chrono::milliseconds timeout) {
  const auto begun = std::chrono::steady_clock::now();
  if (auto heard = core_->names_there().ping(timeout); !heard)
    return std::unexpected{std::move(heard).error()};
  return std::chrono::steady_clock::now() - begun;
}

caf::actor_system& link::system() const {
  return core_->node().system();
}

caf::actor link::runner_of(std::type_index key, std::string& name) const {
  return core_->helpers_there().task_runner_of(key, name);
}

caf::actor link::finder_of(std::string name, std::set<std::string> interface, std::chrono::milliseconds timeout) const {
  return core_->names_there().finder_of(std::move(name), std::move(interface), timeout);
}

std::chrono::milliseconds link::longest_lookup(std::chrono::milliseconds timeout) {
  return internal::lookups::longest(timeout);
}

caf::actor link::spawner() const {
  return core_->helpers_there().spawner();
}

caf::actor link::refusal_of_undescribed(std::type_index functor) const {
  return internal::spawn_refusal(
      system(), {node_errc::unserializable,
                 detail::type_text(functor)
                     + " cannot be sent: a lambda's captures have no names. Write a functor with TROUPE_DESCRIBE, or "
                       "a function, and register it with types.add_function"});
}

std::expected<caf::strong_actor_ptr, node_error>
link::find_untyped(std::string_view name, std::set<std::string> interface, std::chrono::milliseconds timeout) {
  return core_->names_there().find(std::string{name}, std::move(interface), timeout);
}

} // namespace troupe
