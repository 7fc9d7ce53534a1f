import { parseCapability } from '#server/crypto/capability-tokens.ts';
import { type Backing, type BackingRule, backingColumn } from '#server/custody/backing.ts';
import type { TokenScope } from '#server/domain/ai-gateways/tokens.schema.ts';
import { sql } from '#server/platform/sql.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

/** A capability token as it is stored. What it may do is only known once its signature holds (`server/crypto/capability-tokens.ts`). */
export type CapabilityToken = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  gateway_id: string;
  /** Null for tokens of a whole gateway. */
  agent_id: string | null;
  name: string | null;
  digest: Uint8Array;
  prefix: string;
  kind: 'agent' | 'read' | 'tool' | 'oneshot';
  /** As PostgreSQL keeps it: signed in this form. */
  scope_jsonb: TokenScope;
  dpop_required: boolean;
  dpop_jkt: string | null;
  expires_at: Date;
  revoked_at: Date | null;
  last_used_at: Date | null;
  capability_hmac: string;
  hmac_key_version: number;
  oneshot_consumed_at: Date | null;
  step_up_required: boolean;
  last_geo: unknown;
  origin: 'minted' | 'exchange' | 'oauth';
  created_by: string | null;
  /** What minted it, as it is now. */
  backing: Backing | null;
};

/** Those of a person end with their membership by a setting of the workspace (interface rule 50 §6.8), which revokes them. */
export const CAPABILITY_BACKING: BackingRule = { needs: 'ai_gateway:mint', people: 'stay' };

export type CapabilityTokens = Pick<KeyedLookup<CapabilityToken>, 'find' | 'forget' | 'forgetAll'> & {
  /** Takes the payload of an announcement: the token is looked up again, and whoever watches it is told. */
  heard(payload: string): void;
  /** Calls back with the ID of every token whose change is announced, and with null when announcements may have been missed. Answers how to stop. */
  watch(changed: (tokenId: string | null) => void): () => void;
};

/** A lost announcement keeps a revoked token alive for at most this long (interface rule 50 §6.8). */
const TTL_MS = 2_000;
const MAX_TOKENS = 50_000;
const MAX_LOADS = 64;

/** Capability tokens of the AI and MCP planes. Nothing is decided by a row older than the TTL: a database that is away refuses, and never with 401. */
export function capabilityTokens(): CapabilityTokens {
  const watching = new Set<(tokenId: string | null) => void>();
  const lookup = keyedLookup<CapabilityToken>({
    load: async (text, digest) => ('fault' in parseCapability(text) ? undefined : tokenRow(digest)),
    max: MAX_TOKENS,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
    max_loads: MAX_LOADS,
  });
  const tell = (tokenId: string | null) => {
    for (const changed of watching) changed(tokenId);
  };
  return {
    find: lookup.find,
    forget: lookup.forget,
    forgetAll() {
      lookup.forgetAll();
      tell(null);
    },
    heard(payload) {
      const [, id = '', hash = ''] = payload.split(':');
      lookup.forgetOne(Buffer.from(hash, 'hex'));
      tell(id);
    },
    watch(changed) {
      watching.add(changed);
      return () => watching.delete(changed);
    },
  };
}

async function tokenRow(digest: Uint8Array): Promise<CapabilityToken | undefined> {
  const { rows } = await sql().query<CapabilityToken>({ name: 'capability-token', text: QUERY, values: [digest] });
  return rows[0];
}

const QUERY = `select t.id, t.tenant_id, t.sandbox, t.gateway_id, t.agent_id, t.name, t.token_hash as digest, t.prefix, t.kind, t.scope_jsonb, t.dpop_required,
    t.dpop_jkt, t.expires_at, t.revoked_at, t.last_used_at, t.capability_hmac, t.hmac_key_version, t.oneshot_consumed_at, t.step_up_required, t.last_geo, t.origin,
    t.created_by, ${backingColumn('t.created_by', 't.tenant_id')}
  from ai_tokens t where t.token_hash = $1`;
