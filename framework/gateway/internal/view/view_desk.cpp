#include <troupe/framework/gateway/internal/view/view_desk.hpp>

#include <utility>

#include <troupe/base/text.hpp>
#include <troupe/framework/log.hpp>

namespace troupe::web {

namespace {

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string words_of(const view_order& given) {
  constexpr std::size_t bytes_max = 300;
  const auto& order = given.order;
  const auto words = order.what == order_kind::close_link         ? "close link " + std::to_string(order.number)
                     : order.what == order_kind::reconfigure_link ? "reconfigure link " + std::to_string(order.number)
                                                                  : "release the out-of-band pin of " + order.object;
  return one_line(words + " of node " + given.node, bytes_max);
}

} // namespace

view_desk::view_desk(std::shared_ptr<view_source> source, std::function<clock::time_point()> now)
    : source_(std::move(source)), now_(std::move(now)) {}

void view_desk::look() {
  const auto now = now_();
  if (looked_ && now - *looked_ < fresh_for)
    return;
  seen_ = source_->look(timeout);
  state_ = std::make_shared<const std::string>(documents_.state(seen_, source_->takes_orders(), unix_ms_now()));
  looked_ = now; // From the beginning, so that a slow look does not make the page's seconds longer.
}

view_desk::text view_desk::state() {
  look();
  return state_;
}

view_desk::text view_desk::memory() {
  const auto now = now_();
  if (!remembered_ || now - *remembered_ >= memory_fresh_for) {
    memory_ = std::make_shared<const std::string>(documents_.memory(source_->memory(timeout), unix_ms_now()));
    remembered_ = now;
  }
  return memory_;
}

view_desk::text view_desk::activity() {
  const auto now = now_();
  if (!listened_ || now - *listened_ >= fresh_for) {
    happened_.take(source_->activity(timeout));
    activity_ = std::make_shared<const std::string>(documents_.activity(happened_.all(), unix_ms_now()));
    listened_ = now;
  }
  return activity_;
}

std::expected<view_desk::text, refusal> view_desk::link(std::string_view node, std::uint64_t number) {
  look();
  auto made = documents_.link(seen_, node, number);
  if (made.empty())
    return std::unexpected{refusal{.status = 404, .code = "not_found", .text = "there is no such link now"}};
  return std::make_shared<const std::string>(std::move(made));
}

std::expected<view_desk::text, refusal> view_desk::act(std::string_view order, const std::string& by) {
  if (!source_->takes_orders())
    return std::unexpected{refusal{.status = 403, .code = "not_allowed", .text = "this view takes no orders"}};
  const auto read = documents_.order(order);
  if (!read)
    return std::unexpected{refusal{.status = 400, .code = "malformed", .text = read.error()}};
  const auto done = source_->act(*read, by, order_timeout);
  write_log_line(log_level::info, "view: the token \"" + by + "\" has ordered: " + words_of(*read)
                                      + (done ? "" : "; refused: " + done.error().message()));
  looked_.reset(); // The next answer shows what has changed.
  remembered_.reset();
  if (!done)
    return std::unexpected{refusal_of(done.error())};
  return std::make_shared<const std::string>("{\"done\":true}");
}

} // namespace troupe::web
