import type { Reference } from '#server/domain/templates/grammar.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { subjectsOf } from '../../core/call.ts';
import { deniedByPolicy } from '../../core/denied-by-policy.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { Secret } from '../../snapshot/model.ts';
import { hostAllowed } from '../../templates/resolve.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** Step 7: everything that is known of the secrets a call uses without opening one. */
export function findCredential(call: EphemeralCall, runtime: Runtime): Refused | undefined {
  const { state, snapshot } = call;
  if (state.own.has('x-svc-upstream-authorization')) state.credentialMode = 'transit';
  const ref = state.own.get('x-svc-upstream-auth-secret');
  if (ref !== undefined) {
    const found = (isUuid(ref) ? snapshot.secretById(ref.toLowerCase()) : undefined) ?? snapshot.secretByName(ref);
    // A secret that is no wrap credential is not told apart from one that doesn't exist.
    if (!found?.escrow) return refused('credential_not_found', `There is no wrap credential ${ref.slice(0, 128)} in this space.`);
    const refusal = useEscrowed(call, runtime, found);
    if (refusal) return refusal;
  }
  for (const expression of state.scanned?.expressions ?? []) {
    if (expression.kind !== 'secret') continue;
    const found = secretOf(call, runtime, expression.reference);
    if ('code' in found) return found;
  }
  return undefined;
}

/** A secret that a placeholder names, if it may go to the call's upstream. */
export function secretOf(call: EphemeralCall, runtime: Runtime, reference: Reference): Secret | Refused {
  const named = reference.kind === 'secret' ? reference.name : reference.kind === 'secret_id' ? reference.id : '';
  const secret = reference.kind === 'secret_id' ? call.snapshot.secretById(named) : call.snapshot.secretByName(named);
  if (!secret) return refused('secret_not_found', `The secret ${named} doesn't exist.`);
  if (secret.allowedHosts === null && !secret.link?.ownerHosts)
    return refused(
      'secret_not_pinned',
      `The secret ${secret.name} is not pinned to hosts, so a call that names its own upstream can't use it.`,
    );
  return fits(call, runtime, secret) ?? secret;
}

/** The wrap credential that authenticates the call at its upstream. */
export function useEscrowed(call: EphemeralCall, runtime: Runtime, secret: Secret): Refused | undefined {
  call.state.credentialMode = 'escrow';
  call.state.secret = secret;
  return fits(call, runtime, secret);
}

function fits(call: EphemeralCall, runtime: Runtime, secret: Secret): Refused | undefined {
  const hidden = call.snapshot.policyHiding(subjectsOf(call), secret);
  if (hidden) return deniedByPolicy(call, hidden, 'secret:read');
  const pins = [secret.allowedHosts, secret.link?.ownerHosts ?? null].filter((one) => one !== null);
  if (pins.length === 0 || !pins.every((one) => hostAllowed(call, runtime, one)))
    return refused('secret_host_not_allowed', `The secret ${secret.name} must not be sent to ${call.upstream?.host ?? 'this host'}.`);
  return undefined;
}
