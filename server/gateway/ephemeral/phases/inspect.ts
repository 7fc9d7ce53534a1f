import { readHeadFields } from '../../core/head-fields.ts';
import { ALL_METHODS, isAccepted } from '../../core/methods.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** Reads the head once. What it says is judged after the caller is known. */
export function inspect(call: EphemeralCall): Refused | undefined {
  readHeadFields(call, readOwnHeader);
  if (!isAccepted(call.method))
    return refused('method_not_allowed', `The method ${call.method.slice(0, 32)} is not supported.`, { allow: ALL_METHODS });
  const mark = call.target.indexOf('?');
  call.state.calledQuery = mark < 0 ? null : call.target.slice(mark + 1);
  return undefined;
}

const READ = new Set([
  'x-svc-proxy-url',
  'x-svc-proxy-mode',
  'x-svc-encrypted',
  'x-svc-timeout-ms',
  'x-svc-upstream-authorization',
  'x-svc-upstream-auth-secret',
  'x-svc-upstream-auth-scheme',
  'x-svc-environment',
]);

function readOwnHeader({ state }: EphemeralCall, name: string, value: string): void {
  if (READ.has(name)) state.own.set(name, value.trim());
}
