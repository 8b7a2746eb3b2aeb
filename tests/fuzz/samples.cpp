#include "samples.hpp"

#include <troupe/framework/internal/objects/codec_mentions.hpp>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

/// Counts the actors that an element mentions.
class counting final : public codec_mentions {
public:
  explicit counting(std::shared_ptr<const object_environment> objects) : objects_(std::move(objects)) {}
  std::expected<std::uint32_t, serialize_error> mention(const actor_handle& actor) override {
    return actor ? ++count : 0;
  }
  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t) override { return actor_handle{}; }
  std::expected<std::uint32_t, serialize_error> mention(const object_state&) override { return 0; }
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t) override { return nullptr; }
  std::shared_ptr<const object_environment> objects() const override { return objects_; }

  std::uint32_t count = 0;

private:
  std::shared_ptr<const object_environment> objects_;
};

class sampler {
public:
  explicit sampler(home& at) : home_(at) {}

  template <class T>
  void add(const T& value, compression how = compression::none) {
    const auto& entry = *home_.types().find<T>();
    for (const auto* family : {"typed", "msgpack", "json"}) {
      counting link{home_.node().objects()};
      context ctx;
      ctx.extension = &link;
      ctx.compression = how;
      const auto sent =
          serialize_entry(entry, &value, {.serializers = {family}, .on_error = on_error::raise, .context = ctx},
                          home_.types(), home_.families());
      expect(sent.has_value(), "no sample", sent ? "" : sent.error().message());
      all.push_back({entry.alias(), family, sent->header, sent->frames, link.count});
    }
  }

  std::vector<sample> all;

private:
  home& home_;
};

} // namespace

std::vector<sample> make_samples(home& at) {
  sampler made{at};
  const auto& some = at.actor(0);
  const auto numbers = std::vector<double>(300, 1.5);
  made.add(5);
  made.add(std::string{"text"});
  made.add(caf::actor{some});
  made.add(caf::error{3, caf::atom("troupe"), caf::make_message("why\nnot")});
  made.add(caf::exit_msg{caf::actor_addr{}, caf::make_error(caf::exit_reason::kill)});
  made.add(std::vector<caf::actor>{some, some});
  made.add(caf::actor_cast<caf::strong_actor_ptr>(some));
  made.add(guest_list{"host", {some}});
  made.add(reading{"roof", 20.5, numbers});
  made.add(internal::task_call{.name = "add"});
  made.add(internal::task_call{.name = "fail"});
  made.add(internal::spawn_call{.name = "counter", .interface = {}});
  made.add(caf::atom_value{caf::atom("stop")});
  made.add(caf::unit_t{});
  made.add(internal::ref_to<array<double>>(std::make_shared<object_state>(
      object_state{{.element = "f64", .shape = {300}, .header = {}, .frames = {}},
                   std::make_shared<internal::local_object>(frame::copy_of(std::as_bytes(std::span{numbers}))),
                   at.node().objects()})));
  made.add(std::vector<double>(2'000, 2.5), compression::lz4);
  made.add(std::vector<double>(2'000, 3.5), compression::zstd);
  return std::move(made.all);
}

} // namespace fuzz
