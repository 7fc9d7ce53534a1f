import { BAD_CREDENTIAL } from '../../core/call.ts';
import { holdsOurs, isOurKey, ourAuthorization, verify } from '../../core/presented-credential.ts';
import type { RouteCall } from '../route-call.ts';

/**
 * Step 4: takes the first credential in the order X-Svc-Key, agent pair, Authorization, x-api-key and judges it. The result is kept;
 * nobody is answered before the route was looked up, so that existing and missing routes take the same time.
 */
export function authenticate(call: RouteCall): undefined {
  const authorization = call.authorization === null ? undefined : ourAuthorization(call.authorization);
  const apiKey = call.apiKeyHeader !== null && isOurKey(call.apiKeyHeader) ? call.apiKeyHeader.trim() : undefined;
  call.stripAuthorization = authorization !== undefined || (call.authorization !== null && holdsOurs(call.authorization));
  call.stripApiKey = apiKey !== undefined || (call.apiKeyHeader !== null && holdsOurs(call.apiKeyHeader));
  if (call.presentedKey === null && call.agentPair) {
    call.credential = BAD_CREDENTIAL; // no agent sessions are issued, so none can be good
    return;
  }
  call.credential = verify(call.presentedKey ?? authorization ?? apiKey ?? null, call.snapshot, call.otherSpace, call.receivedAt);
}
