// What most parts of a link share.
#pragma once

#include <string>

#include <troupe/framework/internal/link/admin_output.hpp>
#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/link/life_cycle.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Points at what the parts of one link share. All of it must outlive the parts.
struct link_common {
  link_mutex& mutex;
  const life_cycle& life;
  const agreement& terms;
  admin_output& admin;
  limited_log& log;

  [[nodiscard]] bool is_open() const noexcept { return life.now() == link_state::open; }
  [[nodiscard]] const agreed_terms& agreed() const noexcept { return terms.now(); }
  [[nodiscard]] const std::string& peer_name() const noexcept { return agreed().peer.name; }
  [[nodiscard]] node_error down() const { return {node_errc::link_down, "the link to " + peer_name() + " is down"}; }
};

} // namespace troupe::internal
