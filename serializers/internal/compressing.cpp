#include <troupe/serializers/internal/compressing.hpp>

#include <algorithm>
#include <bit>
#include <climits>
#include <memory>
#include <string>

#include <lz4.h>
#include <zstd.h>

namespace troupe::detail {

namespace {

std::unexpected<serialize_error> failure(serialize_errc code, std::string text) {
  return std::unexpected(serialize_error(code, std::move(text)));
}

const char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

std::string name_of_frame(std::size_t number) {
  return number == 0 ? "frame 0 (the body)" : "frame " + grouped(number);
}

constexpr int zstd_level = 3; // Its own default.

/// Compresses one frame after the other; what it takes for that lives as long.
class compressor {
public:
  explicit compressor(frame_codec by) : codec_(by) {}

  [[nodiscard]] frame_codec codec() const { return codec_; }

  /// Leaves the result in compressed(). False when it is not worth it.
  bool compress(std::span<const std::byte> bytes) { return promises(bytes) && compress_into(result_, bytes); }
  [[nodiscard]] byte_buffer& compressed() { return result_; }

private:
  /// Whether samples of it say that the whole is worth it. Of what is not much larger than they are, the whole says so.
  bool promises(std::span<const std::byte> bytes) {
    if (bytes.size() <= sample_count * sample_bytes)
      return true;
    const auto stride = (bytes.size() - sample_bytes) / (sample_count - 1);
    std::size_t left = 0;
    for (std::size_t i = 0; i < sample_count; ++i) {
      // One sample may be worse than the others make up for.
      if (!compress_into(result_, bytes.subspan(i * stride, sample_bytes), bound_of_sample()))
        return false;
      left += result_.size();
    }
    return left <= worthwhile_bytes(sample_count * sample_bytes);
  }

  [[nodiscard]] static std::size_t bound_of_sample() {
    return std::max(static_cast<std::size_t>(LZ4_COMPRESSBOUND(sample_bytes)), ZSTD_COMPRESSBOUND(sample_bytes));
  }

  bool compress_into(byte_buffer& into, std::span<const std::byte> bytes) {
    return compress_into(into, bytes, worthwhile_bytes(bytes.size()));
  }

  /// False when the result is larger than `room_bytes`, or the codec cannot.
  bool compress_into(byte_buffer& into, std::span<const std::byte> bytes, std::size_t room_bytes) {
    into.clear();
    into.reserve(room_bytes);
    std::size_t made = 0;
    if (codec_ == frame_codec::zstd) {
      if (zstd_ == nullptr)
        zstd_.reset(ZSTD_createCCtx());
      if (zstd_ == nullptr)
        return false;
      made = ZSTD_compressCCtx(zstd_.get(), into.end(), room_bytes, bytes.data(), bytes.size(), zstd_level);
      if (ZSTD_isError(made) != 0)
        return false;
    } else {
      if (bytes.size() > LZ4_MAX_INPUT_SIZE)
        return false;
      made =
          static_cast<std::size_t>(LZ4_compress_default(chars(bytes), reinterpret_cast<char*>(into.end()),
                                                        static_cast<int>(bytes.size()), static_cast<int>(room_bytes)));
      if (made == 0)
        return false;
    }
    into.advance_to(into.end() + made);
    return true;
  }

  struct zstd_deleter {
    void operator()(ZSTD_CCtx* of) const { ZSTD_freeCCtx(of); }
  };

  const frame_codec codec_;
  byte_buffer result_;
  std::unique_ptr<ZSTD_CCtx, zstd_deleter> zstd_;
};

bool is_within_ratio(std::size_t original_bytes, std::size_t compressed_bytes, const limits& bounds) {
  std::size_t most = 0;
  return __builtin_mul_overflow(compressed_bytes, bounds.decompression_ratio, &most) || original_bytes <= most;
}

void append_varint(byte_buffer& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.append(static_cast<std::byte>(value | 0x80));
  to.append(static_cast<std::byte>(value));
}

/// What the note takes at most for a frame of that size.
std::size_t note_bytes_of(std::size_t frame_bytes) {
  if (frame_bytes < compressed_from_bytes)
    return 1;
  return 1 + (static_cast<std::size_t>(std::bit_width(frame_bytes)) + 6) / 7;
}

bool take_varint(std::span<const std::byte>& from, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (from.empty())
      return false;
    const auto bits = std::to_integer<std::uint64_t>(from[0]);
    from = from.subspan(1);
    if (shift == 63 && bits > 1)
      return false;
    value |= (bits & 0x7f) << shift;
    if (bits < 0x80)
      return true;
  }
  return false;
}

class compressed_owner final : public frame_owner {
public:
  explicit compressed_owner(std::shared_ptr<const frame_owner> bytes) : bytes_(std::move(bytes)) {}

private:
  const std::shared_ptr<const frame_owner> bytes_;
};

bool is_marked(const frame& of) {
  return dynamic_cast<const compressed_owner*>(of.owner().get()) != nullptr;
}

/// Those frames of one payload that are worth it, within what a receiver takes.
class payload_compressor {
public:
  explicit payload_compressor(const context& ctx)
      : bounds_(ctx.limits),
        first_(ctx.compression == compression::zstd ? frame_codec::zstd : frame_codec::lz4),
        bytes_left_(std::min(bounds_.decompressed_bytes, bounds_.memory_bytes)) {}

  /// The codec by which it was compressed; the result is in `compressed()`.
  frame_codec compress(std::span<const std::byte> bytes) {
    if (bytes.size() < compressed_from_bytes || bytes.size() > bytes_left_)
      return frame_codec::none;
    used_ = &first_;
    if (!first_.compress(bytes))
      return frame_codec::none;
    // zstd makes of repetitions less than a receiver can tell from an attack, lz4 does not.
    if (!is_within_ratio(bytes.size(), first_.compressed().size(), bounds_)) {
      used_ = &second_;
      if (first_.codec() == frame_codec::lz4 || !second_.compress(bytes)
          || !is_within_ratio(bytes.size(), second_.compressed().size(), bounds_))
        return frame_codec::none;
    }
    bytes_left_ -= bytes.size();
    return used_->codec();
  }
  [[nodiscard]] byte_buffer& compressed() { return used_->compressed(); }

private:
  const limits& bounds_;
  compressor first_;
  compressor second_{frame_codec::lz4};
  compressor* used_ = &first_;
  std::size_t bytes_left_;
};

/// Requires: a known codec. False when the bytes are not what `form` says.
bool decompress(std::span<const std::byte> from, const frame_form& form, std::byte* into) {
  const auto size = static_cast<std::size_t>(form.original_bytes);
  if (form.codec == frame_codec::zstd)
    return ZSTD_decompress(into, size, from.data(), from.size()) == size;
  return LZ4_decompress_safe(chars(from), reinterpret_cast<char*>(into), static_cast<int>(from.size()),
                             static_cast<int>(size))
         == static_cast<int>(size);
}

std::expected<void, serialize_error> check_form(std::size_t number, const frame_form& form, const frame& compressed,
                                                const limits& bounds) {
  const auto says = [&] {
    return name_of_frame(number) + " of " + grouped(compressed.size_bytes()) + " compressed bytes says that it had "
           + grouped(form.original_bytes);
  };
  const auto most = number == 0 ? bounds.body_bytes : bounds.frame_bytes;
  if (form.original_bytes > most)
    return failure(serialize_errc::limit_exceeded,
                   says() + ", limit " + grouped(most)
                       + (number == 0 ? " (limits::body_bytes)" : " (limits::frame_bytes)"));
  if (!is_within_ratio(form.original_bytes, compressed.size_bytes(), bounds))
    return failure(serialize_errc::limit_exceeded, says() + ", limit " + grouped(bounds.decompression_ratio)
                                                       + " times as much (limits::decompression_ratio)");
  const auto is_lie =
      form.codec == frame_codec::zstd
          ? ZSTD_getFrameContentSize(compressed.bytes().data(), compressed.size_bytes()) != form.original_bytes
          : form.original_bytes > LZ4_MAX_INPUT_SIZE || compressed.size_bytes() > INT_MAX;
  if (form.original_bytes == 0 || is_lie)
    return failure(serialize_errc::malformed, says() + ", which is not so");
  return {};
}

std::expected<std::size_t, serialize_error> check_forms(std::span<const frame_form> forms,
                                                        std::span<const frame> frames, const limits& bounds) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (forms[i].codec == frame_codec::none)
      continue;
    if (auto checked = check_form(i, forms[i], frames[i], bounds); !checked)
      return std::unexpected(std::move(checked.error()));
    if (__builtin_add_overflow(total, forms[i].original_bytes, &total))
      total = UINT64_MAX;
  }
  const auto most = std::min(bounds.decompressed_bytes, bounds.memory_bytes);
  if (total > most)
    return failure(
        serialize_errc::limit_exceeded,
        "compressed frames of " + grouped(total) + " bytes, limit " + grouped(most)
            + (most == bounds.decompressed_bytes ? " (limits::decompressed_bytes)" : " (limits::memory_bytes)"));
  return total;
}

} // namespace

void compress_frames(const context& ctx, std::size_t note_bytes_max, encode_output& output) {
  const auto& frames = output.frames();
  auto note_bytes = note_bytes_of(output.body().size());
  for (const auto& each : frames)
    note_bytes += note_bytes_of(each.size_bytes());
  if (note_bytes > note_bytes_max)
    return;
  payload_compressor by(ctx);
  auto& note = output.frame_codecs();
  bool any = false;
  const auto add = [&](frame_codec codec, std::size_t original_bytes) {
    note.append(static_cast<std::byte>(codec));
    if (codec == frame_codec::none)
      return false;
    append_varint(note, original_bytes);
    return any = true;
  };
  if (const auto size = output.body().size(); add(by.compress(output.body().bytes()), size))
    std::swap(output.body(), by.compressed());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto size = frames[i].size_bytes();
    if (add(is_marked(frames[i]) ? frame_codec::none : by.compress(frames[i].bytes()), size))
      output.replace(i, frame::copy_of(by.compressed().bytes()));
  }
  if (!any)
    note.clear();
}

std::expected<std::vector<frame_form>, serialize_error> read_frame_codecs(std::span<const std::byte> note) {
  std::vector<frame_form> forms;
  forms.reserve(note.size());
  while (!note.empty()) {
    frame_form form{.codec = static_cast<frame_codec>(note[0])};
    note = note.subspan(1);
    if (form.codec > frame_codec::zstd)
      return failure(serialize_errc::malformed, name_of_frame(forms.size()) + " is compressed by codec "
                                                    + std::to_string(static_cast<unsigned>(form.codec))
                                                    + ", known are 1 (lz4) and 2 (zstd)");
    if (form.codec != frame_codec::none && !take_varint(note, form.original_bytes))
      return failure(serialize_errc::malformed,
                     name_of_frame(forms.size()) + " is compressed and says not of what size");
    forms.push_back(form);
  }
  return forms;
}

std::expected<std::vector<frame_form>, serialize_error> read_frame_codecs(std::span<const std::byte> note,
                                                                          std::size_t frame_count) {
  auto forms = read_frame_codecs(note);
  if (forms && forms->size() != frame_count)
    return failure(serialize_errc::malformed, "the header says how " + grouped(forms->size()) + " frames are "
                                                  + "compressed, of " + grouped(frame_count) + " that are there");
  return forms;
}

std::expected<decompressed, serialize_error> decompress_frames(std::span<const std::byte> note,
                                                               std::span<const frame> frames, const limits& bounds) {
  const auto forms = read_frame_codecs(note, frames.size());
  if (!forms)
    return std::unexpected(forms.error());
  const auto total = check_forms(*forms, frames, bounds);
  if (!total)
    return std::unexpected(total.error());
  decompressed made{.frames = {frames.begin(), frames.end()}, .taken_bytes = *total};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& form = (*forms)[i];
    if (form.codec == frame_codec::none)
      continue;
    std::byte* into = nullptr;
    made.frames[i] = frame::uninitialized(static_cast<std::size_t>(form.original_bytes), into);
    if (!decompress(frames[i].bytes(), form, into))
      return failure(serialize_errc::malformed, name_of_frame(i) + " of " + grouped(frames[i].size_bytes())
                                                    + " bytes cannot be decompressed to "
                                                    + grouped(form.original_bytes));
  }
  return made;
}

frame marked_as_compressed(const frame& of) {
  return is_marked(of) ? of : frame(of.bytes(), std::make_shared<const compressed_owner>(of.owner()));
}

} // namespace troupe::detail
