import { presentedCertificate } from '../../core/client-certificate.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { ClientMatch } from '../../snapshot/model.ts';
import type { RouteCall } from '../route-call.ts';

/**
 * Step 6: the client whose certificate the caller has, else the one its source address belongs to; a signature, judged later, goes before both. Where clients
 * are required only assigned ones count; elsewhere any enabled one is noted for the log, without effect on admission (interface rule 11 §3.1).
 */
export function matchClient(call: RouteCall, { certificateHeader }: Runtime): undefined {
  const { snapshot, receivedAt } = call;
  if (certificateHeader !== null && snapshot.knowsCertificates) {
    const text = presentedCertificate(call.req, certificateHeader);
    const match = text === undefined ? null : snapshot.clientByCertificate(text);
    if (match && match.beginsAt <= receivedAt && counts(call, match)) {
      call.client = match;
      return;
    }
  }
  for (const match of snapshot.clientsAt(call.sourceAddress)) {
    if (!counts(call, match)) continue;
    call.client = match;
    return;
  }
}

function counts({ receivedAt, state: { environment } }: RouteCall, { endsAt, client }: ClientMatch): boolean {
  return endsAt > receivedAt && (!environment?.requiresClients || environment.assigned.has(client.id));
}
