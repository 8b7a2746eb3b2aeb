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

/// Says by which signature the peer knows a message.
///
/// Threads: one, which uses it again from message to message.
class message_types {
public:
  /// The next element is of that type. `signature`: where the thread remembers the one of a message of nothing but such
  /// an element, or known_type::unknown_signature. Both outlive the message.
  void add(const type_entry& type, std::uint64_t& signature) {
    types_.push_back(&type);
    known_ = types_.size() == 1 ? &signature : nullptr;
  }
  /// It is an error, or an actor's end: its signature may take the room that is reserved for such ones.
  void be_vital() noexcept { is_vital_ = true; }
  /// In place of add(), where the message came over another link. Outlives the message.
  void forward(const signature& of_others) noexcept { of_others_ = &of_others; }
  void clear();

  /// Its number, which is defined for the peer in `out` where it is new. Nothing where the peer has no room for it.
  [[nodiscard]] std::optional<sent_dictionary::numbered> number(const link_held& held, sent_dictionary& words,
                                                                outbox& out);
  [[nodiscard]] std::vector<std::string> aliases() const;

private:
  std::vector<const type_entry*> types_;
  bool is_vital_ = false;
  std::uint64_t* known_ = nullptr; // Of a message of one element, what its thread knows of its signature; else null.
  const signature* of_others_ = nullptr;
};

} // namespace troupe::internal
