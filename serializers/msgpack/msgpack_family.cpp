#include <troupe/serializers/msgpack/msgpack_family.hpp>

namespace troupe {

// Arrays that share memory are written as frames, then all large ones, where so many may be; what shares none is one
// text without frames.
std::expected<void, serialize_error> msgpack_family::encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const {
  using enum msgpack_writer::large_arrays;
  for (const auto how : {until_repeat, as_frames, in_body}) {
    msgpack_writer writer(ctx, output, how);
    auto is_written = false;
    if (auto reason = unsupported(entry); !reason.empty())
      writer.fail(serialize_errc::not_supported, std::move(reason));
    else
      is_written = entry.write(writer, value);
    if (is_written && (how != as_frames || 1 + output.frames().size() <= ctx.limits.frames))
      return {};
    if (!is_written && !writer.found_repeat())
      return std::unexpected(writer.error(entry.alias(), name()));
    output.clear();
  }
  return {};
}

} // namespace troupe
