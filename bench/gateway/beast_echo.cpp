#include "gateway/beast_echo.hpp"

#include <memory>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace bench {

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

class echo_session : public std::enable_shared_from_this<echo_session> {
public:
  explicit echo_session(net::ip::tcp::socket socket) : stream_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(stream_, buffer_, request_, [self = shared_from_this()](beast::error_code failure, std::size_t) {
      if (!failure)
        self->write();
    });
  }

private:
  void write() {
    response_ = {http::status::ok, request_.version(), std::move(request_.body())};
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(true);
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code failure, std::size_t) {
      if (!failure)
        self->read();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

} // namespace

struct beast_echo::parts {
  void accept() {
    acceptor.async_accept([this](beast::error_code failure, net::ip::tcp::socket socket) {
      if (failure)
        return;
      socket.set_option(net::ip::tcp::no_delay(true), failure);
      std::make_shared<echo_session>(std::move(socket))->read();
      accept();
    });
  }

  net::io_context loop{1};
  net::ip::tcp::acceptor acceptor{loop, {net::ip::address_v4::loopback(), 0}};
  std::thread thread;
};

beast_echo::beast_echo() : parts_(std::make_unique<parts>()) {
  parts_->accept();
  parts_->thread = std::thread([this] { parts_->loop.run(); });
}

beast_echo::~beast_echo() {
  parts_->loop.stop();
  parts_->thread.join();
}

std::uint16_t beast_echo::port() const noexcept {
  return parts_->acceptor.local_endpoint().port();
}

} // namespace bench
