// Tapes for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/internal/tape/tape_reader.hpp>
#include <troupe/framework/internal/tape/tape_writer.hpp>

#include "../bytes.hpp"

namespace troupe::tests {

/// A folder that is removed at the end.
class scratch_folder {
public:
  scratch_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "troupe-tape-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no folder for the test");
    path_ = pattern;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + '/' + name; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator{path_})
      names.push_back(each.path().string());
    std::ranges::sort(names);
    return names;
  }

private:
  std::string path_;
};

inline internal::byte_vector content_of(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

/// A short text for a record.
inline std::string shown(const internal::tape_record& record) {
  using namespace internal;
  struct visitor {
    std::string operator()(const tape_recorder_named& of) const { return "by " + std::string{of.node}; }
    std::string operator()(const tape_link_began& of) const {
      return (of.is_repeated ? "again link " : "link ") + std::to_string(of.link) + " to " + std::string{of.peer_name};
    }
    std::string operator()(const tape_packet& of) const {
      return (of.is_repeated ? "again " : "") + std::string{of.writer == tape_side::peer ? "<" : ">"}
             + std::to_string(of.link) + " kind " + std::to_string(static_cast<int>(of.kind)) + ": " + text_of(of.body);
    }
    std::string operator()(const tape_actor_named& of) const {
      return "actor " + std::to_string(of.number) + " is " + std::string{of.name};
    }
    std::string operator()(const tape_object& of) const {
      return of.state == tape_object::how::gone
                 ? "no object"
                 : "object of " + std::to_string(of.size_bytes) + " from " + std::to_string(of.offset) + ": "
                       + std::to_string(of.bytes.size());
    }
    std::string operator()(const tape_dropped& of) const {
      return "dropped " + std::to_string(of.packets) + " packets, " + std::to_string(of.messages) + " messages, "
             + std::to_string(of.bytes) + " bytes, why " + std::to_string(static_cast<int>(of.why));
    }
    std::string operator()(const tape_link_ended& of) const {
      return "link " + std::to_string(of.link) + " ended: " + std::string{of.reason};
    }
    std::string operator()(const tape_ended& of) const { return "ended " + std::to_string(static_cast<int>(of.why)); }
    std::string operator()(const tape_unknown& of) const { return "unknown " + std::to_string(of.kind); }
  };
  return std::visit(visitor{}, record);
}

/// All that a reader says of a tape, one text for each record or gap.
inline std::vector<std::string> read_all(internal::bytes_view bytes) {
  std::vector<std::string> texts;
  auto reader = internal::tape_reader::open(internal::tape_bytes_in_memory(bytes));
  if (!reader)
    return {"refused " + reader.error().message()};
  while (const auto item = reader->next()) {
    if (const auto* gap = std::get_if<internal::tape_gap>(&*item))
      texts.push_back("gap " + std::to_string(gap->begin) + '-' + std::to_string(gap->end) + ' ' + gap->what);
    else
      texts.push_back(shown(std::get<internal::tape_record>(*item)));
  }
  return texts;
}

/// Adds records to a writer, as the recorder does.
template <class Record>
void add(internal::tape_writer& to, const Record& record, std::uint64_t now = 0) {
  internal::byte_vector encoded;
  internal::append_tape_record(encoded, record);
  to.add(record, encoded, now);
}

inline internal::tape_packet packet_of(internal::packet_kind kind, std::string_view body, std::uint64_t at = 0) {
  return {.link = 1, .at = at, .kind = kind, .body = bytes_of(body)};
}

} // namespace troupe::tests
