#include <troupe/framework/gateway/internal/words/routes.hpp>

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

} // namespace

std::expected<route, refusal> find_route(std::string_view method, std::string_view target, bool is_upgrade) {
  if (!target.starts_with('/'))
    return refused(400, "bad_target", "the target of a request must be a path");
  if (target.find('?') != std::string_view::npos)
    return refused(400, "bad_target", "addresses have no query; a token belongs in the header Authorization");
  auto actor = name_behind("/actors/", target);
  auto object = name_behind("/objects/", target);
  if (!actor && !object && target != "/objects" && target != "/schema")
    return refused(404, "not_found", "there are /actors/NAME, /objects, /objects/ID and /schema");
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
