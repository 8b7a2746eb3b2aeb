#include <troupe/framework/gateway/internal/server/run_on.hpp>

namespace troupe::web {

net::awaitable<void> run_on(net::thread_pool& threads, std::function<void()> work) {
  co_await net::co_spawn(
      threads.get_executor(),
      [&work]() -> net::awaitable<void> {
        work();
        co_return;
      },
      net::use_awaitable);
}

} // namespace troupe::web
