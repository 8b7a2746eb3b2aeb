#include <troupe/framework/otlp/http_poster.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <exception>
#include <system_error>

#include <curl/curl.h>

#include <troupe/base/text.hpp>

namespace troupe::otlp {

namespace {

constexpr std::size_t body_bytes_max = 64 * 1024;
constexpr std::chrono::seconds retry_after_max{3'600};

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char each) { return static_cast<unsigned char>(each) < ' ' || each == 0x7f; });
}

struct curl_url_freed {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct curl_text_freed {
  void operator()(char* text) const noexcept { curl_free(text); }
};

std::string part_of(CURLU* url, CURLUPart which) {
  char* part = nullptr;
  curl_url_get(url, which, &part, 0);
  const std::unique_ptr<char, curl_text_freed> freed{part};
  return part != nullptr ? part : "";
}

/// Returns the URL without user and password. Fails, with the reason, if the text is no URL of a collector.
std::expected<std::string, std::string> shown_form(const std::string& text) {
  const std::unique_ptr<CURLU, curl_url_freed> url{curl_url()};
  if (url == nullptr)
    return std::unexpected{std::string{"no memory for libcurl"}};
  if (has_control_characters(text))
    return std::unexpected{std::string{"the URL has control characters"}};
  if (const auto read = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0); read != CURLUE_OK)
    return std::unexpected{std::string{"the URL cannot be read: "} + curl_url_strerror(read)};
  if (const auto scheme = part_of(url.get(), CURLUPART_SCHEME); scheme != "http" && scheme != "https")
    return std::unexpected{"the URL is neither http nor https, but " + one_line(scheme, 32)};
  curl_url_set(url.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(url.get(), CURLUPART_PASSWORD, nullptr, 0);
  return one_line(part_of(url.get(), CURLUPART_URL), 256);
}

std::size_t append_body(char* bytes, std::size_t, std::size_t count, void* to) noexcept {
  auto& body = *static_cast<std::string*>(to);
  try {
    body.append(bytes, std::min(count, body_bytes_max - body.size()));
  } catch (const std::exception&) { // No memory for it.
  }
  return count; // What is beyond the bound is read and dropped.
}

/// Seconds, or a date.
std::optional<std::chrono::seconds> read_retry_after(std::string_view text) {
  long long seconds = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failed != std::errc{} || end != text.data() + text.size()) {
    const auto date = curl_getdate(std::string{text}.c_str(), nullptr);
    if (date == -1)
      return std::nullopt;
    seconds = std::max<long long>(date - std::time(nullptr), 0);
  }
  if (seconds < 0)
    return std::nullopt;
  return std::min(std::chrono::seconds{seconds}, retry_after_max);
}

} // namespace

struct http_poster::handles {
  ~handles() {
    if (easy != nullptr)
      curl_easy_cleanup(easy);
    if (multi != nullptr)
      curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
  }

  /// Like curl_easy_perform(), but looks every 50 ms whether it is enough.
  CURLcode perform(const std::function<bool()>& is_enough) {
    constexpr int look_ms = 50;
    if (curl_multi_add_handle(multi, easy) != CURLM_OK)
      return CURLE_OUT_OF_MEMORY;
    auto result = CURLE_OK;
    for (int running = 1; running > 0;) {
      if (curl_multi_perform(multi, &running) != CURLM_OK) {
        result = CURLE_OUT_OF_MEMORY;
        break;
      }
      if (running > 0 && is_enough()) {
        result = CURLE_ABORTED_BY_CALLBACK;
        break;
      }
      if (running > 0)
        curl_multi_poll(multi, nullptr, 0, look_ms, nullptr);
    }
    int left = 0;
    while (const auto* message = curl_multi_info_read(multi, &left))
      if (message->msg == CURLMSG_DONE && result == CURLE_OK)
        result = message->data.result;
    curl_multi_remove_handle(multi, easy);
    return result;
  }

  bool add(const std::string& header) {
    auto* longer = curl_slist_append(headers, header.c_str());
    if (longer != nullptr)
      headers = longer;
    return longer != nullptr;
  }

  CURL* easy = nullptr;
  CURLM* multi = nullptr;
  curl_slist* headers = nullptr;
  std::string url;
  std::string shown;
  std::array<char, CURL_ERROR_SIZE> error{};
};

http_poster::http_poster(std::unique_ptr<handles> of) : of_(std::move(of)) {}
http_poster::http_poster(http_poster&&) noexcept = default;
http_poster& http_poster::operator=(http_poster&&) noexcept = default;
http_poster::~http_poster() = default;

const std::string& http_poster::shown_url() const noexcept {
  return of_->shown;
}

std::expected<http_poster, std::string> http_poster::make(std::string url, const header_fields& headers) {
  static const auto ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK)
    return std::unexpected{std::string{"libcurl cannot start: "} + curl_easy_strerror(ready)};
  auto shown = shown_form(url);
  if (!shown)
    return std::unexpected{std::move(shown).error()};
  auto of = std::make_unique<handles>();
  of->shown = *std::move(shown);
  of->url = std::move(url);
  of->easy = curl_easy_init();
  of->multi = curl_multi_init();
  // Without "Expect:", large bodies would wait for an interim answer.
  bool is_complete =
      of->easy != nullptr && of->multi != nullptr && of->add("Content-Type: application/json") && of->add("Expect:");
  for (const auto& [name, value] : headers) {
    if (name.empty() || name.find(':') != std::string::npos || has_control_characters(name)
        || has_control_characters(value))
      return std::unexpected{"the header field \"" + one_line(name, 64) + "\" has control characters, or no name"};
    is_complete = is_complete && of->add(name + ": " + value);
  }
  if (!is_complete)
    return std::unexpected{std::string{"no memory for libcurl"}};
  auto* const easy = of->easy;
  curl_easy_setopt(easy, CURLOPT_URL, of->url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, of->headers);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, of->error.data());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append_body);
#if LIBCURL_VERSION_NUM >= 0x075700               // 7.87
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // Does not wait for the lookup of a name.
#endif
  return http_poster{std::move(of)};
}

std::expected<http_answer, std::string> http_poster::post(std::string_view body, std::chrono::milliseconds timeout,
                                                          const std::function<bool()>& is_enough) {
  auto* const easy = of_->easy;
  http_answer answer;
  of_->error[0] = '\0';
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer.body);
  if (const auto done = of_->perform(is_enough); done != CURLE_OK)
    return std::unexpected{done == CURLE_ABORTED_BY_CALLBACK ? std::string{"the exporter has ended"}
                           : of_->error[0] != '\0'           ? std::string{of_->error.data()}
                                                             : std::string{curl_easy_strerror(done)}};
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_header* field = nullptr;
  if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &field) == CURLHE_OK)
    answer.retry_after = read_retry_after(field->value);
  return answer;
}

} // namespace troupe::otlp
