#include <troupe/serializers/internal/typed/typed_reader.hpp>

#include <troupe/base/varint.hpp>
#include <troupe/serializers/internal/typed/schema_reader.hpp>

namespace troupe::detail {

bool typed_reader::cut(std::uint64_t needed) {
  return fail(serialize_errc::malformed,
              "needs " + grouped(needed) + " more, and " + grouped(left()) + " bytes are left");
}

bool typed_reader::long_varint(std::uint64_t& value) {
  switch (read_varint<varint_spelling::shortest>(
      value, [this](std::byte& next) { return at_ != end_ && (next = *at_++, true); })) {
  case varint_fault::none:
    return true;
  case varint_fault::cut:
    return cut(1);
  case varint_fault::too_long:
    return fail(serialize_errc::malformed, "a number in more bytes than it needs");
  default:
    return fail(serialize_errc::malformed, "a number of more than 64 bits");
  }
}

bool typed_reader::from_frame(block& found, std::uint64_t count, std::size_t element_bytes) {
  if (!next_frame(found.whole))
    return false;
  found.bytes = found.whole->bytes();
  if (found.bytes.size() % element_bytes == 0 && found.bytes.size() / element_bytes == count)
    return true;
  return fail(serialize_errc::malformed, grouped(count) + " elements of " + grouped(element_bytes)
                                             + " bytes said to lie in a frame of " + grouped(found.bytes.size()));
}

bool typed_reader::next_frame(const frame*& found) {
  if (frames_.empty())
    return fail(serialize_errc::malformed, "refers to a missing frame");
  found = &frames_.front();
  frames_ = frames_.subspan(1);
  return true;
}

bool typed_reader::count(std::size_t& value, std::size_t least_bytes) {
  std::uint64_t read = 0;
  if (!varint(read))
    return false;
  value = read;
  return least_bytes == 0 || read <= left() / least_bytes || cut(read);
}

bool typed_reader::finish() {
  if (left() > 0)
    return fail(serialize_errc::malformed, grouped(left()) + " bytes are left over");
  return frames_.empty() || fail(serialize_errc::malformed, grouped(frames_.size()) + " frames are left over");
}

schema_reader& typed_reader::other_versions() {
  if (!other_versions_)
    other_versions_ = std::make_shared<schema_reader>(*this);
  return *other_versions_;
}

} // namespace troupe::detail
