#include <troupe/framework/tape.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/tape/tape_messages.hpp>
#include <troupe/framework/internal/tape/tape_reader.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe {

namespace {

tape_end::state state_of(internal::tape_end_reason reason) {
  switch (reason) {
  case internal::tape_end_reason::closed:
    return tape_end::state::closed;
  case internal::tape_end_reason::continued:
    return tape_end::state::continued;
  case internal::tape_end_reason::no_room:
    return tape_end::state::full;
  }
  return tape_end::state::closed; // A later version has a further reason.
}

} // namespace

class tape::impl {
public:
  impl(internal::tape_reader file, const tape_limits& bounds) : file_(std::move(file)), messages_(bounds) { begin(); }

  std::expected<void, node_error> go_on(internal::tape_reader next) {
    if (next.head().recording != file_.head().recording || next.head().number != file_.head().number + 1)
      return internal::fail(
          node_errc::unreadable,
          "at byte 12: it is file " + grouped(next.head().number)
              + (next.head().recording == file_.head().recording ? " of this recording" : " of another recording")
              + ", and file " + grouped(file_.head().number + 1) + " of this one was expected");
    file_ = std::move(next);
    begin();
    return {};
  }

  [[nodiscard]] const tape_info& info() const { return info_; }

  std::optional<tape_event> next() {
    while (!is_over_) {
      auto item = file_.next();
      if (!item) {
        is_over_ = true;
        return tape_end{how_};
      }
      if (auto* gap = std::get_if<internal::tape_gap>(&*item)) {
        messages_.note_gap();
        return tape_damage{gap->begin, gap->end, std::move(gap->what)};
      }
      const auto& record = std::get<internal::tape_record>(*item);
      note(record);
      if (auto event = messages_.take(record, file_.place()))
        return event;
    }
    return std::nullopt;
  }

private:
  void begin() {
    info_ = {.began =
                 std::chrono::system_clock::time_point{std::chrono::duration_cast<std::chrono::system_clock::duration>(
                     std::chrono::nanoseconds{static_cast<std::int64_t>(file_.head().started_at & INT64_MAX)})},
             .recording = file_.head().recording,
             .file = file_.head().number};
    how_ = tape_end::state::cut;
    is_over_ = false;
  }

  void note(const internal::tape_record& record) {
    if (const auto* ended = std::get_if<internal::tape_ended>(&record))
      how_ = state_of(ended->why);
    if (const auto* who = std::get_if<internal::tape_recorder_named>(&record)) {
      info_.node = who->node;
      info_.software = who->software;
    }
  }

  internal::tape_reader file_;
  internal::tape_messages messages_;
  tape_info info_;
  tape_end::state how_ = tape_end::state::cut;
  bool is_over_ = false;
};

tape::tape(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
tape::tape(tape&&) noexcept = default;
tape& tape::operator=(tape&&) noexcept = default;
tape::~tape() = default;

namespace {

std::expected<internal::tape_reader, node_error> reader_of(const std::string& file) {
  auto bytes = internal::open_tape_file(file);
  if (!bytes)
    return std::unexpected{std::move(bytes).error()};
  auto reader = internal::tape_reader::open(*std::move(bytes));
  if (!reader)
    return internal::fail(reader.error().code(), "\"" + file + "\": " + reader.error().message());
  return reader;
}

} // namespace

std::expected<tape, node_error> tape::open(const std::string& file, const tape_limits& bounds) {
  auto reader = reader_of(file);
  if (!reader)
    return std::unexpected{std::move(reader).error()};
  return tape{std::make_unique<impl>(*std::move(reader), bounds)};
}

std::expected<tape, node_error> tape::read(std::span<const std::byte> bytes, const tape_limits& bounds) {
  auto reader = internal::tape_reader::open(internal::tape_bytes_in_memory(bytes));
  if (!reader)
    return std::unexpected{std::move(reader).error()};
  return tape{std::make_unique<impl>(*std::move(reader), bounds)};
}

std::expected<void, node_error> tape::go_on(const std::string& file) {
  auto reader = reader_of(file);
  if (!reader)
    return std::unexpected{std::move(reader).error()};
  if (auto gone_on = impl_->go_on(*std::move(reader)); !gone_on)
    return internal::fail(gone_on.error().code(), "\"" + file + "\": " + gone_on.error().message());
  return {};
}

const tape_info& tape::info() const {
  return impl_->info();
}

std::optional<tape_event> tape::next() {
  return impl_->next();
}

std::expected<record, node_error> to_record(const tape_element& of) {
  const auto undecodable = [&](const std::string& why) {
    return internal::fail(node_errc::undecodable,
                          "\"" + internal::cut(of.type) + "\" by \"" + internal::cut(of.family) + "\": " + why);
  };
  if (!of.missing.empty())
    return undecodable(of.missing);
  const std::vector<std::string> self_describing{"typed", "msgpack", "json"};
  if (std::ranges::find(self_describing, of.family) == self_describing.end())
    return undecodable("values of this family cannot be read without their C++ type, so this needs the program");
  const auto bounds = internal::taped_header_limits();
  const auto fields = parse_header(of.content.header.bytes(), bounds);
  if (!fields)
    return undecodable(fields.error().message());
  // The same payload, as if it were a record that had been sent: a payload that describes itself can be read as one.
  static const type_registry types;
  static const family_set families;
  auto as_record = *fields;
  as_record.type = types.find<record>()->alias();
  const payload renamed{make_header(as_record), of.content.frames};
  auto value =
      deserialize<record>(renamed, {.deserializers = self_describing, .context = {.limits = bounds}}, types, families);
  if (!value)
    return undecodable(value.error().message());
  return *std::move(value);
}

} // namespace troupe
