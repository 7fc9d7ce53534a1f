import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { Sensitive } from '#server/crypto/sensitive.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { createTokenClient, TokenFault } from '#server/platform/connect/oauth2.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { noteAside } from '#server/platform/side-note.ts';
import { auditRow, insertAuditRows } from '../audit-rows.ts';
import { openedSecret, SecretUnusable } from './secrets.ts';

// A person's access to an upstream (interface rule 52 §8). Tokens are opened for one use, refreshed by one process at a time, and destroyed with the grant.

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;

/** What is sealed of a grant. */
export type GrantTokens = { access_token: string; refresh_token?: string | undefined; client_secret?: string | undefined };

type GrantRow = {
  id: string;
  mcp_server_id: string;
  external_id: string;
  token_endpoint: string;
  client_id: string;
  client_auth: string;
  resource: string | null;
  value_ct: Buffer;
  cek_wrapped: Buffer;
  tmk_version: number;
  expires_at: Date | null;
  last_used_at: Date | null;
  /** Of the server's settings: where a configured client secret is kept. */
  client_secret_id: string | null;
  environment: string | null;
};

/** The token can't be had now, though the grant may be good: its authorization server is down, or the workspace's key is away. */
export class GrantUnavailable extends Error {
  override readonly name = 'GrantUnavailable';
}

const REFRESH_BEFORE_MS = 60_000;
const REFRESH_LEASE_MS = 20_000;
const POLL_MS = 100;

/** Whom a grant is asked for: a person by their ID, or by the name in a token's signed scope, which is the email address they have now. */
export type Grantee = { readonly userId: string } | { readonly name: string };

/**
 * The ID of a person's live grant; null when there is none: they must connect first. The ID of the person decides and never the address that the grant was made
 * under: addresses change hands.
 */
export async function grantOf(space: Space, serverId: string, grantee: Grantee): Promise<string | null> {
  const [row] =
    'userId' in grantee
      ? await ownRows<{ id: string }>(space, OF_PERSON, serverId, grantee.userId)
      : await ownRows<{ id: string }>(space, OF_NAME, serverId, grantee.name);
  return row?.id ?? null;
}

/**
 * An access token that is good for another minute; null when the grant has ended, and the person must connect again. `refused` is the token that the upstream
 * turned down: another one is fetched, once. @throws GrantUnavailable
 */
export async function grantToken(
  space: Space,
  grantId: string,
  { refused, now = () => new Date() }: { refused?: string | undefined; now?: () => Date } = {},
): Promise<Sensitive<string> | null> {
  for (let waited = 0; ; waited += POLL_MS) {
    const [row] = await ownRows<GrantRow>(space, GRANT, grantId);
    if (!row) return null;
    const tokens = await openTokens(space, row);
    const usable = tokens.access_token !== refused;
    const ends = row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
    if (usable && ends > now().getTime() + REFRESH_BEFORE_MS) return used(space, row, tokens, now());
    if (tokens.refresh_token === undefined) {
      if (usable && ends > now().getTime()) return used(space, row, tokens, now());
      await end(space, row, usable ? 'expired' : 'refused by the upstream');
      return null;
    }
    if (await takeLease(space, grantId, row.tmk_version, row.value_ct)) return refreshed(space, row, tokens, now());
    // Somebody else refreshes it. An old token that still works is better than waiting.
    if (usable && ends > now().getTime() + 5_000) return used(space, row, tokens, now());
    if (waited > REFRESH_LEASE_MS) throw new GrantUnavailable('The access token is still being refreshed.');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The new tokens are stored before anybody uses them: most servers accept a refresh token once. */
async function refreshed(space: Space, row: GrantRow, tokens: GrantTokens, now: Date): Promise<Sensitive<string> | null> {
  let rotated = tokens.refresh_token as string;
  try {
    const fetched = await createTokenClient(http()).token({
      tenant: space.tenant_id,
      space: spaceOf(space.sandbox),
      credential: row.id,
      token_endpoint: row.token_endpoint,
      client_id: row.client_id,
      client_secret: await clientSecret(space, row, tokens, now),
      client_auth: row.client_auth === 'client_secret_post' ? 'post' : 'basic',
      refresh_token: new Sensitive(rotated),
      refreshTokenRotated: async (token) => {
        rotated = token.reveal();
      },
      parameters: row.resource === null ? {} : { resource: row.resource },
    });
    const next: GrantTokens = { ...tokens, access_token: fetched.access_token.reveal(), refresh_token: rotated };
    const sealed = await sealTokens(space, row.id, next);
    const stored = await inOwnTransaction(space, async (client) => {
      const { rowCount } = await client.query(
        `update mcp_grants set value_ct = $2, cek_wrapped = $3, tmk_version = $4, expires_at = $5, last_refreshed_at = $6, updated_at = $6, refreshing_until = null
         where id = $1 and status = 'active'`,
        [row.id, sealed.value_ct, sealed.cek_wrapped, sealed.tmk_version, fetched.expires_at, now],
      );
      return rowCount === 1;
    });
    // Revoked meanwhile.
    return stored ? used(space, row, next, now) : null;
  } catch (error) {
    if (error instanceof TokenFault && error.kind === 'rejected' && error.code === 'invalid_grant') {
      await end(space, row, 'invalid_grant');
      return null;
    }
    await inOwnTransaction(space, (client) => client.query('update mcp_grants set refreshing_until = null where id = $1', [row.id]));
    if (error instanceof TokenFault || error instanceof SecretUnusable) throw new GrantUnavailable(error.message);
    throw error;
  }
}

/** What a registration gave out is kept with the tokens; what was configured, where it was stored. */
async function clientSecret(
  space: Space,
  row: GrantRow,
  { client_secret }: GrantTokens,
  now: Date,
): Promise<Sensitive<string> | undefined> {
  if (row.client_auth === 'none') return undefined;
  if (client_secret !== undefined) return new Sensitive(client_secret);
  if (row.client_secret_id === null) throw new GrantUnavailable('The client secret of the server is no longer configured.');
  return openedSecret(space, { id: row.client_secret_id, environment: row.environment, url: row.token_endpoint, now });
}

/** One process refreshes: whoever changes the row first. It changes nothing if the tokens aren't those that were read. */
const takeLease = (space: Space, id: string, version: number, read: Buffer): Promise<boolean> =>
  inOwnTransaction(space, async (client) => {
    const { rowCount } = await client.query(
      `update mcp_grants set refreshing_until = now() + interval '${REFRESH_LEASE_MS} milliseconds'
       where id = $1 and status = 'active' and tmk_version = $2 and value_ct = $3 and (refreshing_until is null or refreshing_until < now())`,
      [id, version, read],
    );
    return rowCount === 1;
  });

/** The tokens go; the row stays to say that there was a grant. */
async function end(space: Space, row: GrantRow, reason: string): Promise<void> {
  const ended = await inOwnTransaction(space, async (client) => {
    const { rowCount } = await client.query(
      `update mcp_grants set ${ERASED}, revoked_at = now(), updated_at = now() where id = $1 and status = 'active'`,
      [row.id],
    );
    return rowCount === 1;
  });
  if (!ended) return;
  const ctx: HotCtx = {
    ...space,
    actor: { type: 'system', id: null, label: 'MCP gateway', capabilities: new Set() },
    plan: 'enterprise',
    request_id: '',
    ip: null,
    user_agent: null,
    now: new Date(),
    warnings: [],
  };
  const details = { grant_id: row.id, external_id: row.external_id, reason };
  await insertAuditRows(space, [auditRow(ctx, { action: 'revoke', resource_type: 'mcp_server', resource_id: row.mcp_server_id, details })]);
}

/** What a revoked grant loses. */
export const ERASED =
  "status = 'revoked', value_ct = null, cek_wrapped = null, tmk_version = null, has_refresh_token = false, expires_at = null, refreshing_until = null";

async function used(space: Space, row: GrantRow, tokens: GrantTokens, now: Date): Promise<Sensitive<string>> {
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > 60_000)
    await noteAside(() =>
      inOwnTransaction(space, (client) => client.query('update mcp_grants set last_used_at = $2 where id = $1', [row.id, now])),
    );
  return new Sensitive(tokens.access_token);
}

const placeOf = ({ tenant_id, sandbox }: Space, id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'mcp_grant', row_id: id }) as const;

/** The columns of a grant's tokens. @throws TenantKeyUnavailable */
export async function sealTokens(space: Space, grantId: string, tokens: GrantTokens) {
  const bytes = Buffer.from(JSON.stringify(tokens));
  try {
    return await keyring().sealValue(placeOf(space, grantId), bytes);
  } finally {
    bytes.fill(0);
  }
}

/** @throws GrantUnavailable */
export async function openTokens(
  space: Space,
  row: Pick<GrantRow, 'id' | 'value_ct' | 'cek_wrapped' | 'tmk_version'>,
): Promise<GrantTokens> {
  const bytes = await keyring()
    .openValue(placeOf(space, row.id), row)
    .catch((error: unknown) => {
      if (!(error instanceof TenantKeyUnavailable || error instanceof DecryptFailed)) throw error;
      throw new GrantUnavailable("This workspace's encryption key is unavailable.");
    });
  try {
    return JSON.parse(bytes.toString('utf8'));
  } finally {
    bytes.fill(0);
  }
}

const open = processState('mcp-grant-http', (): { http?: OutboundHttp | undefined } => ({}));
const http = () => (open.http ??= openHttp({ connections: 2, connectTimeoutMs: 5_000 }));

const OF_PERSON = ownQuery(
  'custody-mcp-grant-of',
  `select id from mcp_grants where tenant_id = $1 and sandbox = $2 and mcp_server_id = $3::uuid and user_id = $4::uuid and status = 'active'`,
);
const OF_NAME = ownQuery(
  'custody-mcp-grant-of-name',
  `select g.id from mcp_grants g join users u on u.id = g.user_id and u.disabled_at is null
   where g.tenant_id = $1 and g.sandbox = $2 and g.mcp_server_id = $3::uuid and g.status = 'active' and lower(u.email) = $4`,
);
const GRANT = ownQuery(
  'custody-mcp-grant',
  `select g.id, g.mcp_server_id, g.external_id, g.token_endpoint, g.client_id, g.client_auth, g.resource, g.value_ct, g.cek_wrapped, g.tmk_version, g.expires_at,
     g.last_used_at, (s.auth->'oauth'->>'client_secret_id')::uuid as client_secret_id, s.auth->>'environment_name' as environment
   from mcp_grants g join mcp_servers s on s.id = g.mcp_server_id and s.status <> 'archived'
   where g.tenant_id = $1 and g.sandbox = $2 and g.id = $3::uuid and g.status = 'active'`,
);
