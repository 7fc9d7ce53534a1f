import type { Call } from '../call.ts';
import { type Refused, refused } from '../refusal.ts';
import type { Runtime } from '../runtime.ts';

/** What a WebSocket can't be opened for: its bytes aren't looked at, so nothing that must be taken out of them, or changed in them, may pass. */
export function refuseUpgrade({ scrub, answerEdit, lineEdit, snapshot }: Call, { webSockets }: Runtime): Refused | undefined {
  if (scrub !== null)
    return refused(
      'secret_type_not_injectable',
      "A secret that is shared for use only can't be sent with a WebSocket: its answers aren't searched.",
    );
  if (answerEdit !== null || lineEdit !== null)
    return refused('route_misconfigured', "This route changes fields of messages, which isn't possible in a WebSocket.");
  return webSockets.isFull(snapshot.tenant.id)
    ? refused('concurrency_limit_exceeded', 'Too many open WebSockets. This workspace is limited to 100.')
    : undefined;
}
