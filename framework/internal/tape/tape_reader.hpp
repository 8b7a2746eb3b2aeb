// Reads the files of a tape, whole or damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <troupe/framework/internal/tape/tape_format.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// The bytes of a file, by their place.
class tape_bytes {
public:
  virtual ~tape_bytes() = default;
  /// Reads into all of `into`, or less only at the end. Returns how many bytes were read. Fails with the reason.
  [[nodiscard]] virtual std::expected<std::size_t, std::string> read(std::uint64_t offset,
                                                                     std::span<std::byte> into) = 0;
};

/// Opens a regular file for reading. Fails with `not_found`, or with `unreadable` if it is anything else.
[[nodiscard]] std::expected<std::unique_ptr<tape_bytes>, node_error> open_tape_file(const std::string& path);
/// Requires: the bytes outlive the result.
[[nodiscard]] std::unique_ptr<tape_bytes> tape_bytes_in_memory(bytes_view bytes);

/// Bytes of the file that cannot be read.
struct tape_gap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; // The first byte after them.
  std::string what;
};

/// Reads one file, record by record. Continues after damage with the next whole block, and says what it passes over.
/// A reader uses at most 9 MiB of memory, for hostile files as well.
///
/// Threads: one.
class tape_reader {
public:
  /// Reads the head. Fails with `version_mismatch` if the tape has another version, and with `unreadable`; both texts
  /// begin with the place.
  [[nodiscard]] static std::expected<tape_reader, node_error> open(std::unique_ptr<tape_bytes> bytes);

  [[nodiscard]] const tape_head& head() const noexcept { return head_; }

  using item = std::variant<tape_record, tape_gap>;
  /// Returns nullopt at the end. A record is valid until the next call.
  [[nodiscard]] std::optional<item> next();

  /// Where the block of the last record begins in the file.
  [[nodiscard]] std::uint64_t place() const noexcept { return block_at_; }

private:
  tape_reader(std::unique_ptr<tape_bytes> bytes, const tape_head& head)
      : bytes_(std::move(bytes)), head_(head), offset_(tape_head_bytes) {}

  [[nodiscard]] std::optional<tape_gap> read_block();
  [[nodiscard]] tape_gap skip_to_block(std::uint64_t from, std::string why);
  [[nodiscard]] std::optional<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into);

  std::unique_ptr<tape_bytes> bytes_;
  tape_head head_;
  std::uint64_t offset_; // Of the next block.
  std::uint64_t block_at_ = 0;
  std::uint32_t due_ = 0;    // The number of the next block.
  bool is_due_known_ = true; // Not after damage, which may have been blocks.
  bool is_over_ = false;
  byte_vector stored_;
  byte_vector body_;
  packet_reader rest_{{}}; // Of the body.
};

} // namespace troupe::internal
