#include "recorder.hpp"

#include <array>
#include <stdexcept>

#include <poll.h>

#include "protocol_1.hpp"

namespace troupe::tests::compat {

namespace {

constexpr int longest_silence_ms = 20'000;
constexpr int news_pause_ms = 50;
constexpr std::uint8_t answer_flag = 4;

/// Whether the packet is an answer with whose loss the link breaks.
bool is_answer(const packet& what) {
  return what.kind == kind::message && (what.detail & answer_flag) != 0;
}

bool is_news(const packet& what) {
  return what.kind == kind::admin && what.detail == op::name_changed;
}

bool has_more(const wire& from) {
  pollfd watched{from.number(), POLLIN, 0};
  return ::poll(&watched, 1, news_pause_ms) > 0;
}

} // namespace

std::vector<packets> recorder::so_far() {
  std::lock_guard guard{mutex_};
  return links_;
}

std::vector<packets> recorder::all() {
  thread_.join();
  if (failure_)
    std::rethrow_exception(failure_);
  return so_far();
}

void recorder::run(const std::string& target) {
  try {
    while (relay(target) == passed::broken)
      loses_ = false;
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void recorder::note(packet what) {
  std::lock_guard guard{mutex_};
  links_.back().push_back(std::move(what));
}

recorder::passed recorder::pass(wire& from, wire& to, end by) {
  auto passing = from.read_packet(by);
  if (!passing)
    return passed::closed;
  if (by == end::acceptor && loses_) {
    passing->is_lost = true;
    const auto breaks = is_answer(*passing);
    note(*std::move(passing));
    return breaks ? passed::broken : passed::on;
  }
  // News that follow each other arrive together, so that the dialer asks once, and only after the last of them.
  bytes together;
  while (true) {
    const auto head = head_of(*passing);
    together.insert(together.end(), head.begin(), head.end());
    together.insert(together.end(), passing->body.begin(), passing->body.end());
    const auto waits = is_news(*passing);
    note(*std::move(passing));
    if (!waits || !has_more(from) || !(passing = from.read_packet(by)))
      break;
  }
  to.write(together);
  return passed::on;
}

/// Returns `closed` or `broken`.
recorder::passed recorder::relay(const std::string& target) {
  wire dialer{entrance_.accept()};
  wire acceptor{dial(target)};
  {
    std::lock_guard guard{mutex_};
    links_.emplace_back();
  }
  const std::array ends{&dialer, &acceptor};
  for (std::size_t i = 0; i < 2; ++i) {
    bytes first(preamble().size());
    if (!ends[i]->read(first) || first != preamble())
      throw std::runtime_error("an end does not speak protocol 1");
    ends[1 - i]->write(first);
  }
  std::array watched{pollfd{dialer.number(), POLLIN, 0}, pollfd{acceptor.number(), POLLIN, 0}};
  for (auto open = watched.size(); open > 0;) {
    if (::poll(watched.data(), watched.size(), longest_silence_ms) <= 0)
      throw std::runtime_error("both ends are silent");
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0)
        continue;
      const auto done = pass(*ends[i], *ends[1 - i], i == 0 ? end::dialer : end::acceptor);
      if (done == passed::broken)
        return done;
      if (done == passed::on)
        continue;
      ends[1 - i]->end_of_writing();
      watched[i].fd = -1;
      --open;
    }
  }
  return passed::closed;
}

} // namespace troupe::tests::compat
