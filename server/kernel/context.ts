import type { Capability, MemberRole } from './capabilities.ts';
import type { Expectation } from './expectation.ts';
import type { Db, Tx } from './tx.ts';

export type Space = 'live' | 'test';
export const spaceOf = (sandbox: boolean): Space => (sandbox ? 'test' : 'live');

/**
 * Who is calling. Built by each plane's authentication, consumed by the domain, always an explicit argument.
 * `capabilities` is Effective(caller) before tenant policies (interface rule 24 §1).
 */
export type Actor =
  | {
      type: 'member';
      id: string;
      label: string;
      role: MemberRole;
      reveal_secrets: boolean;
      session_id: string;
      /** When the person last proved who they are (sign-in). */
      signed_in_at: Date;
      mfa_at: Date | null;
      capabilities: ReadonlySet<Capability>;
    }
  | {
      type: 'api_key';
      id: string;
      key_id: string;
      label: string;
      role_ids: readonly string[];
      capabilities: ReadonlySet<Capability>;
    }
  | { type: 'system'; id: null; label: string; capabilities: ReadonlySet<Capability> }
  | { type: 'operator'; id: null; label: string; capabilities: ReadonlySet<Capability> }
  | { type: 'anonymous'; id: null; label: string; capabilities: ReadonlySet<Capability> };

/** Everything a verb may know about the call it serves. One per request. */
export type Ctx = {
  db: Db;
  /** The transaction an idempotent call runs in, so that its effect and its stored answer commit together. */
  tx?: Tx;
  /** Set for an edit that must not overwrite what somebody else saved meanwhile. */
  expects?: Expectation;
  tenant_id: string;
  sandbox: boolean;
  actor: Actor;
  /** The workspace's plan at authentication; limits are read again in the transaction. */
  plan: 'free' | 'starter' | 'pro' | 'enterprise';
  /** Set for members: in a workspace whose subscription ended they may look and leave, not build. */
  subscription_status?: string;
  request_id: string;
  ip: string | null;
  user_agent: string | null;
  now: Date;
  /** Advisory texts, sent as meta.warnings. */
  warnings: string[];
  /** Set by the few verbs that change both spaces: what the gateway reads again before the answer is relayed. */
  changed?: Space[];
};

/** What a hot operation may know of its call: the gateway serves it without Prisma and without a transaction. */
export type HotCtx = Omit<Ctx, 'db' | 'tx' | 'expects' | 'changed'>;

/** The spaces a changing call announces, as `tenant_id:live` or `tenant_id:test`. */
export const announced = ({ tenant_id, sandbox, changed }: Pick<Ctx, 'tenant_id' | 'sandbox' | 'changed'>): string[] =>
  (changed ?? [spaceOf(sandbox)]).map((space) => `${tenant_id}:${space}`);

/** The tenant and space every partitioned query and row carries (interface rule 64 §3). */
export const own = (ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>) => ({ tenant_id: ctx.tenant_id, sandbox: ctx.sandbox });
