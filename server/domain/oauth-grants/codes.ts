import { digest, digestEquals } from '#server/crypto/tokens.ts';
import { holdPerson } from '#server/domain/people/service.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import type { OAuthClient } from './client.ts';
import { stillAuthenticated } from './client-lock.ts';
import { type Issued, issueTokens } from './issue.ts';
import { isSameResource } from './mcp-resources.ts';
import { grantedNow, STANDING, type Standing, standingOf } from './person.ts';
import { endStolenFamily } from './theft.ts';

export type Redemption = {
  client: OAuthClient;
  code: string;
  code_verifier: string;
  redirect_uri: string;
  jkt: string | null;
  /** The resource that the client says it is for: one of `askedResource`. */
  resource?: string | undefined;
  caller: { request_id: string; ip: string | null; user_agent: string | null };
  now: Date;
};

type Code = Standing & {
  tenant_id: string;
  sandbox: boolean;
  client_row_id: string;
  user_id: string;
  scopes: string[];
  redirect_uri: string;
  code_challenge: string;
  resource: string | null;
  dpop_jkt: string | null;
  step_up_at: Date | null;
  family_id: string;
};

/**
 * Exchanges an authorization code for tokens (interface rule 21 §4.3). Whoever presents a code uses it up, also when the rest of the request is wrong. A
 * second use ends everything that the first one gave. Null: refused, whatever the reason; `target`: its login was for another resource.
 */
export async function redeemCode({ client, code, jkt, resource, caller, now, ...shown }: Redemption): Promise<Issued | 'target' | null> {
  const { rows } = await sql().query<Code>({ name: 'oauth-code', text: FIND, values: [digest(code)] });
  const row = rows[0];
  if (!row) return null;
  const ctx = systemContext(db(), { tenant_id: row.tenant_id, sandbox: row.sandbox, now, label: 'token endpoint' });
  const outcome = await inTransaction(ctx, async (tx) => {
    await holdPerson(tx, row.user_id);
    if (row.client_row_id === client.id && !(await stillAuthenticated(tx, client))) return null;
    const used = await tx.$executeRaw`update oauth_codes set used_at = ${now}::timestamptz
      where digest = ${new Uint8Array(digest(code))} and used_at is null and expires_at > ${now}::timestamptz`;
    if (used === 0) return 'gone';
    if (!isFor(row, client, shown, jkt) || row.role === null) return null;
    if (resource !== undefined && !isSameResource(row.resource, resource, client)) return 'target';
    return issueTokens(tx, {
      client,
      subject: { kind: 'user', user_id: row.user_id },
      scopes: grantedNow(row.scopes, client, { ...row, role: row.role }, row.step_up_at, now),
      resource: row.resource,
      jkt,
      family: 'new',
      grant: { id: row.family_id, flow: 'code', scopes: row.scopes, ip: caller.ip, user_agent: caller.user_agent },
      step_up_at: row.step_up_at,
      now,
    });
  });
  if (outcome !== 'gone') return outcome;
  // Expired codes have no family; of a used one the first use has committed before the statement above came to its row.
  await endStolenFamily(row.family_id, 'code_replay', caller, now);
  return null;
}

const FIND = `select c.tenant_id, c.sandbox, c.client_row_id, c.user_id, c.scopes, c.redirect_uri, c.code_challenge, c.resource, c.dpop_jkt, c.step_up_at, c.family_id,
  ${STANDING} from oauth_codes c ${standingOf('c.tenant_id', 'c.user_id')} where c.digest = $1`;

/** Client, redirect URI, PKCE (RFC 7636 §4.6) and the key that the code is bound to (RFC 9449 §10). */
function isFor(
  row: Code,
  client: OAuthClient,
  { code_verifier, redirect_uri }: { code_verifier: string; redirect_uri: string },
  jkt: string | null,
): boolean {
  const challenge = Buffer.from(digest(code_verifier).toString('base64url'));
  const fits = digestEquals(challenge, Buffer.from(row.code_challenge));
  return fits && row.client_row_id === client.id && row.redirect_uri === redirect_uri && (row.dpop_jkt === null || row.dpop_jkt === jkt);
}
