// CelType: the type of a CEL expression, as far as it is known before the evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lastout::simulator {

enum class CelKind : uint8_t {
  Dynamic,  // not known before evaluation
  Bool,
  Integer,
  Unsigned,
  Double,
  Text,
  Bytes,
  Null,
  Timestamp,
  Duration,
  List,
  Map,
  Type,
  Optional,
  Object,    // with declared fields
  Abstract,  // a type of a library, such as kubernetes.Quantity
  Access,    // a step from `authorizer` to its answer
  Parameter  // stands for any type in the signature of a function
};

struct CelType {
  CelType(CelKind ofKind = CelKind::Dynamic) : kind(ofKind) {}  // NOLINT(google-explicit-constructor)
  CelType(CelKind ofKind, std::string named) : kind(ofKind), name(std::move(named)) {}
  CelType(CelKind ofKind, std::vector<CelType> parts) : kind(ofKind), of(std::move(parts)) {}
  static CelType list(CelType item) { return {CelKind::List, std::vector<CelType>{std::move(item)}}; }
  static CelType map(CelType key, CelType value) {
    return {CelKind::Map, std::vector<CelType>{std::move(key), std::move(value)}};
  }
  static CelType optional(CelType value) {
    return {CelKind::Optional, std::vector<CelType>{std::move(value)}};
  }

  CelKind kind;
  std::string name;         // of an Object, Abstract, Access or Parameter
  std::vector<CelType> of;  // List: of its items; Map: of its keys, of its values; Optional: of its value
  bool operator==(const CelType&) const = default;
};

// Types by the names of what has them: of variables, of the fields of an Object, of Parameters.
using CelNames = std::map<std::string, CelType, std::less<>>;
using CelObjects = std::map<std::string, CelNames, std::less<>>;  // the fields of Objects, by the type's name

// As API servers print it: "map(string, dyn)".
std::string nameOf(const CelType& type);
// Reads "map(string,A)", without spaces; one capital letter is a Parameter, "*UserInfo" an Object of
// kubernetes, "@Decision" an Access of kubernetes.authorization. The text is a constant.
CelType celTypeOf(std::string_view text);

// True if a value of type `given` can stand where `wanted` is expected; binds the Parameters of `wanted`.
bool isAssignable(const CelType& wanted, const CelType& given, CelNames& bindings);
bool isAssignable(const CelType& wanted, const CelType& given);
// Returns the type with its Parameters replaced; what is not bound is Dynamic.
CelType bound(const CelType& type, const CelNames& bindings);
// Returns the type that both of two assignable types are of: where one is Dynamic, so is it.
CelType mostGeneral(const CelType& one, const CelType& other);

// One way to call a function.
struct CelSignature {
  bool hasReceiver = false;        // the first argument stands before the function's name
  std::vector<CelType> arguments;  // the receiver first
  CelType result;
};

// Returns the ways to call the function or operator ("_+_") in Kubernetes' environment; nullptr: there is no
// such function.
const std::vector<CelSignature>* celSignatures(std::string_view name);
// True for a name that stands for a type, such as "int".
bool isCelTypeName(std::string_view name);
// Returns the types of `request` and `namespaceObject`, as API servers declare them.
const CelObjects& celRequestObjects();

}  // namespace lastout::simulator
