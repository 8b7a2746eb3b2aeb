#include <troupe/framework/internal/handles/voucher_book.hpp>

namespace troupe::internal::handles {

std::uint64_t voucher_book::ages::first_to_go(const node_name& beneficiary) const {
  auto oldest = of_each_.lower_bound({beneficiary, 0});
  return oldest != of_each_.end() && oldest->first == beneficiary ? oldest->second : *all_.begin();
}

void voucher_book::ages::insert(std::uint64_t age, const node_name& beneficiary) {
  all_.insert(age);
  of_each_.emplace(beneficiary, age);
}

void voucher_book::ages::erase(std::uint64_t age, const node_name& beneficiary) {
  all_.erase(age);
  of_each_.erase({beneficiary, age});
}

std::optional<voucher> voucher_book::find(const object_id& name, const node_name& beneficiary, std::uint64_t token,
                                          link_number after) const {
  auto known = ages_.upper_bound({name, beneficiary, token, after});
  if (known == ages_.end())
    return std::nullopt;
  const auto& which = known->first;
  if (which.name != name || which.beneficiary != beneficiary || which.token != token)
    return std::nullopt;
  return which;
}

void voucher_book::add(const voucher& which) {
  if (contains(which))
    return;
  const export_key key{which.link, which.name};
  if (auto known = of_exports_.find(key);
      known != of_exports_.end() && known->second.all().size() >= allowed_.of_export)
    drop(by_age_.at(known->second.first_to_go(which.beneficiary)));
  if (auto known = of_links_.find(which.link);
      known != of_links_.end() && known->second.all().size() >= allowed_.of_link)
    drop(by_age_.at(known->second.first_to_go(which.beneficiary)));
  const auto age = ++last_age_;
  ages_.emplace(which, age);
  by_age_.emplace(age, which);
  of_exports_[key].insert(age, which.beneficiary);
  of_links_[which.link].insert(age, which.beneficiary);
}

void voucher_book::drop(const voucher& which) {
  const auto known = ages_.find(which);
  if (known == ages_.end())
    return;
  const auto [gone, age] = *known; // A copy: `which` may be a row of these tables.
  ages_.erase(known);
  by_age_.erase(age);
  const auto of_export = of_exports_.find({gone.link, gone.name});
  of_export->second.erase(age, gone.beneficiary);
  if (of_export->second.all().empty())
    of_exports_.erase(of_export);
  const auto of_link = of_links_.find(gone.link);
  of_link->second.erase(age, gone.beneficiary);
  if (of_link->second.all().empty())
    of_links_.erase(of_link);
}

void voucher_book::drop_all_of(link_number link, const object_id& name) {
  for (auto left = size_of(link, name); left > 0; --left)
    drop(by_age_.at(*of_exports_.at({link, name}).all().begin()));
}

void voucher_book::move_all_of(link_number from, const object_id& name, link_number to) {
  for (auto left = size_of(from, name); left > 0; --left) {
    auto moved = by_age_.at(*of_exports_.at({from, name}).all().begin());
    drop(moved);
    moved.link = to;
    add(moved);
  }
}

std::size_t voucher_book::size_of(link_number link, const object_id& name) const {
  auto known = of_exports_.find({link, name});
  return known != of_exports_.end() ? known->second.all().size() : 0;
}

std::string_view voucher_book::broken_invariant() const {
  std::size_t of_exports = 0;
  for (const auto& [key, vouchers] : of_exports_) {
    of_exports += vouchers.all().size();
    if (vouchers.all().empty() || vouchers.all().size() > allowed_.of_export)
      return "too many vouchers, or none";
    for (auto age : vouchers.all())
      if (auto known = by_age_.find(age);
          known == by_age_.end() || export_key{known->second.link, known->second.name} != key)
        return "a voucher and its export do not agree";
  }
  std::size_t of_links = 0;
  for (const auto& [link, vouchers] : of_links_) {
    of_links += vouchers.all().size();
    if (vouchers.all().empty() || vouchers.all().size() > allowed_.of_link)
      return "too many vouchers on a link, or none";
  }
  if (of_exports != ages_.size() || of_links != ages_.size() || by_age_.size() != ages_.size())
    return "a voucher that is known in part";
  return {};
}

} // namespace troupe::internal::handles
