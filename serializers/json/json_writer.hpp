// Writes JSON, piece by piece and without an intermediate tree. Form: json/format.md. One thread at a time may use a
// writer. The context and the output must outlive it.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/extend/value_writer.hpp>

namespace troupe {

/// Appends to an output's body. Loses nothing: for values without a JSON form, the format defines one.
class TROUPE_EXPORT json_writer final : public value_writer {
public:
  json_writer(const troupe::context& ctx, encode_output& output) : value_writer(ctx), body_(output.body()) {}

  bool null() override { return word("null"); }
  bool boolean(bool value) override { return word(value ? "true" : "false"); }
  bool integer(std::int64_t value) override;
  bool natural(std::uint64_t value) override;
  bool real32(float value) override;
  bool real64(double value) override;
  bool text(std::string_view value) override;
  bool bytes(std::span<const std::byte> value) override;
  bool begin_list(std::size_t count) override;
  bool end_list() override { return end(); }
  bool begin_map(std::size_t count) override;
  bool end_map() override { return end(); }
  bool begin_text_map(std::size_t count) override;
  bool begin_structure(std::size_t count) override { return begin_text_map(count); }
  bool begin_variant(std::string_view label) override { return begin_text_map(1) && text(label); }
  bool array_numbers(const number_block& block) override;
  bool array_bytes(std::span<const std::byte> value) override;
  bool begin_shared(std::size_t number) override;
  bool end_shared() override { return end(); }
  bool shared_again(std::size_t number) override;
  bool begin_some() override;
  bool end_some() override { return end(); }
  [[nodiscard]] list_counts counts() const override { return list_counts::never; }
  bool array_again(const array_form& form, const frame& elements) override;

  /// Numbers arrays that occur more than once, at their first place. Requires: everything has been written.
  void finish();

protected:
  [[nodiscard]] std::size_t array_fields() const override { return 1; }
  bool add_array_fields(const array_form& of) override; // "type"

private:
  enum class form : std::uint8_t {
    list,
    members, // Of an object.
    pairs,   // A list of lists of key and value.
    shell,   // One value within text that has already been written.
  };
  struct level {
    form of;
    bool at_key; // Of members and pairs.
    bool begun = false;
  };

  void put(std::string_view characters) { body_.append(std::as_bytes(std::span(characters))); }
  bool word(std::string_view characters);
  bool key(std::string_view value);
  bool open(form of, char bracket);
  bool end();
  bool before();
  void after();
  template <class T>
  void put_number(T value);
  template <class T>
  bool real(T value);
  void put_element(const number_block& block, std::size_t index);
  bool rows(const number_block& block);

  /// An array that may come again.
  struct written_array {
    frame elements; // Kept, so that nothing else can take their address.
    number_kind of;
    std::vector<std::size_t> shape;
    std::vector<std::size_t> data_shape;
    memory_order order;
    std::size_t at = 0; // Behind the opening brace of the array's object.
    std::optional<std::size_t> number;
  };

  byte_buffer& body_;
  std::vector<level> levels_;
  std::vector<written_array> arrays_; // In the order of the text.
  std::unordered_multimap<const std::byte*, std::size_t> arrays_by_place_;
  bool array_begins_ = false; // With the next brace.
  std::size_t numbered_arrays_ = 0;
};

} // namespace troupe
