#include <troupe/framework/node.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/config/configuration.hpp>
#include <troupe/framework/internal/lasting/lasting_office.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/activity_survey.hpp>
#include <troupe/framework/internal/node/draining.hpp>
#include <troupe/framework/internal/node/link_keeper.hpp>
#include <troupe/framework/internal/node/memory_survey.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/node/node_orders.hpp>
#include <troupe/framework/internal/node/node_survey.hpp>
#include <troupe/framework/internal/objects/putting.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/system_config.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe {

namespace {

std::string shape_text(std::span<const std::size_t> shape) {
  std::string text;
  for (const auto length : shape)
    text += (text.empty() ? "" : " x ") + grouped(length);
  return text;
}

/// Options that are not set take the values of the configuration.
std::expected<link_options, node_error> completed(const internal::node_core& core, std::string_view address,
                                                  const link_options& options) {
  const auto* config = internal::config_of(core.system());
  return config != nullptr ? config->link_options_for(address, core.families(), options) : options;
}

} // namespace

std::expected<node, node_error> node::open(caf::actor_system& system, type_registry& types, const family_set& families,
                                           node_options options) {
  const auto* config = internal::config_of(system);
  const auto* read = config != nullptr ? config->configuration() : nullptr;
  if (config != nullptr) {
    auto complete = config->node_options_with(families, std::move(options));
    if (!complete)
      return std::unexpected{std::move(complete).error()};
    options = *std::move(complete);
  }
  auto core = std::make_shared<internal::node_core>(system, types, families, std::move(options));
  if (read != nullptr)
    if (auto checked = core->check_configuration(); !checked) {
      core->shut_down();
      return std::unexpected{std::move(checked).error()};
    }
  if (auto started = core->start(); !started) {
    core->shut_down();
    auto place = read != nullptr ? read->place_of_node() : std::string{};
    if (place.empty())
      return std::unexpected{std::move(started).error()};
    return std::unexpected{
        node_error{started.error().code(), started.error().message() + " (troupe.node begins at " + place + ')'}};
  }
  return node{std::move(core)};
}

node::node(std::shared_ptr<internal::node_core> core) : core_(std::move(core)) {}

node::node(node&&) noexcept = default;

node& node::operator=(node&& other) noexcept {
  if (this != &other) {
    if (core_)
      core_->shut_down();
    core_ = std::move(other.core_);
  }
  return *this;
}

node::~node() {
  if (core_)
    core_->shut_down();
}

std::expected<void, node_error> node::publish_untyped(std::string name, caf::strong_actor_ptr actor) {
  return core_->names().publish(std::move(name), std::move(actor));
}

std::expected<void, node_error> node::dead_letters(const caf::actor& receiver) {
  if (receiver && receiver.node() != core_->system().node())
    return internal::fail(node_errc::bad_option, "dead letters go to an actor of this process");
  core_->letters().send_to(caf::actor_cast<caf::strong_actor_ptr>(receiver));
  return {};
}

std::expected<void, node_error> node::record_spans(std::shared_ptr<span_sink> sink, double sample) {
  if (!(sample >= 0 && sample <= 1))
    return internal::fail(node_errc::bad_option,
                          "sample is " + std::to_string(sample) + "; it is a share of messages, from 0 to 1");
  core_->spans()->record_to(std::move(sink), sample);
  return {};
}

std::expected<void, node_error> node::listen(std::string_view address) {
  return listen({address});
}

std::expected<void, node_error> node::listen(std::initializer_list<std::string_view> addresses) {
  const std::vector<std::string> owned(addresses.begin(), addresses.end());
  return core_->entrances().listen(owned);
}

std::expected<void, node_error> node::listen(std::span<const std::string> addresses) {
  return core_->entrances().listen(addresses);
}

bool node::unpublish(std::string_view name) {
  return core_->names().unpublish(name);
}

std::expected<link, node_error> node::connect(std::string_view address, const link_options& options) {
  auto complete = completed(*core_, address, options);
  if (!complete)
    return std::unexpected{std::move(complete).error()};
  auto connected = core_->connect(address, *complete);
  if (!connected)
    return std::unexpected{std::move(connected).error()};
  return link{*std::move(connected)};
}

std::expected<reconnecting_link, node_error> node::keep_connected(std::string_view address, reconnect_options options) {
  auto complete = completed(*core_, address, options.link);
  if (!complete)
    return std::unexpected{std::move(complete).error()};
  const auto* config = internal::config_of(core_->system());
  auto policy =
      config != nullptr ? config->reconnect_policy_for(address, std::move(options.policy)) : std::move(options.policy);
  auto keeper = internal::link_keeper::make(core_, address, *complete, policy, std::move(options.events));
  if (!keeper)
    return std::unexpected{std::move(keeper).error()};
  if (auto kept = core_->dials().keep(*keeper); !kept)
    return std::unexpected{std::move(kept).error()};
  return reconnecting_link{*std::move(keeper)};
}

std::expected<void, node_error> node::drain(std::chrono::milliseconds patience) {
  auto drained = internal::drain(*core_, patience);
  if (drained || drained.error().code() == node_errc::timed_out)
    core_->shut_down();
  return drained;
}

caf::actor_system& node::system() const {
  return core_->system();
}

const type_registry& node::types() const {
  return core_->types();
}

const family_set& node::families() const {
  return core_->families();
}

std::expected<caf::strong_actor_ptr, node_error> node::lasting_untyped(std::span<const std::string> addresses,
                                                                       std::string name,
                                                                       std::set<std::string> interface,
                                                                       lasting_options options) {
  const auto* config = internal::config_of(core_->system());
  internal::lasting_office::wanted what{.name = std::move(name), .interface = std::move(interface)};
  for (const auto& address : addresses) {
    auto complete = completed(*core_, address, options.link);
    if (!complete)
      return std::unexpected{std::move(complete).error()};
    what.addresses.push_back(
        {.address = address,
         .options = *std::move(complete),
         .policy = config != nullptr ? config->reconnect_policy_for(address, options.policy) : options.policy});
  }
  return core_->lasting().make(std::move(what), std::move(options));
}

const std::string& node::name() const {
  return *core_->options().name;
}

std::string node::identity() const {
  return internal::hex(core_->key().public_part());
}

std::vector<std::string> node::addresses() const {
  return core_->entrances().addresses();
}

std::vector<link> node::links() const {
  std::vector<link> result;
  for (auto& open : core_->links().open())
    result.emplace_back(std::move(open));
  return result;
}

node_stats node::stats() const {
  return core_->stats();
}

weak_node node::weak() const noexcept {
  return weak_node{core_};
}

std::expected<memory_summary, node_error> node::memory_summary(const memory_query& query) const {
  return survey_memory(*core_, query);
}

node_report node::report(const report_query& query) const {
  return report_of(*core_, query);
}

node_activity node::activity(const activity_query& query) const {
  return activity_of(*core_, query);
}

std::expected<void, node_error> node::order(const node_order& what, std::string_view by,
                                            std::chrono::milliseconds timeout) {
  const auto done = carry_out(*core_, what, by, timeout);
  return done ? std::expected<void, node_error>{} : std::unexpected{done.error()};
}

const store::object_store* node::store() const {
  return core_->store() ? &*core_->store() : nullptr;
}

std::expected<internal::object_state_ptr, node_error> node::put_value(const std::type_info& type, const void* value,
                                                                      const std::source_location& where) {
  const auto* entry = core_->types().find(type);
  if (entry == nullptr)
    return std::unexpected{node_error{node_errc::unserializable, "type " + detail::type_text(type)
                                                                     + " has no alias; add it to the node's type "
                                                                       "registry with types.add<T>(\"alias\")"}};
  return internal::object_place{core_->store(), core_->objects(), core_->counted_objects()}.put_value(*entry, value,
                                                                                                      where);
}

std::expected<internal::object_state_ptr, node_error>
node::put_array(internal::bytes_view values, internal::object_layout layout, const std::source_location& where) {
  return internal::object_place{core_->store(), core_->objects(), core_->counted_objects()}.put_array(
      values, std::move(layout), where);
}

std::expected<std::unique_ptr<internal::object_room>, node_error>
node::make_room(std::span<const std::size_t> shape, std::size_t element_bytes, const std::source_location& where) {
  const auto count = detail::count_of(shape);
  if (!count || *count > PTRDIFF_MAX / element_bytes)
    return std::unexpected{node_error{node_errc::store_full, "no store has room for an array of " + shape_text(shape)
                                                                 + " values of " + grouped(element_bytes) + " bytes"}};
  return internal::object_place{core_->store(), core_->objects(), core_->counted_objects()}.make_room(
      *count * element_bytes, where);
}

} // namespace troupe
