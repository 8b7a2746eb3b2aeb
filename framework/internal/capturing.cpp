#include <troupe/framework/internal/capturing.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/framework/internal/stored_object.hpp>

namespace troupe::internal {

namespace {

std::unexpected<serialize_error> failure(serialize_errc code, std::string text) {
  return std::unexpected{serialize_error{code, std::move(text)}};
}

std::unexpected<serialize_error> no_actors() {
  return failure(serialize_errc::out_of_band_handle,
                 "an actor handle cannot be put into the store, where nobody would know when its actor ends; send it "
                 "in a message beside the reference, or publish the actor and put its name");
}

/// Decoding the value of one object: finds what it captured.
class captured_objects final : public link_extension {
public:
  explicit captured_objects(const object_state& of) : environment_(of.environment), source_(of.source) {}

  std::expected<std::uint32_t, serialize_error> mention(const caf::strong_actor_ptr&) override { return no_actors(); }
  std::expected<std::uint32_t, serialize_error> mention(const object_state&) override { return 0; }
  std::expected<caf::strong_actor_ptr, serialize_error> mentioned(std::uint32_t) override { return no_actors(); }

  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override {
    if (!sources_) {
      auto found = captured_by(*source_);
      if (!found)
        return failure(serialize_errc::codec_failed, found.error().message());
      sources_ = *std::move(found);
    }
    if (place == 0 || place > sources_->size())
      return failure(serialize_errc::malformed, "refers to object " + grouped(place)
                                                    + " of those that it captured, which are "
                                                    + grouped(sources_->size()));
    return (*sources_)[place - 1];
  }

  [[nodiscard]] std::shared_ptr<const object_environment> objects() const override { return environment_; }

private:
  const std::shared_ptr<const object_environment> environment_;
  const object_source_ptr source_;
  std::optional<std::vector<object_source_ptr>> sources_; // Once the first was asked for.
};

} // namespace

std::unique_ptr<context_extension> captured_by(const object_state& object) {
  return std::make_unique<captured_objects>(object);
}

std::expected<std::uint32_t, serialize_error> capture_list::mention(const caf::strong_actor_ptr& actor) {
  if (!actor)
    return 0;
  return no_actors();
}

std::expected<caf::strong_actor_ptr, serialize_error> capture_list::mentioned(std::uint32_t) {
  return no_actors();
}

std::expected<object_source_ptr, serialize_error> capture_list::mentioned_object(std::uint32_t) {
  return failure(serialize_errc::codec_failed, "nothing is decoded here");
}

std::expected<std::uint32_t, serialize_error> capture_list::mention(const object_state& object) {
  const auto place = object.source->place();
  const auto known = store_ != 0 && place ? std::ranges::find(ids_, *place) - ids_.begin()
                                          : std::ranges::find(sources_, object.source) - sources_.begin();
  if (static_cast<std::size_t>(known) < sources_.size())
    return static_cast<std::uint32_t>(known + 1);
  if (store_ != 0 && !place && (loss_ = object.source->why_lost()))
    return failure(serialize_errc::codec_failed, loss_->message());
  if (store_ != 0 && (!place || place->store != store_))
    return failure(serialize_errc::codec_failed,
                   place || object.source->here_at_once()
                       ? "an object_ref whose bytes lie in this process's memory or in another store cannot be kept by "
                         "an object of this one; put its value here, and refer to that"
                       : "an object_ref to " + grouped(object.source->size_bytes())
                             + " bytes on another host cannot be kept by an object of this one; get it first, and put "
                               "what it holds here");
  if (sources_.size() == captured_max)
    return failure(serialize_errc::limit_exceeded,
                   "an object can hold references to at most " + grouped(captured_max)
                       + " others; put groups of them into objects of their own, and refer to those");
  if (store_ != 0)
    ids_.push_back(*place);
  sources_.push_back(object.source);
  return static_cast<std::uint32_t>(sources_.size());
}

} // namespace troupe::internal
