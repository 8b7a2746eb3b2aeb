#include <troupe/framework/cluster/internal/etcd/watch_stream.hpp>

#include <exception>
#include <utility>

namespace troupe::cluster_directories {

namespace {

/// A message of a divided answer has little more than the largest request of etcd, 1.5 MiB by default, in base64.
constexpr std::size_t message_bytes_max = 16u << 20;

/// An idle watch hears of etcd's progress every 10 to 11 minutes.
constexpr std::chrono::minutes silence_max{25};

} // namespace

watch_stream::watch_stream(CURLM* multi, etcd_caller& caller, cluster_pin& pin, std::string root, std::string prefix,
                           std::uint64_t first_revision, std::shared_ptr<watch_calls> calls)
    : multi_(multi),
      caller_(caller),
      pin_(pin),
      root_(std::move(root)),
      prefix_(std::move(prefix)),
      calls_(std::move(calls)),
      progress_(first_revision, calls_),
      lines_(message_bytes_max) {}

watch_stream::~watch_stream() {
  disconnect();
}

bool watch_stream::connect(std::size_t endpoint) {
  disconnect();
  easy_.reset(curl_easy_init());
  if (easy_ == nullptr)
    return false;
  progress_.begin_stream();
  endpoint_ = endpoint;
  post_ = caller_.post_of(endpoint, watch_request(prefix_, progress_.next_revision()));
  post_.is_sent_once = true; // A connection of its own.
  fields_ = set_post(easy_.get(), caller_.http(), post_);
  if (fields_ == nullptr)
    return false;
  error_[0] = '\0';
  curl_easy_setopt(easy_.get(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(caller_.share().count()));
  curl_easy_setopt(easy_.get(), CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_.get(), CURLOPT_ERRORBUFFER, error_.data());
  is_connected_ = curl_multi_add_handle(multi_, easy_.get()) == CURLM_OK;
  silent_until_ = clock::now() + caller_.share();
  return is_connected_;
}

void watch_stream::disconnect() {
  if (std::exchange(is_connected_, false))
    curl_multi_remove_handle(multi_, easy_.get());
  easy_.reset();
  fields_.reset();
  is_created_ = false;
  lines_.clear();
}

std::size_t watch_stream::append(char* bytes, std::size_t, std::size_t count, void* to) noexcept {
  auto& stream = *static_cast<watch_stream*>(to);
  try {
    stream.lines_.add({bytes, count});
  } catch (const std::exception&) { // No memory for it.
    return CURL_WRITEFUNC_ERROR;
  }
  return count;
}

watch_stream::outcome watch_stream::read(std::optional<CURLcode> result) {
  while (const auto line = lines_.take_line())
    if (const auto done = read_line(*line); done != outcome::goes_on)
      return done;
  if (calls_->is_over())
    return outcome::has_ended;
  if (lines_.is_too_long())
    return fail(failure_of_exchange(
        caller_.name(endpoint_), {http_failure::kind::too_large, "a message of a watch has more than "
                                                                     + std::to_string(message_bytes_max) + " bytes"}));
  if (!result)
    return outcome::goes_on;
  if (const auto rest = lines_.take_rest(); !rest.empty())
    if (const auto done = read_line(rest); done != outcome::goes_on)
      return done;
  if (*result == CURLE_OK)
    return outcome::lost;
  return fail(failure_of_exchange(caller_.name(endpoint_), failure_of_transfer(easy_.get(), *result, error_.data())));
}

watch_stream::outcome watch_stream::read_line(const std::string& line) {
  auto message = read_watch_message(line, root_);
  if (!message) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (const auto refusal = read_refusal(line))
      return fail(failure_of_refusal(caller_.name(endpoint_), refusal->code, refusal->text));
    if (status != 200)
      return fail(failure_of_answer(caller_.name(endpoint_), {status, line}));
    return fail(failure_of_reading(caller_.name(endpoint_), "watch", message.error()));
  }
  // A member that lags behind sends changes when it has them, so that any revision is good.
  if (const auto same = pin_.check(caller_.name(endpoint_), message->head, 0); !same)
    return fail({etcd_failure::kind::final, same.error()});
  if (message->is_cancelled)
    return read_cancellation(*message);
  if (message->is_created) {
    is_created_ = true;
    has_new_token_ = false;
  }
  silent_until_ = clock::now() + silence_max;
  if (const auto taken = progress_.take(*std::move(message)); !taken)
    return fail(failure_of_reading(caller_.name(endpoint_), "watch", taken.error()));
  return calls_->is_over() ? outcome::has_ended : outcome::goes_on;
}

watch_stream::outcome watch_stream::read_cancellation(const etcd_watch_message& message) {
  if (message.compacted_revision != 0)
    return fail({etcd_failure::kind::final,
                 {directory_errc::compacted,
                  "etcd at " + caller_.name(endpoint_) + " no longer has the changes from revision "
                      + std::to_string(progress_.next_revision()) + " on, because those before "
                      + std::to_string(message.compacted_revision) + " were compacted; list, then watch anew"}});
  return fail(failure_of_refusal(caller_.name(endpoint_), 0, message.reason));
}

watch_stream::outcome watch_stream::fail(const etcd_failure& failure) {
  using enum etcd_failure::kind;
  if (failure.what == not_applied || failure.what == unknown)
    return outcome::lost;
  if (failure.what == token && !std::exchange(has_new_token_, true)) {
    const auto done = caller_.authenticate(endpoint_, caller_.share());
    return done ? outcome::lost : fail(done.error());
  }
  calls_->end(failure.error);
  return outcome::has_ended;
}

} // namespace troupe::cluster_directories
