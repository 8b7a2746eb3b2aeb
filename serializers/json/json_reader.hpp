// Reads JSON, piece by piece and without an intermediate tree. Form: json/format.md. One thread at a time may use a
// reader. The context and the body must outlive it.
#pragma once

#include <forward_list>
#include <string>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/value_reader.hpp>

namespace troupe {

/// Reads values from an untrusted text, strictly by RFC 8259. Memory is charged before it is allocated.
///
/// Troupe has its own parser because visitors pull values, while JSON libraries push them or first build a tree.
class TROUPE_EXPORT json_reader final : public value_reader {
public:
  /// `received_bytes`: the number of bytes that the sender sent, for the memory budget.
  json_reader(const troupe::context& ctx, std::span<const std::byte> body, std::size_t received_bytes);

  [[nodiscard]] value_kind kind() override;
  bool null() override;
  bool boolean(bool& value) override;
  bool number(troupe::number& value) override;
  bool text(std::string_view& value) override;
  bool bytes(std::span<const std::byte>& value) override;
  bool begin_list(std::size_t& expected) override;
  bool next(bool& more) override;
  bool begin_map(std::size_t& expected) override;
  bool skip() override;
  bool begin_structure() override;
  bool shared(bool& first, std::size_t& number) override;
  [[nodiscard]] bool at_some() override { return kind() == value_kind::some; }
  bool begin_some() override;
  bool end_some() override { return true; } // complete() closed it after the value.
  [[nodiscard]] bool at_numbered_array(std::size_t& number, bool& again) override;
  [[nodiscard]] std::size_t position() const override { return static_cast<std::size_t>(at_ - begin_); }

  /// Checks that only white space is left. Otherwise fails with `malformed`.
  [[nodiscard]] bool finish();

private:
  enum class form : std::uint8_t {
    list,
    members, // Of an object.
    pairs,   // A list of lists of key and value.
    shell,   // One value, then the end of the object around it.
  };
  struct level {
    form of;
    bool at_key;           // Of members and pairs.
    bool all_keys;         // All keys are compared; else only the skipped ones.
    std::size_t first_key; // In keys_.
    bool begun = false;
    const char* return_to = nullptr; // Where to continue behind a reference, if its array is read in its place.
  };

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] char peek() const { return at_ < end_ ? *at_ : '\0'; } // No token begins with NUL.
  [[nodiscard]] bool at_member_key() const {
    return !levels_.empty() && levels_.back().of == form::members && levels_.back().at_key;
  }
  void skip_space();
  bool at_value(std::string_view expected, char first);
  bool refuse(std::string_view expected);
  [[gnu::cold]] bool malformed(std::string reason);
  [[gnu::cold]] bool cut();
  bool take(char expected, std::string_view where);
  bool complete();
  bool open(form of, bool all_keys);
  bool take_array_head(std::size_t& number, bool& again);
  bool open_numbered_array(bool all_keys);
  bool find_arrays();

  [[nodiscard]] bool begins_with_key(std::string_view key) const;
  bool scan_text(std::string_view& raw, bool& escaped);
  bool read_text(std::string_view& value);
  bool read_key(std::string_view& value);
  bool read_number(troupe::number& value);
  bool scan_number(std::string_view& token, bool& whole);
  bool decode(std::string_view base64, std::string_view& value);
  bool encoded(std::string_view& value);
  bool room(std::size_t size);
  bool word(std::string_view characters);
  bool remember_key(std::string_view key);
  bool keys_differ(std::size_t first);
  bool skip_one();

  const char* const begin_;
  const char* const end_;
  const char* at_;
  std::vector<level> levels_;
  std::string scratch_;                // The result of decoding escapes or base64.
  std::string_view key_;               // The last key, until anything else is read.
  std::vector<std::string_view> keys_; // The keys of the open objects, one object after the other.
  std::forward_list<std::string> copied_keys_;
  struct numbered_array {
    std::size_t number;
    const char* content; // Behind the number.
  };
  std::vector<numbered_array> arrays_; // By number; filled once a reference has to be read as its array.
  bool knows_arrays_ = false;
  const char* read_again_ = nullptr; // The array that is being read in place of a reference to it.
};

} // namespace troupe
