#include <troupe/framework/internal/handles/exports.hpp>

#include <algorithm>

namespace troupe::internal::handles {

export_record& exports::count(link_record& to, const object_id& name, reference what) {
  const auto [known, fresh] = to.exports.try_emplace(name);
  auto& record = known->second;
  ++record.count;
  if (fresh) {
    record.what = what;
    record.since = clock_.now();
    entries_.depend(what);
    of_.emplace(what, to.number, name);
  }
  return record;
}

void exports::drop(link_record& from, const object_id& name) {
  const auto which = from.exports.find(name);
  const auto exported = which->first; // A copy: `name` may be the row's own.
  const auto what = which->second.what;
  serving_.end_all_of(from, exported);
  vouchers_.drop_all_of(from.number, exported);
  of_.erase({what, from.number, exported});
  from.exports.erase(which);
  links_.touch(from.number);
  entries_.undepend(what);
}

void exports::drop_all(link_record& from) {
  while (!from.exports.empty())
    drop(from, from.exports.begin()->first);
}

violation exports::on_release(link_record& from, const release& what) {
  const auto known = from.exports.find(what.name);
  if (known == from.exports.end() || what.count == 0 || what.count > known->second.count)
    return "released more than was exported";
  auto& record = known->second;
  record.count -= what.count;
  record.reclaimed = std::min(record.reclaimed, record.count);
  if (record.count == 0)
    drop(from, what.name);
  return {};
}

std::vector<exports::place> exports::places_of(reference what) const {
  std::vector<place> result;
  for (auto each = of_.lower_bound({what, 0, {}}); each != of_.end() && std::get<0>(*each) == what; ++each)
    result.push_back({std::get<1>(*each), std::get<2>(*each)});
  return result;
}

std::string_view exports::broken_invariant() const {
  std::size_t all = 0;
  std::size_t vouchers = 0;
  for (const auto& [number, link] : links_.all()) {
    all += link.exports.size();
    for (const auto& [name, record] : link.exports) {
      vouchers += vouchers_.size_of(number, name);
      if (entries_.find(record.what) == nullptr || !of_.contains({record.what, number, name}))
        return "an export of nothing, or that cannot be found";
    }
  }
  if (all != of_.size())
    return "what is not exported any more";
  if (vouchers != vouchers_.size())
    return "a voucher for what is not exported";
  return {};
}

} // namespace troupe::internal::handles
