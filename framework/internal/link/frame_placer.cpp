#include <troupe/framework/internal/link/frame_placer.hpp>

#include <string>
#include <utility>

#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

void frame_placer::begin(const parts& of, message_cargo& cargo, std::size_t spill_bytes) noexcept {
  of_ = &of;
  cargo_ = &cargo;
  spill_bytes_ = spill_bytes;
  inline_bytes_ = 0;
  chunked_bytes_ = 0;
  stored_bytes_ = 0;
}

std::expected<frame_descriptor, node_error> frame_placer::place(bytes_view bytes, const frame* shared) {
  if (of_->link.agreed().shares_store) {
    auto in_store = place_in_store(bytes, shared);
    if (!in_store)
      return std::unexpected{std::move(in_store).error()};
    if (*in_store)
      return **in_store;
  }
  frame_descriptor placed{.place = frame_place::inline_, .size_bytes = bytes.size()};
  if (bytes.size() > inline_frame_bytes_max || inline_bytes_ + bytes.size() > inline_frames_bytes_max) {
    placed.place = frame_place::chunks;
    placed.transfer = of_->next_transfer.fetch_add(1, std::memory_order_relaxed);
    chunked_bytes_ += bytes.size();
    cargo_->transfers.push_back({placed.transfer, shared != nullptr ? *shared : frame::copy_of(bytes)});
  } else {
    inline_bytes_ += bytes.size();
  }
  return placed;
}

/// Places the frame in the store if its bytes already lie there or are large enough. Otherwise returns nullopt, also if
/// the store has no room. Then the bytes travel through the socket, which is slower, but nothing is lost.
std::expected<std::optional<frame_descriptor>, node_error> frame_placer::place_in_store(bytes_view bytes,
                                                                                        const frame* shared) {
  auto store = *of_->store;
  const auto* stored = shared != nullptr ? stored_bytes_of(*shared) : nullptr;
  store::handle object;
  std::uint64_t offset = 0;
  std::string failure;
  if (stored != nullptr && stored->object().id().store == store.number()) {
    object = stored->object();
    offset = static_cast<std::uint64_t>(bytes.data() - stored->bytes().data());
  } else if (bytes.size() < spill_bytes_) {
    return std::nullopt;
  } else if (auto put = store.put(bytes, {}, {}, std::chrono::milliseconds{0})) { // A sender does not wait for room.
    object = *std::move(put);
    of_->spilled_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
  } else {
    failure = put.error().message();
  }
  if (failure.empty()) {
    auto counted = cargo_->claims.flights().hand_over(object);
    if (counted) {
      stored_bytes_ += bytes.size();
      cargo_->frames.push_back({object.id(), bytes.size()});
      return frame_descriptor{.place = frame_place::stored,
                              .size_bytes = bytes.size(),
                              .object_index = object.id().index,
                              .object_generation = object.id().generation,
                              .object_offset = offset};
    }
    if (counted.error().code() == store::store_errc::peer_gone)
      return fail(node_errc::link_down, of_->link.peer_name() + " is gone: " + counted.error().message());
    failure = counted.error().message();
  }
  of_->store_fallbacks.fetch_add(1, std::memory_order_relaxed);
  of_->link.log.say(log_level::debug, [&] { return "a frame goes through the socket: " + failure; });
  return std::nullopt;
}

frame frame_placer::put_once(bytes_view bytes, const frame* as) {
  const auto is_stored = as != nullptr && stored_bytes_of(*as) != nullptr;
  if (of_->link.agreed().shares_store && !is_stored && bytes.size() >= spill_bytes_) {
    auto store = *of_->store;
    if (auto put = store.put(bytes, {}, {}, std::chrono::milliseconds{0}))
      if (auto pinned = put->pin()) {
        of_->spilled_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
        auto owner = std::make_shared<stored_bytes>(*std::move(pinned));
        return {owner->bytes(), owner};
      }
  }
  return as != nullptr ? *as : frame::copy_of(bytes);
}

} // namespace troupe::internal
