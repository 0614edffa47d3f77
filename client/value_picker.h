// pickValue: one JSON text into a kube::Value of what is wanted of it.
#pragma once

#include <string_view>

#include "client/item_splitter.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::client {

// What a text is, and so what is kept of it.
enum class Pick : uint8_t {
  All,
  // apiVersion, kind, metadata without managedFields, and what a Status has: code, reason, message, details.
  Object,
  // type, and of `object` what Object keeps.
  Event,
  // type, and the whole `object`.
  WholeEvent,
  // What Object keeps, and what names or selects other objects: subjects, roleRef, aggregationRule,
  // imagePullSecrets, of `rules` the apiGroups and resources, and of `spec` the Pods'
  // templates, selector, replicas, volumeClaimTemplates and service, of a CRD the names and the Service of
  // its conversion, and of `status` appliedResources. Nothing else of either, and no data.
  References,
  // type, and of `object` what References keeps.
  ReferencesEvent,
  // The namespace, name, uid and resourceVersion.
  Identity,
  // type, and of `object` what Identity keeps.
  IdentityEvent,
};

// Places are left out: there is no file. Fails on what is no JSON (RFC 8259) or not UTF-8, where what is kept
// is nested deeper or larger than the limits, and on a key that a kept map has twice.
kube::Result<kube::Value> pickValue(std::string_view text, Pick pick, const StreamLimits& limits);

}  // namespace lastout::client
