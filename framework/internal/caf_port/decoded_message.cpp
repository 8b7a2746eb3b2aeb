#include <troupe/framework/internal/caf_port/decoded_message.hpp>

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include <caf/detail/dynamic_message_data.hpp>
#include <caf/detail/message_data.hpp>
#include <caf/error.hpp>
#include <caf/sec.hpp>
#include <caf/type_erased_value.hpp>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/caf_port/message_pool.hpp>
#include <troupe/framework/internal/caf_port/passing_on.hpp>
#include <troupe/framework/internal/caf_port/raw_message.hpp>

namespace troupe::internal {

namespace {

/// Requires: `alignment` is a power of two.
std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

caf::error no_caf_serialization() {
  return make_error(caf::sec::invalid_argument, "received over a link; CAF's own serialization does not know the type");
}

std::string text_of_element(const type_entry& type, const void* value) {
  return to_text(type, value);
}

/// A single element, in the form that CAF's message builder takes.
class decoded_value final : public caf::type_erased_value {
public:
  decoded_value(std::shared_ptr<const type_entry> type, caf::rtti_pair rtti, std::shared_ptr<void> value)
      : type_(std::move(type)), rtti_(rtti), value_(std::move(value)) {}
  decoded_value(const std::shared_ptr<const type_entry>& type, caf::rtti_pair rtti, const void* from)
      : decoded_value(type, rtti, copy_of(type, from)) {}

  void* get_mutable() override { return value_.get(); }
  caf::error load(caf::deserializer&) override { return no_caf_serialization(); }
  caf::rtti_pair type() const override { return rtti_; }
  const void* get() const override { return value_.get(); }
  caf::error save(caf::serializer&) const override { return no_caf_serialization(); }
  std::string stringify() const override { return text_of_element(*type_, value_.get()); }
  caf::type_erased_value_ptr copy() const override {
    return caf::type_erased_value_ptr{new decoded_value(type_, rtti_, value_.get())};
  }

private:
  static std::shared_ptr<void> copy_of(const std::shared_ptr<const type_entry>& type, const void* from) {
    std::unique_ptr<void, void (*)(void*)> memory{type->life().allocate(), type->life().release};
    type->life().copy(memory.get(), from);
    return {memory.release(), [type](void* value) {
              type->life().destroy(value);
              type->life().release(value);
            }};
  }

  std::shared_ptr<const type_entry> type_;
  caf::rtti_pair rtti_;
  std::shared_ptr<void> value_;
};

} // namespace

signature signature_of(std::span<const type_entry* const> types) {
  signature result;
  result.type_token = caf::make_type_token<>();
  for (const auto* const type : types) {
    auto rtti = rtti_of(*type);
    result.aliases.push_back(type->alias());
    result.entries.push_back(type->shared_from_this());
    result.types.push_back(rtti);
    result.type_token = caf::add_to_type_token(result.type_token, rtti.first);
    result.storage_bytes = align_up(result.storage_bytes, type->alignment_bytes());
    result.offsets.push_back(result.storage_bytes);
    result.storage_bytes += type->size_bytes();
    result.alignment = std::max(result.alignment, type->alignment_bytes());
  }
  result.kind = kind_of(result.type_token);
  return result;
}

signature resolve_signature(const std::vector<std::string>& aliases, const type_registry& types) {
  std::vector<const type_entry*> entries;
  std::string unknown_alias;
  for (const auto& alias : aliases) {
    const auto* entry = types.find(std::string_view{alias});
    if (entry == nullptr)
      entry = raw_type(types);
    if (entry == nullptr) {
      unknown_alias = alias;
      break;
    }
    entries.push_back(entry);
  }
  auto result = signature_of(entries);
  if (!unknown_alias.empty())
    result.kind = message_kind::ordinary;
  result.aliases = aliases;
  result.unknown_alias = std::move(unknown_alias);
  return result;
}

/// Invariant: the first made_ elements exist.
class decoded_message final : public caf::detail::message_data {
public:
  static decoded_message* make(const signature& types, receipt owed) {
    return ::new (take_block(block_bytes(types))) decoded_message{types, std::move(owed)};
  }

  ~decoded_message() override {
    takes_over(this);
    while (made_ > 0)
      destroy_last();
  }

  // Made by make() in one block with its elements.
  void operator delete(decoded_message* self, std::destroying_delete_t) {
    auto size_bytes = block_bytes(self->types_);
    self->~decoded_message();
    give_block(self, size_bytes);
  }

  void* construct_next() {
    assert(made_ < types_.entries.size());
    const auto& life = types_.entries[made_]->life();
    if (life.construct == nullptr || life.copy == nullptr)
      return nullptr;
    void* place = at(made_);
    life.construct(place);
    ++made_;
    return place;
  }

  void owe(receipt more, std::shared_ptr<const void> keeps) {
    owed_ = joint(std::move(owed_), std::move(more), std::move(keeps));
  }

  caf::mailbox_element_ptr into_envelope(caf::strong_actor_ptr sender, caf::message_id id);

  decoded_message* copy() const override {
    // If copying an element throws, destroys the elements copied so far.
    std::unique_ptr<decoded_message, dropping> result{make(types_, owed_.of_copy())};
    for (std::size_t i = 0; i < made_; ++i) {
      types_.entries[i]->life().copy(result->at(i), at(i));
      ++result->made_;
    }
    return result.release();
  }

  void* get_mutable(std::size_t pos) override {
    takes_over(this);
    return at(pos);
  }
  caf::error load(std::size_t, caf::deserializer&) override { return no_caf_serialization(); }
  std::size_t size() const noexcept override {
    takes_over(this);
    return made_;
  }
  std::uint32_t type_token() const noexcept override {
    takes_over(this);
    return types_.type_token;
  }
  caf::rtti_pair type(std::size_t pos) const noexcept override { return types_.types[pos]; }
  const void* get(std::size_t pos) const noexcept override {
    takes_over(this);
    return at(pos);
  }
  std::string stringify(std::size_t pos) const override { return text_of_element(*types_.entries[pos], at(pos)); }
  caf::type_erased_value_ptr copy(std::size_t pos) const override {
    return caf::type_erased_value_ptr{new decoded_value(types_.entries[pos], types_.types[pos], at(pos))};
  }
  caf::error save(std::size_t, caf::serializer&) const override { return no_caf_serialization(); }

private:
  struct dropping {
    void operator()(decoded_message* message) const noexcept { message->deref(); }
  };

  /// The message's mailbox element, in the same block. Holds one reference to the message.
  class envelope final : public caf::mailbox_element {
  public:
    envelope(caf::strong_actor_ptr from, caf::message_id id, decoded_message* content)
        : caf::mailbox_element(std::move(from), id, {}), content_(content) {}

    caf::type_erased_tuple& content() override {
      takes_over(this);
      return *content_;
    }
    const caf::type_erased_tuple& content() const override {
      takes_over(this);
      return *content_;
    }
    caf::message move_content_to_message() override { return shared_content(); }
    caf::message copy_content_to_message() const override { return shared_content(); }

    void request_deletion(bool) const noexcept override {
      takes_over(this);
      auto* content = content_;
      this->~envelope();
      content->deref(); // Frees the block that holds this envelope.
    }

  private:
    [[nodiscard]] caf::message shared_content() const {
      takes_over(this);
      return caf::message{caf::message::data_ptr{content_}};
    }

    decoded_message* const content_;
  };

  decoded_message(const signature& types, receipt owed) : owed_(std::move(owed)), types_(types) {}

  /// Small, to touch few cache lines: all messages of a turn are in use at the same time.
  [[nodiscard]] static std::size_t block_bytes(const signature& types) noexcept {
    const auto to_align = types.alignment > alignof(decoded_message) ? types.alignment : 0;
    return sizeof(decoded_message) + to_align + types.storage_bytes;
  }

  [[nodiscard]] void* at(std::size_t pos) const noexcept {
    const auto storage = align_up(reinterpret_cast<std::uintptr_t>(this + 1), types_.alignment);
    return reinterpret_cast<std::byte*>(storage) + types_.offsets[pos];
  }

  void destroy_last() {
    --made_;
    types_.entries[made_]->life().destroy(at(made_));
  }

  receipt owed_; // Settled last, after the elements are destroyed; keeps types_ alive.
  const signature& types_;
  std::size_t made_ = 0;
  alignas(envelope) std::byte envelope_[sizeof(envelope)]; // In use after into_envelope().
};

caf::mailbox_element_ptr decoded_message::into_envelope(caf::strong_actor_ptr sender, caf::message_id id) {
  auto* made = ::new (envelope_) envelope{std::move(sender), id, this};
  passes_on(this);
  passes_on(made);
  return caf::mailbox_element_ptr{made};
}

message_under_construction::message_under_construction(const signature& types, receipt owed)
    : data_(decoded_message::make(types, std::move(owed))) {}

message_under_construction::~message_under_construction() {
  if (data_ != nullptr)
    data_->deref();
}

void* message_under_construction::construct_next() {
  return data_->construct_next();
}

void message_under_construction::owe(receipt more, std::shared_ptr<const void> keeps) {
  data_->owe(std::move(more), std::move(keeps));
}

caf::mailbox_element_ptr message_under_construction::finish(caf::strong_actor_ptr sender, caf::message_id id) && {
  return std::exchange(data_, nullptr)->into_envelope(std::move(sender), id);
}

caf::message message_of(const type_entry& type, std::shared_ptr<void> value) {
  auto data = caf::make_counted<caf::detail::dynamic_message_data>();
  data->append(caf::type_erased_value_ptr{new decoded_value(type.shared_from_this(), rtti_of(type), std::move(value))});
  return caf::message{caf::message::data_ptr{data.get()}};
}

} // namespace troupe::internal
