// Decodes requests: the body as Json, within bounds, and the Accept and Content-Type headers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "kube/object_key.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

constexpr size_t kMostBodyBytes = size_t{3} << 20;  // the API server's own limit
constexpr size_t kDeepestJson = 64;                 // nesting of lists and maps
constexpr size_t kMostJsonValues = 1'000'000;

// One JSON document (RFC 8259) within the limits above, without duplicate keys. Fails with a sentence for
// people, which is printable whatever the text. Integers that int64 cannot hold become doubles, as in Go.
tl::expected<Json, std::string> parseJsonText(std::string_view text);

// A request's body, which may be JSON, YAML or (simulator/protobuf.h) protobuf, as an object. `contentType`
// is the header; empty means JSON. `kind` is what the object should be, for messages; empty when that is not
// known. Fails with 415 (recorded: rest/047), 413 or 400.
ApiResult<Json> decodeBody(std::string_view body, std::string_view contentType, std::string_view kind = {});

// The form of an answer.
struct Representation {
  enum class Form { Full, Metadata, MetadataList, Table };
  Form form = Form::Full;
  std::string version = "v1";  // of meta.k8s.io, unless Full: "v1" or "v1beta1"
  bool yaml = false;           // call it application/yaml: every JSON text is a YAML document
};

// The first form in an Accept header that can be had; an empty header means JSON. q-values are ignored, but
// for 0. Fails with 406 (recorded: rest/046).
ApiResult<Representation> parseAccept(std::string_view accept);

enum class PatchType { Json, Merge, Strategic, Apply };

// Whether a type is one of Kubernetes' own (strategic patches work, defaults have other messages), not a
// custom resource. Groups that end with .k8s.io are kept for Kubernetes.
bool isBuiltIn(const kube::GroupResource& type);

// The kind of patch that a Content-Type names. Fails with 415 (recorded: rest/051), with what the type takes.
ApiResult<PatchType> parsePatchType(std::string_view contentType, const kube::GroupResource& type);

// The body of a PATCH: a list for PatchType::Json, an object for the others; YAML is read for
// PatchType::Apply alone. Fails with 413 or 400.
ApiResult<Json> decodePatch(std::string_view body, PatchType type);

}  // namespace lastout::simulator
