#include <troupe/store/internal/attachment/object_memory.hpp>

#include <troupe/store/internal/files/page_care.hpp>

namespace troupe::store::internal {

void object_memory::protect(std::uint32_t index) const noexcept {
  if (protects_sealed_)
    protect_whole_pages(extent_of(index));
}

void object_memory::unprotect(std::uint32_t index) const noexcept {
  if (protects_sealed_)
    unprotect_pages(extent_of(index));
}

} // namespace troupe::store::internal
