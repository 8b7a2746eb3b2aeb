#include <troupe/serializers/internal/typed/typed_writer.hpp>

#include <troupe/serializers/internal/shape/self_contained.hpp>

namespace troupe::detail {

void typed_writer::grow(std::size_t count) {
  out_.body().advance_to(at_);
  out_.body().reserve(count);
  at_ = out_.body().end();
  end_ = out_.body().capacity_end();
}

void typed_writer::settle_arrays() {
  unweigh(arrays_->sum_of_repeats(copied_bytes));
  arrays_->settle(out_);
}

void typed_writer::leave_as_frame(const void* data, std::size_t count, std::size_t size_bytes) {
  varint(count << 1 | 1);
  const std::span bytes(static_cast<const std::byte*>(data), size_bytes);
  const auto& owner = context().value_owner;
  out_.attach(owner && borrows_ ? frame(bytes, owner) : frame::copy_of(bytes));
}

void typed_writer::in_or_out_of_band(const frame& bytes, std::size_t count, bool is_shared) {
  const auto is_small = bytes.size_bytes() < out_of_band_bytes;
  const auto is_tracked = is_small && is_shared && tracks_arrays_ && count > 0;
  if (is_tracked && !arrays_)
    arrays_ = std::make_unique<body_arrays>();
  if (!is_small || (is_tracked && arrays_->is_again(bytes, context().limits.frames, out_))) {
    varint(count << 1 | 1);
    out_.attach(bytes);
    return;
  }
  weigh(copied_bytes(bytes.size_bytes()));
  const auto mark_at = static_cast<std::size_t>(at_ - out_.body().bytes().data());
  contiguous(bytes.bytes().data(), count, count == 0 ? 1 : bytes.size_bytes() / count);
  const auto end = static_cast<std::size_t>(at_ - out_.body().bytes().data());
  if (is_tracked)
    arrays_->wrote(bytes, {mark_at, end - bytes.size_bytes()}, out_);
}

} // namespace troupe::detail
