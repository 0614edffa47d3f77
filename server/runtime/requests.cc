#include "server/runtime/requests.h"

#include <algorithm>
#include <utility>

#include "client/value_picker.h"
#include "kube/encoding.h"

namespace lastout::server {
namespace {

constexpr int kMostAttempts = 4;
constexpr std::chrono::milliseconds kAttemptPause{1'000};
constexpr std::chrono::milliseconds kLongestAttemptPause{30'000};
constexpr int kMostBeginnings = 20;  // of one list
constexpr size_t kMostPageBytes = size_t{64} << 20;

bool mayPass(int code) { return code == 0 || code == 429 || code >= 500; }

NotDone notDone(const client::WholeAnswer& whole) {
  return {whole.answer.status, toString(client::statusOfAnswer(whole))};
}

}  // namespace

Answered<client::WholeAnswer> Requests::ask(const client::ApiRequest& request) const {
  for (int attempt = 1;; ++attempt) {
    auto whole = client::fetch(server_, request, kMostPageBytes);
    const int code = whole ? whole->answer.status : 0;
    if (whole && code < 300) return std::move(*whole);
    if (attempt == kMostAttempts || !mayPass(code))
      return tl::unexpected(whole ? notDone(*whole) : NotDone{0, whole.error().message});
    std::chrono::milliseconds pause = kAttemptPause;
    if (whole && whole->answer.retryAfter)
      pause = std::clamp<std::chrono::milliseconds>(*whole->answer.retryAfter, pause, kLongestAttemptPause);
    patience_.pause(pause);
  }
}

Answered<std::optional<kube::Value>> Requests::read(const std::string& path) const {
  client::ApiRequest request;
  request.target = path;
  return change(request);
}

Answered<std::optional<kube::Value>> Requests::change(const client::ApiRequest& request) const {
  const auto whole = ask(request);
  if (!whole && whole.error().code == 404) return std::nullopt;
  if (!whole) return tl::unexpected(whole.error());
  auto object = client::pickValue(whole->body, client::Pick::All, {});
  if (!object) return tl::unexpected(NotDone{0, object.error().message});
  return std::move(*object);
}

Answered<std::optional<kube::ObjectMeta>> Requests::readMetadata(const std::string& path) const {
  client::ApiRequest request;
  request.target = path;
  request.accept = client::kAcceptMetadata;
  const auto whole = ask(request);
  if (!whole && whole.error().code == 404) return std::nullopt;
  if (!whole) return tl::unexpected(whole.error());
  auto object = client::decodeObject(whole->body, client::Content::Metadata);
  if (!object) return tl::unexpected(NotDone{0, object.error().message});
  return std::move(object->meta);
}

Answered<Requests::Page> Requests::page(const std::string& target, client::Content content) const {
  client::ApiRequest request;
  request.target = target;
  if (content == client::Content::Metadata) request.accept = client::kAcceptMetadataList;
  const auto whole = ask(request);
  if (!whole) return tl::unexpected(whole.error());
  Page page;
  client::ListStream stream(
      content, [&page](client::StreamedObject object) { page.objects.push_back(std::move(object)); });
  const auto pushed = stream.push(whole->body);
  if (!pushed) return tl::unexpected(NotDone{0, pushed.error().message});
  auto end = stream.finish();
  if (!end) return tl::unexpected(NotDone{0, end.error().message});
  page.continueToken = std::move(end->continueToken);
  return page;
}

Answered<void> Requests::list(const std::string& collection, client::Content content, size_t most,
                              const TakePage& take, const std::string& selector) const {
  const std::string first = collection + "?limit=" + std::to_string(most) +
                            (selector.empty() ? "" : "&labelSelector=" + kube::percentEncoded(selector));
  std::string token;
  for (int beginnings = 1;;) {
    auto page =
        this->page(token.empty() ? first : first + "&continue=" + kube::percentEncoded(token), content);
    if (!page && page.error().code == 404) return {};
    const bool isForgotten = !page && page.error().code == 410 && !token.empty();
    if (!page && (!isForgotten || beginnings == kMostBeginnings)) return tl::unexpected(page.error());
    if (isForgotten) {
      ++beginnings;
      token.clear();
      continue;
    }
    take(page->objects);
    token = std::move(page->continueToken);
    if (token.empty()) return {};
  }
}

Answered<bool> Requests::write(const client::ApiRequest& request) const {
  const auto whole = ask(request);
  if (whole) return true;
  if (whole.error().code == 404) return false;
  return tl::unexpected(whole.error());
}

}  // namespace lastout::server
