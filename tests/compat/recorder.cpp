#include "recorder.hpp"

#include <array>
#include <stdexcept>

#include <poll.h>

namespace troupe::tests::compat {

namespace {

constexpr int longest_silence_ms = 20'000;

} // namespace

std::vector<packet> recorder::so_far() {
  std::lock_guard guard{mutex_};
  return packets_;
}

std::vector<packet> recorder::all() {
  thread_.join();
  if (failure_)
    std::rethrow_exception(failure_);
  return so_far();
}

void recorder::run(const std::string& target) {
  try {
    relay(target);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void recorder::relay(const std::string& target) {
  wire dialer{entrance_.accept()};
  wire acceptor{dial(target)};
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
      auto passing = ends[i]->read_packet(i == 0 ? end::dialer : end::acceptor);
      if (!passing) {
        ends[1 - i]->end_of_writing();
        watched[i].fd = -1;
        --open;
        continue;
      }
      ends[1 - i]->write_packet(*passing);
      std::lock_guard guard{mutex_};
      packets_.push_back(*std::move(passing));
    }
  }
}

} // namespace troupe::tests::compat
