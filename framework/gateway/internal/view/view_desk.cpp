#include <troupe/framework/gateway/internal/view/view_desk.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <troupe/base/text.hpp>
#include <troupe/framework/gateway/internal/words/random_id.hpp>
#include <troupe/framework/log.hpp>

namespace troupe::web {

namespace {

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string listed(const std::vector<std::string>& names) {
  std::string made;
  for (const auto& each : names)
    made += (made.empty() ? "" : ",") + each;
  return made;
}

/// "node front (process 77)", if it is among those that were seen last.
std::string words_of(const viewed_node* node, const std::string& key) {
  if (node == nullptr || node->report.name.empty())
    return "node " + key;
  return "node " + node->report.name + " (process " + std::to_string(node->report.process) + ')';
}

std::string words_of(const link_report* link, std::uint64_t number) {
  const auto named = "link " + std::to_string(number);
  if (link == nullptr)
    return named;
  return named + (link->is_dialed ? " to " : " from ") + link->peer
         + (link->address.empty() ? "" : " at " + link->address);
}

/// ", sends typed,msgpack instead of msgpack".
std::string change(const std::string& what, const std::string& now, const std::string& before) {
  if (now.empty())
    return {};
  if (now == before)
    return ", " + what + ' ' + now + " as before";
  return ", " + what + ' ' + now + (before.empty() ? "" : " instead of " + before);
}

/// The order for the log, with the names of its node and link from the last look.
std::string words_of(const view_order& given, const view_snapshot& seen) {
  constexpr std::size_t bytes_max = 1'000;
  const auto& order = given.order;
  const auto found = std::ranges::find(seen.nodes, given.node, &viewed_node::key);
  const auto* const node = found == seen.nodes.end() ? nullptr : &*found;
  const link_report* link = nullptr;
  if (node != nullptr)
    for (const auto& each : node->report.links)
      if (each.number == order.number)
        link = &each;
  const auto of_node = " of " + words_of(node, given.node);
  switch (order.what) {
  case order_kind::close_link:
    return one_line("close " + words_of(link, order.number) + of_node, bytes_max);
  case order_kind::reconfigure_link: {
    const link_report before = link == nullptr ? link_report{} : *link;
    return one_line("reconfigure " + words_of(link, order.number) + of_node
                        + change("sends", listed(order.serializers), listed(before.serializers))
                        + change("accepts", listed(order.deserializers), listed(before.deserializers))
                        + change("compression", order.compression, before.compression),
                    bytes_max);
  }
  case order_kind::release_out_of_band:
    return one_line("release the out-of-band pin of " + order.object + of_node, bytes_max);
  case order_kind::none:
    break;
  }
  return "nothing";
}

} // namespace

view_desk::view_desk(std::shared_ptr<view_source> source, std::function<clock::time_point()> now)
    : source_(std::move(source)), now_(std::move(now)), run_(random_id()) {}

void view_desk::look() {
  const auto now = now_();
  if (looked_ && now - *looked_ < fresh_for)
    return;
  seen_ = source_->look(timeout);
  state_ = std::make_shared<const std::string>(documents_.state(seen_, source_->takes_orders(), unix_ms_now(), run_));
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
  const auto words = words_of(*read, seen_); // Before the order: it may change the link's peer and families.
  const auto done = source_->act(*read, by, order_timeout);
  write_log_line(log_level::warning, "view: the token \"" + by + "\" has ordered: " + words
                                         + (done ? "; done" : "; refused: " + done.error().message()));
  looked_.reset(); // The next answer shows what has changed.
  remembered_.reset();
  if (!done)
    return std::unexpected{refusal_of(done.error())};
  return std::make_shared<const std::string>("{\"done\":true}");
}

} // namespace troupe::web
