import { mintToken } from '#server/crypto/tokens.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { expandScopes, PERSON_FORBIDDEN } from '#server/kernel/scopes.ts';
import { isApiResource } from './addresses.ts';
import { GRANTS, type OAuthClient } from './client.ts';

export const ACCESS_SECONDS = 3_600;
const DAY_MS = 86_400_000;
/** How long a refresh token may lie unused, and how long a family lasts at most. */
export const REFRESH_IDLE_MS = 30 * DAY_MS;
export const FAMILY_MS = 90 * DAY_MS;

/** Runs one statement: a transaction of Prisma, or a plain connection. */
export type Executes = { $executeRawUnsafe(text: string, ...values: unknown[]): Promise<unknown> };

export type Issue = {
  client: Pick<
    OAuthClient,
    'id' | 'client_id' | 'tenant_id' | 'sandbox' | 'tenant_slug' | 'epoch' | 'grant_types' | 'type' | 'source_api_key_id'
  >;
  subject: { kind: 'client' | 'user' | 'workload'; user_id?: string; binding_id?: string };
  /** What the access token carries. */
  scopes: readonly string[];
  /** What the token is for (RFC 8707): an MCP server, or the Management API, which is also meant without it. */
  resource?: string | null;
  /** Thumbprint of the key that the token is bound to (RFC 9449). */
  jkt?: string | null;
  /** `new` begins a family with `grant`; an id continues one that the caller has just taken a token from, with `rotation`. */
  family?: 'new' | (string & {});
  grant?: Grant;
  rotation?: { generation: number; family_expires_at: Date };
  ttl_seconds?: number;
  step_up_at?: Date | null;
  now: Date;
};

/** What a person consented to. `id` is the family's, when the consent has named it already. */
export type Grant = { id?: string; flow: 'code' | 'device'; scopes: readonly string[]; ip: string | null; user_agent: string | null };

/** The common success body of interface rule 21 §4.1. */
export type Issued = {
  access_token: string;
  token_type: 'Bearer' | 'DPoP';
  expires_in: number;
  scope: string;
  refresh_token?: string;
  tenant: string;
  client_id: string;
};

/** Issues an access token, and within a family the next refresh token when the client has that grant. The caller has decided that it may. */
export async function issueTokens(tx: Executes, issue: Issue): Promise<Issued> {
  const { client, subject, family, grant, now } = issue;
  if (family === undefined) return issueAccess(tx, issue, null);
  const { user_id } = subject;
  if (user_id === undefined) throw new Error('a family belongs to a person');
  const familyId = family === 'new' ? (grant?.id ?? newId()) : family;
  if (family === 'new') {
    if (!grant) throw new Error('a new family needs the grant');
    await tx.$executeRawUnsafe(
      `insert into oauth_families (id, tenant_id, sandbox, client_row_id, user_id, scopes, resource, jkt, flow, step_up_at, ip, user_agent, created_at, last_used_at, expires_at)
        values ($1::uuid, $2::uuid, $3::boolean, $4::uuid, $5::uuid, $6::text[], $7, $8, $9, $10::timestamptz, $11, $12, $13::timestamptz, $13::timestamptz, $14::timestamptz)`,
      ...[familyId, client.tenant_id, client.sandbox, client.id, user_id, [...grant.scopes], issue.resource ?? null],
      // A confidential client proves itself by its secret, so only a public one is held to its first key (RFC 9449 §5).
      ...[client.type === 'public' ? (issue.jkt ?? null) : null, grant.flow, issue.step_up_at ?? null],
      ...[grant.ip, grant.user_agent?.slice(0, 256) ?? null, now, new Date(now.getTime() + FAMILY_MS)],
    );
  }
  const issued = await issueAccess(tx, issue, familyId);
  if (!client.grant_types.includes(GRANTS.refresh_token)) return issued;
  const { generation, family_expires_at } = issue.rotation ?? { generation: 0, family_expires_at: new Date(now.getTime() + FAMILY_MS) };
  const { token, digest } = mintToken(client.sandbox ? 'refresh_token_test' : 'refresh_token_live');
  await tx.$executeRawUnsafe(
    `insert into oauth_refresh (id, tenant_id, sandbox, family_id, generation, digest, created_at, expires_at)
      values ($1::uuid, $2::uuid, $3::boolean, $4::uuid, $5::int, $6::bytea, $7::timestamptz, $8::timestamptz)`,
    ...[newId(), client.tenant_id, client.sandbox, familyId, generation, new Uint8Array(digest), now],
    new Date(Math.min(now.getTime() + REFRESH_IDLE_MS, family_expires_at.getTime())),
  );
  return { ...issued, refresh_token: token };
}

async function issueAccess(tx: Executes, issue: Issue, familyId: string | null): Promise<Issued> {
  const { row, issued } = accessToken(issue, familyId);
  await tx.$executeRawUnsafe(insertAccess('json_to_recordset($1::json)'), JSON.stringify([row]));
  return issued;
}

/** A row of oauth_access as JSON. */
export type AccessRow = {
  tenant_id: string;
  sandbox: boolean;
  id: string;
  /** hexadecimal */
  digest: string;
  kind: 'client' | 'user' | 'workload';
  client_row_id: string;
  client_epoch: number;
  user_id: string | null;
  scopes: string[];
  ceiling: string[];
  aud: string | null;
  cnf_jkt: string | null;
  family_id: string | null;
  source_api_key_id: string | null;
  binding_id: string | null;
  issued_at: Date;
  expires_at: Date;
  step_up_at: Date | null;
};

/** Inserts the rows that a call of json_to_recordset gives; `and` joins what else the statement needs. */
export const insertAccess = (
  records: string,
  and = '',
): string => `insert into oauth_access (tenant_id, sandbox, id, digest, kind, client_row_id, client_epoch, user_id, scopes,
    ceiling, aud, cnf_jkt, family_id, source_api_key_id, binding_id, issued_at, expires_at, step_up_at)
  select r.tenant_id, r.sandbox, r.id, decode(r.digest, 'hex'), r.kind, r.client_row_id, r.client_epoch, r.user_id, r.scopes, r.ceiling, r.aud, r.cnf_jkt,
    r.family_id, r.source_api_key_id, r.binding_id, r.issued_at, r.expires_at, r.step_up_at
  from ${records} as r (tenant_id uuid, sandbox boolean, id uuid, digest text, kind text, client_row_id uuid, client_epoch int, user_id uuid, scopes text[], ceiling text[], aud text,
    cnf_jkt text, family_id uuid, source_api_key_id uuid, binding_id uuid, issued_at timestamptz, expires_at timestamptz, step_up_at timestamptz) ${and}`;

/** An access token at its birth: its row, and what the client is told. */
export function accessToken(issue: Issue, familyId: string | null): { row: AccessRow; issued: Issued } {
  const { client, subject, scopes, jkt = null, ttl_seconds = ACCESS_SECONDS, now } = issue;
  const { token, digest } = mintToken(client.sandbox ? 'oauth_token_test' : 'oauth_token_live');
  const names = [...scopes].sort();
  return {
    row: {
      tenant_id: client.tenant_id,
      sandbox: client.sandbox,
      id: newId(),
      digest: digest.toString('hex'),
      kind: subject.kind,
      client_row_id: client.id,
      client_epoch: client.epoch,
      user_id: subject.user_id ?? null,
      scopes: names,
      ceiling: ceilingOf(names, subject.kind === 'user'),
      aud: issue.resource && !isApiResource(issue.resource, spaceOf(client.sandbox)) ? issue.resource : null,
      cnf_jkt: jkt,
      family_id: familyId,
      source_api_key_id: subject.kind === 'client' ? client.source_api_key_id : null,
      binding_id: subject.binding_id ?? null,
      issued_at: now,
      expires_at: new Date(now.getTime() + ttl_seconds * 1000),
      step_up_at: issue.step_up_at ?? null,
    },
    issued: {
      access_token: token,
      token_type: jkt === null ? 'Bearer' : 'DPoP',
      expires_in: ttl_seconds,
      scope: names.join(' '),
      tenant: client.tenant_slug,
      client_id: client.client_id,
    },
  };
}

/** The capabilities that the scopes stand for now: what a later release adds to a scope is not for tokens of today. */
function ceilingOf(scopes: readonly string[], ofPerson: boolean): string[] {
  const key = `${ofPerson} ${scopes.join(' ')}`;
  let found = ceilings.get(key);
  if (!found) {
    found = [...expandScopes(scopes)].filter((capability) => !ofPerson || !PERSON_FORBIDDEN.has(capability)).sort();
    if (ceilings.size > 1_000) ceilings.clear();
    ceilings.set(key, found);
  }
  return found;
}
const ceilings = processState('oauth-ceilings', () => new Map<string, string[]>());
