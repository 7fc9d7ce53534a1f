import { digest } from '#server/crypto/tokens.ts';
import { holdPerson } from '#server/domain/people/service.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import type { OAuthClient } from './client.ts';
import { stillAuthenticated } from './client-lock.ts';
import { endFamilies } from './families.ts';
import { type Issued, issueTokens } from './issue.ts';
import { isSameResource } from './mcp-resources.ts';
import { grantedNow, STANDING, type Standing, standingOf } from './person.ts';
import { narrowedScopes } from './scopes.ts';
import { endStolenFamily } from './theft.ts';

export type Refresh = {
  client: OAuthClient;
  refresh_token: string;
  /** Null: the whole grant. */
  scopes: readonly string[] | null;
  jkt: string | null;
  /** The resource that the client says it is for: one of `askedResource`. */
  resource?: string | undefined;
  caller: { request_id: string; ip: string | null; user_agent: string | null };
  now: Date;
};

type Row = Standing & {
  tenant_id: string;
  sandbox: boolean;
  family_id: string;
  generation: number;
  expires_at: Date;
  consumed_at: Date | null;
  revoked_at: Date | null;
  client_row_id: string;
  user_id: string;
  scopes: string[];
  resource: string | null;
  jkt: string | null;
  step_up_at: Date | null;
  family_expires_at: Date;
  family_revoked_at: Date | null;
};

/** What became of a refresh. `refused` says no more: the client asks for a new login. `target`: the login was for another resource. `scope` names what was asked for and isn't in the grant. */
export type Refreshed = { issued: Issued } | { problem: 'refused' } | { problem: 'target' } | { problem: 'scope'; message: string };
const refused = { problem: 'refused' } as const;

/**
 * Rotates a refresh token (interface rule 21 §4.5): it works once, its successor and an access token come into being with its end. Presenting it again is
 * theft and ends the family. Everything that the login depends on is looked at again.
 */
export async function refreshTokens(refresh: Refresh): Promise<Refreshed> {
  const { client, refresh_token, jkt, now } = refresh;
  const { rows } = await sql().query<Row>({ name: 'oauth-refresh', text: FIND, values: [digest(refresh_token)] });
  const row = rows[0];
  if (!row || row.client_row_id !== client.id || row.family_revoked_at !== null || row.revoked_at !== null) return refused;
  if (row.consumed_at !== null) return stolen(row, refresh);
  if (row.expires_at <= now || (row.jkt !== null && row.jkt !== jkt)) return refused;
  if (refresh.resource !== undefined && !isSameResource(row.resource, refresh.resource, client)) return { problem: 'target' };
  if (row.role === null) return ended(row, refresh);
  const asked = narrowedScopes(refresh.scopes, row.scopes);
  if ('problem' in asked) return { problem: 'scope', message: asked.problem };
  const scopes = grantedNow(asked.scopes, client, { ...row, role: row.role }, row.step_up_at, now);

  const ctx = systemContext(db(), { tenant_id: row.tenant_id, sandbox: row.sandbox, now, label: 'token endpoint' });
  const issued = await inTransaction(ctx, async (tx) => {
    await holdPerson(tx, row.user_id);
    if (!(await stillAuthenticated(tx, client))) return 'ended';
    // A family that ends meanwhile waits for this lock, or makes this statement find nothing: no token is born into an ended family.
    const alive = await tx.$queryRaw<unknown[]>`update oauth_families set last_used_at = ${now}::timestamptz
      where id = ${row.family_id}::uuid and revoked_at is null returning 1 as found`;
    const consumed =
      alive.length === 1 &&
      (await tx.$executeRaw`update oauth_refresh set consumed_at = ${now}::timestamptz
        where digest = ${new Uint8Array(digest(refresh_token))} and consumed_at is null and revoked_at is null and expires_at > ${now}::timestamptz`);
    if (consumed !== 1) return null;
    return issueTokens(tx, {
      client,
      subject: { kind: 'user', user_id: row.user_id },
      scopes,
      resource: row.resource,
      jkt,
      family: row.family_id,
      rotation: { generation: row.generation + 1, family_expires_at: row.family_expires_at },
      step_up_at: row.step_up_at,
      now,
    });
  });
  if (issued === 'ended') return refused;
  // Another use of the same token came first.
  return issued === null ? stolen(row, refresh) : { issued };
}

const FIND = `select r.tenant_id, r.sandbox, r.family_id, r.generation, r.expires_at, r.consumed_at, r.revoked_at,
  f.client_row_id, f.user_id, f.scopes, f.resource, f.jkt, f.step_up_at, f.expires_at as family_expires_at, f.revoked_at as family_revoked_at, ${STANDING}
  from oauth_refresh r join oauth_families f on f.id = r.family_id ${standingOf('f.tenant_id', 'f.user_id')} where r.digest = $1`;

async function stolen({ family_id }: Row, { caller, now }: Refresh): Promise<Refreshed> {
  await endStolenFamily(family_id, 'refresh_reuse', caller, now);
  return refused;
}

/** The person may no longer be here: the login ends with everything born of it. */
async function ended({ tenant_id, sandbox, family_id, user_id }: Row, { client, caller, now }: Refresh): Promise<Refreshed> {
  await db().$transaction(async (tx) => {
    if ((await endFamilies(tx, [family_id], 'member_removed', now)) === 0) return;
    const ctx = { ...systemContext(db(), { tenant_id, sandbox, now, label: 'token endpoint' }), ...caller };
    await writeAudit(tx, ctx, {
      action: 'revoke',
      resource_type: 'oauth_grant',
      resource_id: family_id,
      name: client.name,
      reason: 'member_removed',
      details: { client_id: client.client_id, user_id },
    });
  });
  return refused;
}
