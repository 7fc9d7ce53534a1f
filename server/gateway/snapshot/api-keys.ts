import { compileRanges } from '#server/kernel/address.ts';
import { capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import type { Caller } from './model.ts';
import { defineSlice, epochMs, OF_SPACE } from './slice.ts';

type ApiKeyRow = {
  id: string;
  key_id: string;
  digest: string;
  role_ids: string[];
  scopes: string[] | null;
  scoped: boolean;
  ip_allowlist: string[];
  expires_at: number | null;
  revoke_at: number | null;
};

export const apiKeys = defineSlice({
  name: 'api_keys',
  tables: ['api_keys'],
  queries: {
    api_keys: `select tenant_id, sandbox, id, key_id, encode(digest, 'base64') as digest, role_ids, scopes, scoped, coalesce(ip_allowlist, '{}') as ip_allowlist,
      ${epochMs('expires_at')} as expires_at, ${epochMs('revoke_at')} as revoke_at
    from api_keys where ${OF_SPACE} and active`,
  },
  compile(rows: { api_keys: ApiKeyRow[] }) {
    const byKeyId = new Map(rows.api_keys.map((row) => [row.key_id, row]));
    const compiled = new Map<string, Caller>();
    return {
      /** The key of a public key id; active keys only. */
      key(keyId: string): Caller | undefined {
        const known = compiled.get(keyId);
        if (known) return known;
        const row = byKeyId.get(keyId);
        if (!row) return undefined;
        const key = compileKey(row);
        compiled.set(keyId, key);
        return key;
      },
    };
  },
  size: (rows) => rows.api_keys.length,
});

function compileKey(row: ApiKeyRow): Caller {
  // Scopes narrow the roles, as on the Management API: they never add to them.
  const capabilities = capabilitiesOfKey({ ...row, scopes: row.scopes ?? [] });
  return {
    id: row.id,
    kind: 'api_key',
    ref: row.id,
    label: row.key_id,
    digest: Buffer.from(row.digest, 'base64'),
    mayInvoke: capabilities.has('proxy:invoke'),
    mayDetokenize: capabilities.has('vault:detokenize'),
    allows: row.ip_allowlist.length > 0 ? compileRanges(row.ip_allowlist) : null,
    routes: null,
    endsAt: Math.min(row.expires_at ?? Infinity, row.revoke_at ?? Infinity),
    subjects: [{ api_key_id: row.id, key_role_ids: row.role_ids }],
    used: [row.id],
    apiKeyId: row.id,
    oauthClientId: null,
    userId: null,
  };
}
