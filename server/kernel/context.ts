import type { StepUp, StepUpDigest } from './action-scopes.ts';
import type { Capability, MemberRole } from './capabilities.ts';
import type { PolicyCallers } from './policy-callers.ts';
import type { Expectation } from './precondition.ts';
import type { Db, Tx } from './tx.ts';

export type Space = 'live' | 'test';
export const spaceOf = (sandbox: boolean): Space => (sandbox ? 'test' : 'live');

/**
 * Who is calling. Built by the credential readers of each plane, consumed by the domain, always an explicit argument.
 * `capabilities` is Effective(caller) before tenant policies (interface rule 24 §1); `label` is what an audit entry calls the caller.
 */
export type Actor = {
  label: string;
  capabilities: ReadonlySet<Capability>;
  /** What tenant policies see of a caller that works for others, such as a token for what minted it; itself without it. */
  acts_for?: PolicyCallers;
} & (
  | {
      type: 'member';
      id: string;
      role: MemberRole;
      reveal_secrets: boolean;
      /** An Admin without it decides nothing about migrations; Owners and Admins have it otherwise. */
      migration_reviewer: boolean;
      session_id: string;
      /** When the person last proved who they are (sign-in). */
      signed_in_at: Date;
      mfa_at: Date | null;
    }
  | { type: 'api_key'; id: string; key_id: string; role_ids: readonly string[] }
  /** `id` is the OAuth client's row. A token of a person carries `user_id`, one of a refresh family `family_id` (interface rule 21 §2). */
  | {
      type: 'oauth_token';
      id: string;
      client_id: string;
      token_id: string;
      user_id: string | null;
      /** The person that the token acts for, as they are now. */
      person: { email: string; role: MemberRole } | null;
      /** The API key that the client mirrors: what binds the key binds its tokens. */
      source_key: { id: string; role_ids: readonly string[] } | null;
      family_id: string | null;
      scopes: readonly string[];
      /** When the person confirmed the login with a second factor, if they did. */
      step_up_at: Date | null;
      /** When the person approved the login. Absent outside of the Management API. */
      login_at?: Date | null;
    }
  /** Single use, in a browser. The audit names who minted it (interface rule 41 §12). */
  | { type: 'client_token'; id: string; minted_by: MintedBy; origin: string | null; bound: ClientTokenBinding }
  /** A token of the AI gateway or its MCP servers; `agent_id` is the AI agent it works for (interface rule 50 §6). */
  | { type: 'capability_token'; id: string; agent_id: string; token_kind: 'agent' | 'read' | 'tool' | 'oneshot'; minted_by: MintedBy }
  /** A client of the ACME server, with the account of one role of a certificate authority. */
  | { type: 'acme_account'; id: string; minted_by: MintedBy }
  /** An on-host agent with its session (interface rule 63 §5). */
  | { type: 'agent'; id: string; agent_id: string; mode: 'control' | 'intercept' | 'server' | 'proxy' }
  | { type: 'scim'; id: string; prefix: string }
  /** Somebody of another workspace that something is shared with; `label` names the workspace and masks the person. */
  | { type: 'partner'; id: null }
  | { type: 'operator'; id: null }
  | { type: 'system'; id: null }
  | { type: 'anonymous'; id: null }
);

/** The credential that minted a token, as an audit entry names it. */
export type MintedBy = { type: AuditActorType; id: string; label: string };

/** What a client token opens, by its digest, or the vault that it puts a value into. */
export type ClientTokenBinding = {
  payload_sha256: Uint8Array | null;
  key_id: string | null;
  vault_id: string | null;
  token_id: string | null;
  role: string | null;
};

/** The API key that a caller is, or that its token was minted from. */
export function keyBehind(actor: Actor): { id: string; role_ids: readonly string[] } | null {
  if (actor.type === 'oauth_token') return actor.source_key;
  return actor.type === 'api_key' ? actor : null;
}

/** Who makes what a call makes: the person, also behind a token, else the credential by its ID. Null for the deployment itself. */
export function makerOf(actor: Actor): string | null {
  if (actor.type === 'oauth_token') return actor.user_id ?? actor.id;
  if (actor.type === 'client_token' || actor.type === 'capability_token' || actor.type === 'acme_account') return actor.minted_by.id;
  return actor.type === 'member' || actor.type === 'api_key' || actor.type === 'scim' ? actor.id : null;
}

/** The role of the person who calls, or whom a token acts for; null for machines. */
export function roleOf(actor: Actor): MemberRole | null {
  if (actor.type === 'oauth_token') return actor.person?.role ?? null;
  return actor.type === 'member' ? actor.role : null;
}

/** What the audit log calls an actor (interface rule 61 §2). */
export type AuditActorType = 'user' | 'api_key' | 'oauth_client' | 'scim' | 'agent' | 'system' | 'operator';

/** Who an audit entry names. `user` is the person behind a client that acts for one. */
export type AuditActor = { type: AuditActorType; id: string | null; label: string; user?: { id: string; label: string } };

/** A token that works for the credential which minted it leaves that credential's name. */
export function auditActor(actor: Actor): AuditActor {
  switch (actor.type) {
    case 'member':
      return { type: 'user', id: actor.id, label: actor.label };
    case 'oauth_token':
      return {
        type: 'oauth_client',
        id: actor.id,
        label: actor.label,
        ...(actor.user_id === null ? {} : { user: { id: actor.user_id, label: actor.person?.email ?? '' } }),
      };
    case 'client_token':
    case 'capability_token':
      return mintedAs(actor.minted_by);
    case 'acme_account':
      return { ...mintedAs(actor.minted_by), label: `${actor.label}, made by ${actor.minted_by.label}` };
    case 'anonymous':
      return { type: 'system', id: null, label: actor.label };
    case 'partner':
      return { type: 'user', id: null, label: actor.label };
    default:
      return { type: actor.type, id: actor.id, label: actor.label };
  }
}

const mintedAs = ({ type, id, label }: MintedBy): AuditActor => ({ type, id, label });

/** Everything a verb may know about the call it serves. One per request. */
export type Ctx = {
  db: Db;
  /** The transaction an idempotent call runs in, so that its effect and its stored answer commit together. */
  tx?: Tx;
  /** Set for an edit that must not overwrite what somebody else saved meanwhile. */
  expects?: Expectation;
  /** Set for a member's call that they must confirm; `mutate` uses the verification up. */
  step_up?: StepUp;
  /** SHA-256 of X-Svc-StepUp. */
  step_up_digest?: StepUpDigest | null;
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
  /** X-Reveal-Reason of a person's call, as it was sent: percent-encoded. */
  reveal_reason?: string | undefined;
  /** Set by the gate of a reveal: how many the person has left in this window. */
  reveals_left?: number;
  /** Set for `run` of a reveal: the details of its committed audit entry, so that what is shown is what was audited. */
  granted?: Readonly<Record<string, unknown>>;
  /** Set by the few verbs that change both spaces: what the gateway reads again before the answer is relayed. */
  changed?: Space[];
  /** Set by what reaches another workspace, as the announcements of that workspace: `tenant_id:live`. */
  changed_elsewhere?: string[];
};

/** What a hot operation may know of its call: the gateway serves it without Prisma and without a transaction. */
export type HotCtx = Omit<
  Ctx,
  'db' | 'tx' | 'expects' | 'step_up' | 'step_up_digest' | 'changed' | 'changed_elsewhere' | 'reveal_reason' | 'reveals_left' | 'granted'
>;

/** The spaces a changing call announces, as `tenant_id:live` or `tenant_id:test`. */
export const announced = ({
  tenant_id,
  sandbox,
  changed,
  changed_elsewhere = [],
}: Pick<Ctx, 'tenant_id' | 'sandbox' | 'changed' | 'changed_elsewhere'>): string[] => [
  ...(changed ?? [spaceOf(sandbox)]).map((space) => `${tenant_id}:${space}`),
  ...changed_elsewhere,
];

/** The tenant and space every partitioned query and row carries (interface rule 64 §3). */
export const own = (ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>) => ({ tenant_id: ctx.tenant_id, sandbox: ctx.sandbox });
