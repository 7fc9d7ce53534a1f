import { subjectOf } from '#server/custody/backing.ts';
import { checkForwardPath } from '../../core/forward-path.ts';
import { readHeadFields } from '../../core/head-fields.ts';
import { ALL_METHODS, isAccepted } from '../../core/methods.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** Reads the head. Of our own headers only the timeout counts here; the SDK's credential is its own business and is replaced. */
export function inspect(call: EphemeralCall, _runtime: Runtime): Refused | undefined {
  readHeadFields(call, readOwnHeader);
  const { state } = call;
  state.mode = 'transparent';
  state.environmentName = call.snapshot.defaultEnvironment;
  if (state.token) call.credential = { state: 'valid', caller: callerOf(state.token), fault: null };
  if (!isAccepted(call.method))
    return refused('method_not_allowed', `The method ${call.method.slice(0, 32)} is not supported.`, { allow: ALL_METHODS });
  const [path = '/'] = state.rest.split('?', 1);
  return checkForwardPath(path);
}

function readOwnHeader({ state }: EphemeralCall, name: string, value: string): void {
  if (name === 'x-svc-timeout-ms') state.own.set(name, value.trim());
}

const callerOf = ({ id, digest, backing }: NonNullable<EphemeralCall['state']['token']>) => ({
  id,
  kind: 'wrap_token' as const,
  ref: id,
  label: 'gateway token',
  digest,
  mayInvoke: true,
  mayDetokenize: false,
  allows: null,
  routes: null,
  endsAt: Infinity,
  subjects: [subjectOf(backing)] as const,
  used: [id],
  apiKeyId: null,
  oauthClientId: null,
  userId: null,
});
