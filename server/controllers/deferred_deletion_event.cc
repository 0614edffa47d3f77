#include "server/controllers/deferred_deletion_event.h"

#include "criticalservice/critical_service.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::server {
namespace {

using Kind = DeferredDeletionEvent::Kind;

const char* reasonOf(Kind kind) {
  switch (kind) {
    case Kind::Recorded:
      return "DeletionDeferred";
    case Kind::NotRecorded:
      return "DeletionDropped";
    case Kind::Deleted:
      return "DeletionCarriedOut";
    case Kind::TakenBack:
      return "DeletionTakenBack";
    case Kind::Refused:
      return "DeletionHeldUp";
    case Kind::Ignored:
      return "AnnotationIgnored";
  }
  return "";
}

std::string messageOf(const DeferredDeletionEvent& news) {
  const std::string object = toString(news.deletion.object);
  const std::string user = kube::printable(news.deletion.requestedBy);
  switch (news.kind) {
    case Kind::Recorded:
      return object + ": its deletion, asked for by " + user + ", is deferred until it may go";
    case Kind::NotRecorded:
      return object + ": its deletion, asked for by " + user +
             ", is denied and could not be recorded: delete it once it may go";
    case Kind::Deleted:
      return object + " is deleted now, as " + user + " had asked";
    case Kind::TakenBack:
      return object + " is not deleted, although " + user +
             " had asked: " + (news.why.empty() ? "it has another owner now, or none" : news.why);
    case Kind::Refused:
      return object + " may go, and is not deleted yet, as " + user + " had asked: " + news.why;
    case Kind::Ignored:
      return object + ": " + user + " is ignored: " + news.why;
  }
  return "";
}

}  // namespace

std::string_view toString(Kind kind) {
  switch (kind) {
    case Kind::Recorded:
      return "remembered";
    case Kind::NotRecorded:
      return "dropped";
    case Kind::Deleted:
      return "deleted";
    case Kind::TakenBack:
      return "taken_back";
    case Kind::Refused:
      return "refused";
    case Kind::Ignored:
      return "ignored";
  }
  return "";
}

Event eventOf(const DeferredDeletionEvent& news) {
  const bool warning =
      news.kind == Kind::NotRecorded || news.kind == Kind::Refused || news.kind == Kind::Ignored;
  return eventAbout(news.isOfWork ? kube::kWorkApiVersion : kube::kLastoutApiVersion,
                    news.isOfWork ? manifestwork::kAppliedKind : criticalservice::kKind, news.regarding,
                    news.regardingUid, warning, reasonOf(news.kind), messageOf(news),
                    toString(news.deletion.object));
}

}  // namespace lastout::server
