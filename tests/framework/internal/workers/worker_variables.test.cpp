#include <troupe/framework/internal/workers/worker_variables.hpp>

#include <cstdlib>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

std::expected<worker_place, node_error> taken(const worker_place& place) {
  for (const auto& [name, value] : variables_of(place))
    ::setenv(name.c_str(), value.c_str(), 1);
  return take_worker_place();
}

TEST(the_variables_of_a_worker, tell_it_its_place_once) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  store::options of_parent;
  of_parent.name = "shared";
  of_parent.directory = "/dev/shm/a:b";
  const auto place = taken({.socket = ends[0], .name = "a worker", .store = of_parent});
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_EQ(place->socket, ends[0]);
  EXPECT_EQ(place->name, "a worker");
  EXPECT_EQ(place->store->name, "shared");
  EXPECT_EQ(place->store->directory, "/dev/shm/a:b");
  EXPECT_TRUE(place->store->must_exist);
  EXPECT_NE(::fcntl(ends[0], F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(take_worker_place().error().code(), node_errc::not_found);
  for (const auto* name : {worker_variable, worker_name_variable, worker_store_variable})
    EXPECT_EQ(std::getenv(name), nullptr);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(the_variables_of_a_worker, say_that_there_is_no_store) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_FALSE(taken({.socket = ends[0], .name = "w", .store = {}})->store);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(the_variables_of_a_worker, are_refused_if_they_name_no_connected_socket) {
  const auto file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto unconnected = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (const auto number : {-1, 0, file, unconnected, 99'999})
    EXPECT_EQ(taken({.socket = number, .name = "w", .store = {}}).error().code(), node_errc::bad_option) << number;
  ::setenv(worker_variable, "7seven", 1);
  EXPECT_EQ(take_worker_place().error().code(), node_errc::bad_option);
  ::close(file);
  ::close(unconnected);
}

} // namespace
} // namespace troupe::internal
