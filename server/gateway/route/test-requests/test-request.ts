import type { PolicyCallers } from '#server/kernel/policy-callers.ts';
import type { Test } from '../../core/call.ts';
import type { SignatureRule } from '../../snapshot/model.ts';

/** What the route would have asked of a caller, and whether this person's address meets it. Only shown, not enforced. */
export type Checks = {
  requires_clients: { required: boolean; met: boolean; client: string | null };
  ip_allowlist: { required: boolean; met: boolean };
  /** `scheme` is null where no signature is required. */
  require_signature: { required: boolean; scheme: SignatureRule['scheme'] | null };
};

/** The request that goes to the upstream, as it leaves but for the marks in place of values. */
export type Sent = { url: string; headers: readonly string[]; body: Buffer | null; masked: boolean };

/**
 * A call that a person makes from the dashboard to try a route (interface rule 10 §15.2). The phases treat it like any other, except for who may
 * call, and note here what is shown to that person afterwards. It isn't counted against the month, and a dry one stops before the upstream.
 */
export class TestRequest implements Test {
  /** Null when a machine credential made it. */
  readonly userId: string | null;
  readonly dry: boolean;
  readonly subjects: PolicyCallers;
  readonly checks: Checks = {
    requires_clients: { required: false, met: true, client: null },
    ip_allowlist: { required: false, met: true },
    require_signature: { required: false, scheme: null },
  };
  /** Name -> value of every secret that was opened: for masking, and dropped with the test request. */
  secrets: ReadonlyMap<string, string> = new Map();
  /** What templates wrote, with a mark for every value of a secret. */
  shown: { headers: string[] | null; path: string; body: Buffer | null } | null = null;
  sent: Sent | null = null;

  constructor(userId: string | null, dry: boolean, subjects: PolicyCallers) {
    this.userId = userId;
    this.dry = dry;
    this.subjects = subjects;
  }
}
