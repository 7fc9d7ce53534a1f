import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { ConnectionStatus } from '#server/kernel/oauth2-providers.ts';
import { keyring } from '#server/platform/keys.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { auditRow, insertAuditRowsIn } from '../audit-rows.ts';
import { sealedOrRefused } from '../material.ts';
import type { Connection, ConnectionSpace } from './connection.ts';
import type { GrantedTokens } from './token-endpoint.ts';
import { encodeTokenSet, type TokenSet } from './token-set.ts';

// What becomes of a refresh. Either is one transaction that changes nothing unless the row is still the one that was read.

/** Failures in a row after which a connection shows as broken. */
const MOST_FAILURES = 5;
const MINUTE = 60_000;
/** The provider says that what it was shown is of no use any more. */
const ENDED: ReadonlySet<string> = new Set(['invalid_grant', 'unauthorized_client']);

/**
 * New tokens as the current value; a provider that sends no refresh token lets the old one be used again. The value they replace is overwritten.
 * False when the connection changed meanwhile: then the tokens are nobody's.
 */
export async function storeTokens(
  space: ConnectionSpace,
  found: Connection,
  owner: string,
  before: TokenSet,
  granted: GrantedTokens,
): Promise<boolean> {
  const now = new Date();
  const { access_token, refresh_token = before.refresh_token, token_type, scope = before.scope, expires_in } = granted;
  const id = newId();
  const bytes = encodeTokenSet({ ...before, access_token, refresh_token, token_type, scope });
  const place = { tenant_id: space.tenant_id, space: spaceOf(space.sandbox), purpose: 'secret_value' as const, row_id: id };
  const sealed = await keyring()
    .sealValue(place, bytes)
    .catch(sealedOrRefused)
    .finally(() => bytes.fill(0));
  const expires_at = expires_in === null ? null : new Date(now.getTime() + expires_in * 1_000);
  return inOwnTransaction(space, async (client) => {
    const { rowCount } = await client.query(
      `update secret_environments set current_value_id = $3, oauth2_status = 'connected', oauth2_expires_at = $4, oauth2_refreshed_at = $5, oauth2_failures = 0,
         oauth2_retry_at = null, oauth2_error = null, oauth2_lost_at = null, refresh_generation = refresh_generation + 1, refresh_lease_owner = null,
         refresh_lease_until = null
       where id = $1 and refresh_generation = $2 and current_value_id = $6 and refresh_lease_owner = $7`,
      [found.id, found.generation, id, expires_at, now, found.value_id, owner],
    );
    if (rowCount !== 1) return false;
    // A refresh is no new version, so it is as old as the value it replaces (interface rule 30 §8).
    await client.query(
      `insert into secret_values (id, tenant_id, sandbox, secret_environment_id, value_version, value_ct, cek_wrapped, tmk_version, created_at)
       select $1, tenant_id, sandbox, secret_environment_id, value_version, $2, $3, $4, created_at from secret_values where id = $5`,
      [id, sealed.value_ct, sealed.cek_wrapped, sealed.tmk_version, found.value_id],
    );
    await client.query('update secret_values set value_ct = null, cek_wrapped = null, wiped_at = $2 where id = $1', [found.value_id, now]);
    await client.query('delete from secret_values where id = $1', [found.value_id]);
    if (found.status === 'error') await insertAuditRowsIn(client, space, [statusRow(space, found, 'connected', now)]);
    return true;
  });
}

type Failure = { kind: 'unreachable' | 'blocked' | 'rejected' | 'invalid_response' | 'ended'; code: string };

/**
 * A refresh that brought nothing. A refresh token that the provider refused ends the connection; everything else may pass, so it is tried again later and
 * later. Returns the status that follows.
 */
export async function storeFailure(
  space: ConnectionSpace,
  found: Connection,
  owner: string,
  { kind, code }: Failure,
): Promise<ConnectionStatus> {
  const now = new Date();
  const renewable = found.config.grant_type === 'client_credentials' || found.config.grant_type === 'password';
  const ended = kind === 'ended' || (kind === 'rejected' && ENDED.has(code) && !renewable);
  const failures = found.failures + 1;
  // A refusal won't pass by itself within seconds; silence may.
  const broken = kind === 'rejected' || kind === 'blocked' || failures >= MOST_FAILURES || found.status === 'error';
  const status: ConnectionStatus = ended ? 'expired' : broken ? 'error' : 'connected';
  const later = broken
    ? Math.min(MINUTE * 2 ** Math.max(0, failures - (kind === 'unreachable' ? MOST_FAILURES : 1)), 60 * MINUTE)
    : 1_000 * failures;
  const lost = status !== found.status && status !== 'connected';
  await inOwnTransaction(space, async (client) => {
    const { rowCount } = await client.query(
      `update secret_environments set oauth2_status = $3, oauth2_error = $4, oauth2_failures = $5, oauth2_retry_at = $6,
         oauth2_lost_at = case when $7 then $8::timestamptz else oauth2_lost_at end, refresh_lease_owner = null, refresh_lease_until = null
       where id = $1 and refresh_generation = $2 and refresh_lease_owner = $9`,
      [found.id, found.generation, status, code, failures, ended ? null : new Date(now.getTime() + later), lost, now, owner],
    );
    if (rowCount === 1 && lost) await insertAuditRowsIn(client, space, [statusRow(space, found, status, now, code)]);
  });
  return status;
}

function statusRow(space: ConnectionSpace, found: Connection, status: ConnectionStatus, now: Date, reason?: string) {
  const ctx: HotCtx = {
    ...{ tenant_id: space.tenant_id, sandbox: space.sandbox },
    actor: { type: 'system', id: null, label: 'connections', capabilities: new Set() },
    plan: 'enterprise',
    request_id: '',
    ip: null,
    user_agent: null,
    now,
    warnings: [],
  };
  return auditRow(ctx, {
    action: 'update',
    resource_type: 'secret',
    resource_id: found.secret_id,
    name: found.name,
    changes: [{ field: 'connection_status', from: found.status, to: status }],
    details: { change: 'oauth2_status', environment: found.environment, ...(reason === undefined ? {} : { reason }) },
  });
}
