#include <troupe/framework/internal/net/host_lookup.hpp>

#include <future>
#include <mutex>
#include <string>
#include <utility>

#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <troupe/framework/internal/threads/new_thread.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

stream_endpoint unix_endpoint(std::string path) {
  if (path[0] == '@')
    path[0] = '\0';
  return asio::local::stream_protocol::endpoint{path};
}

/// Cannot be interrupted.
found_endpoints look_up_host(const address& at) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  std::vector<stream_endpoint> endpoints;
  const int error = ::getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &list);
  if (error == 0) {
    for (const auto* one = list; one != nullptr; one = one->ai_next)
      if (one->ai_family == AF_INET || one->ai_family == AF_INET6)
        endpoints.emplace_back(one->ai_addr, one->ai_addrlen, IPPROTO_TCP);
    ::freeaddrinfo(list);
  }
  if (endpoints.empty())
    return fail(node_errc::bad_address, "the host of " + at.text + " cannot be found: "
                                            + (error != 0 ? ::gai_strerror(error) : "it has no IPv4 or IPv6 address"));
  return endpoints;
}

} // namespace

void look_up(const address& at, std::function<void(found_endpoints)> then) {
  if (at.kind == transport_kind::unix_socket)
    return then(std::vector{unix_endpoint(at.path)});
  if (has_numeric_host(at))
    return then(look_up_host(at));
  if (auto looking =
          new_thread("looking up the host of " + at.text + " needs a thread", [at, then] { then(look_up_host(at)); }))
    looking->detach();
  else // A later attempt may get a thread.
    then(fail(node_errc::cannot_connect, looking.error().message()));
}

found_endpoints resolve(const address& at, std::chrono::milliseconds timeout) {
  auto promise = std::make_shared<std::promise<found_endpoints>>();
  auto result = promise->get_future();
  look_up(at, [promise](found_endpoints found) { promise->set_value(std::move(found)); });
  if (result.wait_for(timeout) != std::future_status::ready)
    return fail(node_errc::timed_out,
                "the host of " + at.text + " was not found within " + std::to_string(timeout.count()) + " ms");
  return result.get();
}

/// Shared with the thread that performs the lookup.
struct host_lookup::answer {
  explicit answer(asio::io_context& context) : io(&context) {}

  std::mutex mutex;
  asio::io_context* io;                      // Guarded by mutex. Null once abandoned: the context may be gone.
  std::function<void(found_endpoints)> done; // I/O thread. Null once called or abandoned.
};

host_lookup::host_lookup(asio::io_context& io, const address& at, std::function<void(found_endpoints)> done)
    : answer_(std::make_shared<answer>(io)) {
  answer_->done = std::move(done);
  look_up(at, [to = answer_](found_endpoints found) {
    std::lock_guard guard{to->mutex};
    if (to->io)
      asio::post(*to->io, [to, found = std::move(found)]() mutable {
        if (auto then = std::exchange(to->done, nullptr))
          then(std::move(found));
      });
  });
}

host_lookup::~host_lookup() {
  answer_->done = nullptr;
  std::lock_guard guard{answer_->mutex};
  answer_->io = nullptr;
}

} // namespace troupe::internal
