#include <troupe/serializers/json/json_family.hpp>

#include <troupe/serializers/json/json_reader.hpp>
#include <troupe/serializers/json/json_writer.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

std::string json_family::unsupported(const type_entry& entry) const {
  return entry.unsupported();
}

std::expected<void, serialize_error> json_family::encode(const type_entry& entry, const void* value, const context& ctx,
                                                         encode_output& output) const {
  json_writer writer(ctx, output);
  if (auto reason = unsupported(entry); !reason.empty())
    writer.fail(serialize_errc::not_supported, std::move(reason));
  else if (entry.write(writer, value))
    return {};
  return std::unexpected(writer.error(entry.alias(), name()));
}

std::expected<void, serialize_error> json_family::decode(const type_entry& entry, void* target, const header_fields&,
                                                         std::span<const frame> frames, const context& ctx) const {
  const auto body = frames.empty() ? std::span<const std::byte>() : frames[0].bytes();
  json_reader reader(ctx, body, body.size());
  if (auto reason = unsupported(entry); !reason.empty())
    reader.fail(serialize_errc::not_supported, std::move(reason));
  else if (frames.size() > 1)
    reader.fail(serialize_errc::malformed, grouped(frames.size() - 1) + " frames are left over");
  else if (entry.read(reader, target) && reader.finish())
    return {};
  return std::unexpected(reader.error(entry.alias(), name()));
}

} // namespace troupe
