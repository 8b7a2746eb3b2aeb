#include <troupe/store/internal/files/page_care.hpp>

#include <troupe/store/internal/table/layout.hpp>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace troupe::store::internal {

namespace {

[[nodiscard]] std::byte* down(std::byte* at) {
  return at - reinterpret_cast<std::uintptr_t>(at) % page_bytes;
}

[[nodiscard]] std::byte* up(std::byte* at) {
  return down(at + page_bytes - 1);
}

void advise(std::span<const std::byte> pages, int advice) noexcept {
  auto* const begin = down(const_cast<std::byte*>(pages.data()));
  const auto bytes = static_cast<std::size_t>(pages.data() + pages.size() - begin);
  if (!pages.empty())
    (void)::madvise(begin, bytes, advice);
}

} // namespace

void touch_for_writing(std::span<std::byte> pages) noexcept {
  advise(pages, MADV_POPULATE_WRITE);
}

void touch_for_reading(std::span<const std::byte> pages) noexcept {
  advise(pages, MADV_POPULATE_READ);
}

void ask_for_huge_pages(std::span<const std::byte> mapping) noexcept {
  advise(mapping, MADV_HUGEPAGE);
}

// The line of a mount: "36 35 98:0 /root /mount options ... - tmpfs source huge=advise,size=...".
bool gives_huge_pages(const std::filesystem::path& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0)
    return false;
  const auto device = std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  auto mounts = std::ifstream{"/proc/self/mountinfo"};
  for (auto line = std::string{}; std::getline(mounts, line);) {
    auto fields = std::istringstream{line};
    auto id = std::string{};
    auto parent = std::string{};
    auto its_device = std::string{};
    fields >> id >> parent >> its_device;
    if (its_device != device)
      continue;
    const auto own = line.find(" - tmpfs ");
    return own != line.npos && line.find("huge=", own) != line.npos && line.find("huge=never", own) == line.npos;
  }
  return false;
}

void protect_whole_pages(std::span<std::byte> bytes) noexcept {
  auto* const begin = up(bytes.data());
  auto* const end = down(bytes.data() + bytes.size());
  if (begin < end)
    (void)::mprotect(begin, static_cast<std::size_t>(end - begin), PROT_READ);
}

void unprotect_pages(std::span<std::byte> bytes) noexcept {
  auto* const begin = down(bytes.data());
  auto* const end = up(bytes.data() + bytes.size());
  if (begin < end)
    (void)::mprotect(begin, static_cast<std::size_t>(end - begin), PROT_READ | PROT_WRITE);
}

} // namespace troupe::store::internal
