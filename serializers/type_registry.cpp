#include <troupe/serializers/type_registry.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_set>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/function_entry.hpp>
#include <troupe/serializers/internal/registry/record_entry.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

namespace troupe {

const frame* type_entry::find_header(const kept_header* first, std::string_view family) {
  for (const auto* each = first; each != nullptr; each = each->next.get())
    if (each->family == family)
      return &each->header;
  return nullptr;
}

const frame& type_entry::standard_header(const family& of) const {
  if (const auto* known = find_header(first_header_.load(std::memory_order_acquire), of.name()))
    return *known;
  const std::scoped_lock guard(mutex_);
  if (const auto* known = find_header(headers_.get(), of.name())) // Another thread has added it.
    return *known;
  headers_ = std::make_unique<const kept_header>(
      std::string(of.name()),
      make_header({.family = of.name(), .type = alias_, .schema = of.schema(*this), .extra = {}}), std::move(headers_));
  first_header_.store(headers_.get(), std::memory_order_release);
  return headers_->header;
}

bool type_entry::write(value_writer& to, const void* value) const {
  return codecs_.visit_write(to, value);
}

bool type_entry::read(value_reader& from, void* target) const {
  return codecs_.visit_read(from, target);
}

std::string type_entry::unsupported_now() const {
  if (!unsupported_.empty())
    return unsupported_;
  if (!stand_ins_)
    return {}; // The entry is in no registry, so the context of each value decides.
  for (const auto& each : foreign_)
    if (const auto codec = stand_ins_->find(each.type); !codec || codec->makes_pointers)
      return (each.place.empty() ? "" : each.place + ": ") + detail::type_text(each.type) + " has "
             + std::string(codec ? detail::codec_for_pointers : detail::no_codec);
  return {};
}

void type_entry::attach_as(std::type_index as, std::shared_ptr<void> object) const {
  const std::scoped_lock guard(mutex_);
  attachments_ = std::make_unique<const attached>(as, std::move(object), std::move(attachments_));
  first_attached_.store(attachments_.get(), std::memory_order_release);
}

void* type_entry::attached_as(std::type_index as) const {
  for (const auto* each = first_attached_.load(std::memory_order_acquire); each != nullptr; each = each->next.get())
    if (each->as == as)
      return each->object.get();
  return nullptr;
}

namespace {

// Half of a header, because a header also contains the type's layout.
constexpr std::size_t alias_bytes_max = limits().header_bytes / 2;

template <class... Numbers>
void add_numbers(type_registry& types) {
  (types.add<Numbers>(detail::label_of<Numbers>()), ...);
  (types.add<std::vector<Numbers>>(detail::label_of<std::vector<Numbers>>()), ...);
  (types.add<array<Numbers>>(detail::label_of<array<Numbers>>()), ...);
}

} // namespace

registration_error::~registration_error() = default;

std::uint64_t type_registry::next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

type_registry::type_registry() {
  add_numbers<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
              std::uint64_t, float, double>(*this);
  add<bool>("bool");
  add<char>("char");
  add<std::byte>("byte");
  add<std::string>("str");
  add<std::vector<std::byte>>("bytes");
  add<array<std::byte>>("array<byte>");
  add<std::vector<std::string>>("list<str>");
  add<std::map<std::string, std::string>>("map<str,str>");
  add<std::filesystem::path>("path");
  add<frame>("frame");
  add<record>("record");
  add<serialized>("serialized");
}

void type_registry::insert(std::unique_ptr<type_entry> entry) {
  const std::scoped_lock guard(mutex_);
  const auto same_type = by_type_.find(entry->type());
  const auto same_alias = by_alias_.find(entry->alias());
  if (same_alias != by_alias_.end() && same_alias->second->type() != entry->type())
    throw registration_error("alias '" + entry->alias() + "' is registered for "
                             + detail::type_text(same_alias->second->type()) + " and again for "
                             + detail::type_text(entry->type()) + "; give each type an alias of its own");
  if (same_type != by_type_.end() && same_type->second->alias() != entry->alias())
    throw registration_error(detail::type_text(entry->type()) + " is registered as '" + same_type->second->alias()
                             + "' and again as '" + entry->alias() + "'; register it under one alias");
  if (entry->alias().empty())
    throw registration_error(detail::type_text(entry->type())
                             + " is registered with an empty alias; give it an alias of 1 to "
                             + grouped(alias_bytes_max) + " bytes");
  if (entry->alias().size() > alias_bytes_max)
    throw registration_error(detail::type_text(entry->type()) + " has an alias of " + grouped(entry->alias().size())
                             + " bytes, limit " + grouped(alias_bytes_max)
                             + " (half of the default of limits::header_bytes)");
  if (same_type != by_type_.end()) {
    const auto codec_of = [](const type_entry& of) {
      return of.own_ ? "with a codec of its own for '" + of.own_->family + "'"
                     : std::string("without a codec of its own");
    };
    const auto first = codec_of(*same_type->second);
    const auto second = codec_of(*entry);
    if (first != second)
      throw registration_error("'" + entry->alias() + "' is registered " + first + ", and again " + second
                               + "; register it the same way each time");
    return;
  }
  entry->stand_ins_ = stand_ins_;
  for (const auto& base : entry->bases())
    bases_[entry->type()].push_back(base);
  by_type_.emplace(entry->type(), entry.get());
  by_alias_.emplace(entry->alias(), entry.get());
  entries_.push_back(std::move(entry));
}

type_registry& type_registry::insert_base(std::type_index derived, type_entry::base base) {
  const std::scoped_lock guard(mutex_);
  auto& known = bases_[derived];
  if (std::ranges::find(known, base.type, &type_entry::base::type) == known.end())
    known.push_back(base);
  return *this;
}

type_registry& type_registry::insert_function(std::shared_ptr<const function_entry> made) {
  const std::scoped_lock guard(mutex_);
  for (const auto& known : functions_) {
    if (known->name() == made->name() && known->key() == made->key())
      return *this;
    if (known->name() == made->name())
      throw registration_error("two functions are registered as '" + made->name() + "'; give each a name of its own");
    if (known->key() == made->key())
      throw registration_error("one function is registered as '" + known->name() + "' and again as '" + made->name()
                               + "'; register it under one name");
  }
  functions_.push_back(std::move(made));
  return *this;
}

std::shared_ptr<const function_entry> type_registry::find_function(std::string_view name) const {
  const std::shared_lock guard(mutex_);
  const auto found = std::ranges::find(functions_, name, &function_entry::name);
  return found == functions_.end() ? nullptr : *found;
}

std::shared_ptr<const function_entry> type_registry::find_function(std::type_index key) const {
  const std::shared_lock guard(mutex_);
  const auto found = std::ranges::find(functions_, key, &function_entry::key);
  return found == functions_.end() ? nullptr : *found;
}

std::vector<std::shared_ptr<const function_entry>> type_registry::functions() const {
  const std::shared_lock guard(mutex_);
  return functions_;
}

namespace {

using base_table = std::unordered_map<std::type_index, std::vector<type_entry::base>>;

// Sets `steps` to the conversions from the class to its base, the last one first. Each class is visited once.
bool find_base(const base_table& bases, std::type_index derived, std::type_index base,
               std::vector<void* (*)(void*)>& steps, std::unordered_set<std::type_index>& seen) {
  const auto known = bases.find(derived);
  if (known == bases.end() || !seen.insert(derived).second)
    return false;
  for (const auto& each : known->second)
    if (each.type == base || find_base(bases, each.type, base, steps, seen)) {
      steps.push_back(each.of);
      return true;
    }
  return false;
}

// Looks at the direct bases first, because described classes list all their bases directly.
bool find_base(const base_table& bases, std::type_index derived, std::type_index base,
               std::vector<void* (*)(void*)>& steps) {
  if (const auto known = bases.find(derived); known != bases.end())
    for (const auto& each : known->second)
      if (each.type == base) {
        steps.push_back(each.of);
        return true;
      }
  std::unordered_set<std::type_index> seen;
  return find_base(bases, derived, base, steps, seen);
}

} // namespace

bool type_registry::derives(std::type_index derived, std::type_index base) const {
  const std::shared_lock guard(mutex_);
  std::vector<void* (*)(void*)> steps;
  return find_base(bases_, derived, base, steps);
}

void* type_registry::as_base(std::type_index derived, void* object, std::type_index base) const {
  if (derived == base)
    return object;
  const std::shared_lock guard(mutex_);
  std::vector<void* (*)(void*)> steps;
  if (!find_base(bases_, derived, base, steps))
    return nullptr;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    object = (*step)(object);
  return object;
}

bool type_registry::rebuilds_pointers(std::type_index type) const {
  const auto codec = stand_ins_->find(type);
  return codec && codec->makes_pointers;
}

const type_entry* type_registry::find(std::type_index type) const {
  const std::shared_lock guard(mutex_);
  const auto found = by_type_.find(type);
  return found == by_type_.end() ? nullptr : found->second;
}

const type_entry* type_registry::find(std::string_view alias) const {
  const std::shared_lock guard(mutex_);
  const auto found = by_alias_.find(alias);
  return found == by_alias_.end() ? nullptr : found->second;
}

std::vector<const type_entry*> type_registry::entries() const {
  const std::shared_lock guard(mutex_);
  std::vector<const type_entry*> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_)
    all.push_back(entry.get());
  return all;
}

serialize_error type_registry::why_not_found(const std::type_info& type) {
  return {serialize_errc::unknown_type,
          "type " + detail::type_text(type) + " is not registered; add it with types.add<T>(\"alias\")"};
}

} // namespace troupe
