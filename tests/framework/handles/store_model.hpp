// One host's shared store, as far as handles are concerned: the rules of store/format.md without its bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::simulation {

using internal::handles::original;
using store::object_id;

/// Stands for an attachment's nonce: never used again.
using process_number = std::uint64_t;
/// What an object's bytes are; a replica has the same.
using content_number = std::uint64_t;

class store_model {
public:
  explicit store_model(std::uint64_t number) : number_(number) {}

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  /// Test only: rows are used again under the same id.
  bool ignores_generation = false;

  /// A sealed object with one hold of `creator`.
  object_id create(process_number creator, content_number content, std::uint64_t size_bytes,
                   const std::vector<object_id>& captured);
  /// From now on it is found as a replica of that. Requires: nothing else is.
  void give_origin(const object_id& id, const original& of) { origins_[of] = id; }
  [[nodiscard]] std::optional<object_id> find(const original& of) const;
  /// What proves that a name was given by somebody of this host: secret, so not to be guessed by those of others.
  [[nodiscard]] std::uint64_t proof_of(const object_id& id) const {
    return (number_ * 0x9e37'79b9'7f4a'7c15 + id.index) * 0xc2b2'ae3d'27d4'eb4f + id.generation;
  }
  [[nodiscard]] bool lives(const object_id& id) const { return find(id) != nullptr; }
  [[nodiscard]] content_number content_of(const object_id& id) const { return find(id)->content; }
  [[nodiscard]] std::uint64_t size_of(const object_id& id) const { return find(id)->size_bytes; }
  [[nodiscard]] std::vector<object_id> captured_by(const object_id& id) const { return find(id)->captured; }
  [[nodiscard]] bool is_spilled(const object_id& id) const { return find(id)->spilled; }

  void set_bit(const object_id& id, process_number holder);
  void clear_bit(const object_id& id, process_number holder);

  void hand_over(const object_id& id, process_number from, process_number to, std::uint64_t channel);
  /// Takes one count; false when there is none.
  bool take_flight(const object_id& id, process_number from, process_number to, std::uint64_t channel);
  void abandon(process_number to, std::uint64_t channel);
  /// Bits of the dead go and so does what is in flight to them, or was sent late on a channel that its receiver has
  /// abandoned; what they have in flight stays.
  void reap(const std::set<process_number>& dead);

  void spill(const object_id& id) { row_of(id)->spilled = true; }
  /// Reading brings the bytes back.
  void restore(const object_id& id) { row_of(id)->spilled = false; }

  [[nodiscard]] std::vector<object_id> living() const;
  [[nodiscard]] bool has_content(content_number what) const;

private:
  struct flight {
    process_number from, to;
    std::uint64_t channel, count;
  };
  struct row {
    std::uint32_t generation = 0;
    bool sealed = false;
    bool spilled = false;
    content_number content = 0;
    std::uint64_t size_bytes = 0;
    std::set<process_number> holders;
    std::vector<flight> flights;
    std::vector<object_id> captured;
    std::uint64_t captured_times = 0;
  };

  [[nodiscard]] const row* find(const object_id& id) const;
  [[nodiscard]] row* row_of(const object_id& id) { return const_cast<row*>(find(id)); }
  void free_if_unkept(std::size_t index);
  void sweep();

  std::uint64_t number_;
  std::vector<row> rows_;
  std::set<std::size_t> free_;
  std::set<std::pair<process_number, std::uint64_t>> ended_; // Receiver, channel.
  std::map<original, object_id> origins_;                    // Also of objects that are gone.
};

} // namespace troupe::simulation
