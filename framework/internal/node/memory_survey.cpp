#include <troupe/framework/internal/node/memory_survey.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <troupe/framework/internal/link/link_memory.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/largest_first.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/objects/out_of_band.hpp>

namespace troupe::internal {

namespace {

std::int64_t milliseconds(std::chrono::nanoseconds age) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
}

bool has(const std::vector<pid_t>& processes, pid_t one) {
  return std::ranges::find(processes, one) != processes.end();
}

class survey {
public:
  survey(const node_core& node, const memory_query& query) : node_(node), query_(query) {}

  std::expected<memory_summary, node_error> run() {
    if (node_.store()) {
      auto store = *node_.store();
      const auto known =
          store.summary({.rows_max = static_cast<std::size_t>(query_.objects_max), .only_own = !query_.whole_store});
      if (!known)
        return std::unexpected{
            node_error{node_errc::object_lost, "the store cannot be read: " + known.error().message()}};
      result_.processes.push_back({own_, node_.options().name, known->name, {}});
      look_at_store(*known);
    } else {
      result_.processes.push_back({own_, node_.options().name, {}, {}});
    }
    std::vector<link_memory> links;
    for (const auto& link : node_.links().open())
      links.push_back(link->memory(stored_));
    if (node_.counted_objects()) {
      look_at_handles(links, false);
      look_at_handles(links, true); // Second, since moved entries add to their targets' rows.
    }
    for (const auto& link : links)
      look_at(link);
    look_outside_messages();
    finish();
    return std::move(result_);
  }

private:
  /// The object's index among the rows.
  [[nodiscard]] std::optional<std::size_t> place_of(const store::object_id& id) const {
    const auto stored = std::ranges::lower_bound(stored_, id.index, {}, &store::object_id::index);
    if (stored != stored_.end() && *stored == id && !is_reordered_)
      return static_cast<std::size_t>(stored - stored_.begin());
    const auto found = places_.find(id);
    return found != places_.end() ? std::optional{found->second} : std::nullopt;
  }
  memory_object& row(const store::object_id& id) {
    if (const auto place = place_of(id))
      return result_.objects[*place];
    places_.emplace(id, result_.objects.size());
    auto& made = result_.objects.emplace_back();
    made.object = to_string(id);
    return made;
  }

  void look_at_store(const store::store_summary& known) {
    auto said = memory_of(known);
    result_.objects.reserve(said.objects.size());
    stored_.reserve(said.objects.size());
    for (std::size_t i = 0; i < said.objects.size(); ++i)
      if (query_.whole_store || has(known.rows[i].holders, static_cast<pid_t>(own_))) {
        auto& made = result_.objects.emplace_back(std::move(said.objects[i]));
        // Holds of exchange, links and messages are reported by those themselves.
        if (const auto own = own_handles(made); own != made.holders.end())
          own->count = references_among(known.rows[i].own_holds);
        stored_.push_back(known.rows[i].id);
      }
    result_.objects_left_off = known.rows_left_off;
    result_.bytes_left_off = known.bytes_left_off;
    is_cut_ = known.rows_left_off > 0;
  }

  static std::uint64_t references_among(const store::hold_counts& holds) {
    return std::uint64_t{holds[store::hold_reason::reference]} + holds[store::hold_reason::imported];
  }

  [[nodiscard]] std::vector<memory_holder>::iterator own_handles(memory_object& of) const {
    return std::ranges::find_if(of.holders, [this](const memory_holder& each) {
      return each.reason == memory_reason::handle && each.process == own_ && each.link == 0;
    });
  }

  void add_references(memory_object& to, std::uint64_t count) const {
    if (count == 0)
      return;
    auto own = own_handles(to);
    if (own == to.holders.end())
      own = to.holders.insert(to.holders.begin(), {.reason = memory_reason::handle, .process = own_});
    own->count += count;
  }

  /// The object's row; null if the object was left off.
  memory_object* row_of(const store::object_id& id) {
    if (const auto place = place_of(id))
      return &result_.objects[*place];
    return is_cut_ ? nullptr : &row(id);
  }

  /// Reads in batches, so that messages with handles are delayed only briefly, however many rows there are.
  void look_at_handles(std::span<const link_memory> links, bool moved) {
    constexpr std::uint32_t batch = 512;
    for (std::uint32_t first = 0;; first += batch) {
      const auto known = node_.counted_objects()->rows(first, batch);
      for (const auto& entry : known.entries)
        if (entry.moved_to.has_value() == moved)
          moved ? add_moved(entry, known.now, links) : add_entry(entry, known.now, links);
      if (known.are_all)
        return;
    }
  }

  void add_entry(const handles::entry_row& entry, handles::time_point now, std::span<const link_memory> links) {
    const auto& id = entry.place ? *entry.place : entry.name;
    auto* const known = entry.place ? row_of(id) : &row(id);
    if (known == nullptr)
      return;
    auto& made = *known;
    handles_.emplace(entry.known_as, id);
    if (entry.place) {
      add_references(made, entry.references);
    } else {
      made.state = entry.is_lost ? "lost" : entry.is_unfinished ? "unfinished" : "remote";
      made.size_bytes = entry.size_bytes;
      made.age_ms = milliseconds(now - entry.since);
      auto holder = holder_over(entry.source, links);
      holder.reason = memory_reason::handle;
      holder.count = entry.references;
      holder.age_ms = made.age_ms;
      made.holders.push_back(std::move(holder)); // Also with no references: entries that moved here may add some.
      if (entry.is_fetched)
        made.holders.push_back({.reason = memory_reason::fetched, .process = own_, .count = 1});
    }
    add_exports(entry, now, links, made);
    if (!entry.place)
      cut_where_there_are_many();
  }

  void add_moved(const handles::entry_row& entry, handles::time_point now, std::span<const link_memory> links) {
    const auto target = handles_.find(*entry.moved_to);
    const auto place = target != handles_.end() ? place_of(target->second) : std::nullopt;
    if (!place)
      return;
    auto& made = result_.objects[*place];
    handles_.emplace(entry.known_as, target->second);
    if (!made.store.empty())
      add_references(made, entry.references);
    else if (const auto held = std::ranges::find(made.holders, memory_reason::handle, &memory_holder::reason);
             held != made.holders.end())
      held->count += entry.references;
    add_exports(entry, now, links, made);
  }

  void add_exports(const handles::entry_row& entry, handles::time_point now, std::span<const link_memory> links,
                   memory_object& made) {
    for (const auto& each : entry.exports) {
      auto holder = holder_over(each.link, links);
      holder.reason = each.phase == handles::link_phase::up ? memory_reason::exported : memory_reason::lost_link;
      holder.count = each.count;
      holder.age_ms = milliseconds(now - each.since);
      if (holder.reason == memory_reason::lost_link)
        holder.where = node_.counted_objects()->why_ended(each.link);
      made.holders.push_back(std::move(holder));
    }
  }

  /// Bounds the memory to about twice the requested rows. The largest objects stay.
  void cut_where_there_are_many() {
    constexpr std::uint64_t few = 1'000;
    if (result_.objects.size() < 2 * std::max(std::min(query_.objects_max, UINT64_MAX / 4), few))
      return;
    // Rows move: from here on all are found through places_.
    std::vector<std::optional<store::object_id>> ids(result_.objects.size());
    for (std::size_t i = 0; i < stored_.size() && !is_reordered_; ++i)
      ids[i] = stored_[i];
    for (const auto& [id, place] : places_)
      ids[place] = id;
    const auto places = leave_off();
    is_cut_ = is_reordered_ = true;
    places_.clear();
    for (std::size_t i = 0; i < places.size(); ++i)
      if (ids[places[i]])
        places_.emplace(*ids[places[i]], i);
    std::erase_if(handles_, [&](const auto& each) { return !place_of(each.second); });
  }

  /// Keeps the largest objects, largest first. Returns their former places.
  std::vector<std::size_t> leave_off() {
    auto& objects = result_.objects;
    auto places = put_largest_first(objects);
    while (objects.size() > query_.objects_max) {
      ++result_.objects_left_off;
      result_.bytes_left_off += objects.back().size_bytes;
      objects.pop_back();
    }
    places.resize(objects.size());
    return places;
  }

  [[nodiscard]] memory_holder holder_over(handles::link_number channel, std::span<const link_memory> links) const {
    memory_holder result{.process = own_};
    if (const auto found = std::ranges::find(links, channel, &link_memory::channel); found != links.end()) {
      result.link = found->serial;
      result.peer = found->peer;
    }
    return result;
  }

  void look_at(const link_memory& link) {
    const auto now = std::chrono::steady_clock::now();
    for (const auto& each : link.exported) {
      auto* const made = row_of(each.object);
      if (made == nullptr)
        continue;
      made->holders.push_back({.reason = memory_reason::exported,
                               .process = own_,
                               .count = each.count,
                               .link = link.serial,
                               .peer = link.peer,
                               .age_ms = milliseconds(now - each.since)});
    }
    for (const auto& each : link.queued)
      add_message(each, memory_reason::queued_message, link);
    for (const auto& each : link.pending)
      add_message(each, memory_reason::pending_message, link);
  }

  void add_message(const named_object& object, memory_reason reason, const link_memory& link) {
    const auto id = id_of(object);
    if (!id)
      return;
    auto* const made = row_of(*id);
    if (made == nullptr)
      return;
    auto& holders = made->holders;
    auto known = std::ranges::find_if(
        holders, [&](const auto& each) { return each.reason == reason && each.link == link.serial; });
    if (known == holders.end())
      known =
          holders.insert(holders.end(), {.reason = reason, .process = own_, .link = link.serial, .peer = link.peer});
    ++known->count;
    if (object.since)
      known->age_ms = std::max(known->age_ms, milliseconds(std::chrono::steady_clock::now() - *object.since));
  }

  [[nodiscard]] std::optional<store::object_id> id_of(const named_object& object) const {
    if (object.stored)
      return *object.stored;
    if (const auto place = object.source->place())
      return *place;
    if (object.source->kind() != source_kind::exchanged)
      return std::nullopt;
    const auto found = handles_.find(static_cast<const exchanged_object&>(*object.source).what());
    return found != handles_.end() ? std::optional{found->second} : std::nullopt;
  }

  void look_outside_messages() {
    const auto now = std::chrono::system_clock::now();
    std::map<std::string, std::size_t> by_text; // Objects that are not in the store.
    for (const auto& pin : out_of_band_pins(node_.store() ? node_.store()->number() : 0)) {
      if (!pin.object && by_text.try_emplace(pin.where, result_.objects.size()).second) {
        auto& made = result_.objects.emplace_back();
        made.object = pin.where;
        made.state = "in memory";
        made.size_bytes = pin.size_bytes;
      }
      auto& made = pin.object ? row(*pin.object) : result_.objects[by_text.at(pin.where)];
      made.holders.push_back({.reason = memory_reason::out_of_band,
                              .process = own_,
                              .count = pin.serializations,
                              .where = pin.where,
                              .age_ms = milliseconds(now - pin.since)});
    }
  }

  /// Drops rows without a state. They belong to objects that were freed since the store was asked.
  void finish() {
    auto& objects = result_.objects;
    for (auto& each : objects)
      std::erase_if(each.holders, [this](const memory_holder& holder) {
        return holder.reason == memory_reason::handle && holder.process == own_ && holder.count == 0;
      });
    std::erase_if(objects, [](const memory_object& each) { return each.state.empty(); });
    static_cast<void>(leave_off());
  }

  const node_core& node_;
  const memory_query query_;
  const std::uint32_t own_ = static_cast<std::uint32_t>(::getpid());
  memory_summary result_;
  bool is_cut_ = false; // Objects without a row were left off.
  // The store's objects have the first rows, in the order of stored_, until rows are reordered. All others are found
  // through places_.
  std::vector<store::object_id> stored_; // In the order of the store's table.
  bool is_reordered_ = false;
  std::unordered_map<store::object_id, std::size_t> places_;
  std::map<handles::reference, store::object_id> handles_; // Objects by the ledger's handles.
};

} // namespace

std::expected<memory_summary, node_error> survey_memory(const node_core& node, const memory_query& query) {
  return survey{node, query}.run();
}

} // namespace troupe::internal
