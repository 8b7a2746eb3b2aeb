#include <troupe/framework/gateway/internal/objects/object_shelf.hpp>

#include <utility>
#include <vector>

#include <troupe/framework/gateway/internal/words/random_id.hpp>

namespace troupe::web {

namespace {

refusal no_object() {
  return {.status = 404, .code = "not_found", .text = "there is no such object that this token may read"};
}

} // namespace

object_shelf::object_shelf(const bounds& limits) : limits_(limits) {}

/// The id of a gateway is part of all tags, so that a tag of an earlier process never fits.
std::string object_shelf::next_tag() {
  static const auto of_process = random_id();
  return '"' + of_process + '-' + std::to_string(++tags_) + '"';
}

void object_shelf::expose(std::string id, page_loader load) {
  const std::lock_guard guard{mutex_};
  exposed_.insert_or_assign(std::move(id), shelved_object{.load = std::move(load), .room = nullptr, .tag = next_tag()});
}

bool object_shelf::withdraw(std::string_view id) {
  const std::lock_guard guard{mutex_};
  const auto found = exposed_.find(id);
  if (found == exposed_.end())
    return false;
  exposed_.erase(found);
  return true;
}

std::expected<std::shared_ptr<const void>, refusal>
object_shelf::reserve(const token_rights& by, std::uint64_t size_bytes, clock::time_point now) {
  expire(now);
  if (by.put_bytes == 0)
    return std::unexpected{refusal{.status = 403, .code = "not_allowed", .text = "this token may not make objects"}};
  std::shared_ptr<usage> used;
  {
    const std::lock_guard guard{mutex_};
    auto& known = used_[by.name];
    if (!known)
      known = std::make_shared<usage>();
    used = known;
  }
  const std::lock_guard guard{used->mutex};
  if (size_bytes > by.put_bytes || used->bytes > by.put_bytes - size_bytes)
    return std::unexpected{refusal{.status = 413,
                                   .code = "quota",
                                   .text = "object of " + std::to_string(size_bytes)
                                           + " bytes, the token's objects have " + std::to_string(used->bytes) + " of "
                                           + std::to_string(by.put_bytes)}};
  if (used->objects >= limits_.objects_per_token_max)
    return std::unexpected{
        refusal{.status = 429,
                .code = "quota",
                .text = "the token has made " + std::to_string(used->objects) + " objects already, delete some of them",
                .retry_after_seconds = 1}};
  used->bytes += size_bytes;
  ++used->objects;
  return std::shared_ptr<const void>(used.get(), [used, size_bytes](const void*) {
    const std::lock_guard freeing{used->mutex};
    used->bytes -= size_bytes;
    --used->objects;
  });
}

std::string object_shelf::put(const token_rights& by, std::shared_ptr<const void> room, page_loader load,
                              clock::time_point now) {
  auto id = random_id();
  const std::lock_guard guard{mutex_};
  made_.emplace(id, made_object{.object = {.load = std::move(load), .room = std::move(room), .tag = next_tag()},
                                .owner = by.name,
                                .expires = now + limits_.lifetime});
  return id;
}

std::expected<void, refusal> object_shelf::remove(const token_rights& by, std::string_view id, clock::time_point now) {
  made_object removed; // Destroyed without the lock.
  const std::lock_guard guard{mutex_};
  if (const auto found = made_.find(id); found != made_.end() && found->second.owner == by.name) {
    removed = std::move(found->second);
    made_.erase(found);
    if (removed.expires > now)
      return {};
  }
  if (exposed_.contains(id) && by.reads.covers(id))
    return std::unexpected{
        refusal{.status = 403, .code = "not_allowed", .text = "only the program can withdraw this object"}};
  return std::unexpected{no_object()};
}

std::expected<shelved_object, refusal> object_shelf::find(const token_rights& by, std::string_view id,
                                                          clock::time_point now) {
  const std::lock_guard guard{mutex_};
  if (const auto found = made_.find(id);
      found != made_.end() && found->second.owner == by.name && found->second.expires > now)
    return found->second.object;
  if (const auto found = exposed_.find(id); found != exposed_.end() && by.reads.covers(id))
    return found->second;
  return std::unexpected{no_object()};
}

void object_shelf::expire(clock::time_point now) {
  std::vector<made_object> expired; // Destroyed without the lock.
  const std::lock_guard guard{mutex_};
  std::erase_if(made_, [&](auto& each) {
    if (each.second.expires > now)
      return false;
    expired.push_back(std::move(each.second));
    return true;
  });
}

object_shelf::totals object_shelf::count() const {
  std::vector<std::shared_ptr<usage>> all;
  totals result{};
  {
    const std::lock_guard guard{mutex_};
    result.objects = exposed_.size() + made_.size();
    for (const auto& [name, used] : used_)
      all.push_back(used);
  }
  for (const auto& used : all) {
    const std::lock_guard guard{used->mutex};
    result.client_bytes += used->bytes;
  }
  return result;
}

} // namespace troupe::web
