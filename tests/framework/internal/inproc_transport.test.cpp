// The memory that stands for a connection within a process.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/net/inproc.hpp>

#include <any>
#include <numeric>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

/// Both ends on one I/O context, which the test runs itself.
class inproc_transport : public testing::Test {
protected:
  void read_all() {
    near->read_some(into, [this](std::error_code error, std::size_t count) {
      if (error) {
        read_error = error;
        return;
      }
      received.insert(received.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(count));
      read_all();
    });
  }

  void run() {
    io.restart();
    io.run();
  }

  static byte_vector numbered(std::size_t size) {
    byte_vector bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
    return bytes;
  }

  asio::io_context io;
  std::shared_ptr<transport> near;
  std::shared_ptr<transport> far;
  std::array<std::byte, 1000> into;
  byte_vector received;
  std::error_code read_error;

  void SetUp() override { std::tie(near, far) = make_inproc_pair(io, io); }
};

TEST_F(inproc_transport, bytes_arrive_in_order_however_many_there_are) {
  auto bytes = numbered(3'000'000);
  std::error_code written = std::make_error_code(std::errc::interrupted);
  std::vector<bytes_view> pieces{bytes_view{bytes}.first(10), bytes_view{}, bytes_view{bytes}.subspan(10)};
  far->write(pieces, [&](std::error_code error) { written = error; });
  read_all();
  run();
  EXPECT_FALSE(written) << written.message();
  EXPECT_EQ(received, bytes);
}

TEST_F(inproc_transport, a_writer_waits_for_its_reader) {
  auto bytes = numbered(1'000'000);
  std::vector<bytes_view> pieces{bytes};
  auto taken = far->write_now(pieces);
  ASSERT_TRUE(taken);
  EXPECT_LT(*taken, bytes.size());
  EXPECT_EQ(far->write_now(pieces), 0u);
  bool written = false;
  pieces[0] = pieces[0].subspan(*taken);
  far->write(pieces, [&](std::error_code error) { written = !error; });
  run();
  EXPECT_FALSE(written);
  read_all();
  run();
  EXPECT_TRUE(written);
  EXPECT_EQ(received, bytes);
}

TEST_F(inproc_transport, what_was_written_before_the_end_is_still_read) {
  auto bytes = numbered(5'000);
  std::vector<bytes_view> pieces{bytes};
  ASSERT_TRUE(far->write_now(pieces));
  far.reset(); // Gone counts as closed.
  read_all();
  run();
  EXPECT_EQ(received, bytes);
  EXPECT_TRUE(read_error);
}

TEST_F(inproc_transport, the_end_of_either_side_wakes_who_waits) {
  auto bytes = numbered(1'000'000);
  std::vector<bytes_view> pieces{bytes};
  std::error_code written;
  read_all();
  far->write(pieces, [&](std::error_code error) { written = error; });
  near->close();
  near->close();
  run();
  EXPECT_TRUE(read_error);
  EXPECT_TRUE(written);
  EXPECT_FALSE(far->write_now(pieces));
}

// Goal: who has come in is called back where it belongs, whatever was written to it before it was known.
TEST_F(inproc_transport, a_guest_is_called_back_on_the_context_that_it_goes_to) {
  asio::io_context elsewhere;
  std::shared_ptr<transport> guest;
  const auto listener = inproc_listener::open(io, "inproc-guest", [&](inproc_listener::guest comes) {
    comes.move_to(elsewhere);
    guest = std::move(comes.bytes);
  });
  ASSERT_TRUE(listener);
  const auto dialed = dial_inproc(io, "inproc-guest");
  ASSERT_TRUE(dialed);
  ASSERT_EQ((*dialed)->write_now(std::vector<bytes_view>{bytes_view{numbered(10)}}), 10u);
  run();
  ASSERT_TRUE(guest);
  std::size_t read = 0;
  guest->read_some(into, [&](std::error_code, std::size_t count) { read = count; });
  run();
  EXPECT_EQ(read, 0u);
  elsewhere.run();
  EXPECT_EQ(read, 10u);
  guest->close();
}

TEST_F(inproc_transport, values_come_out_as_they_went_in) {
  ASSERT_NE(far->values(), nullptr);
  EXPECT_FALSE(near->values()->pop().has_value());
  std::any one = 1, two = 2;
  far->values()->push(one);
  far->values()->push(two);
  EXPECT_FALSE(one.has_value());                  // Taken.
  EXPECT_FALSE(far->values()->pop().has_value()); // They go the other way.
  EXPECT_EQ(std::any_cast<int>(near->values()->pop()), 1);
  EXPECT_EQ(std::any_cast<int>(near->values()->pop()), 2);
}

TEST_F(inproc_transport, values_are_not_taken_after_the_end) {
  near->close();
  std::any value = 1;
  far->values()->push(value);
  EXPECT_TRUE(value.has_value());
}

} // namespace
} // namespace troupe::internal
