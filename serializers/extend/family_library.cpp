#include <troupe/serializers/extend/family_library.hpp>

#include <dlfcn.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe {

namespace {

constexpr auto* symbol = "troupe_family_library";

struct closing {
  void operator()(void* handle) const { ::dlclose(handle); }
};

std::string text_of(const build_stamp& stamp) {
  return "Troupe " + std::string(stamp.version, ::strnlen(stamp.version, sizeof(stamp.version))) + " (layout "
         + std::to_string(stamp.layout) + "-" + std::to_string(stamp.sizes) + ")";
}

std::string opening_failure(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return "there is no such file; relative paths begin at the working directory";
  const auto* reason = ::dlerror();
  std::string text = reason != nullptr ? reason : "the system does not say why";
  if (text.find("undefined symbol") != std::string::npos)
    text += "; link the library with all that it uses, such as troupe::serializers";
  return text;
}

} // namespace

std::expected<void, serialize_error> family_set::load(const std::filesystem::path& library) {
  std::error_code ignored;
  const auto file = std::filesystem::absolute(library, ignored);
  const auto failure = [&](serialize_errc code, const std::string& reason) {
    return detail::failure(code, "cannot load families from " + file.string() + ": " + reason);
  };

  std::unique_ptr<void, closing> opened(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!opened)
    return failure(serialize_errc::not_loaded, opening_failure(file));
  const auto* found = static_cast<const family_library*>(::dlsym(opened.get(), symbol));
  if (found == nullptr)
    return failure(serialize_errc::not_loaded,
                   std::string("it exports no ") + symbol + "; put TROUPE_FAMILIES(function) into one of its sources");
  if (found->built_against != this_build)
    return failure(serialize_errc::not_loaded, "it was built against " + text_of(found->built_against)
                                                   + ", and this program against " + text_of(this_build)
                                                   + "; rebuild it against this program's");

  // From here on, the library must stay loaded: exceptions, families and objects that they make may still need its
  // code.
  static_cast<void>(opened.release());
  const auto families_before = families_.size();
  std::optional<std::string> thrown;
  std::string clash;
  try {
    found->add_families(*this);
  } catch (const registration_error& wrong) {
    clash = wrong.what();
  } catch (const std::exception& exception) {
    thrown = exception_text(exception);
  } catch (...) {
    thrown = "an object that is not a std::exception";
  }
  if (!thrown && clash.empty() && families_.size() > families_before)
    return {};

  families_.resize(families_before);
  if (thrown)
    return failure(serialize_errc::codec_failed, "its function threw: " + *thrown);
  if (!clash.empty())
    return failure(serialize_errc::clash, clash);
  return failure(serialize_errc::not_loaded, "its function adds no family");
}

} // namespace troupe
