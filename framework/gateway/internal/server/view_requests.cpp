#include <troupe/framework/gateway/internal/server/view_requests.hpp>

#include <utility>

#include <troupe/framework/gateway/internal/view/page_files.hpp>

namespace troupe::web {

namespace {

refusal no_view() {
  return refused_with(404, "not_found", "this gateway has no view");
}

} // namespace

net::awaitable<void> show_page(gateway_core& core, http_exchange& exchange, std::string file) {
  if (!core.view())
    co_return co_await exchange.refuse(no_view());
  const auto* const found = find_page_file(file);
  if (found == nullptr)
    co_return co_await exchange.refuse(refused_with(404, "not_found", "the view has no such file"));
  text_response made;
  made.set(http::field::content_type, std::string(found->content_type));
  made.set(http::field::cache_control, "no-store");
  made.set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                      "img-src 'self' data:; base-uri 'none'; form-action 'none'; "
                                      "frame-ancestors 'none'");
  made.set("Referrer-Policy", "no-referrer");
  made.set("Cross-Origin-Resource-Policy", "same-origin");
  made.body() = found->bytes;
  co_await exchange.respond(std::move(made));
}

net::awaitable<void> show_view(gateway_core& core, http_exchange& exchange, route wanted,
                               std::shared_ptr<const token_rights> by) {
  const auto view = core.view();
  if (!view)
    co_return co_await exchange.refuse(no_view());
  if (!by->view)
    co_return co_await exchange.refuse(refused_with(403, "not_allowed", "this token may not look at the view"));
  std::expected<view_desk::text, refusal> shown;
  const auto show = [&] {
    shown = wanted.what == action::view_state      ? view->state()
            : wanted.what == action::view_memory   ? view->memory()
            : wanted.what == action::view_activity ? view->activity()
                                                   : view->link(wanted.name, wanted.number);
  };
  co_await run_on(core.view_thread(), exchange, show);
  if (!shown)
    co_return co_await exchange.refuse(shown.error());
  auto made = json_response(200, **shown);
  if (by->act) // The page offers orders to these tokens only.
    made.set("Troupe-View-Act", "1");
  co_await exchange.respond(std::move(made));
}

net::awaitable<void> act_on_view(gateway_core& core, http_exchange& exchange, std::shared_ptr<const token_rights> by) {
  const auto view = core.view();
  if (!view)
    co_return co_await exchange.refuse(no_view());
  if (!by->act)
    co_return co_await exchange.refuse(refused_with(403, "not_allowed", "this token may not give orders"));
  if (auto checked = check_json(exchange, core.options().body_bytes_max); !checked)
    co_return co_await exchange.refuse(checked.error());
  const auto order = co_await exchange.receive_text();
  if (!order)
    co_return;
  std::expected<view_desk::text, refusal> done;
  const auto act = [&] { done = view->act(*order, by->name); };
  co_await run_on(core.view_thread(), exchange, act);
  if (!done)
    co_return co_await exchange.refuse(done.error());
  co_await exchange.respond(json_response(200, **done));
}

} // namespace troupe::web
