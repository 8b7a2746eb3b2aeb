#include <troupe/serializers/msgpack/msgpack_family.hpp>

namespace troupe {

// Arrays that share memory are written as frames, then all large ones; what shares none is one text without frames.
std::expected<void, serialize_error> msgpack_family::encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const {
  using enum msgpack_writer::large_arrays;
  for (const auto how : {until_repeat, as_frames}) {
    msgpack_writer writer(ctx, output, how);
    if (auto reason = unsupported(entry); !reason.empty())
      writer.fail(serialize_errc::not_supported, std::move(reason));
    else if (entry.write(writer, value))
      return {};
    if (!writer.found_repeat())
      return std::unexpected(writer.error(entry.alias(), name()));
    output.clear();
  }
  return {};
}

} // namespace troupe
