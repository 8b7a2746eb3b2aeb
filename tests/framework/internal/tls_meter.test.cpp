#include <troupe/framework/internal/trust/tls_meter.hpp>

#include <algorithm>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

byte_vector record(int type, const byte_vector& content) {
  byte_vector bytes(5 + content.size());
  bytes[0] = static_cast<std::byte>(type);
  bytes[1] = std::byte{3};
  bytes[2] = std::byte{1};
  bytes[3] = static_cast<std::byte>(content.size() >> 8);
  bytes[4] = static_cast<std::byte>(content.size() & 0xff);
  std::ranges::copy(content, bytes.begin() + 5);
  return bytes;
}

/// Makes the beginning of a handshake message that announces `size` bytes and contains `present` of them.
byte_vector message(std::size_t size, std::size_t present) {
  byte_vector bytes{std::byte{1}, static_cast<std::byte>(size >> 16), static_cast<std::byte>(size >> 8 & 0xff),
                    static_cast<std::byte>(size & 0xff)};
  bytes.resize(4 + present);
  return bytes;
}

constexpr int handshake = 22;
constexpr int change_cipher = 20;
constexpr int encrypted = 23;

TEST(tls_meter, admits_ordinary_handshakes) {
  tls_meter meter;
  EXPECT_TRUE(meter.admits(record(handshake, message(500, 500))));
  EXPECT_TRUE(meter.admits(record(handshake, message(2000, 2000)))); // After a retry request.
  EXPECT_TRUE(meter.admits(record(change_cipher, {std::byte{1}})));
  EXPECT_TRUE(meter.admits(record(encrypted, byte_vector(9000))));
}

TEST(tls_meter, refuses_a_message_by_its_announced_length) {
  EXPECT_TRUE(tls_meter{}.admits(record(handshake, message(tls_meter::message_bytes_max, 0))));
  EXPECT_FALSE(tls_meter{}.admits(record(handshake, message(tls_meter::message_bytes_max + 1, 0))));
  EXPECT_FALSE(tls_meter{}.admits(record(handshake, message(0xffffff, 0))));
}

TEST(tls_meter, refuses_a_second_one_too) {
  tls_meter meter;
  EXPECT_TRUE(meter.admits(record(handshake, message(500, 500))));
  EXPECT_FALSE(meter.admits(record(handshake, message(100'000, 10))));
}

TEST(tls_meter, refuses_one_behind_an_empty_one_too) {
  tls_meter meter;
  EXPECT_TRUE(meter.admits(record(handshake, message(0, 0))));
  EXPECT_FALSE(meter.admits(record(handshake, message(100'000, 10))));
}

TEST(tls_meter, refuses_it_in_whatever_pieces_it_comes) {
  tls_meter meter;
  bool admitted = true;
  for (auto byte : message(100'000, 10)) {
    EXPECT_TRUE(meter.admits(record(handshake, {}))); // Empty records in between.
    for (auto raw : record(handshake, {byte}))
      admitted = admitted && meter.admits({&raw, 1});
  }
  EXPECT_FALSE(admitted);
}

TEST(tls_meter, refuses_too_much_altogether) {
  tls_meter meter;
  EXPECT_TRUE(meter.admits(record(encrypted, byte_vector(tls_meter::bytes_max - 5))));
  EXPECT_FALSE(meter.admits(byte_vector(1)));
}

} // namespace
} // namespace troupe::internal
