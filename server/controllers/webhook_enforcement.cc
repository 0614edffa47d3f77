#include "server/controllers/webhook_enforcement.h"

#include "admission/guards.h"

namespace lastout::server {

WebhookEnforcement enforcementOf(const EnforcementFacts& facts,
                                 const criticalservice::CriticalService& service) {
  if (service.intent == criticalservice::DeletionIntent::OrphanResources)
    return {false, "OrphanResources",
            "spec.deletionIntent is OrphanResources: the provider may go at any time", true};
  if (facts.auditOnly)
    return {false, "AuditOnly", "lastout runs with --audit-only, and allows everything", true};
  if (!service.providerDoubt.empty())
    return {
        false, "NotUnderstood",
        "spec.provider names an object that cannot exist, so the one that was meant is not guarded: create "
        "another CriticalService for it"};
  if (!admission::isReviewed(service.provider, facts.ownNamespace))
    return {false, "NamespaceExcluded",
            "the API server does not ask about what is in namespace " + service.provider.namespaceName};
  const std::string what = facts.wanted.toString();
  if (!facts.keepsWebhook)
    return {std::nullopt, "WebhookNotManaged",
            "others keep the webhook configuration (--manage-webhook=false): lastout does not look whether "
            "it asks about " +
                what};
  if (!facts.undecided.empty()) return {std::nullopt, "DependenciesUnknown", facts.undecided};
  if (!facts.asksAbout)
    return {std::nullopt, "WebhookUnknown", "the webhook configuration cannot be seen now"};
  if (!*facts.asksAbout)
    return {false, "WebhookNotInForce", "the webhook configuration does not ask about " + what + " yet"};
  return facts.probed;
}

}  // namespace lastout::server
