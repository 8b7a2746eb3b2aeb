#include <troupe/serializers/msgpack/msgpack_family.hpp>

namespace troupe {

// First writes everything into the body. If arrays share memory, writes the value again with shared and large arrays as
// frames. If that makes too many frames, writes the value once more without them.
std::expected<void, serialize_error> msgpack_family::encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const {
  if (auto reason = unsupported(entry); !reason.empty()) {
    msgpack_writer writer(ctx, output);
    writer.fail(serialize_errc::not_supported, std::move(reason));
    return std::unexpected(writer.error(entry.alias(), name()));
  }
  const detail::taken_mark before(ctx);
  msgpack_writer noting(ctx, output, msgpack_writer::noting{});
  if (!entry.write(noting, value))
    return std::unexpected(noting.error(entry.alias(), name()));
  if (!noting.found_repeat())
    return {};
  output.clear();
  before.restore();
  msgpack_writer sharing(ctx, output, noting);
  if (!entry.write(sharing, value))
    return std::unexpected(sharing.error(entry.alias(), name()));
  if (1 + output.frames().size() <= ctx.limits.frames)
    return {};
  output.clear();
  before.restore();
  msgpack_writer copying(ctx, output);
  if (!entry.write(copying, value))
    return std::unexpected(copying.error(entry.alias(), name()));
  return {};
}

} // namespace troupe
