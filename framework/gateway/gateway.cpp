#include <troupe/framework/gateway/gateway.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <troupe/framework/gateway/internal/server/gateway_core.hpp>
#include <troupe/framework/gateway/internal/view/own_node.hpp>
#include <troupe/framework/gateway/internal/words/names.hpp>

namespace troupe {

namespace {

std::unexpected<node_error> unusable_option(std::string text) {
  return std::unexpected{node_error{node_errc::bad_option, "gateway: " + std::move(text)}};
}

std::expected<void, node_error> check_options(const gateway_options& options) {
  using std::chrono::milliseconds;
  const std::array<std::pair<std::string_view, std::size_t>, 13> counts{
      {{"threads", options.threads},
       {"connections_max", options.connections_max},
       {"connections_per_address_max", options.connections_per_address_max},
       {"body_bytes_max", options.body_bytes_max},
       {"answer_bytes_max", options.answer_bytes_max},
       {"depth_max", options.depth_max},
       {"socket_requests_max", options.socket_requests_max},
       {"socket_questions_max", options.socket_questions_max},
       {"socket_outbox_bytes", options.socket_outbox_bytes},
       {"unconsumed_bytes_max", options.unconsumed_bytes_max},
       {"object_bytes_max", options.object_bytes_max},
       {"objects_per_token_max", options.objects_per_token_max},
       {"guesses_per_minute", options.guesses_per_minute}}};
  for (const auto& [name, value] : counts)
    if (value == 0)
      return unusable_option(std::string(name) + " must not be 0");
  if (options.unread_bytes_max < std::max(options.answer_bytes_max, options.socket_outbox_bytes))
    return unusable_option("unread_bytes_max of " + std::to_string(options.unread_bytes_max)
                           + " is less than answer_bytes_max or socket_outbox_bytes");
  const std::array<std::pair<std::string_view, milliseconds>, 7> times{
      {{"answer_timeout", options.answer_timeout},
       {"answer_timeout_max", options.answer_timeout_max},
       {"object_lifetime", options.object_lifetime},
       {"header_timeout", options.header_timeout},
       {"body_timeout", options.body_timeout},
       {"write_timeout", options.write_timeout},
       {"idle_timeout", options.idle_timeout}}};
  constexpr milliseconds longest = std::chrono::hours(24 * 365);
  for (const auto& [name, value] : times)
    if (value <= milliseconds::zero() || value > longest)
      return unusable_option(std::string(name) + " must be more than 0 and at most a year");
  if (!(options.requests_per_second > 0) || !(options.requests_burst >= 1))
    return unusable_option("requests_per_second must be more than 0, and requests_burst at least 1");
  if (options.certificate_file.empty() != options.key_file.empty())
    return unusable_option("certificate_file and key_file belong together");
  return {};
}

std::expected<std::vector<std::string>, node_error> aliases_of(const std::vector<web::signature_part>& types,
                                                               const type_registry& registry) {
  std::vector<std::string> aliases;
  for (const auto& [type, atom] : types) {
    if (!atom.empty()) {
      aliases.push_back("'" + atom + "'");
      continue;
    }
    const auto* const entry = registry.find(type);
    if (entry == nullptr)
      return std::unexpected{
          node_error{node_errc::unserializable,
                     "gateway: a type of the actor's messages has no alias: " + std::string(type.name())}};
    aliases.push_back(entry->alias());
  }
  return aliases;
}

} // namespace

std::expected<gateway, node_error> gateway::open(node& of, gateway_options options) {
  if (auto checked = check_options(options); !checked)
    return std::unexpected{std::move(checked).error()};
  if (of.families().find("json") == nullptr)
    return unusable_option("the node has no family \"json\"");
  auto tokens = web::token_book::read(options.token_file);
  if (!tokens)
    return std::unexpected{std::move(tokens).error()};
  auto core = std::make_shared<web::gateway_core>(of, std::move(options), *std::move(tokens));
  if (auto started = core->start(); !started)
    return std::unexpected{std::move(started).error()};
  return gateway(std::move(core));
}

gateway::gateway(std::shared_ptr<web::gateway_core> core) : core_(std::move(core)) {}
gateway::gateway(gateway&&) noexcept = default;
gateway& gateway::operator=(gateway&&) noexcept = default;
gateway::~gateway() = default;

std::expected<void, node_error> gateway::expose_actor(std::string name, caf::actor actor, exposure how,
                                                      const std::vector<web::signature_types>& typed) {
  if (!web::is_name(name))
    return unusable_option("\"" + name + "\" cannot be the name of an actor in a URL");
  if (!actor)
    return unusable_option("the actor to be exposed as \"" + name + "\" is null");
  if (how.messages.empty())
    for (const auto& signature : typed) {
      auto takes = aliases_of(signature.takes, types());
      auto gives = aliases_of(signature.gives, types());
      if (!takes || !gives)
        return std::unexpected{(takes ? gives : takes).error()};
      how.messages.push_back({*std::move(takes), *std::move(gives)});
    }
  core_->actors().expose(name, std::make_shared<const web::exposed_actor>(
                                   web::exposed_actor{.actor = std::move(actor), .how = std::move(how)}));
  return {};
}

bool gateway::withdraw(std::string_view name) {
  return core_->actors().withdraw(name);
}

std::expected<void, node_error> gateway::expose_page(std::string id, bool is_empty, web::page_loader load) {
  if (!web::is_name(id))
    return unusable_option("\"" + id + "\" cannot be the id of an object in a URL");
  if (is_empty)
    return unusable_option("the reference to be exposed as \"" + id + "\" is empty");
  core_->objects().expose(std::move(id), std::move(load));
  return {};
}

bool gateway::withdraw_object(std::string_view id) {
  return core_->objects().withdraw(id);
}

void gateway::serve_view(std::shared_ptr<view_source> source) {
  core_->serve_view(std::move(source));
}

void gateway::serve_own_view(bool takes_orders) {
  core_->serve_view(std::make_shared<web::own_node>(core_->home(), takes_orders));
}

std::expected<void, node_error> gateway::reload_tokens() {
  auto tokens = web::token_book::read(core_->options().token_file);
  if (!tokens)
    return std::unexpected{std::move(tokens).error()};
  core_->doorkeeper().replace(*std::move(tokens));
  return {};
}

std::expected<void, node_error> gateway::drain(std::chrono::milliseconds patience) {
  const auto left = core_->drain(std::chrono::steady_clock::now() + patience);
  if (left > 0)
    return std::unexpected{node_error{
        node_errc::timed_out, "gateway: " + std::to_string(left) + (left == 1 ? " connection has" : " connections have")
                                  + " requests under way after " + std::to_string(patience.count()) + " ms"}};
  return {};
}

std::uint16_t gateway::port() const noexcept {
  return core_->port();
}

const std::string& gateway::url() const noexcept {
  return core_->url();
}

gateway_stats gateway::stats() const {
  return core_->stats();
}

const type_registry& gateway::types() const {
  return core_->home().types();
}

const family_set& gateway::families() const {
  return core_->home().families();
}

} // namespace troupe
