#include <troupe/framework/gateway/internal/words/routes.hpp>

#include <charconv>
#include <optional>
#include <utility>

#include <troupe/framework/gateway/internal/words/names.hpp>

namespace troupe::web {

namespace {

std::unexpected<refusal> refused(unsigned status, std::string code, std::string text) {
  return std::unexpected{refusal{.status = status, .code = std::move(code), .text = std::move(text)}};
}

std::unexpected<refusal> wrong_method(std::string_view allowed) {
  return refused(405, "wrong_method", "this address takes " + std::string(allowed));
}

/// What follows `prefix` in the path, if it is a name.
std::optional<std::string> name_behind(std::string_view prefix, std::string_view path) {
  if (!path.starts_with(prefix) || !is_name(path.substr(prefix.size())))
    return std::nullopt;
  return std::string(path.substr(prefix.size()));
}

std::expected<route, refusal> actor_route(std::string_view method, std::string name, bool is_upgrade) {
  if (method == "GET" && is_upgrade)
    return route{action::open_socket, std::move(name)};
  if (method == "POST")
    return route{action::call_actor, std::move(name)};
  return wrong_method("POST, or GET to open a WebSocket");
}

std::expected<route, refusal> object_route(std::string_view method, std::string name) {
  if (method == "GET" || method == "HEAD")
    return route{action::read_object, std::move(name)};
  if (method == "DELETE")
    return route{action::delete_object, std::move(name)};
  return wrong_method("GET, HEAD or DELETE; new objects are made by PUT /objects");
}

/// "NODE/NUMBER".
std::optional<route> link_route(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos || !is_name(path.substr(0, slash)))
    return std::nullopt;
  const auto digits = path.substr(slash + 1);
  route made{action::view_link, std::string(path.substr(0, slash))};
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), made.number);
  if (failure != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return made;
}

/// `path` is what follows "/view".
std::expected<route, refusal> view_route(std::string_view method, std::string_view path) {
  constexpr std::string_view links = "/links/";
  if (path == "/act")
    return method == "POST" ? std::expected<route, refusal>(route{action::view_act}) : wrong_method("POST");
  if (path == "/state" || path == "/memory" || path == "/activity" || path.starts_with(links)) {
    if (method != "GET")
      return wrong_method("GET");
    if (path == "/state")
      return route{action::view_state};
    if (path == "/memory")
      return route{action::view_memory};
    if (path == "/activity")
      return route{action::view_activity};
    if (auto found = link_route(path.substr(links.size())))
      return *std::move(found);
    return refused(404, "not_found", "there is /view/links/NODE/NUMBER");
  }
  if (!path.empty() && !is_name(path.substr(1)))
    return refused(404, "not_found", "the view has no such file");
  if (method != "GET" && method != "HEAD")
    return wrong_method("GET");
  return route{action::show_page, std::string(path.empty() ? path : path.substr(1))};
}

} // namespace

std::expected<route, refusal> find_route(std::string_view method, std::string_view target, bool is_upgrade) {
  if (!target.starts_with('/'))
    return refused(400, "bad_target", "the target of a request must be a path");
  if (target.find('?') != std::string_view::npos)
    return refused(400, "bad_target", "addresses have no query; a token belongs in the header Authorization");
  constexpr std::string_view view = "/view";
  if (target == view || target.starts_with("/view/")) {
    if (method == "OPTIONS")
      return route{action::ask_leave};
    return view_route(method, target.substr(view.size()));
  }
  auto actor = name_behind("/actors/", target);
  auto object = name_behind("/objects/", target);
  if ((target.starts_with("/actors/") || target.starts_with("/objects/")) && target.find('%') != std::string_view::npos)
    return refused(404, "not_found",
                   "names have only letters, digits, '-', '_' and '.', so they are never encoded with '%'");
  if (!actor && !object && target != "/objects" && target != "/schema")
    return refused(404, "not_found", "there are /actors/NAME, /objects, /objects/ID, /schema and /view");
  if (method == "OPTIONS")
    return route{action::ask_leave};
  if (actor)
    return actor_route(method, *std::move(actor), is_upgrade);
  if (object)
    return object_route(method, *std::move(object));
  if (target == "/objects")
    return method == "PUT" || method == "POST" ? std::expected<route, refusal>(route{action::make_object})
                                               : wrong_method("PUT");
  return method == "GET" ? std::expected<route, refusal>(route{action::show_schema}) : wrong_method("GET");
}

} // namespace troupe::web
