import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { noteAside } from '#server/platform/side-note.ts';

// Sessions at upstreams that keep state, for clients that know none (interface rule 52 §3.2): one per token and grant, shared by all gateways.

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;
export type SessionOf = { serverId: string; tokenId: string; grantId: string | null };
export type KeptSession = { sessionId: string; version: string };
type Row = { id: string; value_ct: Buffer; cek_wrapped: Buffer; tmk_version: number; protocol_version: string };

const NO_GRANT = '00000000-0000-0000-0000-000000000000';
const values = ({ serverId, tokenId, grantId }: SessionOf) => [serverId, tokenId, grantId ?? NO_GRANT] as const;

/** The session that is used, and now used again; undefined when there is none, or it was idle for too long. */
export async function keptSession(space: Space, of: SessionOf, idleMs: number): Promise<KeptSession | undefined> {
  const [row] = await ownRows<Row>(space, KEPT, ...values(of), idleMs / 1000);
  if (!row) return undefined;
  try {
    const bytes = await keyring().openValue(placeOf(space, row.id), row);
    await noteAside(() =>
      inOwnTransaction(space, (client) => client.query('update mcp_sessions set last_used_at = now() where id = $1', [row.id])),
    );
    return { sessionId: bytes.toString('utf8'), version: row.protocol_version };
  } catch (error) {
    if (error instanceof TenantKeyUnavailable || error instanceof DecryptFailed) return undefined;
    throw error;
  }
}

/** Keeps a session in place of the one before. */
export async function keepSession(space: Space, of: SessionOf, { sessionId, version }: KeptSession): Promise<void> {
  const id = newId();
  const sealed = await keyring().sealValue(placeOf(space, id), Buffer.from(sessionId));
  const kept = [sealed.value_ct, sealed.cek_wrapped, sealed.tmk_version, version];
  await inOwnTransaction(space, async (client) => {
    await client.query(DROP, [...values(of)]);
    await client.query(
      `insert into mcp_sessions (id, tenant_id, sandbox, mcp_server_id, token_id, grant_id, value_ct, cek_wrapped, tmk_version, protocol_version)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (mcp_server_id, token_id, grant_id) do nothing`,
      [id, space.tenant_id, space.sandbox, ...values(of), ...kept],
    );
  });
}

/** The upstream doesn't know it any more. */
export async function dropSession(space: Space, of: SessionOf): Promise<void> {
  await inOwnTransaction(space, (client) => client.query(DROP, [...values(of)]));
}

const DROP = 'delete from mcp_sessions where mcp_server_id = $1 and token_id = $2 and grant_id = $3';

const placeOf = ({ tenant_id, sandbox }: Space, id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'mcp_session', row_id: id }) as const;

const KEPT = ownQuery(
  'custody-mcp-session',
  `select id, value_ct, cek_wrapped, tmk_version, protocol_version from mcp_sessions
   where tenant_id = $1 and sandbox = $2 and mcp_server_id = $3::uuid and token_id = $4::uuid and grant_id = $5::uuid
     and last_used_at > now() - make_interval(secs => $6)`,
);
