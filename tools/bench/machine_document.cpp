#include "bench/machine_document.hpp"

namespace troupe::tools {

nlohmann::ordered_json document_of(const machine& where) {
  return {{"cpu", where.cpu},        {"cores", where.cores},       {"memory_bytes", where.memory_bytes},
          {"kernel", where.kernel},  {"compiler", where.compiler}, {"build", where.build},
          {"troupe", where.version}, {"date", where.date}};
}

machine machine_of(const nlohmann::ordered_json& document) {
  return {.cpu = document.value("cpu", ""),
          .cores = document.value("cores", std::size_t{0}),
          .memory_bytes = document.value("memory_bytes", std::size_t{0}),
          .kernel = document.value("kernel", ""),
          .compiler = document.value("compiler", ""),
          .build = document.value("build", ""),
          .version = document.value("troupe", ""),
          .date = document.value("date", "")};
}

} // namespace troupe::tools
