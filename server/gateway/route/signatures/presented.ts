import { isUuid } from '#server/kernel/fields.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { SignatureRule } from '../../snapshot/model.ts';
import type { RouteCall } from '../route-call.ts';

/** What a caller brings to prove that it signed the call, read and found well-formed. */
export type Presented = {
  /** Unix seconds. */
  timestamp: number;
  /** Unix seconds from which the caller itself wants it refused; null without. */
  expires: number | null;
  nonce: string | null;
  /** ID of the credential; null to try every one. */
  keyId: string | null;
  /** Signatures any of which is enough, by the kind of credential they can be of. */
  hmac: readonly Buffer[];
  ed25519: readonly Buffer[];
  /** Texts of which one must be signed, each in parts; null when the body isn't the one that was signed. */
  messages(body: Buffer): readonly (readonly Uint8Array[])[] | null;
};

export type Read = (call: RouteCall, rule: SignatureRule) => Presented | Refused;

/** Values of a header's lines; '' counts as absent. */
export function linesOf({ names, req }: RouteCall, name: string): string[] {
  const found: string[] = [];
  for (let i = 0; i < names.length; i++) {
    if (names[i] !== name) continue;
    const value = (req.rawHeaders[i * 2 + 1] as string).trim();
    if (value !== '') found.push(value);
  }
  return found;
}

/** Of names that may come only once: the value, null when absent. `undefined`: it came several times. */
export function lineOf(call: RouteCall, name: string): string | null | undefined {
  const lines = linesOf(call, name);
  return lines.length > 1 ? undefined : (lines[0] ?? null);
}

export const UNIX_SECONDS = /^\d{10}$/;

/** X-Svc-Key-Id; undefined when it is malformed. */
export function keyIdOf(call: RouteCall): string | null | undefined {
  const id = lineOf(call, 'x-svc-key-id');
  return id === undefined || (id !== null && !isUuid(id)) ? undefined : (id?.toLowerCase() ?? null);
}

/** The route as it was sent: the header's value, or the path segment before percent-decoding. */
export function referenceOf(call: RouteCall): string {
  const { state, target } = call;
  if (state.routeHeader !== '') return lineOf(call, 'x-svc-route') ?? '';
  const slash = target.slice(1).search(/[/?]/);
  return slash < 0 ? target.slice(1) : target.slice(1, slash + 1);
}

export const missing = (needs: string): Refused => refused('signature_required', `This route requires signed calls. Send ${needs}.`);
export const invalid = (message = 'The signature is not valid for this call.'): Refused => refused('signature_invalid', message);
