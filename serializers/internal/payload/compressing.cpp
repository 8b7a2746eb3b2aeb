#include <troupe/serializers/internal/payload/compressing.hpp>

#include <algorithm>
#include <bit>
#include <climits>
#include <memory>
#include <string>

#include <lz4.h>
#include <zstd.h>

#include <troupe/serializers/internal/payload/varint_note.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe::detail {

namespace {

const char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

std::string name_of_frame(std::size_t number) {
  return number == 0 ? "frame 0 (the body)" : "frame " + grouped(number);
}

constexpr int zstd_level = 3; // zstd's own default.

/// Compresses one frame after the other, and keeps its buffers between them.
class compressor {
public:
  explicit compressor(frame_codec by) : codec_(by) {}

  [[nodiscard]] frame_codec codec() const { return codec_; }

  /// Compresses the bytes; the result is in compressed(). False if compression does not pay.
  bool compress(std::span<const std::byte> bytes) { return promises(bytes) && compress_into(result_, bytes); }
  [[nodiscard]] byte_buffer& compressed() { return result_; }

private:
  /// Whether samples show that compression pays. True for frames that are no larger than the samples: then only the
  /// whole result decides.
  bool promises(std::span<const std::byte> bytes) {
    if (bytes.size() <= sample_count * sample_bytes)
      return true;
    const auto stride = (bytes.size() - sample_bytes) / (sample_count - 1);
    std::size_t left = 0;
    for (std::size_t i = 0; i < sample_count; ++i) {
      // A single sample may grow if the other samples shrink enough.
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

  /// False if the result is larger than `room_bytes`, or the codec fails.
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

/// The largest number of bytes of the note that a frame of that size takes.
std::size_t note_bytes_of(std::size_t frame_bytes) {
  if (frame_bytes < compressed_from_bytes)
    return 1;
  return 1 + (static_cast<std::size_t>(std::bit_width(frame_bytes)) + 6) / 7;
}

class compressed_owner final : public frame_owner {
public:
  explicit compressed_owner(std::shared_ptr<const frame_owner> bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] frame_owner_kind kind() const noexcept override { return frame_owner_kind::compressed; }

private:
  const std::shared_ptr<const frame_owner> bytes_;
};

bool is_marked(const frame& of) {
  return of.owner() && of.owner()->kind() == frame_owner_kind::compressed;
}

/// Compresses the frames of one payload for which compression pays, within the limits of a receiver.
class payload_compressor {
public:
  explicit payload_compressor(const context& ctx)
      : bounds_(ctx.limits),
        first_(ctx.compression == compression::zstd ? frame_codec::zstd : frame_codec::lz4),
        bytes_left_(std::min(bounds_.decompressed_bytes, bounds_.memory_bytes)) {}

  /// Returns the codec used, or `none` if the frame stays as it is. The result is in compressed().
  frame_codec compress(std::span<const std::byte> bytes) {
    if (bytes.size() < compressed_from_bytes || bytes.size() > bytes_left_)
      return frame_codec::none;
    used_ = &first_;
    if (!first_.compress(bytes))
      return frame_codec::none;
    // zstd can shrink repetitions so far that a receiver would take them for an attack. lz4 does not.
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

/// Decompresses a frame. False if the bytes do not match `form`. Requires: a known codec.
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
    return name_of_frame(number) + " of " + grouped(compressed.size_bytes())
           + " compressed bytes states an original size of " + grouped(form.original_bytes);
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
    return failure(serialize_errc::malformed, says() + ", which is wrong");
  return {};
}

std::expected<void, serialize_error> check_forms(std::span<const frame_form> forms, std::span<const frame> frames,
                                                 const limits& bounds) {
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
  return {};
}

/// Joins the pieces of frame `number`, decompressed. Adds the memory that this takes to `taken_bytes`.
std::expected<frame, serialize_error> unpacked(std::span<const frame_form> forms, std::span<const frame> pieces,
                                               std::size_t number, const limits& bounds, std::size_t& taken_bytes) {
  const auto size_of_piece = [&](std::size_t i) {
    return forms[i].codec == frame_codec::none ? pieces[i].size_bytes()
                                               : static_cast<std::size_t>(forms[i].original_bytes);
  };
  if (pieces.size() == 1 && forms[0].codec == frame_codec::none)
    return pieces[0];
  std::size_t size_bytes = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    size_bytes += size_of_piece(i);
  const auto most = std::min(number == 0 ? bounds.body_bytes : bounds.frame_bytes, bounds.memory_bytes - taken_bytes);
  if (size_bytes > most)
    return failure(serialize_errc::limit_exceeded, name_of_frame(number) + " of " + grouped(size_bytes) + " bytes in "
                                                       + grouped(pieces.size()) + " pieces, limit " + grouped(most)
                                                       + " (of limits::frame_bytes, body_bytes and memory_bytes)");
  taken_bytes += size_bytes;
  std::byte* into = nullptr;
  auto made = frame::uninitialized(size_bytes, into);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (forms[i].codec == frame_codec::none)
      std::ranges::copy(pieces[i].bytes(), into);
    else if (!decompress(pieces[i].bytes(), forms[i], into))
      return failure(serialize_errc::malformed, name_of_frame(number) + " of " + grouped(pieces[i].size_bytes())
                                                    + " bytes cannot be decompressed to "
                                                    + grouped(forms[i].original_bytes));
    into += size_of_piece(i);
  }
  return made;
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
    append_form(note, {.codec = codec, .original_bytes = original_bytes});
    any = any || codec != frame_codec::none;
    return codec != frame_codec::none;
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
                     name_of_frame(forms.size()) + " is compressed but does not state its original size");
    forms.push_back(form);
  }
  return forms;
}

std::expected<std::vector<frame_form>, serialize_error> read_frame_codecs(std::span<const std::byte> note,
                                                                          std::size_t frame_count) {
  auto forms = read_frame_codecs(note);
  if (forms && forms->size() != frame_count)
    return failure(serialize_errc::malformed, "the header says how " + grouped(forms->size())
                                                  + " frames are compressed, but there are " + grouped(frame_count));
  return forms;
}

void append_form(byte_buffer& note, const frame_form& form) {
  note.append(static_cast<std::byte>(form.codec));
  if (form.codec != frame_codec::none)
    append_varint(note, form.original_bytes);
}

std::expected<joined_frames, serialize_error> decompress_frames(std::span<const std::byte> note,
                                                                std::span<const std::byte> pieces_note,
                                                                std::span<const frame> frames, const limits& bounds) {
  const auto forms = read_frame_codecs(note, frames.size());
  if (!forms)
    return std::unexpected(forms.error());
  const auto pieces =
      pieces_note.empty() ? std::vector<std::size_t>(frames.size(), 1) : read_pieces(pieces_note, frames.size());
  if (!pieces)
    return std::unexpected(pieces.error());
  if (auto checked = check_forms(*forms, frames, bounds); !checked)
    return std::unexpected(checked.error());
  joined_frames made;
  made.frames.reserve(pieces->size());
  std::size_t at = 0;
  for (const auto count : *pieces) {
    const auto first = std::exchange(at, at + count);
    auto one = unpacked(std::span(*forms).subspan(first, count), frames.subspan(first, count), made.frames.size(),
                        bounds, made.taken_bytes);
    if (!one)
      return std::unexpected(std::move(one.error()));
    made.frames.push_back(std::move(*one));
  }
  return made;
}

frame marked_as_compressed(const frame& of) {
  return is_marked(of) ? of : frame(of.bytes(), std::make_shared<const compressed_owner>(of.owner()));
}

} // namespace troupe::detail
