#include <troupe/store/internal/attachment/own_files.hpp>

#include <chrono>
#include <thread>

namespace troupe::store::internal {

std::expected<mapping_ptr, store_error> own_files::make(std::uint32_t index, bool grows) const {
  const auto file = view_.object(index).spill_file.load();
  const auto pause = [](std::chrono::nanoseconds how_long) {
    std::this_thread::sleep_for(how_long);
    return true;
  };
  return files_.create_mapped(file, view_.spill_file(file).generation, view_.spill_file(file).size_bytes, grows, pause);
}

std::expected<void, store_error> own_files::commit(std::uint32_t index, std::uint64_t from, std::uint64_t until) const {
  const auto file = view_.object(index).spill_file.load();
  return files_.commit(file, view_.spill_file(file).generation, from, until);
}

void own_files::cut(std::uint32_t index) const noexcept {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  files_.cut(file, view_.spill_file(file).generation, extent_length(row.size_bytes, row.metadata_bytes));
}

std::expected<mapping_ptr, store_error> own_files::map(std::uint32_t index) const {
  const auto& row = view_.object(index);
  const auto file = row.spill_file.load();
  auto mapping = files_.map(file, view_.spill_file(file).generation, extent_length(row.size_bytes, row.metadata_bytes));
  if (!mapping)
    return std::unexpected(errors_.of_bytes(index, mapping.error()));
  return mapping;
}

} // namespace troupe::store::internal
