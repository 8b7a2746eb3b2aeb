#include "store_model.hpp"

#include <algorithm>
#include <utility>

namespace troupe::simulation {

object_id store_model::create(process_number creator, content_number content, std::uint64_t size_bytes,
                              const std::vector<object_id>& captured) {
  auto index = rows_.size();
  if (free_.empty())
    rows_.emplace_back();
  else
    index = free_.extract(free_.begin()).value();
  auto generation = ignores_generation ? 1 : rows_[index].generation + 1;
  rows_[index] = {generation, true, false, content, size_bytes, {creator}, {}, captured, 0};
  for (const auto& inner : captured)
    ++row_of(inner)->captured_times;
  return {number_, static_cast<std::uint32_t>(index), generation};
}

const store_model::row* store_model::find(const object_id& id) const {
  if (id.store != number_ || id.index >= rows_.size())
    return nullptr;
  const auto& found = rows_[id.index];
  return found.sealed && found.generation == id.generation ? &found : nullptr;
}

std::optional<object_id> store_model::find(const original& of) const {
  auto known = origins_.find(of);
  return known != origins_.end() && lives(known->second) ? std::optional{known->second} : std::nullopt;
}

void store_model::set_bit(const object_id& id, process_number holder) {
  row_of(id)->holders.insert(holder);
}

void store_model::clear_bit(const object_id& id, process_number holder) {
  if (auto* found = row_of(id)) {
    found->holders.erase(holder);
    free_if_unkept(id.index);
  }
}

void store_model::hand_over(const object_id& id, process_number from, process_number to, std::uint64_t channel) {
  auto& flights = row_of(id)->flights;
  for (auto& each : flights) {
    if (each.from == from && each.to == to && each.channel == channel) {
      ++each.count;
      return;
    }
  }
  flights.push_back({from, to, channel, 1});
}

bool store_model::take_flight(const object_id& id, process_number from, process_number to, std::uint64_t channel) {
  auto* found = row_of(id);
  if (found == nullptr)
    return false;
  auto known = std::ranges::find_if(found->flights, [&](const flight& each) {
    return each.from == from && each.to == to && each.channel == channel;
  });
  if (known == found->flights.end())
    return false;
  if (--known->count == 0)
    found->flights.erase(known);
  free_if_unkept(id.index);
  return true;
}

void store_model::abandon(process_number to, std::uint64_t channel) {
  ended_.emplace(to, channel);
  for (auto& each : rows_)
    std::erase_if(each.flights, [&](const flight& sent) { return ended_.contains({sent.to, sent.channel}); });
  sweep();
}

void store_model::reap(const std::set<process_number>& dead) {
  for (auto& each : rows_) {
    std::erase_if(each.holders, [&](process_number holder) { return dead.contains(holder); });
    std::erase_if(each.flights, [&](const flight& sent) {
      return dead.contains(sent.to) || ended_.contains({sent.to, sent.channel});
    });
  }
  sweep();
}

void store_model::sweep() {
  for (std::size_t index = 0; index < rows_.size(); ++index)
    free_if_unkept(index);
}

/// Frees the row if nothing keeps it, then the objects that it captured. Iterates, since a chain may be long.
void store_model::free_if_unkept(std::size_t index) {
  std::vector<std::size_t> left{index};
  while (!left.empty()) {
    auto next = left.back();
    auto& each = rows_[next];
    left.pop_back();
    if (!each.sealed || !each.holders.empty() || !each.flights.empty() || each.captured_times > 0)
      continue;
    each.sealed = false;
    free_.insert(next);
    for (const auto& inner : std::exchange(each.captured, {})) {
      --row_of(inner)->captured_times;
      left.push_back(inner.index);
    }
  }
}

bool store_model::has_content(content_number what) const {
  return std::ranges::any_of(rows_, [&](const row& each) { return each.sealed && each.content == what; });
}

std::vector<object_id> store_model::living() const {
  std::vector<object_id> result;
  for (std::size_t index = 0; index < rows_.size(); ++index)
    if (rows_[index].sealed)
      result.push_back({number_, static_cast<std::uint32_t>(index), rows_[index].generation});
  return result;
}

} // namespace troupe::simulation
