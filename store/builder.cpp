#include <troupe/store/builder.hpp>

#include <troupe/store/internal/attachment/attachment.hpp>

#include <algorithm>
#include <utility>

namespace troupe::store {

namespace {

[[nodiscard]] store_error builder_is_empty() {
  return {store_errc::empty, "the builder was sealed already, or moved from"};
}

} // namespace

builder::builder(internal::attachment& attachment, std::uint32_t index, std::uint32_t generation,
                 std::span<std::byte> bytes)
    : attachment_(&attachment), index_(index), generation_(generation), bytes_(bytes) {}

builder::builder(internal::attachment& attachment, std::uint32_t index, std::uint32_t generation,
                 std::span<std::byte> bytes, internal::mapping_ptr own_file, bool grows)
    : attachment_(&attachment),
      index_(index),
      generation_(generation),
      bytes_(bytes),
      own_file_(std::move(own_file)),
      grows_(grows) {}

builder::builder(builder&& other) noexcept
    : attachment_(std::exchange(other.attachment_, nullptr)),
      index_(other.index_),
      generation_(other.generation_),
      bytes_(std::exchange(other.bytes_, {})),
      own_file_(std::move(other.own_file_)),
      shrunk_(other.shrunk_),
      grows_(other.grows_),
      committed_bytes_(other.committed_bytes_.load()) {}

builder& builder::operator=(builder&& other) noexcept {
  if (this != &other) {
    drop();
    attachment_ = std::exchange(other.attachment_, nullptr);
    index_ = other.index_;
    generation_ = other.generation_;
    bytes_ = std::exchange(other.bytes_, {});
    own_file_ = std::move(other.own_file_);
    shrunk_ = other.shrunk_;
    grows_ = other.grows_;
    committed_bytes_ = other.committed_bytes_.load();
  }
  return *this;
}

builder::~builder() {
  drop();
}

void builder::drop() noexcept {
  if (auto* const attachment = std::exchange(attachment_, nullptr))
    attachment->abort(index_);
}

void builder::shrink(std::size_t size_bytes) noexcept {
  if (size_bytes >= bytes_.size())
    return;
  bytes_ = bytes_.first(size_bytes);
  shrunk_ = true;
}

std::expected<void, store_error> builder::commit(std::size_t size_bytes) {
  if (attachment_ == nullptr)
    return std::unexpected(builder_is_empty());
  const auto until = std::min(size_bytes, bytes_.size());
  auto from = committed_bytes_.load();
  if (!grows_ || from >= until)
    return {};
  if (auto done = attachment_->writer().commit(index_, from, until); !done)
    return done;
  while (from < until && !committed_bytes_.compare_exchange_weak(from, until)) {
  }
  return {};
}

void builder::note_progress() noexcept {
  if (attachment_ != nullptr)
    attachment_->writer().note_progress(index_);
}

std::expected<void, store_error> builder::capture(std::span<const object_id> ids) {
  if (attachment_ == nullptr)
    return std::unexpected(builder_is_empty());
  return attachment_->writer().capture(index_, ids);
}

std::expected<handle, store_error> builder::seal() && {
  if (attachment_ == nullptr)
    return std::unexpected(builder_is_empty());
  if (auto committed = commit(bytes_.size()); !committed) // A hole could raise SIGBUS in a reader.
    return std::unexpected(committed.error());
  if (auto sealed = attachment_->writer().seal(index_, bytes_.size(), shrunk_); !sealed)
    return std::unexpected(sealed.error());
  bytes_ = {};
  own_file_.reset();
  // The builder's hold becomes the handle's.
  return std::expected<handle, store_error>{std::in_place, *std::exchange(attachment_, nullptr), index_, generation_};
}

object_id builder::id() const noexcept {
  return attachment_ == nullptr ? object_id{} : object_id{attachment_->number(), index_, generation_};
}

} // namespace troupe::store
