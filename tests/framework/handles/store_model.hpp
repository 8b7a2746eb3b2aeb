// One host's shared store, reduced to what handles need: the rules of store/format.md without the bytes.
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

/// Stands for an attachment's nonce; never reused.
using process_number = std::uint64_t;
/// Identifies an object's bytes; a replica has the same number.
using content_number = std::uint64_t;

class store_model {
public:
  explicit store_model(std::uint64_t number) : number_(number) {}

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  /// Sabotage: a row is reused under the same id.
  bool ignores_generation = false;

  /// Makes a sealed object with one hold of `creator`.
  object_id create(process_number creator, content_number content, std::uint64_t size_bytes,
                   const std::vector<object_id>& captured);
  /// From now on find() returns `id` as the replica of `of`. Requires: no living object is that replica.
  void give_origin(const object_id& id, const original& of) { origins_[of] = id; }
  [[nodiscard]] std::optional<object_id> find(const original& of) const;
  /// Proves that a name was given by a node of this host. Secret: nodes of other hosts cannot guess it.
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
  /// Takes one reference out of flight. Returns false if there is none.
  bool take_flight(const object_id& id, process_number from, process_number to, std::uint64_t channel);
  void abandon(process_number to, std::uint64_t channel);
  /// Removes the bits of dead processes, and references in flight to them or on abandoned channels. References in
  /// flight from dead processes stay.
  void reap(const std::set<process_number>& dead);

  void spill(const object_id& id) { row_of(id)->spilled = true; }
  /// Called by reads, which bring the bytes back.
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
  std::set<std::pair<process_number, std::uint64_t>> ended_; // Receiver and channel.
  std::map<original, object_id> origins_;                    // Includes objects that are gone.
};

} // namespace troupe::simulation
