#include <troupe/framework/internal/objects/capturing.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

using detail::failure;

std::unexpected<serialize_error> no_actors() {
  return failure(serialize_errc::out_of_band_handle,
                 "an actor handle cannot be put into the store, which cannot track its actor; send the handle in a "
                 "message beside the reference, or publish the actor and put its name");
}

/// The context while an object's value is decoded. It finds the objects that the object captured.
class captured_objects final : public codec_mentions {
public:
  explicit captured_objects(const object_state& of) : environment_(of.environment), source_(of.source) {}

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle&) override { return no_actors(); }
  std::expected<std::uint32_t, serialize_error> mention(const object_state&) override { return 0; }
  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t) override { return no_actors(); }

  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override {
    if (!sources_) {
      auto found = captured_by(*source_);
      if (!found)
        return failure(serialize_errc::codec_failed, found.error().message());
      sources_ = *std::move(found);
    }
    if (place == 0 || place > sources_->size())
      return failure(serialize_errc::malformed,
                     "refers to captured object " + grouped(place) + " of " + grouped(sources_->size()));
    return (*sources_)[place - 1];
  }

  [[nodiscard]] std::shared_ptr<const object_environment> objects() const override { return environment_; }

private:
  const std::shared_ptr<const object_environment> environment_;
  const object_source_ptr source_;
  std::optional<std::vector<object_source_ptr>> sources_; // Filled at the first lookup.
};

} // namespace

std::unique_ptr<context_extension> captured_by(const object_state& object) {
  return std::make_unique<captured_objects>(object);
}

std::expected<std::uint32_t, serialize_error> capture_list::mention(const actor_handle& actor) {
  if (!actor)
    return 0;
  return no_actors();
}

std::expected<actor_handle, serialize_error> capture_list::mentioned(std::uint32_t) {
  return no_actors();
}

std::expected<object_source_ptr, serialize_error> capture_list::mentioned_object(std::uint32_t) {
  return failure(serialize_errc::codec_failed, "a codec tried to decode a handle while it encodes");
}

std::expected<std::uint32_t, serialize_error> capture_list::mention(const object_state& object) {
  const auto place = store_ ? object.source->place() : std::nullopt;
  const auto known = std::ranges::find_if(captured_, [&](const captured& each) {
    return each.as_named == object.source || (place && each.source->place() == place);
  });
  if (known != captured_.end())
    return static_cast<std::uint32_t>(known - captured_.begin() + 1);
  if (captured_.size() == captured_max)
    return failure(serialize_errc::limit_exceeded,
                   "an object can hold references to at most " + grouped(captured_max)
                       + " others; put groups of them into separate objects, and refer to those");
  auto source = keepable(object.source);
  if (!source)
    return failure(serialize_errc::codec_failed, failure_->message());
  captured_.push_back({object.source, std::move(source)});
  return static_cast<std::uint32_t>(captured_.size());
}

/// An object that an object of the store can keep: one that lies in this store, one that will lie there once it is
/// fetched, or a copy. Null if it is lost or cannot be copied.
object_source_ptr capture_list::keepable(const object_source_ptr& source) {
  if (!store_)
    return source;
  if (const auto place = source->place(); place && place->store == store_->number())
    return source;
  if (failure_ = source->why_lost(); failure_)
    return nullptr;
  if (exchange_ && exchange_->object_of(source))
    return source;
  return copy_of(*source);
}

object_source_ptr capture_list::copy_of(const object_source& source) {
  const auto bytes = source.here_at_once();
  const auto inner = bytes ? captured_by(source) : std::vector<object_source_ptr>{};
  if (!bytes || !inner || !inner->empty()) {
    failure_ = node_error{
        node_errc::unserializable,
        bytes ? "an object of this store cannot hold an object_ref to an object that contains references and lies in "
                "this process's memory or in another store; put its value by this node, and refer to that"
              : "an object of this store cannot hold an object_ref to " + grouped(source.size_bytes())
                    + " bytes that only another node of this process can fetch; get its value first, and put that"};
    return nullptr;
  }
  auto built = store_->create(bytes->size_bytes());
  if (!built) {
    failure_ = from_store(built.error());
    return nullptr;
  }
  std::ranges::copy(bytes->bytes(), built->bytes().begin());
  auto sealed = std::move(*built).seal();
  if (!sealed) {
    failure_ = from_store(sealed.error());
    return nullptr;
  }
  return std::make_shared<stored_object>(*std::move(sealed));
}

std::optional<std::vector<store::object_id>> capture_list::ids() const {
  std::vector<store::object_id> result;
  for (const auto& each : captured_) {
    const auto place = store_ ? each.source->place() : std::optional{store::object_id{}};
    if (!place)
      return std::nullopt;
    result.push_back(*place);
  }
  return result;
}

std::vector<object_source_ptr> capture_list::sources() const {
  std::vector<object_source_ptr> result;
  for (const auto& each : captured_)
    result.push_back(each.source);
  return result;
}

std::vector<std::shared_ptr<exchanged_object>> capture_list::counted() const {
  std::vector<std::shared_ptr<exchanged_object>> result;
  for (const auto& each : captured_)
    result.push_back(exchange_->object_of(each.source));
  return result;
}

} // namespace troupe::internal
