import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';
import { FORWARDING, goTo, timeoutOf } from '../phases/address.ts';
import { useEscrowed } from '../phases/find-credential.ts';

/** Where the call goes and with what: the token's host, and the credential it stands for. */
export function openHost(call: EphemeralCall, runtime: Runtime): Refused | undefined {
  const { state, snapshot } = call;
  const timeoutMs = timeoutOf(state.own.get('x-svc-timeout-ms'));
  if (timeoutMs === undefined) return refused('validation_error', 'X-Svc-Timeout-Ms: must be a whole number from 1 to 30000.');
  call.forwarding = { timeoutMs, ...FORWARDING };
  const host = state.token?.host ?? '';
  const test = [...runtime.resolver.settings.testHosts.keys()].find((known) => known.startsWith(`${host}:`));
  const secret = snapshot.secretById(state.token?.secret_id ?? '');
  const refusal = goTo(call, runtime, `https://${test ?? host}${state.rest}`);
  if (refusal) return refusal;
  return secret ? useEscrowed(call, runtime, secret) : refused('credential_not_found', 'The credential of this gateway token was deleted.');
}
