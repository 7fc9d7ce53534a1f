import { countedAs, type PolicyCallers } from '#server/kernel/policy-callers.ts';
import type { Caller } from '../snapshot/model.ts';

/**
 * What calls a route for somebody: a workflow, a receiver, a tool. It has no rights but to call routes; the policies of everybody it calls for bind it, and their
 * limits per caller count it. `userId` is the person that the log names.
 */
export function actingCaller({ id, label, subjects, userId = null }: Acting): Caller {
  const counted = subjects.flatMap((subject) => countedAs(subject) ?? []);
  return {
    id,
    ...(counted.length > 0 ? { countsAs: [...new Set(counted)] } : {}),
    kind: 'api_key',
    ref: id,
    label,
    digest: NO_DIGEST,
    mayInvoke: true,
    mayDetokenize: false,
    allows: null,
    routes: null,
    endsAt: Number.POSITIVE_INFINITY,
    subjects,
    used: [],
    apiKeyId: null,
    oauthClientId: null,
    userId,
  };
}

type Acting = { id: string; label: string; subjects: PolicyCallers; userId?: string | null };

const NO_DIGEST = new Uint8Array(32);
