#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/plain_encoder.hpp>

#include <algorithm>

#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

namespace {

// An attempt in vain doubles the cost. So values that own more memory are not tried. After a failed attempt, the next
// `skips` messages with that type are not tried either.
constexpr std::size_t owned_bytes_max = plain_encoder::bytes_max;
constexpr std::uint32_t skips = 64;

} // namespace

const plain_message* plain_encoder::encode(const message_encoder::parts& link, const newest_terms& newest,
                                           const caf::mailbox_element& what) {
  struct use_scope {
    bool& in_use;
    explicit use_scope(bool& of) : in_use(of) { in_use = true; }
    ~use_scope() { in_use = false; }
  } const used{in_use_};
  const message_view content{what};
  const auto size = content.size();
  if (size == 0 || size > plain_message::elements_max || content.kind() != message_kind::ordinary || link.values)
    return nullptr;
  if (content.is_shared()) // Other links may have encoded it, or will send it as well.
    return nullptr;
  const auto& terms = terms_.take(newest);
  if (terms.families.empty() || terms.refused)
    return nullptr;
  use(terms);
  made_.size = size;
  if (!take_types(link, content, *terms.families.front()))
    return nullptr;
  made_.signature = &known_.signature(link.serial, made_.signed_types());
  if (!take_values(content, std::span{terms.families}.first(1))) {
    skip_next(link, content);
    return nullptr;
  }
  made_.elements = elements_.bytes();
  made_.peer_epoch = terms.peer_epoch;
  return &made_;
}

/// Returns true if the link knows all types, and the values are few and small. Copies what is known, because a codec
/// that sends may evict it from the cache.
bool plain_encoder::take_types(const message_encoder::parts& link, const message_view& content, const family& by) {
  owned_bytes_ = 0;
  for (std::size_t i = 0; i < made_.size; ++i) {
    auto* known = known_.find(link.serial, content.type(i), link.types);
    if (known == nullptr || known->header == 0 || known->by != &by || !known->type->is_self_contained())
      return false;
    if (known->plain_skips > 0) {
      --known->plain_skips;
      return false;
    }
    if (link.counts != nullptr && (known->counted_as == nullptr || known->counted_as->timed_for() != 0))
      return false;
    owned_bytes_ += known->type->owned_bytes(content.value(i));
    made_.types[i] = known->type;
    made_.carried[i] = {known->counted_as, 0};
    headers_[i] = known->header;
  }
  return owned_bytes_ <= owned_bytes_max;
}

bool plain_encoder::take_values(const message_view& content, std::span<const family* const> by) {
  elements_.clear();
  taken_bytes_ = 0;
  for (std::size_t i = 0; i < made_.size; ++i) {
    const auto used = encode_value(*made_.types[i], content.value(i), by, context_, output_);
    if (!used || !output_.frames().empty() || !output_.has_standard_header())
      return false; // By another family, or with frames. A failure is found again and reported by the draft.
    const auto body = output_.body().bytes();
    if (body.size() > bytes_max)
      return false;
    append_plain_element(elements_, headers_[i], body);
    made_.carried[i].second = body.size();
    taken_bytes_ += made_.types[i]->value_bytes();
  }
  // The message's cost covers what its values take, so that need not be stated.
  return elements_.size() <= bytes_max && std::max(owned_bytes_, taken_bytes_) <= elements_.size() + message_cost_bytes;
}

void plain_encoder::skip_next(const message_encoder::parts& link, const message_view& content) {
  for (std::size_t i = 0; i < made_.size; ++i)
    if (auto* known = known_.find(link.serial, content.type(i), link.types))
      known->plain_skips = skips;
}

/// The terms are mostly those of the message before.
void plain_encoder::use(const sending_terms& terms) {
  if (context_terms_ == terms.number)
    return;
  context_terms_ = terms.number;
  context_ = terms.context;
  context_.taken_bytes = &taken_bytes_;
}

} // namespace troupe::internal
