// What Kubernetes' CEL environment declares: functions, names of types, and the fields of `request` and
// `namespaceObject`. https://kubernetes.io/docs/reference/using-api/cel/
#include <algorithm>
#include <set>

#include "simulator/cel_type.h"

namespace lastout::simulator {
namespace {

// A line holds functions that are called alike (an operator is "_+_", a macro "@all"), ":", and the ways to
// call them, between semicolons: the types of the arguments, "->", the result's. A receiver is followed by
// ".".
constexpr std::string_view kCelFunctions = R"(
!_: bool -> bool
-_: int -> int; double -> double
_&&_ _||_: bool bool -> bool
_?_:_ : bool A A -> A
_==_ _!=_: A A -> bool
_<_ _<=_ _>_ _>=_: bool bool -> bool; string string -> bool; bytes bytes -> bool; timestamp timestamp -> bool
_<_ _<=_ _>_ _>=_: int int -> bool; int uint -> bool; int double -> bool; uint int -> bool; uint uint -> bool
_<_ _<=_ _>_ _>=_: uint double -> bool; double int -> bool; double uint -> bool; double double -> bool
_<_ _<=_ _>_ _>=_: duration duration -> bool
_+_: string string -> string; bytes bytes -> bytes; list(A) list(A) -> list(A); duration timestamp -> timestamp
_+_ _-_: int int -> int; uint uint -> uint; double double -> double; duration duration -> duration
_+_ _-_: timestamp duration -> timestamp
_-_: timestamp timestamp -> duration
_*_ _/_: int int -> int; uint uint -> uint; double double -> double
_%_: int int -> int; uint uint -> uint
@in: A list(A) -> bool; A map(A,B) -> bool
_[_]: list(A) int -> A; map(A,B) A -> B
_[?_]: list(A) int -> optional_type(A); map(A,B) A -> optional_type(B)
_[_] _[?_]: optional_type(list(A)) int -> optional_type(A); optional_type(map(A,B)) A -> optional_type(B)
@all @exists @exists_one @existsOne: list(A) . bool -> bool; map(A,B) . bool -> bool
@filter: list(A) . bool -> list(A); map(A,B) . bool -> list(A)
@map @transformList: list(A) . B -> list(B); map(A,B) . C -> list(C)
@map @transformList: list(A) . bool B -> list(B); map(A,B) . bool C -> list(C)
@transformMap: list(A) . B -> map(int,B); map(A,B) . C -> map(A,C)
@transformMap: list(A) . bool B -> map(int,B); map(A,B) . bool C -> map(A,C)
@transformMapEntry: list(A) . map(B,C) -> map(B,C); map(A,B) . map(C,D) -> map(C,D)
@transformMapEntry: list(A) . bool map(B,C) -> map(B,C); map(A,B) . bool map(C,D) -> map(C,D)
@sortBy: list(A) . B -> list(A)
@?: optional_type(A) -> A
@optMap: optional_type(A) . B -> optional_type(B)
@optFlatMap: optional_type(A) . optional_type(B) -> optional_type(B)
bool: bool -> bool; string -> bool
bytes: bytes -> bytes; string -> bytes
double: double -> double; int -> double; uint -> double; string -> double
duration: duration -> duration; int -> duration; string -> duration
dyn: A -> dyn
int: int -> int; uint -> int; double -> int; string -> int; timestamp -> int; duration -> int
string: string -> string; bool -> string; int -> string; uint -> string; double -> string; bytes -> string
string: timestamp -> string; duration -> string; net.IP -> string; net.CIDR -> string
timestamp: timestamp -> timestamp; int -> timestamp; string -> timestamp
type: A -> type
uint: uint -> uint; int -> uint; double -> uint; string -> uint
size: string -> int; bytes -> int; list(A) -> int; map(A,B) -> int
size: string . -> int; bytes . -> int; list(A) . -> int; map(A,B) . -> int
contains endsWith startsWith: string . string -> bool
matches: string string -> bool; string . string -> bool
find: string . string -> string
findAll: string . string -> list(string); string . string int -> list(string)
charAt: string . int -> string
format: string . list(dyn) -> string
indexOf lastIndexOf: string . string -> int; string . string int -> int; list(A) . A -> int
join: list(string) . -> string; list(string) . string -> string
lowerAscii upperAscii trim: string . -> string
replace: string . string string -> string; string . string string int -> string
split: string . string -> list(string); string . string int -> list(string)
substring: string . int -> string; string . int int -> string
strings.quote: string -> string
isSorted: list(int) . -> bool; list(uint) . -> bool; list(double) . -> bool; list(bool) . -> bool
isSorted: list(string) . -> bool; list(bytes) . -> bool; list(duration) . -> bool; list(timestamp) . -> bool
max min: list(int) . -> int; list(uint) . -> uint; list(double) . -> double; list(bool) . -> bool
max min: list(string) . -> string; list(bytes) . -> bytes; list(duration) . -> duration
max min: list(timestamp) . -> timestamp
sum: list(int) . -> int; list(uint) . -> uint; list(double) . -> double; list(duration) . -> duration
sort: list(int) . -> list(int); list(uint) . -> list(uint); list(double) . -> list(double)
sort: list(bool) . -> list(bool); list(string) . -> list(string); list(bytes) . -> list(bytes)
sort: list(duration) . -> list(duration); list(timestamp) . -> list(timestamp)
distinct reverse: list(A) . -> list(A)
flatten: list(list(A)) . -> list(A); list(dyn) . int -> list(dyn)
lists.range: int -> list(int)
slice: list(A) . int int -> list(A)
sets.contains sets.equivalent sets.intersects: list(A) list(A) -> bool
first last: list(A) . -> optional_type(A)
hasValue: optional_type(A) . -> bool
or: optional_type(A) . optional_type(A) -> optional_type(A)
orValue: optional_type(A) . A -> A
value: optional_type(A) . -> A
optional.none: -> optional_type(A)
optional.of optional.ofNonZeroValue: A -> optional_type(A)
optional.unwrap: list(optional_type(A)) -> list(A)
unwrapOpt: list(optional_type(A)) . -> list(A)
getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getMonth: timestamp . -> int; timestamp . string -> int
getHours getMilliseconds getMinutes getSeconds: timestamp . -> int; timestamp . string -> int; duration . -> int
path: @Authorizer . string -> @PathCheck
group: @Authorizer . string -> @GroupCheck
serviceAccount: @Authorizer . string string -> @Authorizer
resource: @GroupCheck . string -> @ResourceCheck
subresource namespace name fieldSelector labelSelector: @ResourceCheck . string -> @ResourceCheck
check: @ResourceCheck . string -> @Decision; @PathCheck . string -> @Decision
allowed errored: @Decision . -> bool
error reason: @Decision . -> string
url: string -> kubernetes.URL
getEscapedPath getHost getHostname getPort getScheme: kubernetes.URL . -> string
getQuery: kubernetes.URL . -> map(string,list(string))
isURL isIP isCIDR isQuantity ip.isCanonical: string -> bool
ip: string -> net.IP; net.CIDR . -> net.IP
family: net.IP . -> int
isGlobalUnicast isLinkLocalMulticast isLinkLocalUnicast isLoopback isUnspecified: net.IP . -> bool
cidr: string -> net.CIDR
containsCIDR: net.CIDR . string -> bool; net.CIDR . net.CIDR -> bool
containsIP: net.CIDR . string -> bool; net.CIDR . net.IP -> bool
masked: net.CIDR . -> net.CIDR
prefixLength: net.CIDR . -> int
quantity: string -> kubernetes.Quantity
add sub: kubernetes.Quantity . kubernetes.Quantity -> kubernetes.Quantity
add sub: kubernetes.Quantity . int -> kubernetes.Quantity
asApproximateFloat: kubernetes.Quantity . -> double
asInteger sign: kubernetes.Quantity . -> int
isInteger: kubernetes.Quantity . -> bool
compareTo: kubernetes.Quantity . kubernetes.Quantity -> int; kubernetes.Semver . kubernetes.Semver -> int
isGreaterThan isLessThan: kubernetes.Quantity . kubernetes.Quantity -> bool
isGreaterThan isLessThan: kubernetes.Semver . kubernetes.Semver -> bool
semver: string -> kubernetes.Semver; string bool -> kubernetes.Semver
isSemver: string -> bool; string bool -> bool
major minor patch: kubernetes.Semver . -> int
format.named: string -> optional_type(kubernetes.NamedFormat)
format.byte format.date format.datetime format.uri format.uuid: -> kubernetes.NamedFormat
format.dns1035Label format.dns1123Label format.dns1123Subdomain: -> kubernetes.NamedFormat
format.dns1035LabelPrefix format.dns1123LabelPrefix format.dns1123SubdomainPrefix: -> kubernetes.NamedFormat
format.labelValue format.qualifiedName: -> kubernetes.NamedFormat
validate: kubernetes.NamedFormat . string -> optional_type(list(string))
)";

// A line holds a type, ":", and the types and names of its fields.
constexpr std::string_view kRequestObjects = R"(
kubernetes.GroupVersionKind: string group version kind
kubernetes.GroupVersionResource: string group version resource
kubernetes.UserInfo: string username uid; list(string) groups; map(string,list(string)) extra
kubernetes.AdmissionRequest: string subResource requestSubResource name namespace operation; bool dryRun; dyn options
kubernetes.AdmissionRequest: *GroupVersionKind kind requestKind; *GroupVersionResource resource requestResource
kubernetes.AdmissionRequest: *UserInfo userInfo
kubernetes.NamespaceMetadata: string name generateName namespace UID resourceVersion; list(string) finalizers
kubernetes.NamespaceMetadata: map(string,string) labels annotations; int deletionGracePeriodSeconds generation
kubernetes.NamespaceMetadata: timestamp creationTimestamp deletionTimestamp
kubernetes.NamespaceSpec: list(string) finalizers
kubernetes.NamespaceCondition: string status type message reason; timestamp lastTransitionTime
kubernetes.NamespaceStatus: list(*NamespaceCondition) conditions; string phase
kubernetes.Namespace: *NamespaceMetadata metadata; *NamespaceSpec spec; *NamespaceStatus status
)";

// Returns the words between `separator`s, without the spaces around them; empty ones are left out.
std::vector<std::string_view> wordsOf(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    std::string_view word = text.substr(0, end);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return words;
}

// Calls `add` with the names before ": " of each line, and each part between the semicolons behind it.
template <class Add>
void readTable(std::string_view table, Add add) {
  for (const std::string_view line : wordsOf(table, '\n')) {
    const size_t colon = line.find(": ");
    for (const std::string_view name : wordsOf(line.substr(0, colon), ' '))
      for (const std::string_view part : wordsOf(line.substr(colon + 2), ';')) add(std::string(name), part);
  }
}

CelSignature signatureOf(std::string_view text) {
  CelSignature signature;
  const size_t arrow = text.find("->");
  for (const std::string_view word : wordsOf(text.substr(0, arrow), ' ')) {
    if (word == ".")
      signature.hasReceiver = true;
    else
      signature.arguments.push_back(celTypeOf(word));
  }
  signature.result = celTypeOf(wordsOf(text.substr(arrow + 2), ' ').front());
  return signature;
}

using CelFunctionTable = std::map<std::string, std::vector<CelSignature>, std::less<>>;

CelFunctionTable functionTable() {
  CelFunctionTable table;
  readTable(kCelFunctions, [&table](const std::string& name, std::string_view signature) {
    table[name].push_back(signatureOf(signature));
  });
  return table;
}

CelObjects requestObjects() {
  CelObjects objects;
  readTable(kRequestObjects, [&objects](const std::string& name, std::string_view fields) {
    const auto words = wordsOf(fields, ' ');
    for (size_t i = 1; i < words.size(); ++i) objects[name].emplace(words[i], celTypeOf(words[0]));
  });
  return objects;
}

}  // namespace

const std::vector<CelSignature>* celSignatures(std::string_view name) {
  static const CelFunctionTable kTable = functionTable();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : &found->second;
}

bool isCelTypeName(std::string_view name) {
  static const std::set<std::string_view> kNames = [] {
    const auto words = wordsOf(
        "bool bytes double dyn int list map null_type optional_type string type uint "
        "google.protobuf.Duration "
        "google.protobuf.Timestamp kubernetes.NamedFormat kubernetes.Quantity kubernetes.Semver "
        "kubernetes.URL "
        "net.CIDR net.IP",
        ' ');
    return std::set<std::string_view>(words.begin(), words.end());
  }();
  return kNames.contains(name);
}

const CelObjects& celRequestObjects() {
  static const CelObjects kObjects = requestObjects();
  return kObjects;
}

}  // namespace lastout::simulator
