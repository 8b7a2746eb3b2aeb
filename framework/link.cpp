#include <troupe/framework/link.hpp>

#include <troupe/framework/internal/link_core.hpp>
#include <troupe/framework/internal/node_core.hpp>

namespace troupe {

const std::string& link::peer_name() const {
  return core_->peer_name();
}

std::vector<std::string> link::serializers() const {
  return core_->effective_serializers();
}

std::vector<std::string> link::deserializers() const {
  return core_->deserializers();
}

bool link::shares_store() const {
  return core_->shares_store();
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

caf::actor_system& link::system() const {
  return core_->node().system();
}

std::expected<caf::strong_actor_ptr, node_error>
link::find_untyped(std::string_view name, const std::set<std::string>& interface, std::chrono::milliseconds timeout) {
  return core_->find(name, interface, timeout);
}

} // namespace troupe
