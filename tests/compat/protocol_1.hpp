// The rules of protocol 1, written down once more and frozen: what stands where in a packet, which numbers are whose,
// and what a peer may rely on. Deliberately uses nothing of framework/, so that a change there cannot change these
// rules.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conversation.hpp"

namespace troupe::tests::compat {

/// The admin operations on which the replay depends.
namespace op {
inline constexpr std::uint8_t hello = 1, ready = 2, goodbye = 4, find = 5, found = 6, release_actor = 9,
                              release_object = 10, credit = 11, ping = 12, pong = 13, greet = 14, prove = 15,
                              opened = 16, release_handle = 23, name_changed = 132;
} // namespace op

namespace kind {
inline constexpr std::uint8_t admin = 1, message = 2, chunk = 3, signature = 4, header = 5, handles = 7,
                              object_chunk = 8, first_skippable = 128;
} // namespace kind

/// One value in a packet. The raw bytes of all fields, one after the other, are the packet's body.
struct field {
  enum class sort : std::uint8_t { number, text, binary, boolean, nothing, real, list, map };
  /// What another recording of the same conversation has here.
  enum class rule : std::uint8_t {
    equal,       // The same value.
    same_sort,   // Any value of the same sort.
    at_least,    // The same number, or a larger one.
    own_number,  // A number that an end has chosen; it stands for the same thing everywhere on one link.
    id,          // As own_number, but random: either end may use the id, and it means the same on all links.
    magnitude,   // A number that is at most a hundred times larger or smaller.
    zero_or_not, // Any number except zero if this one is not zero; otherwise zero.
    instant,     // Microseconds since 1970, between the years 2005 and 2255.
    any          // Anything, or nothing.
  };
  enum class form : std::uint8_t { none, varint, msgpack, fixed, hex };

  std::string path = {};
  sort what = sort::number;
  std::uint64_t number = 0; // Of a number, a boolean, or the count of a list or map.
  bytes value = {};         // Of all others.
  bytes raw = {};           // Empty if the field repeats what an earlier packet has said.
  form form = form::none;
  rule rule = rule::equal;
  // For own_number and id:
  std::string domain = {}; // Numbers of different domains are independent.
  bool is_readers = false; // own_number: the reader of the packet has chosen the number; otherwise its writer.
};

/// What one packet says.
struct statement {
  enum class sort : std::uint8_t {
    definition, // Prepares a later packet: signatures, headers, chunks, descriptions of handles.
    timed,      // Depends on time or on how much has accumulated: credit, releases, pings.
    normal,
    unknown // Unknown to the frozen rules.
  };
  sort what = sort::normal;
  std::uint8_t kind = 0;
  std::uint8_t detail = 0;
  std::vector<field> fields = {};

  [[nodiscard]] bool is_admin(std::uint8_t operation) const { return kind == kind::admin && detail == operation; }
  [[nodiscard]] const field* find(std::string_view path) const;
};

/// Reads one direction of a link by the frozen rules. Throws std::runtime_error if a packet breaks them.
class link_reader {
public:
  [[nodiscard]] statement read(const packet& what);

private:
  void read_message(class field_reader& in, statement& to);
  void read_element(class field_reader& in, statement& to, const std::string& path, bool is_error);

  std::vector<std::string> signatures_;
  std::vector<std::vector<field>> headers_; // Header n is at n - 1.
  std::map<std::uint64_t, bytes> transfers_;
  std::vector<field> descriptions_; // Of the objects that the next message mentions.
  std::size_t described_ = 0;
};

/// One line that tells a human what the packet says.
[[nodiscard]] std::string summary_of(const statement& what);

/// Which number of the live end stands for which recorded one.
class bindings {
public:
  /// Returns false if either number stands for another one already.
  [[nodiscard]] bool bind(const std::string& domain, std::uint64_t recorded, std::uint64_t live);
  [[nodiscard]] std::optional<std::uint64_t> live(const std::string& domain, std::uint64_t recorded) const;
  /// The ids in a packet of the recorded end stand for themselves, unless the live end has chosen them.
  void keep_ids(const statement& own);
  /// Forgets everything but ids.
  void begin_link();

private:
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> live_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> recorded_;
};

/// Compares a packet of the live end with the recorded one. Binds the live end's numbers. Returns the first difference,
/// or an empty text if the live packet has everything that the recorded one has.
[[nodiscard]] std::string difference(const statement& recorded, const statement& live, bindings& known);

/// The body with the live end's numbers in place of the recorded ones. Throws std::runtime_error if a number is
/// unknown.
[[nodiscard]] bytes body_for(const statement& own, const bindings& known);

/// Replaces the value of a binary field. Does nothing if the statement has no such field.
void set_binary(statement& in, std::string_view path, const bytes& value);
/// Replaces a number, which then is not the live end's any more. Does nothing if the statement has no such field.
void set_number(statement& in, std::string_view path, std::uint64_t value);

/// How often the ends have mentioned their actors and objects, less how often these were released.
[[nodiscard]] std::int64_t unreleased(const packets& link);

/// Without repeated questions for names: those that find nothing, as the question before.
[[nodiscard]] packets without_polling(const packets& link);

/// The path of the time at which a traced message was sent.
inline constexpr const char* sent_at = "extension[6].value";

} // namespace troupe::tests::compat
