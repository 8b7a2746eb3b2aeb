#include <troupe/framework/internal/net/tls_transport.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/post.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/socket_transport.hpp>
#include <troupe/framework/internal/trust/tls_meter.hpp>

namespace troupe::internal {

namespace {

// RFC 5705. Both ends prove the shared secret over these bytes, so a proof cannot be reused in another session.
constexpr std::string_view exporter_label = "EXPORTER-troupe-link";
constexpr std::size_t session_key_bytes = 32;

/// A TCP socket that fails if the peer sends too much before it is admitted, and knows whether writes had to wait.
class metered_socket {
public:
  using lowest_layer_type = stream_socket::lowest_layer_type;
  using executor_type = stream_socket::executor_type;

  explicit metered_socket(stream_socket socket) : socket_(std::move(socket)) {
    std::error_code failed; // If this fails, all writes fail.
    socket_.non_blocking(true, failed);
  }

  executor_type get_executor() { return socket_.get_executor(); }
  lowest_layer_type& lowest_layer() { return socket_.lowest_layer(); }
  const lowest_layer_type& lowest_layer() const { return socket_.lowest_layer(); }
  void admit() { meter_.reset(); }

  /// Whether the kernel took nothing at some time since the last forget_waits().
  [[nodiscard]] bool has_waited() const noexcept { return has_waited_; }
  void forget_waits() noexcept { has_waited_ = false; }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& into, Handler&& handler) {
    auto* bytes = static_cast<const std::byte*>(asio::buffer_sequence_begin(into)->data());
    socket_.async_read_some(into, [this, bytes, handler = std::forward<Handler>(handler)](std::error_code error,
                                                                                          std::size_t count) mutable {
      if (!error && meter_ && !meter_->admits({bytes, count}))
        error = std::make_error_code(std::errc::message_size);
      handler(error, error ? 0 : count);
    });
  }

  template <class Buffers, class Handler>
  void async_write_some(const Buffers& from, Handler&& handler) {
    std::error_code failed;
    const auto written = socket_.write_some(from, failed);
    if (failed == asio::error::would_block || failed == asio::error::try_again) {
      has_waited_ = true;
      socket_.async_write_some(from, std::forward<Handler>(handler));
      return;
    }
    asio::post(get_executor(),
               [failed, written, handler = std::forward<Handler>(handler)]() mutable { handler(failed, written); });
  }

private:
  stream_socket socket_;
  bool has_waited_ = false;
  std::optional<tls_meter> meter_{std::in_place}; // Until the peer is admitted.
};

class admission_errors final : public std::error_category {
public:
  const char* name() const noexcept override { return "troupe.admission"; }

  /// Small numbers are X.509 errors, large ones OpenSSL's packed codes.
  std::string message(int value) const override {
    constexpr int verification_max = 1000;
    if (value < verification_max)
      return std::string{"the peer's certificate is not accepted: "} + ::X509_verify_cert_error_string(value);
    const auto* reason = ::ERR_reason_error_string(static_cast<unsigned long>(value));
    return std::string{"TLS: "} + (reason != nullptr ? reason : "unknown error");
  }
};

class tls_transport final : public transport,
                            public handshake_candidate,
                            public std::enable_shared_from_this<tls_transport> {
public:
  tls_transport(stream_socket socket, tls_context context, std::string server, std::shared_ptr<handshake_turns> turns)
      : context_(std::move(context)),
        server_(std::move(server)),
        turns_(std::move(turns)),
        socket_(std::move(socket)),
        near_host_(near_host_of(socket_)) {}

  std::string near_host() const override { return near_host_; }

  void begin_handshake() override {
    if (socket_.is_open())
      shake_hands();
  }

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override {
    if (established_) {
      stream_->async_read_some(asio::buffer(into.data(), into.size()),
                               [self = shared_from_this(), done = std::move(done)](
                                   std::error_code error, std::size_t count) { done(self->told(error), count); });
      return;
    }
    held_read_ = {into, std::move(done)};
    begin();
  }

  void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) override {
    buffers_.clear();
    for (auto piece : pieces)
      buffers_.emplace_back(piece.data(), piece.size());
    if (established_) {
      write_buffers(std::move(done));
      return;
    }
    held_write_ = std::move(done);
    begin();
  }

  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view>) override {
    return 0; // Only the I/O thread may use OpenSSL's state.
  }

  bool has_waited() const noexcept override { return stream_ && stream_->next_layer().has_waited(); }

  byte_vector session_key() const override { return session_key_; }

  std::vector<std::string> certificate_names() const override {
    return established_ ? certificate_names_of(const_cast<tls_stream&>(*stream_).native_handle())
                        : std::vector<std::string>{};
  }

  end_addresses addresses() const override {
    std::error_code ignored; // A disconnected socket has no addresses.
    const auto& socket = stream_ ? stream_->lowest_layer() : socket_.lowest_layer();
    return {text_of(transport_kind::tls, socket.local_endpoint(ignored)),
            text_of(transport_kind::tls, socket.remote_endpoint(ignored))};
  }

  bool finish_writing() override {
    if (!established_)
      return false;
    std::error_code failed; // As for TCP. Links say goodbye, so the peer accepts the end of the stream without TLS's
                            // own.
    stream_->lowest_layer().shutdown(stream_socket::shutdown_send, failed);
    return !failed;
  }

  void close() override {
    std::error_code ignored; // They fail if the peer is gone, with the same result.
    auto& socket = stream_ ? stream_->lowest_layer() : socket_.lowest_layer();
    socket.shutdown(stream_socket::shutdown_both, ignored);
    socket.close(ignored);
  }

private:
  using tls_stream = asio::ssl::stream<metered_socket>;

  void begin() {
    if (std::exchange(begun_, true))
      return;
    if (!server_.empty()) {
      shake_hands();
      return;
    }
    // A peer that connects and stays silent costs no more than a socket.
    socket_.async_wait(stream_socket::wait_read, [self = shared_from_this()](std::error_code error) {
      if (error)
        self->settle(error);
      else if (self->turns_)
        self->turns_->enter(self, source_of(self->socket_));
      else
        self->shake_hands();
    });
  }

  void shake_hands() {
    try {
      stream_.emplace(metered_socket{std::move(socket_)}, make_tls_session(context_, server_));
    } catch (const std::bad_alloc&) {
      settle(std::make_error_code(std::errc::not_enough_memory));
      return;
    }
    stream_->async_handshake(server_.empty() ? tls_stream::server : tls_stream::client,
                             [self = shared_from_this()](std::error_code error) {
                               if (!error)
                                 error = self->take_session_key();
                               self->settle(self->told(error));
                             });
  }

  std::error_code take_session_key() {
    session_key_.resize(session_key_bytes);
    auto done =
        ::SSL_export_keying_material(stream_->native_handle(), reinterpret_cast<unsigned char*>(session_key_.data()),
                                     session_key_.size(), exporter_label.data(), exporter_label.size(), nullptr, 0, 0);
    return done == 1 ? std::error_code{} : std::make_error_code(std::errc::protocol_error);
  }

  /// Continues or fails the operations that were held back. The read comes first: its error becomes the link's reason.
  void settle(std::error_code error) {
    auto read = std::exchange(held_read_, {});
    auto write = std::exchange(held_write_, nullptr);
    if (!error) {
      stream_->next_layer().admit();
      ::SSL_set_max_send_fragment(stream_->native_handle(), SSL3_RT_MAX_PLAIN_LENGTH);
      established_ = true;
      if (write)
        write_buffers(std::move(write));
      if (read.done)
        read_some(read.into, std::move(read.done));
      return;
    }
    if (read.done)
      read.done(error, 0);
    if (write)
      write(error);
  }

  void write_buffers(std::function<void(std::error_code)> done) {
    stream_->next_layer().forget_waits();
    asio::async_write(*stream_, buffers_,
                      [self = shared_from_this(), done = std::move(done)](std::error_code error, std::size_t) {
                        done(self->told(error));
                      });
  }

  /// Converts OpenSSL's errors for the link.
  std::error_code told(std::error_code error) {
    if (error.category() == asio::ssl::error::get_stream_category())
      return asio::error::eof; // Without TLS's closing alert, which links replace by a goodbye.
    if (error.category() != asio::error::get_ssl_category())
      return error;
    auto verified = ::SSL_get_verify_result(stream_->native_handle());
    return {verified != X509_V_OK ? static_cast<int>(verified) : error.value(), admission_category()};
  }

  struct held_read {
    std::span<std::byte> into;
    std::function<void(std::error_code, std::size_t)> done;
  };

  const tls_context context_;
  const std::string server_;                     // Empty at the listening end.
  const std::shared_ptr<handshake_turns> turns_; // At the listening end; may be null.
  stream_socket socket_;                         // Until the handshake begins; then moved into stream_.
  const std::string near_host_;
  std::optional<tls_stream> stream_;
  byte_vector session_key_;
  std::vector<asio::const_buffer> buffers_;
  held_read held_read_;
  std::function<void(std::error_code)> held_write_;
  bool begun_ = false;
  bool established_ = false;
};

} // namespace

const std::error_category& admission_category() {
  static const admission_errors category;
  return category;
}

std::shared_ptr<transport> make_tls_transport(stream_socket socket, tls_context context, std::string server,
                                              std::shared_ptr<handshake_turns> turns) {
  tune(socket);
  return std::make_shared<tls_transport>(std::move(socket), std::move(context), std::move(server), std::move(turns));
}

} // namespace troupe::internal
