import { network, take } from '#server/platform/throttle.ts';
import type { Directory } from './directory.ts';
import { AcmeProblem } from './problem.ts';

const RULES = {
  /** Signed requests from one network to one root. */
  request: { limit: 1_200, window_sec: 60 },
  /** Of one network: what may still be unknown is tried with a binding. */
  register: { limit: 60, window_sec: 3_600 },
  /** Of one account. */
  order: { limit: 300, window_sec: 3_600 },
  challenge: { limit: 600, window_sec: 3_600 },
} as const;

/** Counts one request, or refuses it and says when to come back (RFC 8555 §6.6). @throws AcmeProblem rateLimited */
export async function spend(what: keyof typeof RULES, subject: string, now: Date): Promise<void> {
  const { allowed, retry_after } = await take({ what: `acme-${what}`, subject, ...RULES[what] }, now);
  if (allowed) return;
  throw new AcmeProblem('rateLimited', `Too many requests of this kind. Try again in ${retry_after} seconds.`, {
    headers: { 'retry-after': String(retry_after) },
  });
}

export const networkAt = ({ root }: Directory, ip: string | null): string => `${root.id}:${network(ip)}`;
