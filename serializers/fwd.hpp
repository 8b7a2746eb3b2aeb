// Declares the names of this folder.
#pragma once

namespace troupe {

class context_extension;
class encode_output;
class family;
class family_set;
class frame;
class frame_owner;
class function_entry;
class record;
class serialized;
class type_entry;
class type_registry;
class value_reader;
class value_writer;
struct context;
struct header_fields;
struct limits;
struct payload;

} // namespace troupe
