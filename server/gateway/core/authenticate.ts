import { BAD_CREDENTIAL, type Call } from './call.ts';
import { verifyAgent } from './presented-agent.ts';
import { holdsOurs, isOurKey, isToken, ourAuthorization, verify } from './presented-credential.ts';
import { verifyToken } from './presented-token.ts';
import type { Refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';

/**
 * Step 4: takes the first credential in the order X-Svc-Key, agent pair, Authorization, x-api-key and judges it. The result is kept;
 * nobody is answered before the route was looked up, so that existing and missing routes take the same time.
 */
export function authenticate(call: Call, runtime: Runtime): undefined | Refused | Promise<Refused | undefined> {
  if (call.caller !== null) {
    call.credential = { state: 'valid', caller: call.caller, fault: null };
    return undefined;
  }
  const authorization = call.authorization === null ? undefined : ourAuthorization(call.authorization);
  const apiKey = call.apiKeyHeader !== null && isOurKey(call.apiKeyHeader) ? call.apiKeyHeader.trim() : undefined;
  call.stripAuthorization = authorization !== undefined || (call.authorization !== null && holdsOurs(call.authorization));
  call.stripApiKey = apiKey !== undefined || (call.apiKeyHeader !== null && holdsOurs(call.apiKeyHeader));
  // A proof belongs to the token beside it: with a token of the upstream's, it is the upstream's.
  call.stripProof = authorization?.scheme === 'dpop';
  if (call.presentedKey === null && call.agentToken !== null) return verifyAgent(call, runtime);
  const scheme = call.presentedKey === null ? authorization?.scheme : undefined;
  const text = call.presentedKey ?? authorization?.text ?? apiKey ?? null;
  if (text !== null && isToken(text)) return verifyToken(call, text, scheme ?? 'bearer', runtime);
  // Keys are bound to nothing, so scheme DPoP is not theirs (interface rule 21 §9).
  call.credential = scheme === 'dpop' ? BAD_CREDENTIAL : verify(text, call.snapshot, call.otherSpace, call.receivedAt);
  return undefined;
}
