import { DPOP_ALGORITHMS } from '#server/crypto/dpop.ts';
import { apiUrls, freshNonce, ProofRefused, useProof } from '#server/domain/oauth-grants/dpop.ts';
import { routeUrls } from '#server/domain/tenants/addresses.ts';
import { log } from '#server/platform/log.ts';
import { type AiRefused, aiRefusal } from './envelope.ts';
import type { GovernedCall } from './governed-call.ts';

/** Row 9 (interface rule 51 §3.1): the proof of a bound token. Without the store of used proofs nothing is accepted. */
export async function judgeProof(call: GovernedCall, jkt: string | null): Promise<AiRefused | undefined> {
  if (call.proof === null)
    return refusal('dpop_missing', 'This token is bound to a key. Send a proof in the DPoP header.', 'invalid_dpop_proof');
  if (jkt === null)
    return refusal('dpop_jkt_missing', 'This token asks for proofs and is bound to no key. Mint a new one.', 'invalid_dpop_proof');
  const { tenant, space } = call.snapshot;
  const now = new Date(call.receivedAt);
  call.nonce = freshNonce(now);
  try {
    await useProof({
      header: call.proof,
      method: call.method,
      urls: publicUrls(call),
      now,
      access_token: call.state.presented?.text ?? '',
      jkt,
      nonce_required: tenant.settings.dpop_nonce_required,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ProofRefused)) {
      log.debug({ err: error, request_id: call.requestId, space }, 'a DPoP proof could not be checked');
      return aiRefusal('dependency_unavailable', "The gateway can't check the DPoP proof. Try again shortly.");
    }
    if (error.reason === 'replay') return refusal('dpop_replayed', error.message, 'invalid_dpop_proof');
    if (error.reason === 'binding') return refusal('dpop_jkt_mismatch', error.message, 'invalid_dpop_proof');
    return refusal('dpop_invalid', error.message, error.reason === 'nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof');
  }
}

/** Every public URL of the call, from configuration: its host, its path mount and the API host. */
function publicUrls({ snapshot: { tenant, space }, target }: GovernedCall): string[] {
  const mounted = target.startsWith('/v1/') ? target : `/v1${target}`;
  const [live, test] = apiUrls(mounted);
  return [...routeUrls(tenant.slug, space).map((base) => base + target), space === 'live' ? live : test];
}

const refusal = (
  code: 'dpop_missing' | 'dpop_jkt_missing' | 'dpop_invalid' | 'dpop_jkt_mismatch' | 'dpop_replayed',
  message: string,
  error: string,
) => aiRefusal(code, message, { challenge: `DPoP error="${error}", algs="${DPOP_ALGORITHMS.join(' ')}"` });
