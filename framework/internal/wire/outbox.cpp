#include <troupe/framework/internal/wire/outbox.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>

namespace troupe::internal {

void outbox::append(bytes_view small) {
  bytes_.append(small);
}

void outbox::append_packet(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) {
  if (tap_ != nullptr) [[unlikely]]
    tap_->on_sent(kind, detail, begin, end);
  auto body_bytes = begin.size() + end.size();
  messages_ += kind == packet_kind::message || kind == packet_kind::value ? 1 : 0;
  bytes_.reserve(packet_head_bytes + body_bytes);
  append(packet_head_of({.body_bytes = static_cast<std::uint32_t>(body_bytes), .kind = kind, .detail = detail}));
  append(begin);
  append(end);
}

void outbox::append_packet(packet_kind kind, std::uint8_t detail, bytes_view begin, frame end) {
  if (tap_ != nullptr) [[unlikely]]
    tap_->on_sent(kind, detail, begin, end.bytes());
  auto body_bytes = begin.size() + end.size_bytes();
  append(packet_head_of({.body_bytes = static_cast<std::uint32_t>(body_bytes), .kind = kind, .detail = detail}));
  append(begin);
  append(std::move(end));
}

void outbox::append(frame large) {
  frame_bytes_ += large.size_bytes();
  frames_.push_back({bytes_.size(), std::move(large)});
}

void outbox::gather(std::vector<bytes_view>& pieces) const {
  pieces.clear();
  std::size_t from = 0;
  for (const auto& placed : frames_) {
    if (placed.behind_bytes > from)
      pieces.push_back(bytes_.bytes().subspan(from, placed.behind_bytes - from));
    if (placed.bytes.size_bytes() > 0)
      pieces.push_back(placed.bytes.bytes());
    from = placed.behind_bytes;
  }
  if (bytes_.size() > from)
    pieces.push_back(bytes_.bytes().subspan(from));
}

void outbox::clear() {
  constexpr std::size_t kept_bytes_max = 1_MiB;
  constexpr std::size_t kept_list_bytes_max = 64_KiB;
  bytes_.clear();
  bytes_.shrink(kept_bytes_max);
  empty_for_reuse(frames_, kept_list_bytes_max);
  empty_for_reuse(kept_, kept_list_bytes_max);
  frame_bytes_ = 0;
  messages_ = 0;
}

} // namespace troupe::internal
