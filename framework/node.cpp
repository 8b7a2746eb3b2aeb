#include <troupe/framework/node.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <troupe/framework/internal/configuration.hpp>
#include <troupe/framework/internal/link_core.hpp>
#include <troupe/framework/internal/link_keeper.hpp>
#include <troupe/framework/internal/node_core.hpp>

namespace troupe {

namespace internal {

namespace {

constexpr std::size_t frame_alignment = 64;
std::size_t align_up(std::size_t value) {
  return (value + frame_alignment - 1) / frame_alignment * frame_alignment;
}

node_error from_store(const store::store_error& error) {
  auto code = error.code() == store::store_errc::full || error.code() == store::store_errc::table_full
                  ? node_errc::store_full
                  : node_errc::object_lost;
  return {code, error.message()};
}

struct heap_bytes final : frame_owner {
  explicit heap_bytes(std::size_t size_bytes)
      : bytes(static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{frame_alignment}))),
        size(size_bytes) {}
  ~heap_bytes() override { ::operator delete (bytes, std::align_val_t{frame_alignment}); }

  std::byte* bytes;
  std::size_t size;
};

class store_room final : public object_room {
public:
  store_room(std::shared_ptr<const object_environment> environment, store::builder built)
      : environment_(std::move(environment)), built_(std::move(built)) {}

  std::span<std::byte> bytes() override { return built_.bytes(); }

  std::expected<object_state_ptr, node_error> seal(std::size_t size_bytes, object_layout layout) override {
    built_.shrink(size_bytes);
    auto sealed = std::move(built_).seal();
    if (!sealed)
      return std::unexpected{from_store(sealed.error())};
    auto pinned = sealed->pin();
    if (!pinned)
      return std::unexpected{from_store(pinned.error())};
    auto owner = std::make_shared<stored_bytes>(*std::move(pinned));
    auto whole = owner->bytes();
    return std::make_shared<object_state>(object_state{
        std::move(layout), std::make_shared<local_object>(frame{whole, std::move(owner)}), std::move(environment_)});
  }

private:
  std::shared_ptr<const object_environment> environment_;
  store::builder built_;
};

/// In this process's own memory, for a node without a store.
class heap_room final : public object_room {
public:
  heap_room(std::shared_ptr<const object_environment> environment, std::size_t size_bytes)
      : environment_(std::move(environment)), bytes_(std::make_shared<heap_bytes>(size_bytes)) {}

  std::span<std::byte> bytes() override { return {bytes_->bytes, bytes_->size}; }

  std::expected<object_state_ptr, node_error> seal(std::size_t size_bytes, object_layout layout) override {
    std::span<const std::byte> kept{bytes_->bytes, size_bytes};
    return std::make_shared<object_state>(object_state{
        std::move(layout), std::make_shared<local_object>(frame{kept, std::move(bytes_)}), std::move(environment_)});
  }

private:
  std::shared_ptr<const object_environment> environment_;
  std::shared_ptr<heap_bytes> bytes_;
};

} // namespace

} // namespace internal

using namespace internal;

std::expected<node, node_error> node::open(caf::actor_system& system, type_registry& types, const family_set& families,
                                           node_options options) {
  auto core = std::make_shared<node_core>(system, types, families, std::move(options));
  if (auto started = core->start(); !started) {
    core->shut_down();
    return std::unexpected{std::move(started).error()};
  }
  return node{std::move(core)};
}

std::expected<node, node_error> node::open(caf::actor_system& system, type_registry& types,
                                           const family_set& families) {
  const auto* config = dynamic_cast<const system_config*>(&system.config());
  if (config == nullptr)
    return open(system, types, families, node_options{}); // Says what is missing.
  auto options = config->node_options_with(families);
  if (!options)
    return std::unexpected{std::move(options).error()};
  auto core = std::make_shared<node_core>(system, types, families, *std::move(options));
  if (auto checked = core->check_configuration(); !checked) {
    core->shut_down();
    return std::unexpected{std::move(checked).error()};
  }
  auto started = core->start();
  if (!started) {
    core->shut_down();
    const auto* read = config->configuration();
    auto place = read != nullptr ? read->place_of_node() : std::string{};
    if (place.empty())
      return std::unexpected{std::move(started).error()};
    return std::unexpected{
        node_error{started.error().code(), started.error().message() + " (troupe.node begins at " + place + ')'}};
  }
  return node{std::move(core)};
}

node::node(std::shared_ptr<node_core> core) : core_(std::move(core)) {}

node::node(node&&) noexcept = default;

node& node::operator=(node&& other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}

node::~node() {
  if (core_)
    core_->shut_down();
}

std::expected<void, node_error> node::publish_untyped(std::string name, caf::strong_actor_ptr actor) {
  return core_->publish(std::move(name), std::move(actor));
}

bool node::unpublish(std::string_view name) {
  return core_->unpublish(name);
}

std::expected<link, node_error> node::connect(std::string_view address, const link_options& options) {
  auto connected = core_->connect(address, options);
  if (!connected)
    return std::unexpected{std::move(connected).error()};
  return link{*std::move(connected)};
}

std::expected<link, node_error> node::connect(std::string_view address) {
  const auto* config = core_->config();
  auto options = config != nullptr ? config->link_options_for(address, core_->families()) : link_options{};
  if (!options)
    return std::unexpected{std::move(options).error()};
  return connect(address, *options);
}

std::expected<kept_link, node_error> node::keep_connected(std::string_view address, const link_options& options,
                                                          const reconnect_policy& policy, link_events events) {
  auto keeper = link_keeper::make(core_, address, options, policy, std::move(events));
  if (!keeper)
    return std::unexpected{std::move(keeper).error()};
  if (auto kept = core_->keep(*keeper); !kept)
    return std::unexpected{std::move(kept).error()};
  return kept_link{*std::move(keeper)};
}

std::expected<kept_link, node_error> node::keep_connected(std::string_view address, link_events events) {
  const auto* config = core_->config();
  if (config == nullptr)
    return keep_connected(address, link_options{}, reconnect_policy{}, std::move(events));
  auto options = config->link_options_for(address, core_->families());
  if (!options)
    return std::unexpected{std::move(options).error()};
  return keep_connected(address, *options, config->reconnect_policy_for(address), std::move(events));
}

std::vector<std::string> node::addresses() const {
  return core_->addresses();
}

std::vector<link> node::links() const {
  std::vector<link> result;
  for (auto& open : core_->open_links())
    result.emplace_back(std::move(open));
  return result;
}

node_stats node::stats() const {
  return core_->stats();
}

node_view node::view() const noexcept {
  return node_view{core_};
}

const store::object_store* node::store() const {
  return core_->store() ? &*core_->store() : nullptr;
}

const object_environment& node::environment() const {
  return *core_->objects();
}

std::expected<object_state_ptr, node_error> node::put_payload(const payload& encoded) {
  object_layout layout{.element = {},
                       .shape = {},
                       .header = {encoded.header.bytes().begin(), encoded.header.bytes().end()},
                       .frames = {}};
  std::size_t size = 0;
  for (const auto& part : encoded.frames) {
    size = align_up(size);
    layout.frames.push_back({size, part.size_bytes()});
    size += part.size_bytes();
  }
  auto room = make_room(size);
  if (!room)
    return std::unexpected{std::move(room).error()};
  auto bytes = (*room)->bytes();
  for (std::size_t i = 0; i < encoded.frames.size(); ++i)
    std::ranges::copy(encoded.frames[i].bytes(), bytes.subspan(layout.frames[i].offset).begin());
  return (*room)->seal(size, std::move(layout));
}

std::expected<object_state_ptr, node_error> node::put_array(bytes_view values, object_layout layout) {
  auto room = make_room(values.size());
  if (!room)
    return std::unexpected{std::move(room).error()};
  std::ranges::copy(values, (*room)->bytes().begin());
  return (*room)->seal(values.size(), std::move(layout));
}

std::expected<std::unique_ptr<object_room>, node_error> node::make_room(std::size_t size_bytes) {
  if (!core_->store())
    return std::make_unique<heap_room>(core_->objects(), size_bytes);
  auto built = store::object_store{*core_->store()}.create(size_bytes);
  if (!built)
    return std::unexpected{from_store(built.error())};
  return std::make_unique<store_room>(core_->objects(), *std::move(built));
}

} // namespace troupe
