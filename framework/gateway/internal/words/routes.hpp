// Which action a request names.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

enum class action : std::uint8_t {
  call_actor,    ///< POST /actors/NAME
  open_socket,   ///< GET /actors/NAME with an upgrade
  show_schema,   ///< GET /schema
  read_object,   ///< GET or HEAD /objects/ID
  make_object,   ///< PUT or POST /objects
  delete_object, ///< DELETE /objects/ID
  show_page,     ///< GET or HEAD /view and /view/FILE: needs no token, because it is the same for everybody.
  view_state,    ///< GET /view/state
  view_link,     ///< GET /view/links/NODE/NUMBER
  view_memory,   ///< GET /view/memory
  view_activity, ///< GET /view/activity
  view_act,      ///< POST /view/act
  ask_leave,     ///< OPTIONS of any of these: a browser asks whether a page may send a request.
};

struct route {
  action what;
  std::string name = {};    ///< Of the actor, the object, the page's file (empty: the page itself) or the link's node.
  std::uint64_t number = 0; ///< Of the link.
};

/// Finds the action. `is_upgrade`: the request asks to become a WebSocket. Fails with 400 for a target that is no path,
/// or that has a query, because a token in a URL would get into logs; with 404; or with 405.
[[nodiscard]] std::expected<route, refusal> find_route(std::string_view method, std::string_view target,
                                                       bool is_upgrade);

} // namespace troupe::web
