import type { RouteCall } from '../route-call.ts';

/**
 * Step 6: the client the source address belongs to. Where clients are required only assigned ones count; elsewhere any enabled one is
 * noted for the log, without effect on admission (interface rule 11 §3.1).
 */
export function matchClient(call: RouteCall): undefined {
  const { receivedAt } = call;
  const { environment } = call.state;
  for (const match of call.snapshot.clientsAt(call.sourceAddress)) {
    if (match.endsAt <= receivedAt) continue;
    if (environment?.requiresClients && !environment.assigned.has(match.client.id)) continue;
    call.client = match;
    return;
  }
}
