#include <troupe/framework/cluster/internal/etcd/http_connection.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <utility>

namespace troupe::cluster_directories {

namespace {

struct bounded_body {
  std::string bytes;
  bool is_too_large = false;
};

std::size_t append_answer(char* bytes, std::size_t, std::size_t count, void* to) noexcept {
  auto& body = *static_cast<bounded_body*>(to);
  body.is_too_large = count > http_connection::answer_bytes_max - body.bytes.size();
  if (body.is_too_large)
    return CURL_WRITEFUNC_ERROR;
  try {
    body.bytes.append(bytes, count);
  } catch (const std::exception&) { // No memory for it.
    return CURL_WRITEFUNC_ERROR;
  }
  return count;
}

bool append_field(curl_list& fields, const std::string& field) {
  auto* const longer = curl_slist_append(fields.get(), field.c_str());
  if (longer == nullptr)
    return false;
  static_cast<void>(fields.release());
  fields.reset(longer);
  return true;
}

bool set_text(CURL* easy, CURLoption option, const std::string& text) {
  return text.empty() || curl_easy_setopt(easy, option, text.c_str()) == CURLE_OK;
}

bool set_tls(CURL* easy, const http_settings& settings) {
  return set_text(easy, CURLOPT_CAINFO, settings.ca_file) && set_text(easy, CURLOPT_SSLCERT, settings.certificate_file)
         && set_text(easy, CURLOPT_SSLKEY, settings.key_file);
}

/// Takes a transfer, and the pointers to what ends with it, from its handles.
struct transfer_ended {
  ~transfer_ended() {
    curl_multi_remove_handle(multi, easy);
    curl_easy_reset(easy); // Keeps its connections.
  }
  CURLM* multi;
  CURL* easy;
};

/// Keeps SIGPIPE from the calling thread: TLS writes to a connection that the server has closed.
class broken_pipes_ignored {
public:
  broken_pipes_ignored() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  broken_pipes_ignored(const broken_pipes_ignored&) = delete;
  broken_pipes_ignored& operator=(const broken_pipes_ignored&) = delete;
  ~broken_pipes_ignored() {
    constexpr timespec at_once{};
    if (!was_pending_)
      while (::sigtimedwait(&pipe_, nullptr, &at_once) == -1 && errno == EINTR)
        ;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

} // namespace

std::expected<void, directory_error> prepare_curl() {
  static const auto ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK)
    return std::unexpected{directory_error{directory_errc::system_failure,
                                           std::string{"libcurl cannot start: "} + curl_easy_strerror(ready)}};
  return {};
}

curl_list set_post(CURL* easy, const http_settings& settings, const http_post& post) {
  // Without a leader, a member refuses at once instead of waiting for one. Without "Expect:", large bodies would wait
  // for an interim answer.
  curl_list fields;
  if (!append_field(fields, "Content-Type: application/json") || !append_field(fields, "Expect:")
      || !append_field(fields, "Grpc-Metadata-hasleader: true")
      || (!post.token.empty() && !append_field(fields, "Authorization: " + post.token)))
    return nullptr;
  if (!set_text(easy, CURLOPT_URL, post.url) || !set_tls(easy, settings))
    return nullptr;
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, settings.has_tls ? "https" : "http");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)); // A stream each.
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post.body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, post.is_sent_once ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 20L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
#if LIBCURL_VERSION_NUM >= 0x075700               // 7.87
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // Does not wait for the lookup of a name.
#endif
  return fields;
}

http_failure failure_of_transfer(CURL* easy, CURLcode result, const char* text) {
  curl_off_t ready_us = 0; // When the request could be sent.
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &ready_us);
  using enum http_failure::kind;
  std::string why = text[0] != '\0' ? text : curl_easy_strerror(result);
  switch (result) {
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
    return {not_sent, std::move(why)};
  case CURLE_OPERATION_TIMEDOUT:
    return {ready_us == 0 ? not_sent : no_answer, std::move(why)};
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_CLIENTCERT:
    return {untrusted, std::move(why)};
  case CURLE_GOT_NOTHING:
    return {no_answer, "it closed the connection, as a server does that speaks TLS only if the client does not"};
  case CURLE_SSL_CONNECT_ERROR: // Also if the connection was lost meanwhile.
    if (why.find("alert") != std::string::npos || why.find("wrong version") != std::string::npos)
      return {untrusted, std::move(why)};
    return {not_sent, why + "; it may not speak TLS"};
  case CURLE_RECV_ERROR: // With TLS 1.3, a server refuses a client's certificate only after the handshake.
    return {why.find("alert") != std::string::npos ? untrusted : no_answer, std::move(why)};
  case CURLE_UNSUPPORTED_PROTOCOL:
  case CURLE_WEIRD_SERVER_REPLY:
  case CURLE_BAD_CONTENT_ENCODING:
    return {not_http, std::move(why)};
  case CURLE_OUT_OF_MEMORY:
  case CURLE_FAILED_INIT:
  case CURLE_URL_MALFORMAT:
  case CURLE_BAD_FUNCTION_ARGUMENT:
    return {broken, std::move(why)};
  default:
    return {no_answer, std::move(why)};
  }
}

http_connection::http_connection(http_settings settings, curl_multi multi, curl_easy easy)
    : settings_(std::move(settings)), multi_(std::move(multi)), easy_(std::move(easy)) {}

std::expected<std::unique_ptr<http_connection>, directory_error> http_connection::make(http_settings settings) {
  curl_multi multi{curl_multi_init()};
  curl_easy easy{curl_easy_init()};
  if (multi == nullptr || easy == nullptr)
    return std::unexpected{directory_error{directory_errc::system_failure, "libcurl has no memory for a connection"}};
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, 3L);
  return std::unique_ptr<http_connection>{new http_connection{std::move(settings), std::move(multi), std::move(easy)}};
}

std::expected<http_answer, http_failure> http_connection::exchange(const http_post& post,
                                                                   std::chrono::milliseconds patience,
                                                                   const std::function<bool()>& is_stopped) {
  constexpr std::chrono::milliseconds longest_timeout{1 << 30};
  bounded_body body;
  std::array<char, CURL_ERROR_SIZE> text{};
  const auto fields = set_post(easy_.get(), settings_, post);
  const broken_pipes_ignored ignored;
  const transfer_ended ended{multi_.get(), easy_.get()};
  if (fields == nullptr)
    return std::unexpected{http_failure{http_failure::kind::broken, "no memory for a request, or no TLS"}};
  curl_easy_setopt(easy_.get(), CURLOPT_TIMEOUT_MS,
                   static_cast<long>(std::clamp(patience, std::chrono::milliseconds{1}, longest_timeout).count()));
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, append_answer);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy_.get(), CURLOPT_ERRORBUFFER, text.data());
  if (curl_multi_add_handle(multi_.get(), easy_.get()) != CURLM_OK)
    return std::unexpected{http_failure{http_failure::kind::broken, "a transfer cannot be added"}};
  auto result = CURLE_OK;
  auto was_stopped = false;
  for (int running = 1; running > 0;) {
    if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) {
      result = CURLE_FAILED_INIT;
      break;
    }
    was_stopped = running > 0 && is_stopped();
    if (was_stopped)
      break;
    if (running > 0)
      curl_multi_poll(multi_.get(), nullptr, 0, 60'000, nullptr); // Or until the transfer's own timeout.
  }
  int left = 0;
  while (const auto* message = curl_multi_info_read(multi_.get(), &left))
    if (message->msg == CURLMSG_DONE && result == CURLE_OK)
      result = message->data.result;
  if (was_stopped)
    return std::unexpected{http_failure{http_failure::kind::stopped, "stopped"}};
  if (body.is_too_large)
    return std::unexpected{
        http_failure{http_failure::kind::too_large, "it has more than " + std::to_string(answer_bytes_max) + " bytes"}};
  if (result != CURLE_OK) {
    auto failure = failure_of_transfer(easy_.get(), result, text.data());
    if (result == CURLE_OPERATION_TIMEDOUT)
      failure.text = "it took longer than " + std::to_string(patience.count()) + " ms";
    return std::unexpected{std::move(failure)};
  }
  http_answer answer{.body = std::move(body.bytes)};
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

void http_connection::wake() {
  curl_multi_wakeup(multi_.get());
}

} // namespace troupe::cluster_directories
