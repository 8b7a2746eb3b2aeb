// The types of one message's elements, as its packet names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/sent_dictionary.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

struct signature;

/// Determines the signature by which the peer knows a message.
///
/// Threads: one. Reused from message to message.
class message_types {
public:
  /// Adds the type of the next element. `signature` is where the thread caches the signature of a message with one such
  /// element, or known_type::unknown_signature. Both must outlive the message.
  void add(const type_entry& type, std::uint64_t& signature) {
    types_.push_back(&type);
    known_ = types_.size() == 1 ? &signature : nullptr;
  }
  /// Marks an error, or an actor's end. Its signature may use the reserved room.
  void be_vital() noexcept { is_vital_ = true; }
  /// Replaces add() for a message from another link. `of_others` must outlive the message.
  void forward(const signature& of_others) noexcept { of_others_ = &of_others; }
  void clear();

  /// Returns the signature's number. Defines a new signature in `out`. Returns nullopt if the peer has no room for it.
  [[nodiscard]] std::optional<sent_dictionary::numbered> number(const link_held& held, sent_dictionary& words,
                                                                outbox& out);
  [[nodiscard]] std::vector<std::string> aliases() const;

private:
  std::vector<const type_entry*> types_;
  bool is_vital_ = false;
  std::uint64_t* known_ = nullptr; // The cached signature of a message with one element; else null.
  const signature* of_others_ = nullptr;
};

} // namespace troupe::internal
