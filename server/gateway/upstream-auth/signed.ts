import { type Refused, refused } from '../core/refusal.ts';
import type { UpstreamSigning } from '../snapshot/model.ts';

export type SigningAuth = UpstreamSigning['auth'];

/** Headers to send, and the values in them that are as good as the secret for a while, by the name they are shown under. */
export type Signed = { headers: readonly string[]; credentials: ReadonlyMap<string, string> };

/** For material that can't sign: says which and why, never any of it. */
export const unusable = (name: string, problem: string): Refused =>
  refused('route_misconfigured', `${name} can't sign calls to this upstream: it ${problem}. The call wasn't sent.`);
