#include <troupe/store/handle.hpp>

#include <troupe/store/internal/attachment/attachment.hpp>

#include <optional>
#include <utility>

namespace troupe::store {

namespace {

[[nodiscard]] store_error handle_is_empty() {
  return {store_errc::empty, "the handle is empty; it was moved from"};
}

/// Only a builder's hold is `unfinished`.
[[nodiscard]] constexpr hold_reason of_sealed(hold_reason why) {
  return why == hold_reason::unfinished ? hold_reason::reference : why;
}

} // namespace

handle::handle(const handle& other)
    : attachment_(other.attachment_), index_(other.index_), generation_(other.generation_) {
  if (attachment_ != nullptr)
    attachment_->holds().retain(index_, why_);
}

handle handle::held_for(hold_reason why) const& {
  if (attachment_ == nullptr)
    return {};
  attachment_->holds().retain(index_, of_sealed(why));
  return {*attachment_, index_, generation_, of_sealed(why)};
}

handle handle::held_for(hold_reason why) && {
  if (attachment_ != nullptr)
    attachment_->holds().recount(index_, why_, of_sealed(why));
  why_ = of_sealed(why);
  return std::move(*this);
}

handle& handle::operator=(const handle& other) {
  if (this != &other)
    *this = handle(other);
  return *this;
}

handle& handle::operator=(handle&& other) noexcept {
  if (this != &other) {
    release();
    attachment_ = std::exchange(other.attachment_, nullptr);
    index_ = other.index_;
    generation_ = other.generation_;
    why_ = other.why_;
  }
  return *this;
}

handle::~handle() {
  release();
}

void handle::release() noexcept {
  if (auto* const attachment = std::exchange(attachment_, nullptr))
    attachment->release(index_, why_);
}

object_id handle::id() const noexcept {
  return attachment_ == nullptr ? object_id{} : object_id{attachment_->number(), index_, generation_};
}

std::size_t handle::size_bytes() const noexcept {
  return attachment_ == nullptr ? 0 : attachment_->finder().size_of(index_);
}

std::expected<std::vector<object_id>, store_error> handle::captured() const {
  if (attachment_ == nullptr)
    return std::unexpected(handle_is_empty());
  return attachment_->finder().captured(index_);
}

std::expected<std::vector<handle>, store_error> handle::hold_captured() const {
  const auto ids = captured();
  if (!ids)
    return std::unexpected(ids.error());
  auto handles = std::vector<handle>{};
  handles.reserve(ids->size());
  auto failure = std::optional<store_error>{};
  for (const auto& held : attachment_->finder().find_all(*ids)) { // Visits all, so that each hold gets a handle.
    if (held)
      handles.emplace_back(*attachment_, held->index, held->generation);
    else
      failure = held.error();
  }
  if (failure)
    return std::unexpected(*failure);
  return handles;
}

std::expected<store::pin, store_error> handle::pin(const std::optional<std::chrono::milliseconds>& within) const {
  if (attachment_ == nullptr)
    return std::unexpected(handle_is_empty());
  auto mapping = attachment_->views().pin(index_, within);
  if (!mapping)
    return std::unexpected(mapping.error());
  return std::expected<store::pin, store_error>{std::in_place, *this, *std::move(mapping)};
}

bool handle::is_on_disk() const noexcept {
  return attachment_ != nullptr && attachment_->finder().is_on_disk(index_);
}

std::expected<void, store_error> handle::hand_over(process_id to, std::uint64_t channel) const {
  if (attachment_ == nullptr)
    return std::unexpected(handle_is_empty());
  return attachment_->in_flight().hand_over({index_, generation_}, to, channel);
}

void handle::take_back(process_id to, std::uint64_t channel) const {
  if (attachment_ != nullptr)
    attachment_->in_flight().take_back({index_, generation_}, to, channel);
}

pin::pin(const handle& object, internal::mapping_ptr mapping)
    : object_(object.held_for(hold_reason::view)),
      mapping_(std::move(mapping)),
      bytes_(object_.attachment_->views().payload_of(object_.index_, mapping_.get())),
      metadata_(object_.attachment_->views().metadata_of(object_.index_, mapping_.get())) {}

pin::pin(const pin& other)
    : object_(other.object_.held_for(hold_reason::view)),
      mapping_(other.mapping_),
      bytes_(other.bytes_),
      metadata_(other.metadata_) {
  if (!object_.empty())
    object_.attachment_->holds().retain_pin(object_.index_);
}

pin::pin(pin&& other) noexcept
    : object_(std::move(other.object_)),
      mapping_(std::move(other.mapping_)),
      bytes_(std::exchange(other.bytes_, {})),
      metadata_(std::exchange(other.metadata_, {})) {}

pin& pin::operator=(const pin& other) {
  if (this != &other)
    *this = pin(other);
  return *this;
}

pin& pin::operator=(pin&& other) noexcept {
  if (this != &other) {
    release();
    object_ = std::move(other.object_);
    mapping_ = std::move(other.mapping_);
    bytes_ = std::exchange(other.bytes_, {});
    metadata_ = std::exchange(other.metadata_, {});
  }
  return *this;
}

pin::~pin() {
  release();
}

void pin::release() noexcept {
  if (object_.empty())
    return;
  object_.attachment_->holds().release_pin(object_.index_);
  if (mapping_ != nullptr) // Rare: most objects lie in the store's memory. Resetting a null pointer also takes time.
    mapping_.reset();
  object_.release();
}

} // namespace troupe::store
