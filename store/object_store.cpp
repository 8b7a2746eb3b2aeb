#include <troupe/store/object_store.hpp>

#include <troupe/store/internal/attachment/attachment.hpp>
#include <troupe/store/internal/attachment/attachments.hpp>

#include <bit>
#include <cstring>
#include <utility>

namespace troupe::store {

namespace {

[[nodiscard]] std::expected<handle, store_error>
handle_of(const internal::attachment_ptr& attachment, const std::expected<internal::held_object, store_error>& held) {
  if (!held)
    return std::unexpected(held.error());
  return std::expected<handle, store_error>{std::in_place, *attachment, held->index, held->generation};
}

[[nodiscard]] builder builder_of(const internal::attachment_ptr& attachment, internal::new_object&& made, bool grows) {
  return builder{*attachment, made.index, made.generation, made.bytes, std::move(made.own_file), grows};
}

/// Requires: `found` comes from this attachment.
[[nodiscard]] std::expected<object_of_origin, store_error>
result_of(const internal::attachment_ptr& attachment, std::expected<internal::origin_found, store_error>&& found,
          bool grows = false) {
  if (!found)
    return std::unexpected(found.error());
  auto result = object_of_origin{};
  if (found->made)
    result.building = builder_of(attachment, std::move(*found->made), grows);
  if (found->sealed)
    result.sealed = handle{*attachment, found->sealed->index, found->sealed->generation};
  result.being_written = found->being_written;
  result.writer = static_cast<pid_t>(found->writer_pid);
  return result;
}

} // namespace

object_store::object_store(internal::attachment_ptr attachment) : attachment_(std::move(attachment)) {}

std::expected<object_store, store_error> object_store::open(const options& options) {
  auto attachment = internal::attach(options);
  if (!attachment)
    return std::unexpected(attachment.error());
  return object_store{std::move(*attachment)};
}

std::expected<builder, store_error> object_store::create(std::size_t size_bytes, std::span<const std::byte> metadata,
                                                         std::span<const object_id> captured,
                                                         const std::optional<std::chrono::milliseconds>& grace,
                                                         const std::source_location& where) {
  auto made =
      attachment_->writer().create({.size_bytes = size_bytes, .metadata = metadata, .captured = captured, .origin = {}},
                                   grace.value_or(attachment_->settings().full_grace), where);
  if (!made)
    return std::unexpected(made.error());
  if (made->own_file == nullptr)
    return std::expected<builder, store_error>{std::in_place, *attachment_, made->index, made->generation, made->bytes};
  return builder{*attachment_, made->index, made->generation, made->bytes, std::move(made->own_file)};
}

std::expected<std::vector<builder>, store_error>
object_store::create_all(std::span<const std::size_t> sizes_bytes,
                         const std::optional<std::chrono::milliseconds>& grace, const std::source_location& where) {
  auto builders = std::vector<builder>{};
  builders.reserve(sizes_bytes.size());
  const auto made =
      attachment_->writer().create_all(sizes_bytes, grace.value_or(attachment_->settings().full_grace), where);
  if (!made)
    return std::unexpected(made.error());
  for (const auto& one : *made)
    builders.emplace_back(*attachment_, one.index, one.generation, one.bytes);
  return builders;
}

std::expected<object_of_origin, store_error>
object_store::create_once(const object_origin& origin, std::size_t size_bytes,
                          const std::optional<std::chrono::milliseconds>& grace, const std::source_location& where) {
  return result_of(attachment_, attachment_->writer().create_once(
                                    {.size_bytes = size_bytes, .metadata = {}, .captured = {}, .origin = origin},
                                    grace.value_or(attachment_->settings().full_grace), where));
}

std::expected<object_of_origin, store_error>
object_store::create_growing(const object_origin& origin, std::size_t size_bytes,
                             const std::optional<std::chrono::milliseconds>& grace, const std::source_location& where) {
  const auto patience = grace.value_or(attachment_->settings().full_grace);
  const auto what = internal::object_writer::request{
      .size_bytes = size_bytes, .metadata = {}, .captured = {}, .origin = origin, .grows = true};
  if (!origin.empty())
    return result_of(attachment_, attachment_->writer().create_once(what, patience, where), true);
  auto made = attachment_->writer().create(what, patience, where);
  if (!made)
    return std::unexpected(made.error());
  auto result = object_of_origin{};
  result.building = builder_of(attachment_, *std::move(made), true);
  return result;
}

std::expected<object_of_origin, store_error> object_store::find(const object_origin& origin) {
  return result_of(attachment_, attachment_->finder().find_origin(origin));
}

std::expected<handle, store_error> object_store::put(std::span<const std::byte> bytes,
                                                     std::span<const std::byte> metadata,
                                                     std::span<const object_id> captured,
                                                     const std::optional<std::chrono::milliseconds>& grace,
                                                     const std::source_location& where) {
  auto building = create(bytes.size(), metadata, captured, grace, where);
  if (!building)
    return std::unexpected(building.error());
  if (!bytes.empty())
    std::memcpy(building->bytes().data(), bytes.data(), bytes.size());
  return std::move(*building).seal();
}

std::expected<handle, store_error> object_store::put(std::span<const std::span<const std::byte>> parts,
                                                     std::span<const std::byte> metadata,
                                                     std::span<const object_id> captured,
                                                     const std::optional<std::chrono::milliseconds>& grace,
                                                     const std::source_location& where) {
  auto size_bytes = std::size_t{0};
  for (const auto& part : parts)
    size_bytes += part.size();
  auto building = create(size_bytes, metadata, captured, grace, where);
  if (!building)
    return std::unexpected(building.error());
  auto* at = building->bytes().data();
  for (const auto& part : parts) {
    if (!part.empty())
      std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return std::move(*building).seal();
}

std::expected<handle, store_error> object_store::find(object_id id) {
  return handle_of(attachment_, attachment_->finder().find(id));
}

std::vector<std::expected<handle, store_error>> object_store::find_all(std::span<const object_id> ids) {
  auto handles = std::vector<std::expected<handle, store_error>>{};
  handles.reserve(ids.size());
  for (const auto& held : attachment_->finder().find_all(ids))
    handles.push_back(handle_of(attachment_, held));
  return handles;
}

bool object_store::contains(object_id id) const {
  return attachment_->finder().contains(id);
}

std::expected<std::vector<object_id>, store_error>
object_store::wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout) {
  return attachment_->waiter().wait(ids, how_many, timeout);
}

bool object_store::is_being_written(object_id id) const noexcept {
  return attachment_->finder().is_being_written(id);
}

std::optional<std::uint32_t> object_store::progress_of(object_id id) const noexcept {
  return attachment_->finder().progress_of(id);
}

std::expected<bool, store_error> object_store::wait_until(const std::function<bool()>& is_so,
                                                          std::chrono::milliseconds timeout) {
  return attachment_->waiter().wait_until(is_so, timeout);
}

std::expected<handle, store_error> object_store::adopt(object_id id, process_id from, std::uint64_t channel) {
  return handle_of(attachment_, attachment_->in_flight().adopt(id, from, channel));
}

std::expected<void, store_error> object_store::abandon(process_id peer, std::uint64_t channel) {
  return attachment_->in_flight().abandon(peer, channel);
}

std::expected<store_summary, store_error> object_store::summary(const summary_query& what) {
  return attachment_->survey().summary(what);
}

std::expected<store_summary, store_error> object_store::totals() const {
  return attachment_->survey().totals();
}

std::size_t object_store::reap() {
  return attachment_->dead().reap().value_or(0);
}

std::expected<void, store_error> object_store::verify() const {
  return attachment_->survey().verify();
}

process_id object_store::self() const noexcept {
  return attachment_->member().self();
}

bool object_store::shares_with(process_id peer) const {
  return attachment_->member().shares_with(peer);
}

std::string object_store::notice() const {
  return attachment_->survey().notice();
}

std::array<std::byte, 32> object_store::secret() const noexcept {
  return std::bit_cast<std::array<std::byte, 32>>(attachment_->secret());
}

std::uint64_t object_store::number() const noexcept {
  return attachment_->number();
}

} // namespace troupe::store
