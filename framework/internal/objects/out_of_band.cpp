#include <troupe/framework/internal/objects/out_of_band.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/objects/object_proof.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {

namespace {

constexpr const char* allowing_variable = "TROUPE_ALLOW_OUT_OF_BAND_HANDLES";

using detail::failure;

struct guard {
  std::uint64_t store;
  std::source_location where;
};
thread_local std::vector<guard> guards;

bool is_set_in_environment() {
  const auto* value = std::getenv(allowing_variable);
  return value != nullptr && std::string_view{value} == "1";
}

/// A sum that only a process with the store open can compute.
std::uint64_t sum_of(const out_of_band_name& name, const store::object_store& in) {
  return object_proof({name.store, name.index, name.generation}, "troupe out of band", in);
}

class pin_table {
public:
  struct open_node {
    const void* node = nullptr;
    std::optional<store::object_store> store;
    std::shared_ptr<const object_environment> environment;
    bool is_allowed = false;

    [[nodiscard]] std::uint64_t store_number() const { return store ? store->number() : 0; }
  };

  void open(open_node added) {
    const std::lock_guard alone{mutex_};
    nodes_.push_back(std::move(added));
  }

  void close(const void* node) {
    // Destroyed after the lock is released: the last handle of a store detaches from it.
    std::vector<open_node> gone;
    std::vector<entry> unpinned;
    {
      const std::lock_guard alone{mutex_};
      const auto rest = std::ranges::partition(nodes_, [&](const open_node& each) { return each.node != node; });
      std::ranges::move(rest, std::back_inserter(gone));
      nodes_.erase(rest.begin(), rest.end());
      for (const auto& each : gone)
        if (find_node(each.store_number()) == nullptr)
          std::erase_if(pins_, [&](entry& pinned) {
            if (pinned.name.store != each.store_number())
              return false;
            unpinned.push_back(std::move(pinned));
            return true;
          });
    }
  }

  /// The guard or option that allows it: "file:line" of a guard, or a text. Nullopt if nothing allows it.
  [[nodiscard]] std::optional<std::string> allowed_by(std::uint64_t store) const {
    for (auto at = guards.rbegin(); at != guards.rend(); ++at)
      if (at->store == store)
        return std::string{at->where.file_name()} + ':' + std::to_string(at->where.line());
    const std::lock_guard alone{mutex_};
    if (std::ranges::any_of(nodes_,
                            [&](const open_node& each) { return each.is_allowed && each.store_number() == store; }))
      return "not known (allowed by node_options::allow_out_of_band_handles; a guard in code says where)";
    if (is_set_in_environment())
      return std::string{"not known (allowed by "} + allowing_variable + "=1; a guard in code says where)";
    return std::nullopt;
  }

  /// Whether any store's references may be serialized outside messages.
  [[nodiscard]] bool allows_any() const {
    const std::lock_guard alone{mutex_};
    return !guards.empty() || std::ranges::any_of(nodes_, &open_node::is_allowed) || is_set_in_environment();
  }

  /// Pins the object. Returns nullopt if no node with that store is open, because then no close would unpin the object.
  std::optional<out_of_band_name> pin(const object_state_ptr& state, const out_of_band_name& name, std::string where) {
    const std::lock_guard alone{mutex_};
    if (find_node(name.store) == nullptr)
      return std::nullopt;
    auto kept = name.store != 0 ? state->source->stored() : store::handle{};
    const auto known = std::ranges::find_if(pins_, [&](const entry& each) {
      return kept.empty() ? is_same_object(each.in_memory, state) : each.stored.id() == kept.id();
    });
    if (known != pins_.end()) {
      ++known->pin.serializations;
      return known->name;
    }
    const auto place = kept.empty() ? std::nullopt : std::optional{kept.id()};
    pins_.push_back({name,
                     std::move(kept).held_for(store::hold_reason::out_of_band),
                     place ? nullptr : state,
                     {.object = place,
                      .size_bytes = state->source->size_bytes(),
                      .since = std::chrono::system_clock::now(),
                      .where = std::move(where),
                      .serializations = 1}});
    return name;
  }

  [[nodiscard]] std::vector<out_of_band_pin> list(std::uint64_t store) const {
    const std::lock_guard alone{mutex_};
    std::vector<out_of_band_pin> found;
    for (const auto& each : pins_)
      if (each.name.store == store)
        found.push_back(each.pin);
    return found;
  }

  bool release(std::uint64_t store, std::string_view object) {
    std::vector<entry> unpinned; // Destroyed after the lock is released.
    const std::lock_guard alone{mutex_};
    std::erase_if(pins_, [&](entry& each) {
      if (each.name.store != store || object != (each.pin.object ? to_string(*each.pin.object) : each.pin.where))
        return false;
      unpinned.push_back(std::move(each));
      return true;
    });
    return !unpinned.empty();
  }

  [[nodiscard]] std::optional<open_node> node_of(std::uint64_t store) const {
    const std::lock_guard alone{mutex_};
    const auto* found = find_node(store);
    return found != nullptr ? std::optional{*found} : std::nullopt;
  }

  /// An object in this process's memory. Null if it is gone or never existed.
  [[nodiscard]] object_state_ptr of_number(std::uint64_t number) const {
    const std::lock_guard alone{mutex_};
    const auto found = std::ranges::find_if(
        pins_, [&](const entry& each) { return each.name.store == 0 && each.name.number == number; });
    return found != pins_.end() ? found->in_memory : nullptr;
  }

private:
  struct entry {
    out_of_band_name name;
    store::handle stored; // `stored` or `in_memory` keeps the object.
    object_state_ptr in_memory;
    out_of_band_pin pin;
  };

  [[nodiscard]] const open_node* find_node(std::uint64_t store) const {
    const auto found =
        std::ranges::find_if(nodes_, [&](const open_node& each) { return each.store_number() == store; });
    return found != nodes_.end() ? &*found : nullptr;
  }

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<open_node> nodes_;
  std::vector<entry> pins_;
};

/// Never destroyed, because nodes that are static variables may end later.
pin_table& table() {
  static auto* const only = new pin_table;
  return *only;
}

/// Nullopt if no node of this process has the store open.
std::optional<out_of_band_name> name_of(const std::optional<store::object_id>& place) {
  out_of_band_name name;
  const auto node = table().node_of(place ? place->store : 0);
  if (!node)
    return std::nullopt;
  if (!place) {
    name.number = random_number();
    return name;
  }
  name = {.store = place->store, .index = place->index, .generation = place->generation};
  name.number = sum_of(name, *node->store);
  return name;
}

} // namespace

void open_out_of_band(const void* node, const std::optional<store::object_store>& store,
                      std::shared_ptr<const object_environment> environment, bool is_allowed) {
  table().open({node, store, std::move(environment), is_allowed});
}

void close_out_of_band(const void* node) {
  table().close(node);
}

std::vector<out_of_band_pin> out_of_band_pins(std::uint64_t store) {
  return table().list(store);
}

bool release_out_of_band(std::uint64_t store, std::string_view object) {
  return table().release(store, object);
}

std::expected<object_form, serialize_error> out_of_band_form(const object_state_ptr& state) {
  auto place = state->source->place();
  const auto is_elsewhere = !place && !state->source->here_at_once();
  if (!place && !is_elsewhere)
    place = state->source->place(); // The bytes may have come to the store since the first look.
  // If the object is on another host, its future store is unknown, so any permission counts.
  auto allowed = table().allowed_by(place ? place->store : 0);
  if (!allowed && !(is_elsewhere && table().allows_any()))
    return failure(serialize_errc::out_of_band_handle,
                   "an object_ref can only be serialized inside a message to a remote actor, where it is counted; send "
                   "it in a message, or send the result of get(). If a copy of the reference has to leave in another "
                   "way, troupe::allow_out_of_band_handles in code, node_options::allow_out_of_band_handles or "
                       + std::string{allowing_variable} + "=1 allow it; the object then stays until its node ends");
  if (is_elsewhere)
    return failure(serialize_errc::out_of_band_handle,
                   "an object_ref to " + grouped(state->source->size_bytes())
                       + " bytes on another host cannot be serialized outside a message; get it first");
  const auto name = name_of(place);
  const auto pinned = name ? table().pin(state, *name, *std::move(allowed)) : std::nullopt;
  if (!pinned)
    return failure(serialize_errc::out_of_band_handle,
                   "an object_ref can only be serialized while a node with its store is open in this process, which "
                   "keeps the object");
  return object_form{state->layout, out_of_band_mention, frame::adopt(msgpack::encode_described(*pinned))};
}

std::expected<object_state_ptr, serialize_error> found_out_of_band(object_form&& from) {
  if (from.mention != out_of_band_mention)
    return failure(serialize_errc::out_of_band_handle,
                   "an object_ref that was serialized for a message can only be read by the receiver of that message");
  const auto name = msgpack::decode_described<out_of_band_name>(from.bytes.bytes());
  if (!name)
    return std::unexpected{name.error()};
  const auto gone = [](const std::string& object) {
    return std::make_shared<freed_object>(
        object
        + " was released when the node that serialized the reference outside of a message ended, and nothing else "
          "holds it; send references in messages, where they are counted");
  };
  const auto never_given = [](const std::string& object) {
    return std::make_shared<freed_object>("the name of object " + object
                                          + " was not issued by a process of its store: it was damaged or made up");
  };
  if (name->store == 0) {
    if (auto found = table().of_number(name->number))
      return found;
    return std::make_shared<object_state>(object_state{
        std::move(from.layout), gone("the object in the memory of another process or an ended node"), nullptr});
  }
  auto node = table().node_of(name->store);
  if (!node)
    return failure(serialize_errc::out_of_band_handle,
                   "no node of this process has the store of the object_ref open; open one with the same store");
  const store::object_id id{name->store, name->index, name->generation};
  if (sum_of(*name, *node->store) != name->number)
    return std::make_shared<object_state>(
        object_state{std::move(from.layout), never_given(to_string(id)), std::move(node->environment)});
  auto found = node->store->find(id);
  object_source_ptr source;
  if (found)
    source = std::make_shared<stored_object>(*std::move(found));
  else if (found.error().code() == store::store_errc::not_found || found.error().code() == store::store_errc::unsealed)
    source = gone("object " + to_string(id));
  else
    return failure(serialize_errc::codec_failed, found.error().message());
  return std::make_shared<object_state>(
      object_state{std::move(from.layout), std::move(source), std::move(node->environment)});
}

void push_out_of_band_guard(std::uint64_t store, const std::source_location& where) {
  guards.push_back({store, where});
}

void pop_out_of_band_guard() {
  guards.pop_back();
}

} // namespace troupe::internal
