// to_text: values as text for people.
#include <fmt/core.h>

#include <troupe/base/text.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

namespace {

class text_writer final : public value_writer {
public:
  using value_writer::value_writer;

  [[nodiscard]] std::string take() { return std::move(text_); }

  bool null() override { return item("null"); }
  bool boolean(bool value) override { return item(value ? "true" : "false"); }
  bool integer(std::int64_t value) override { return item(fmt::format("{}", value)); }
  bool natural(std::uint64_t value) override { return item(fmt::format("{}", value)); }
  bool real32(float value) override { return item(fmt::format("{}", value)); }
  bool real64(double value) override { return item(fmt::format("{}", value)); }
  bool text(std::string_view value) override { return item("\"" + one_line(value, longest) + "\""); }
  bool bytes(std::span<const std::byte> value) override { return item(fmt::format("<{} bytes>", value.size())); }
  bool begin_list(std::size_t) override { return open('['); }
  bool end_list() override { return close(']'); }
  bool begin_map(std::size_t) override { return open('{'); }
  bool end_map() override { return close('}'); }
  bool field(std::string_view name) override {
    separate();
    text_ += name;
    after_name_ = true;
    text_ += ": ";
    return enough();
  }
  bool enumeration(std::string_view name, std::int64_t) override { return item(name); }
  bool begin_variant(std::string_view label) override { return open('<') && item(label); }
  bool end_variant() override { return close('>'); }
  bool begin_some() override { return true; }
  bool end_some() override { return true; }
  bool shared_again(std::size_t number) override { return item(fmt::format("&{}", number)); }
  bool attach(const frame& attached) override {
    return item(fmt::format("<frame of {} bytes>", attached.size_bytes()));
  }

private:
  static constexpr std::size_t longest = 1000;

  // Ends the walk once the text is long enough. The failure has no other meaning.
  bool enough() { return text_.size() < longest || fail(serialize_errc::limit_exceeded, "text is long enough"); }
  void separate() {
    if (!after_name_ && !text_.empty() && std::string_view("[{<").find(text_.back()) == std::string_view::npos)
      text_ += ", ";
    after_name_ = false;
  }
  bool item(std::string_view value) {
    separate();
    text_ += value;
    return enough();
  }
  bool open(char bracket) {
    separate();
    text_ += bracket;
    return enough();
  }
  bool close(char bracket) {
    text_ += bracket;
    return true;
  }

  std::string text_;
  bool after_name_ = false;
};

} // namespace

std::string to_text(const type_entry& entry, const void* value) {
  const context ctx;
  text_writer writer(ctx);
  if (entry.write(writer, value))
    return on_one_line(writer.take());
  auto text = on_one_line(writer.take());
  return text.empty() ? "<" + entry.alias() + ">" : text + "...";
}

} // namespace troupe
