// Makes a family from a value_writer and a value_reader. The family carries every described type.
#pragma once

#include <algorithm>
#include <concepts>

#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

/// A writer that is constructed from the context and the output, to whose body it appends.
template <class T>
concept output_writer =
    std::derived_from<T, value_writer> && std::constructible_from<T, const context&, encode_output&>;

/// A reader that is constructed from the context, the body, the frames behind the body if the reader can use them, and
/// the number of received bytes, for the memory budget. finish() fails if anything is left over.
template <class T>
concept input_reader = std::derived_from<T, value_reader> &&(
    std::constructible_from<
        T, const context&, std::span<const std::byte>,
        std::
            size_t> || std::constructible_from<T, const context&, std::span<const std::byte>, std::span<const frame>, std::size_t>)&&requires(T reader) {
  { reader.finish() } -> std::same_as<bool>;
};

/// A family made of a writer and a reader. A derived class only adds the name:
///
///     struct lines_family final : troupe::visitor_family<lines_writer, lines_reader> {
///       std::string_view name() const override { return "lines"; }
///     };
///
/// Encoding and decoding fail with `not_supported` if the type has no description. Decoding fails with `malformed` if
/// frames are left over that the reader cannot use.
template <output_writer Writer, input_reader Reader>
class visitor_family : public family {
public:
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override { return entry.unsupported(); }

  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override {
    Writer writer(ctx, output);
    if (auto reason = unsupported(entry); !reason.empty())
      writer.fail(serialize_errc::not_supported, std::move(reason));
    else if (entry.write(writer, value)) {
      if constexpr (requires { writer.finish(); })
        writer.finish();
      return {};
    }
    return std::unexpected(writer.error(entry.alias(), name()));
  }

  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target, const header_fields&,
                                                            std::span<const frame> frames,
                                                            const context& ctx) const override {
    std::size_t received_bytes = 0;
    for (const auto& each : frames)
      received_bytes += each.size_bytes();
    received_bytes -= std::min(received_bytes, ctx.repeated_bytes);
    const auto body = frames.empty() ? std::span<const std::byte>() : frames[0].bytes();
    const auto behind = frames.subspan(frames.empty() ? 0 : 1);
    auto reader = [&] {
      if constexpr (takes_frames)
        return Reader(ctx, body, behind, received_bytes);
      else
        return Reader(ctx, body, received_bytes);
    }();
    if (auto reason = unsupported(entry); !reason.empty())
      reader.fail(serialize_errc::not_supported, std::move(reason));
    else if (!takes_frames && !behind.empty())
      reader.fail(serialize_errc::malformed, grouped(behind.size()) + " frames are left over");
    else if (entry.read(reader, target) && reader.finish())
      return {};
    return std::unexpected(reader.error(entry.alias(), name()));
  }

private:
  static constexpr bool takes_frames =
      std::constructible_from<Reader, const context&, std::span<const std::byte>, std::span<const frame>, std::size_t>;
};

} // namespace troupe
