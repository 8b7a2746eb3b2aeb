// Boost's Asio and Beast as the rooms of the gateway use them. No file that includes this header may include the
// standalone Asio.
#pragma once

#if defined(__clang__) // This version of Boost looks for an older form of coroutines there.
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif

#include <string_view>
#include <utility> // Boost's awaitable.hpp lacks it.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/version.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

namespace troupe::web {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using plain_stream = beast::tcp_stream;
using tls_stream = beast::ssl_stream<beast::tcp_stream>;

/// Makes an operation of Asio awaited, with its failure in `failure`.
[[nodiscard]] inline auto into(beast::error_code& failure) {
  return net::redirect_error(net::use_awaitable, failure);
}

/// Compares names and words of HTTP.
[[nodiscard]] inline bool is_same_word(std::string_view one, std::string_view other) {
  return beast::iequals({one.data(), one.size()}, {other.data(), other.size()});
}

} // namespace troupe::web
