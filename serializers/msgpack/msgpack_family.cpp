#include <troupe/serializers/msgpack/msgpack_family.hpp>

#include <troupe/serializers/msgpack/msgpack_coder.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

std::string msgpack_family::unsupported(const type_entry& entry) const {
  return entry.unsupported();
}

std::expected<void, serialize_error> msgpack_family::encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const {
  msgpack_writer writer(ctx, output);
  if (auto reason = unsupported(entry); !reason.empty())
    writer.fail(serialize_errc::not_supported, std::move(reason));
  else if (entry.write(writer, value))
    return {};
  return std::unexpected(writer.error(entry.alias(), name()));
}

std::expected<void, serialize_error> msgpack_family::decode(const type_entry& entry, void* target, const header_fields&,
                                                            std::span<const frame> frames, const context& ctx) const {
  std::size_t received = 0;
  for (const auto& each : frames)
    received += each.size_bytes();
  const auto body = frames.empty() ? std::span<const std::byte>() : frames[0].bytes();
  msgpack_reader reader(ctx, body, frames.empty() ? frames : frames.subspan(1), received);
  if (auto reason = unsupported(entry); !reason.empty())
    reader.fail(serialize_errc::not_supported, std::move(reason));
  else if (entry.read(reader, target) && reader.finish())
    return {};
  return std::unexpected(reader.error(entry.alias(), name()));
}

} // namespace troupe
