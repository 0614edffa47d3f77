#!/bin/bash
# force_delete_all.sh NAMESPACE: what users of dbops run to get rid of all that is protected in a namespace, as their document
# has it. Where it sleeps for 5 s, this waits until each object is gone or says how its deletion stands, and for a minute at most.

NAMESPACE=${1:-default}

for kind in database databaseuser databaserole databasegrant databasebackupschedule; do
  for name in $(kubectl get $kind -n $NAMESPACE -o name); do
    echo "Force deleting $name..."
    kubectl annotate $name -n $NAMESPACE \
      dbops.dbprovision.io/force-delete="true" --overwrite
  done
done

echo "Waiting for resources to enter PendingDeletion or be deleted..."
for _ in $(seq 300); do
  kubectl get database,databaseuser,databaserole,databasegrant,databasebackupschedule -n $NAMESPACE \
    -o jsonpath='{range .items[*]}{.status.phase}{"\n"}{end}' | grep -qx '' || break
  sleep 0.2
done

# Handle cascade confirmation for parent resources with children
for kind in databaseinstance database databaseuser databaserole; do
  for name in $(kubectl get $kind -n $NAMESPACE -o name 2>/dev/null); do
    HASH=$(kubectl get $name -n $NAMESPACE -o jsonpath='{.status.deletionConfirmation.hash}' 2>/dev/null)
    if [ -n "$HASH" ]; then
      echo "Confirming cascade for $name (hash: $HASH)..."
      kubectl annotate $name -n $NAMESPACE \
        dbops.dbprovision.io/confirm-force-delete="$HASH" --overwrite
    fi
  done
done

echo "Resources will be deleted on next reconciliation"
