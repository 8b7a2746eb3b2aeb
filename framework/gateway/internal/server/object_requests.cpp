#include <troupe/framework/gateway/internal/server/object_requests.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <troupe/framework/gateway/internal/objects/byte_range.hpp>
#include <troupe/framework/gateway/internal/server/request_head.hpp>

namespace troupe::web {

namespace {

constexpr std::chrono::milliseconds object_wait{10'000}; // For the bytes of an object on another host.

[[nodiscard]] net::awaitable<void> respond_with(http_exchange& exchange, const object_page& page,
                                                const std::string& tag) {
  const auto if_range = value_of(exchange.head(), http::field::if_range);
  const auto range =
      if_range.empty() || if_range == tag ? value_of(exchange.head(), http::field::range) : std::string_view();
  const auto whole = page.head.size() + page.bytes.size_bytes();
  const auto [kind, part] = read_range(range, whole);
  if (kind == range_kind::unsatisfiable) {
    auto made = response_of(refused_with(416, "bad_range", "the object has " + std::to_string(whole) + " bytes"));
    made.set(http::field::content_range, "bytes */" + std::to_string(whole));
    co_return co_await exchange.respond(std::move(made));
  }
  head_response made;
  made.result(kind == range_kind::part ? http::status::partial_content : http::status::ok);
  made.set(http::field::content_type, page.content_type);
  made.set(http::field::etag, tag);
  made.set(http::field::accept_ranges, "bytes");
  made.set(http::field::cache_control, "private, no-cache");
  made.set(http::field::content_disposition, "attachment"); // A browser must not show it as a page of the gateway's.
  made.set("Content-Security-Policy", "sandbox");
  if (kind == range_kind::part)
    made.set(http::field::content_range, "bytes " + std::to_string(part.first) + "-"
                                             + std::to_string(part.first + part.size_bytes - 1) + "/"
                                             + std::to_string(whole));
  co_await exchange.respond(std::move(made), page, part);
}

} // namespace

net::awaitable<void> read_object(gateway_core& core, http_exchange& exchange, std::string id,
                                 std::shared_ptr<const token_rights> by) {
  if (exchange.has_unread_body())
    co_return co_await exchange.refuse(refused_with(400, "bad_head", "a GET has no body"));
  const auto object = core.objects().find(*by, id, object_shelf::clock::now());
  if (!object)
    co_return co_await exchange.refuse(object.error());
  if (value_of(exchange.head(), http::field::if_none_match) == object->tag) {
    text_response same;
    same.result(http::status::not_modified);
    same.set(http::field::etag, object->tag);
    co_return co_await exchange.respond(std::move(same));
  }
  std::expected<object_page, node_error> page;
  const auto load = [&] { page = object->load(object_wait); };
  co_await run_on(core.workers(), exchange, load);
  if (!page)
    co_return co_await exchange.refuse(refusal_of(page.error()));
  co_await respond_with(exchange, *page, object->tag);
}

net::awaitable<void> make_object(gateway_core& core, http_exchange& exchange, std::shared_ptr<const token_rights> by) {
  const auto size_bytes = exchange.body_bytes();
  if (!size_bytes)
    co_return co_await exchange.refuse(refused_with(411, "no_length", "an object needs the header Content-Length"));
  const auto bytes_max = core.options().object_bytes_max;
  if (*size_bytes > bytes_max)
    co_return co_await exchange.refuse(refused_with(
        413, "too_large", "object of " + std::to_string(*size_bytes) + " bytes, limit " + std::to_string(bytes_max)));
  auto room = core.objects().reserve(*by, *size_bytes, object_shelf::clock::now());
  if (!room)
    co_return co_await exchange.refuse(room.error());
  std::optional<std::expected<array_builder<std::byte>, node_error>> build;
  const auto make = [&] { build.emplace(core.home().template make_array<std::byte>(*size_bytes)); };
  co_await run_on(core.workers(), exchange, make);
  if (!*build)
    co_return co_await exchange.refuse(refusal_of(build->error()));
  if (!co_await exchange.receive_into((*build)->values()))
    co_return;
  std::optional<std::expected<object_ref<array<std::byte>>, node_error>> sealed;
  const auto seal = [&] { sealed.emplace(std::move(**build).seal()); };
  co_await run_on(core.workers(), exchange, seal);
  if (!*sealed)
    co_return co_await exchange.refuse(refusal_of(sealed->error()));
  auto load = [object = **sealed](std::chrono::milliseconds wait) -> std::expected<object_page, node_error> {
    auto value = object.get(wait);
    if (!value)
      return std::unexpected{value.error()};
    return page_of(*value);
  };
  const auto id = core.objects().put(*by, *std::move(room), std::move(load), object_shelf::clock::now());
  auto made = json_response(201, "{\"id\":" + json_text(id) + ",\"bytes\":" + std::to_string(*size_bytes)
                                     + ",\"seconds\":" + std::to_string(core.options().object_lifetime.count()) + "}");
  made.set(http::field::location, "/objects/" + id);
  co_await exchange.respond(std::move(made));
}

net::awaitable<void> delete_object(gateway_core& core, http_exchange& exchange, std::string id,
                                   std::shared_ptr<const token_rights> by) {
  if (auto removed = core.objects().remove(*by, id, object_shelf::clock::now()); !removed)
    co_return co_await exchange.refuse(removed.error());
  text_response made;
  made.result(http::status::no_content);
  co_await exchange.respond(std::move(made));
}

} // namespace troupe::web
