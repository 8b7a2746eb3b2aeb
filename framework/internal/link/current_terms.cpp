#include <troupe/framework/internal/link/current_terms.hpp>

#include <algorithm>
#include <bit>
#include <span>

#include <troupe/framework/internal/link/acceptance.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/contract.hpp>

namespace troupe::internal {

namespace {

std::atomic<std::uint64_t> next_number{1};

std::string hex_of(std::uint32_t fingerprint) {
  const auto highest_first = std::byteswap(fingerprint);
  static_assert(std::endian::native == std::endian::little);
  return hex(std::as_bytes(std::span{&highest_first, 1}));
}

} // namespace

void current_terms::open(const link_held& held, sending_terms first, const negotiation& lists) {
  now_ = std::make_shared<const sending_terms>(std::move(first));
  renew(held, lists);
}

void current_terms::renew(const link_held&, const negotiation& lists,
                          const std::function<void(sending_terms&)>& change) {
  auto renewed = *now_;
  renewed.peer_epoch = lists.peer_epoch();
  renewed.serializers = lists.mine().serializers;
  renewed.peer_accepts = lists.theirs().deserializers;
  renewed.families.clear();
  for (const auto& name : renewed.serializers)
    if (std::ranges::find(renewed.peer_accepts, name) != renewed.peer_accepts.end())
      renewed.families.push_back(families_.find(name));
  if (change)
    change(renewed);
  take(std::move(renewed));
}

void current_terms::take(sending_terms renewed) {
  const auto made = std::make_shared<sending_terms>(std::move(renewed));
  made->number = next_number.fetch_add(1, std::memory_order_relaxed);
  made->context.families = made->families;
  number_.store(made->number, std::memory_order_release);
  now_ = made;
}

std::vector<std::string> current_terms::families() const {
  const auto held = link_.mutex.lock();
  std::vector<std::string> names;
  if (now_)
    for (const auto* one : now_->families)
      names.emplace_back(one->name());
  return names;
}

std::string current_terms::lists_text(const sending_terms& terms) const {
  return internal::lists_text(own_name_, link_.peer_name(), terms);
}

void current_terms::on_type_refused(const type_refused& what) {
  const auto* type = types_.find(std::string_view{what.alias});
  if (type == nullptr)
    return; // This node cannot send the type either.
  auto text = why_refused(*type, what);
  if (text.empty())
    return;
  const auto held = link_.mutex.lock();
  if (!link_.is_open()
      || (now_->refused && (now_->refused->size() >= refused_types_max || now_->refused->contains(type))))
    return;
  const auto refused =
      now_->refused ? std::make_shared<refused_types>(*now_->refused) : std::make_shared<refused_types>();
  refused->emplace(type, std::move(text));
  auto renewed = *now_;
  renewed.refused = refused;
  take(std::move(renewed));
}

/// Returns an empty text if the peer could not read that one value, but can read the type.
std::string current_terms::why_refused(const type_entry& type, const type_refused& what) const {
  if (!what.is_known)
    return lacks_type(link_.peer_name(), type.alias(), hex_of(type.fingerprint()));
  if (what.contract.empty() || what.contract.size() > contract_bytes_max)
    return {};
  const auto obstacle = find_unreadable(contract_of(type), what.contract);
  if (!obstacle || !*obstacle)
    return {};
  return link_.peer_name() + " has another version of type \"" + type.alias() + "\" (fingerprint there "
         + hex_of(what.fingerprint) + ", here " + hex_of(type.fingerprint())
         + ") and cannot read this end's: " + one_line(cut((*obstacle)->place)) + ": "
         + one_line(cut((*obstacle)->what)) + "; build both ends from one version of it";
}

} // namespace troupe::internal
