// Writes and reads records through the visitors.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe::detail {

TROUPE_EXPORT bool write_record(value_writer& to, const record& value);
/// Writes a record. Fails if a name occurs twice, because every reader would refuse that.
TROUPE_EXPORT bool check_written_names(coding& state, const record& value);
/// Reads any value.
TROUPE_EXPORT bool read_record(value_reader& from, record& target);

} // namespace troupe::detail
