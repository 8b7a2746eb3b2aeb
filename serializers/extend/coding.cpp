#include <troupe/serializers/extend/coding.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/serializers/extend/circle_account.hpp>
#include <troupe/serializers/internal/coding/dynamic.hpp>
#include <troupe/serializers/internal/coding/shared_nesting.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe {

namespace {

/// Drops the middle of a text that is too long, because the place is at the beginning and the reason at the end.
std::string without_middle(std::string_view text) {
  constexpr std::size_t longest = 2000;
  if (text.size() <= longest)
    return std::string(text);
  return std::string(text.substr(0, longest / 2)) + " ... " + std::string(text.substr(text.size() - longest / 2));
}

} // namespace

kept_mentions::~kept_mentions() = default;

context_extension::~context_extension() = default;

std::unique_ptr<context_extension> context_extension::for_part() {
  return nullptr;
}

std::shared_ptr<const kept_mentions> context_extension::kept() const {
  return nullptr;
}

std::expected<std::vector<std::byte>, serialize_error> context_extension::mention_all(const kept_mentions&) {
  return std::unexpected(
      serialize_error(serialize_errc::out_of_band_handle, "a nested payload cannot contain handles here"));
}

std::expected<std::shared_ptr<const kept_mentions>, serialize_error>
context_extension::find_all(std::span<const std::byte>) {
  return std::unexpected(
      serialize_error(serialize_errc::out_of_band_handle, "a nested payload cannot contain handles here"));
}

serialize_error thrown_by_codec(std::string_view what) {
  constexpr std::size_t longest = 500;
  return {serialize_errc::codec_failed, "a codec threw: " + std::string(what.substr(0, longest))};
}

serialize_error thrown_by_codec(const std::exception& thrown) {
  return thrown_by_codec(exception_text(thrown));
}

bool coding::fail(serialize_errc code, std::string reason) {
  if (!failed()) {
    code_ = code;
    reason_ = std::move(reason);
  }
  return false;
}

bool coding::fail(const serialize_error& error) {
  return fail(error.code(), without_middle(error.message()));
}

bool coding::expected_exactly(std::string_view vague, std::string_view exact) {
  if (const auto same = "expected " + std::string(vague); reason_.starts_with(same))
    reason_.replace(same.size() - vague.size(), vague.size(), exact);
  return false;
}

bool coding::within(std::string_view field) {
  constexpr std::size_t longest_path = 1024; // A hostile chain of pointers must not make a text as long as it is deep.
  if (path_.size() < longest_path)
    path_.insert(0, "." + std::string(field.substr(0, 100)));
  return false;
}

bool coding::within(std::size_t element) {
  constexpr std::size_t longest_path = 1024;
  if (path_.size() < longest_path)
    path_.insert(0, "[" + std::to_string(element) + "]");
  return false;
}

serialize_error coding::error(std::string_view alias, std::string_view family) const {
  std::string text(family);
  text += ": ";
  text += alias;
  text += path_;
  std::string_view reason = reason_;
  if (const auto same = std::string(family) + ": "; reason.starts_with(same))
    reason.remove_prefix(same.size()); // From a nested value of the same family.
  text += ": ";
  text += reason;
  return {code_, std::move(text)};
}

bool coding::fail_as(const coding& other) {
  if (!failed()) {
    code_ = other.code_;
    reason_ = other.reason_;
    path_ = other.path_;
  }
  return false;
}

bool coding::too_deep() {
  --depth_; // The caller does not call leave() for a level that it did not enter.
  const auto& bounds = context_->limits;
  return fail(serialize_errc::limit_exceeded,
              "nested deeper than "
                  + (bounds.height < bounds.depth ? grouped(bounds.height) + " (limits::height)"
                                                  : grouped(bounds.depth) + " (limits::depth)"));
}

bool coding::too_high() {
  return fail(serialize_errc::limit_exceeded, "shared objects nested more than " + grouped(context_->limits.height)
                                                  + " deep; destroying them would exhaust the stack (limits::height)");
}

void coding::begin_shared_content(std::size_t number, bool owned) {
  if (!nesting_)
    nesting_ = std::make_shared<detail::shared_nesting>();
  nesting_->begin(number, owned, depth_, reached_);
}

bool coding::end_shared_content() {
  return nesting_->end(context_->limits.height, reached_) || too_high();
}

bool coding::refer_to_shared(std::size_t number, bool& closes_circle) {
  using verdict = detail::shared_nesting::verdict;
  const auto& bounds = context_->limits;
  const auto found = nesting_ ? nesting_->refer(number, depth_ + 1, bounds.height, reached_) : verdict::fine;
  closes_circle = found == verdict::circle;
  if (found == verdict::too_high)
    return too_high();
  return !closes_circle || context_->allow_cycles
         || fail(serialize_errc::limit_exceeded,
                 "a cycle of shared pointers, which would never be freed: make one of them a weak_ptr, or set "
                 "link_options::allow_cycles on both ends (context::allow_cycles without a link)");
}

void coding::exchange_depth(coding& other) {
  std::swap(depth_, other.depth_);
  std::swap(reached_, other.reached_);
  std::swap(nesting_, other.nesting_);
}

struct decoding::shared_table {
  struct entry {
    std::type_index type;
    std::shared_ptr<void> object;
    void (*reset)(void*);
  };
  // A deque, which grows in blocks, so that growing takes no more memory than is charged per entry. Null: there are no
  // entries yet.
  std::unique_ptr<std::deque<entry>> entries;
  std::vector<std::weak_ptr<void>> circles; // One object of each cycle.
  std::vector<named_type> types;
  std::map<std::pair<std::size_t, std::type_index>, std::shared_ptr<const void>> arrays;
  struct made_array {
    frame elements;
    std::shared_ptr<const void> made;
  };
  std::map<array_from_frame, made_array> arrays_from_frames;
  const int exceptions = std::uncaught_exceptions(); // In flight before: decoding may run inside a destructor.
};

std::size_t decoding_bytes(const limits& bounds, std::size_t received_bytes) {
  std::size_t earned = 0; // Earned by the received bytes.
  if (__builtin_mul_overflow(received_bytes, bounds.memory_ratio, &earned)
      || __builtin_add_overflow(earned, bounds.memory_free_bytes, &earned))
    return bounds.memory_bytes;
  return std::min(earned, bounds.memory_bytes);
}

decoding::decoding(const troupe::context& ctx, std::size_t received_bytes)
    : coding(ctx),
      elements_left_(ctx.limits.elements),
      memory_left_(decoding_bytes(ctx.limits, received_bytes)),
      memory_given_(memory_left_),
      received_bytes_(received_bytes),
      probes_left_(ctx.limits.hash_probes),
      memory_bound_(memory_left_ < ctx.limits.memory_bytes ? memory_bound::earned : memory_bound::limit) {}

// If decoding failed, objects that refer to each other in a cycle would never be freed. Nothing else can break the
// cycle.
decoding::~decoding() {
  if (context().taken_bytes != nullptr)
    *context().taken_bytes += memory_given_ - memory_left_ - std::min(scratch_bytes_, memory_given_ - memory_left_);
  if (!shared_)
    return;
  if (failed() || std::uncaught_exceptions() > shared_->exceptions) {
    for (std::size_t number = 0; number < shared_count(); ++number)
      if (auto& entry = (*shared_->entries)[number]; entry.object)
        entry.reset(entry.object.get());
  } else if (!shared_->circles.empty()) {
    context().circles->keep(std::move(shared_->circles), memory_given_ - memory_left_ + received_bytes_);
  }
}

bool decoding::admit_circle(const std::shared_ptr<void>& object) {
  auto* const account = context().circles;
  if (account == nullptr)
    return true;
  auto& known = shared_->circles;
  if (known.empty()) {
    const auto room = account->room();
    const auto taken = memory_given_ - memory_left_ + received_bytes_;
    if (taken > room)
      return fail(serialize_errc::limit_exceeded, grouped(taken)
                                                      + " bytes with cycles of shared pointers, this link may keep "
                                                      + grouped(room) + " more (link_options::cycle_bytes)");
    if (room - taken < memory_left_) {
      memory_given_ -= memory_left_ - (room - taken);
      memory_left_ = room - taken;
      memory_bound_ = memory_bound::cycles;
    }
  }
  if (!charge_memory(sizeof(known.front()) * 2))
    return false;
  known.emplace_back(object);
  return true;
}

bool decoding::over_budget(std::size_t count, std::size_t element_bytes) {
  if (count > elements_left_)
    return fail(serialize_errc::limit_exceeded, grouped(count) + " elements, limit "
                                                    + grouped(context().limits.elements) + ", "
                                                    + grouped(elements_left_) + " left (limits::elements)");
  return fail(serialize_errc::limit_exceeded,
              grouped(count) + " elements of " + grouped(element_bytes) + " bytes, " + memory_left());
}

bool decoding::over_memory(std::size_t bytes) {
  return fail(serialize_errc::limit_exceeded, grouped(bytes) + " bytes, " + memory_left());
}

bool decoding::over_text(std::size_t size_bytes) {
  return fail(serialize_errc::limit_exceeded, "a text of " + grouped(size_bytes) + " bytes, limit "
                                                  + grouped(context().limits.text_bytes) + " (limits::text_bytes)");
}

// The memory that is left, as text, with the limits that could be raised.
std::string decoding::memory_left() const {
  return "memory left is " + grouped(memory_left_) + " bytes ("
         + (memory_bound_ == memory_bound::earned   ? "limits::memory_ratio, limits::memory_free_bytes)"
            : memory_bound_ == memory_bound::cycles ? "link_options::cycle_bytes)"
                                                    : "limits::memory_bytes)");
}

bool decoding::over_probes(const std::type_info& container) {
  return fail(serialize_errc::limit_exceeded,
              detail::type_text(container) + " has too many keys with the same hash, or too long ones: filling it "
                  + "takes more than " + grouped(context().limits.hash_probes)
                  + " comparisons (limits::hash_probes); use an ordered container, or a better hash");
}

std::size_t decoding::number_shared() {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  auto& entries = shared_->entries;
  if (!entries)
    entries = std::make_unique<std::deque<shared_table::entry>>();
  entries->push_back({typeid(void), nullptr, nullptr});
  return entries->size() - 1;
}

void decoding::keep_shared(std::size_t number, std::type_index type, std::shared_ptr<void> object,
                           void (*reset)(void*)) {
  (*shared_->entries)[number] = {type, std::move(object), reset};
}

std::shared_ptr<void> decoding::find_shared(std::size_t number, std::type_index type, bool owned) {
  if (number >= shared_count()) {
    fail(serialize_errc::malformed,
         "refers to shared object " + grouped(number) + ", only " + grouped(shared_count()) + " are known so far");
    return nullptr;
  }
  const auto& entry = (*shared_->entries)[number];
  auto found = entry.object;
  if (found && entry.type != type)
    found = detail::as_base(context(), found, entry.type, type);
  if (!found) {
    fail(serialize_errc::malformed, "refers to shared object " + grouped(number) + ", which is "
                                        + (entry.object ? "of another type" : "not available here"));
    return nullptr;
  }
  bool closes_circle = false;
  if (owned && (!refer_to_shared(number, closes_circle) || (closes_circle && !admit_circle(entry.object))))
    return nullptr;
  return found;
}

std::size_t decoding::shared_count() const {
  return shared_ && shared_->entries ? shared_->entries->size() : 0;
}

void decoding::keep_array(std::size_t number, std::type_index type, std::shared_ptr<const void> made) {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  shared_->arrays.try_emplace({number, type}, std::move(made));
}

const void* decoding::find_array(std::size_t number, std::type_index type) const {
  if (!shared_)
    return nullptr;
  const auto known = shared_->arrays.find({number, type});
  return known == shared_->arrays.end() ? nullptr : known->second.get();
}

void decoding::keep_array(array_from_frame from, frame elements, std::shared_ptr<const void> made) {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  shared_->arrays_from_frames.try_emplace(std::move(from), std::move(elements), std::move(made));
}

const void* decoding::find_array(const array_from_frame& from) const {
  if (!shared_)
    return nullptr;
  const auto known = shared_->arrays_from_frames.find(from);
  return known == shared_->arrays_from_frames.end() ? nullptr : known->second.made.get();
}

std::size_t decoding::name_type(named_type named) {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  shared_->types.push_back(named);
  return shared_->types.size() - 1;
}

const decoding::named_type* decoding::type_named(std::size_t number) const {
  return shared_ && number < shared_->types.size() ? &shared_->types[number] : nullptr;
}

void decoding::exchange_state(decoding& other) {
  exchange_depth(other);
  std::swap(elements_left_, other.elements_left_);
  std::swap(memory_left_, other.memory_left_);
  std::swap(memory_given_, other.memory_given_);
  std::swap(received_bytes_, other.received_bytes_);
  std::swap(scratch_bytes_, other.scratch_bytes_);
  std::swap(probes_left_, other.probes_left_);
  std::swap(memory_bound_, other.memory_bound_);
  std::swap(shared_, other.shared_);
}

struct encoding::shared_table {
  struct key {
    const void* object;
    std::type_index type;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& of) const { return std::hash<const void*>{}(of.object); }
  };
  std::unordered_map<key, std::size_t, hash> numbers;
  std::map<std::pair<std::type_index, bool>, std::size_t> types;
  struct packed_block {
    std::shared_ptr<const frame_owner> owner;
    frame packed;
  };
  std::map<strided_block, packed_block> packed;
};

encoding::encoding(const troupe::context& ctx)
    : coding(ctx), taken_bytes_(ctx.taken_bytes != nullptr ? ctx.taken_bytes : &untold_bytes_) {}

encoding::~encoding() = default;

encoding::appearance encoding::appear(const void* object, std::type_index type) {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  const auto [at, first] = shared_->numbers.try_emplace({object, type}, shared_->numbers.size());
  return {at->second, first};
}

encoding::appearance encoding::appear(std::type_index named, bool as_form) {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  const auto [at, first] = shared_->types.try_emplace({named, as_form}, shared_->types.size());
  return {at->second, first};
}

const frame* encoding::find_packed(const strided_block& block, const std::shared_ptr<const frame_owner>& owner) const {
  if (!shared_)
    return nullptr;
  const auto known = shared_->packed.find(block);
  return known != shared_->packed.end() && known->second.owner == owner ? &known->second.packed : nullptr;
}

void encoding::keep_packed(const strided_block& block, std::shared_ptr<const frame_owner> owner, frame packed) {
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  shared_->packed.try_emplace(block, std::move(owner), std::move(packed));
}

void encoding::take_packed(encoding& from) {
  if (!from.shared_ || from.shared_->packed.empty())
    return;
  if (!shared_)
    shared_ = std::make_unique<shared_table>();
  shared_->packed.swap(from.shared_->packed);
}

} // namespace troupe
