import { DPOP_ALGORITHMS } from '#server/crypto/dpop.ts';
import type { AccessToken } from '#server/domain/oauth-grants/access-tokens.ts';
import { freshNonce, ProofRefused, useProof } from '#server/domain/oauth-grants/dpop.ts';
import { apiUrl, routeUrls } from '#server/domain/tenants/addresses.ts';
import { log } from '#server/platform/log.ts';
import type { Busy } from '../credentials/keyed-lookup.ts';
import { BAD_CREDENTIAL, type Call } from './call.ts';
import { type Refused, refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';
import { callerOf } from './token-caller.ts';

type Scheme = 'bearer' | 'dpop';
type Outcome = Refused | undefined;

/**
 * Judges a presented access token and keeps the result in `call.credential`, as for keys. At once when the token is known and bound to nothing. A refusal
 * says only that nothing can be decided now; what is wrong with the credential waits for the admission.
 */
export function verifyToken(call: Call, text: string, scheme: Scheme, { tokens }: Runtime): Outcome | Promise<Outcome> {
  const found = tokens.find(text);
  if (found instanceof Promise)
    return found.then(
      (known) => judge(call, known, text, scheme),
      (error: unknown) => {
        log.debug({ err: error, request_id: call.requestId }, 'an access token could not be looked up');
        return UNDECIDED;
      },
    );
  return judge(call, found, text, scheme);
}

const UNDECIDED = refused('dependency_unavailable', "The gateway can't check the access token. Try again shortly.");

function judge(call: Call, known: AccessToken | null | Busy, text: string, scheme: Scheme): Outcome | Promise<Outcome> {
  if (known === 'busy') return UNDECIDED;
  const { snapshot } = call;
  // A token of another workspace, or for an MCP server, is not told apart from one that doesn't exist.
  if (known === null || known.tenant_id !== snapshot.tenant.id || known.aud !== null || callerOf(known).endsAt <= call.receivedAt) {
    call.credential = BAD_CREDENTIAL;
    return undefined;
  }
  if (known.cnf_jkt === null) accept(call, known, scheme === 'bearer');
  else if (scheme === 'bearer') call.credential = { state: 'bad', caller: null, fault: faulty('invalid_token', BOUND) };
  else return judgeProof(call, known, text);
  return undefined;
}

const BOUND = 'This access token is bound to a key. Send it as "Authorization: DPoP ...", with a proof in DPoP.';

function accept(call: Call, known: AccessToken, rightly: boolean): void {
  const state = known.sandbox === call.snapshot.sandbox ? 'valid' : 'wrong_space';
  call.credential = rightly ? { state, caller: callerOf(known), fault: null } : BAD_CREDENTIAL;
}

/** The table of interface rule 21 §9. Without the store of proofs nothing is accepted (interface rule 12 §15). */
async function judgeProof(call: Call, known: AccessToken, text: string): Promise<Outcome> {
  const { tenant } = call.snapshot;
  const now = new Date(call.receivedAt);
  call.nonce = freshNonce(now);
  try {
    await useProof({
      header: call.proof,
      method: call.method,
      urls: publicUrls(call).map((base) => base + call.target),
      now,
      access_token: text,
      jkt: known.cnf_jkt ?? '',
      nonce_required: tenant.settings.dpop_nonce_required,
    });
    accept(call, known, true);
    return undefined;
  } catch (error) {
    if (!(error instanceof ProofRefused)) {
      log.debug({ err: error, request_id: call.requestId }, 'a DPoP proof could not be checked');
      return UNDECIDED;
    }
    const challenge = error.reason === 'missing' ? 'invalid_token' : error.reason === 'nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof';
    call.credential = { state: 'bad', caller: null, fault: faulty(challenge, error.message) };
    return undefined;
  }
}

/** Where the call can have been sent to, as its proof names it. */
const publicUrls = ({ planeName, snapshot: { tenant, space } }: Call): string[] =>
  planeName === 'proxy' ? [apiUrl(space).slice(0, -'/v1'.length)] : routeUrls(tenant.slug, space);

const faulty = (error: string, message: string): Refused =>
  refused('invalid_dpop_proof', message, { challenge: `DPoP error="${error}", algs="${DPOP_ALGORITHMS.join(' ')}"` });
