#include <troupe/framework/internal/workers/worker_variables.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

#include <troupe/framework/internal/net/own_sockets.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

std::optional<std::string> take_variable(const char* name) {
  const auto* value = std::getenv(name);
  if (value == nullptr)
    return std::nullopt;
  std::string kept = value;
  ::unsetenv(name);
  return kept;
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

bool is_connected_socket(int descriptor) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  return ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.ss_family == AF_UNIX;
}

} // namespace

std::vector<std::pair<std::string, std::string>> variables_of(const worker_place& place) {
  return {{worker_variable, std::to_string(place.socket)},
          {worker_name_variable, place.name},
          {worker_store_variable, place.store ? place.store->name + ':' + place.store->directory.string() : ""}};
}

std::expected<worker_place, node_error> take_worker_place() {
  const auto socket = take_variable(worker_variable);
  auto name = take_variable(worker_name_variable);
  const auto store = take_variable(worker_store_variable);
  if (!socket)
    return fail(node_errc::not_found, "a troupe::worker_process starts this program; it does nothing by itself");
  const auto number = number_of(*socket);
  if (!number || *number <= STDERR_FILENO || !is_connected_socket(*number))
    return bad_option(std::string{worker_variable} + " is \"" + *socket
                      + "\", which is not the number of a connected socket: a program that starts this one has closed "
                        "it, or the variable was set by hand");
  adopt_own_socket(*number);
  worker_place place{.socket = *number, .name = std::move(name).value_or("worker"), .store = std::nullopt};
  if (store && !store->empty()) {
    const auto colon = store->find(':');
    place.store.emplace();
    place.store->name = store->substr(0, colon);
    place.store->must_exist = true;
    if (colon != std::string::npos)
      place.store->directory = store->substr(colon + 1);
  }
  return place;
}

} // namespace troupe::internal
