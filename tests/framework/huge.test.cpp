// Goal: payloads of more than 2 GiB and more than 4 GiB arrive, through sockets, in pieces, compressed, and by handle.
#include <sys/mman.h>

#include <troupe/serializers/splitting.hpp>

#include "two_nodes.hpp"

namespace huge {

using namespace troupe;
using namespace std::chrono_literals;

/// Zeros that take no memory, except for the pages with marks.
class sparse final : public frame_owner {
public:
  explicit sparse(std::size_t size_bytes)
      : size_bytes_(size_bytes),
        bytes_(static_cast<std::byte*>(
            ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (bytes_ == MAP_FAILED)
      throw std::bad_alloc();
    for (std::size_t at = 0; at < size_bytes; at += mark_distance)
      bytes_[at] = mark_at(at);
    bytes_[size_bytes - 1] = std::byte{0xee};
  }
  ~sparse() override { ::munmap(bytes_, size_bytes_); }

  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_, size_bytes_}; }

  static std::byte mark_at(std::size_t at) { return static_cast<std::byte>(at / mark_distance * 37 + 1); }
  static constexpr std::size_t mark_distance = 64_MiB - 17;

private:
  const std::size_t size_bytes_;
  std::byte* const bytes_;
};

array<std::uint8_t> sparse_array(std::size_t size_bytes) {
  auto owner = std::make_shared<sparse>(size_bytes);
  return array<std::uint8_t>::view_of(frame(owner->bytes(), owner)).value();
}

bool is_as_sent(const array<std::uint8_t>& values, std::size_t size_bytes) {
  if (values.size() != size_bytes || values.data()[size_bytes - 1] != 0xee || values.data()[1] != 0)
    return false;
  for (std::size_t at = 0; at + 1 < size_bytes; at += sparse::mark_distance)
    if (static_cast<std::byte>(values.data()[at]) != sparse::mark_at(at))
      return false;
  return true;
}

class huge_payloads : public tests::two_nodes, public testing::WithParamInterface<std::size_t> {
protected:
  huge_payloads() {
    far_types_ = near_types_ = [](type_registry& types) { types.add<object_ref<array<std::uint8_t>>>("huge.ref"); };
  }

  void expect_passes(link_options options) {
    options.message_bytes = 8_GiB;
    options.receive_limits.decompressed_bytes = 8_GiB;
    options.receive_limits.memory_bytes = 16_GiB;
    options.connect_timeout = options.heartbeat_timeout = 60s;
    far_options_.accepted_links = options;
    connect(options);
    publish("reader", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {
          [](const array<std::uint8_t>& values) { return is_as_sent(values, GetParam()); },
          [](const object_ref<array<std::uint8_t>>& values) { return is_as_sent(values.get().value(), GetParam()); }};
    }));
    caf::scoped_actor self(near().system);
    auto answer = [](bool good) { EXPECT_TRUE(good); };
    auto failed = [](const caf::error& error) { ADD_FAILURE() << text_of(error); };
    if (link_->shares_store()) {
      auto stored = near().home->put(sparse_array(GetParam()));
      ASSERT_TRUE(stored.has_value()) << stored.error().message();
      self->request(find("reader"), 300s, *stored).receive(answer, failed);
    } else {
      self->request(find("reader"), 300s, sparse_array(GetParam())).receive(answer, failed);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(of, huge_payloads, testing::Values(2_GiB + 512_MiB + 3, 4_GiB + 256_MiB + 5),
                         [](const auto& of) { return std::to_string(of.param) + "_bytes"; });

TEST_P(huge_payloads, pass_through_a_socket) {
  expect_passes({.share_store = false});
}

TEST_P(huge_payloads, pass_compressed_in_pieces) {
  expect_passes({.compression = compression::lz4, .share_store = false});
  EXPECT_LT(link_->stats().socket_bytes_sent, GetParam() / 50);
}

TEST_P(huge_payloads, pass_by_handle) {
  near_options_.store.edit()->capacity_bytes = far_options_.store.edit()->capacity_bytes = GetParam() + 64_MiB;
  expect_passes({});
  EXPECT_LT(link_->stats().socket_bytes_sent, 10'000U);
}

TEST_P(huge_payloads, are_split_and_joined_without_a_copy) {
  const type_registry types;
  const family_set families;
  const auto values = sparse_array(GetParam());
  context ctx;
  ctx.value_owner = std::make_shared<sparse>(1); // With an owner, `values` is not copied.
  const auto whole =
      serialize(values, {.serializers = {"typed"}, .on_error = on_error::raise, .context = ctx}, types, families);
  ASSERT_TRUE(whole.has_value()) << whole.error().message();
  const auto split = split_frames(*whole);
  ASSERT_TRUE(split.has_value()) << split.error().message();
  EXPECT_EQ(split->frames.size(), 1 + (GetParam() + 64_MiB - 1) / 64_MiB);
  const auto back =
      deserialize<array<std::uint8_t>>(*split, {.deserializers = {"typed"}, .context = {}}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->data(), values.data());
  EXPECT_TRUE(is_as_sent(*back, GetParam()));
}

} // namespace huge
