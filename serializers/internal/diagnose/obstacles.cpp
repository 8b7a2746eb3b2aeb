// Texts for people about a type that cannot travel: the reason, and the remedy.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <troupe/serializers/internal/diagnose/inspecting.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

namespace {

struct known_type {
  std::string_view name; // The whole name, or the name up to its bracket for any template of that name.
  std::string_view why;
  std::string_view advice;
};

constexpr std::string_view is_a_lock = "guards memory of its own process";
constexpr std::string_view is_a_wait = "makes threads of one process wait";
constexpr std::string_view is_a_thread = "is a thread of its own process";
constexpr std::string_view is_open = "is open in its own process";
constexpr std::string_view is_a_promise = "waits for something in its own process";
constexpr std::string_view has_no_range = "does not let its elements be walked";
constexpr std::string_view leave_out =
    "keep it out of the type that is sent, or give that type a codec<T> that makes a new one on arrival; without a "
    "description use types.register_serializer<T>(to, from)";
constexpr std::string_view send_the_work = "send the data that it works on to an actor on the other node";
constexpr std::string_view send_the_value =
    "hold the plain value in the type that is sent; or use a codec<T> whose form is that value";
constexpr std::string_view send_the_result = "wait for the result and send that";
constexpr std::string_view send_the_name =
    "send its name (std::filesystem::path) or its content (std::string, troupe::frame)";
constexpr std::string_view send_a_functor =
    "send a described functor: a struct with operator() whose members TROUPE_DESCRIBE names; or register a function "
    "with "
    "types.add_function<&f>(\"name\") at both ends, and have it run there: link.submit(fn_ref<&f>, arguments)";
constexpr std::string_view send_a_string = "use std::string, which holds its text";

constexpr auto known_types = std::to_array<known_type>({
    {"std::mutex", is_a_lock, leave_out},
    {"std::recursive_mutex", is_a_lock, leave_out},
    {"std::timed_mutex", is_a_lock, leave_out},
    {"std::recursive_timed_mutex", is_a_lock, leave_out},
    {"std::shared_mutex", is_a_lock, leave_out},
    {"std::shared_timed_mutex", is_a_lock, leave_out},
    {"std::lock_guard<", is_a_lock, leave_out},
    {"std::scoped_lock<", is_a_lock, leave_out},
    {"std::unique_lock<", is_a_lock, leave_out},
    {"std::shared_lock<", is_a_lock, leave_out},
    {"std::once_flag", is_a_lock, leave_out},
    {"std::condition_variable", is_a_wait, leave_out},
    {"std::condition_variable_any", is_a_wait, leave_out},
    {"std::counting_semaphore<", is_a_wait, leave_out},
    {"std::barrier<", is_a_wait, leave_out},
    {"std::latch", is_a_wait, leave_out},
    {"std::stop_source", is_a_wait, leave_out},
    {"std::stop_token", is_a_wait, leave_out},
    {"std::thread", is_a_thread, send_the_work},
    {"std::jthread", is_a_thread, send_the_work},
    {"std::thread::id", is_a_thread, "send the name of the thread's task"},
    {"std::atomic<", "is for the threads of one process, and cannot be copied", send_the_value},
    {"std::atomic_flag", "is for the threads of one process, and cannot be copied", send_the_value},
    {"std::future<", is_a_promise, send_the_result},
    {"std::shared_future<", is_a_promise, send_the_result},
    {"std::promise<", is_a_promise, send_the_result},
    {"std::packaged_task<", is_a_promise, send_the_result},
    {"std::function<", "does not expose what it calls", send_a_functor},
    {"std::move_only_function<", "does not expose what it calls", send_a_functor},
    {"std::_Bind<", "does not expose what it calls", send_a_functor},
    {"std::any", "does not expose its content", "use std::variant of the types that may be in it"},
    {"std::string_view", "looks at a text that does not travel with it", send_a_string},
    {"std::span<", "looks at elements that do not travel with it",
     "use std::vector, or troupe::array, or troupe::frame for bytes that leave without a copy"},
    {"std::initializer_list<", "looks at elements that do not travel with it", "use std::vector"},
    {"std::reference_wrapper<", "refers to an object that does not travel with it",
     "hold the value itself, or a std::shared_ptr to it"},
    {"std::exception_ptr", "does not expose its content", "send its what() as std::string"},
    {"std::exception", "has no text that could be filled in on arrival", "send its what() as std::string"},
    {"std::error_code", "refers to a category of its own process", "send its message() as std::string"},
    {"std::type_index", "names a type of its own program", "send the alias that the type_registry has for the type"},
    {"std::basic_ios<", is_open, send_the_name},
    {"std::basic_istream<", is_open, send_the_name},
    {"std::basic_ostream<", is_open, send_the_name},
    {"std::basic_iostream<", is_open, send_the_name},
    {"std::basic_ifstream<", is_open, send_the_name},
    {"std::basic_ofstream<", is_open, send_the_name},
    {"std::basic_fstream<", is_open, send_the_name},
    {"std::basic_stringstream<", "is a place in a text", "send its str() as std::string"},
    {"std::basic_istringstream<", "is a place in a text", "send its str() as std::string"},
    {"std::basic_ostringstream<", "is a place in a text", "send its str() as std::string"},
    {"std::stack<", has_no_range, "use std::vector"},
    {"std::queue<", has_no_range, "use std::deque"},
    {"std::priority_queue<", has_no_range, "use std::vector"},
    {"std::forward_list<", "does not know its size", "use std::list or std::vector"},
    {"std::bitset<", "has its codec in a header that is not included",
     "include <troupe/serializers/bitset.hpp> where the type is registered"},
    {"std::expected<", "is not among the types that the library knows", "use std::variant<Value, Error>"},
    {"long double", "has more bits than numbers have here", "use double"},
});

const known_type* find_known(std::string_view type) {
  const auto found = std::ranges::find_if(known_types, [&](const auto& each) {
    return each.name.ends_with('<') ? type.starts_with(each.name) : type == each.name;
  });
  return found == known_types.end() ? nullptr : &*found;
}

// The last part of a name: "item" of "shop::item".
std::string_view unqualified(std::string_view type) {
  const auto colons = type.rfind("::");
  return colons == std::string_view::npos ? type : type.substr(colons + 2);
}

bool is_lambda(std::string_view type) {
  return type.find("{lambda(") != std::string_view::npos || type.find("'lambda") != std::string_view::npos
         || type.find("::$_") != std::string_view::npos;
}

std::string stand_in_for(const std::string& type) {
  return "types.register_serializer<" + type + ">(to, from) at both ends";
}

explanation explain_class(const type_node& of, const std::string& type) {
  if (const auto* known = find_known(type))
    return {std::string(known->why), std::string(known->advice)};
  if (of.is_callable && is_lambda(type))
    return of.is_empty ? explanation{"is code, and code does not travel", std::string(send_a_functor), true}
                       : explanation{"does not expose its captures",
                                     "make it a described functor: a struct with operator() whose members are the "
                                     "captures, named by TROUPE_DESCRIBE; then they are inspected. Or register a "
                                     "function by types.add_function<&f>(\"name\"), pass the captures as arguments, "
                                     "and call it by fn_ref<&f>",
                                     true};
  constexpr std::string_view why = "has neither TROUPE_DESCRIBE, nor a codec<T>, nor reduce() and rebuild()";
  if (type.starts_with("std::"))
    return {std::string(why), "give it a codec<T> whose form is a type that travels; or " + stand_in_for(type)};
  if (type.ends_with('>'))
    return {std::string(why),
            "add TROUPE_DESCRIBE_INSIDE, with all its fields, within the template; or if it cannot be changed, "
                + stand_in_for(type)};
  const auto name = std::string(unqualified(type));
  return {std::string(why), (of.is_aggregate ? "add TROUPE_DESCRIBE(" + name + ", ...), with all its fields, beside it"
                                             : "add TROUPE_DESCRIBE_INSIDE(" + name + ", ...) within it; or a codec<T>")
                                + "; or if it cannot be changed, " + stand_in_for(type)};
}

explanation explain_pointer(const std::string& type) {
  constexpr std::string_view why = "is an address, which means nothing elsewhere";
  if (type == "char*" || type == "char const*")
    return {std::string(why), std::string(send_a_string), true};
  if (type == "void*" || type == "void const*")
    return {std::string(why), "use troupe::frame, or the type of the object there", true};
  if (type == "_IO_FILE*")
    return {std::string(is_open), std::string(send_the_name), true};
  return {std::string(why),
          "use the value itself, std::unique_ptr (owns), std::shared_ptr (shares) or std::weak_ptr "
          "(neither); or std::vector for several",
          true};
}

} // namespace

explanation explain(const type_node& of) {
  const auto type = brief_type_text(*of.info);
  switch (of.hindrance) {
  case obstacle::none:
    return {};
  case obstacle::reference:
    return {"refers to an object that does not travel with it", "hold the value itself, or a std::shared_ptr to it",
            true};
  case obstacle::qualified:
    return {"cannot be filled in on arrival", "leave out " + std::string(of.prefix) + "and make the member private"};
  case obstacle::function:
    return {"is an address of code, which means nothing elsewhere", std::string(send_a_functor), true};
  case obstacle::pointer:
    return explain_pointer(type);
  case obstacle::pointer_to_array:
    return {"does not know how many elements it has", "use std::vector or troupe::array"};
  case obstacle::deleter:
    return {"has a deleter that does not travel", "use std::unique_ptr without one; or a codec<T>"};
  case obstacle::a_union:
    return {"does not know which of its members it holds", "use std::variant; or a codec<T>"};
  case obstacle::abstract:
    return {"is abstract: no object of it can be made on arrival",
            "use std::variant of the classes that may stand there; or a codec<T>"};
  case obstacle::no_default:
    return {"has no default constructor",
            "give it one; or a codec<T>, or reduce() and rebuild(); or if it cannot be changed, " + stand_in_for(type)};
  case obstacle::not_described:
    return explain_class(of, type);
  }
  return {};
}

} // namespace troupe::detail
