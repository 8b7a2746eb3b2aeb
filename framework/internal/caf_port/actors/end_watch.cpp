#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>

#include <memory>
#include <utility>

#include <caf/abstract_actor.hpp>
#include <caf/attachable.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t watch_token = 0x74726f75; // CAF numbers its own tokens from 0.

class end_watch final : public caf::attachable {
public:
  end_watch(const void* key, std::function<void(const caf::error&)> call) : key_(key), call_(std::move(call)) {}

  void actor_exited(const caf::error& reason, caf::execution_unit*) override { call_(reason); }
  bool matches(const token& what) override { return what.subtype == watch_token && what.ptr == key_; }

private:
  const void* const key_;
  const std::function<void(const caf::error&)> call_;
};

} // namespace

void watch_end(const caf::strong_actor_ptr& actor, const void* key, std::function<void(const caf::error&)> call) {
  actor->get()->attach(caf::attachable_ptr{new end_watch(key, std::move(call))});
}

void unwatch_end(const caf::strong_actor_ptr& actor, const void* key) {
  actor->get()->detach(caf::attachable::token{watch_token, key});
}

} // namespace troupe::internal
