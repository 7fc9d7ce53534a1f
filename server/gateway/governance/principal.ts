import type { ValidWindow } from '#server/ai/valid-window.ts';
import { subjectOf } from '#server/custody/backing.ts';
import type { TokenKind, TokenScope } from '#server/domain/ai-gateways/tokens.schema.ts';
import { compileRanges } from '#server/kernel/address.ts';
import type { Space } from '#server/kernel/context.ts';
import type { PolicyCallers } from '#server/kernel/policy-callers.ts';
import type { CapabilityToken } from '../credentials/capability-tokens.ts';
import type { AiAgentConfig, AiGatewayConfig } from '../snapshot/ai-config.ts';

/** What is known of a presented token. */
export type TokenFacts = {
  readonly id: string;
  readonly name: string | null;
  readonly kind: TokenKind;
  /** Its first 16 characters. */
  readonly prefix: string;
  readonly scope: TokenScope;
  readonly gatewayId: string;
  readonly agentId: string | null;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly createdBy: string | null;
  /** What tenant policies see of it: what minted it, or the person it acts for. */
  readonly subjects: PolicyCallers;
  /** minted, exchange or oauth; `test` stands for no token */
  readonly origin: string;
  readonly window: ValidWindow | null;
  /** Null: any address. */
  readonly allows: ((ip: string) => boolean) | null;
  /** Of capability tokens. */
  readonly row?: CapabilityToken;
};

/** A capability token that was presented, with its row. */
export type PresentedToken = TokenFacts & { readonly row: CapabilityToken };

/** The attributed user that a call speaks for. */
export type CallUser = { readonly externalId: string; readonly id: string | null; readonly team: string | null };

/** Who calls an AI plane: a token that held, and what it opens. */
export type Principal = {
  readonly tenantId: string;
  readonly space: Space;
  readonly token: TokenFacts;
  /** Of the token; null when it was archived since. */
  readonly gateway: AiGatewayConfig | null;
  /** Of the token; null for tokens of a whole gateway. */
  readonly agent: AiAgentConfig | null;
  /** Set by the attribution. */
  user: CallUser | null;
};

const compiled = new WeakMap<CapabilityToken, PresentedToken>();

/** A token's row as calls see it. Worked out once for as long as the row is remembered, which is two seconds. */
export function factsOf(row: CapabilityToken): PresentedToken {
  const known = compiled.get(row);
  if (known) return known;
  const scope = row.scope_jsonb as TokenScope;
  const facts: PresentedToken = {
    id: row.id,
    name: row.name,
    kind: row.kind as TokenKind,
    prefix: row.prefix,
    scope,
    gatewayId: row.gateway_id,
    agentId: row.agent_id,
    expiresAt: row.expires_at.getTime(),
    createdBy: row.created_by,
    subjects: [subjectOf(row.backing)],
    origin: row.origin,
    window: scope.valid_window ?? null,
    allows: scope.ip_cidrs && scope.ip_cidrs.length > 0 ? compileRanges(scope.ip_cidrs) : null,
    row,
  };
  compiled.set(row, facts);
  return facts;
}
