import assert from 'node:assert/strict';
import test from 'node:test';
import type { Family } from '#server/kernel/family.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type TableShape, unregistered } from '#server/testing/suites/made.ts';
import { families } from './families.ts';

await testDatabase();

/** Why something with a credential needs no entry: it ends with the membership, ends within minutes, or is nobody's way in. */
const REASONS: Readonly<Record<string, string>> = {
  client_tokens: 'revoked with the membership (membershipEnds)',
  'client-tokens': 'revoked with the membership (membershipEnds)',
  agent_sessions: 'ends with its agent, which is registered',
  oauth_access: 'ends with the membership, the client or the key behind it',
  oauth_refresh: 'ends with the membership',
  oauth_codes: 'ends within a minute, and with the membership',
  oauth_device_codes: 'ends within minutes, and with the membership',
  oauth_assertion_uses: 'remembers tokens of others that were used',
  audit_log_critical: 'a chain of hashes',
  ai_cache_entries: 'answers of models',
  crypto_key_versions: 'never leaves the service: using a key takes a credential',
  vaults: 'never leaves the service: using a vault takes a credential',
  pki_roots: 'never leaves the service',
  pki_intermediates: 'never leaves the service',
  pki_responders: 'never leaves the service',
  pki: 'a certificate and its key are issued for a host, end by themselves and are listed with who issued them',
  dyn_db_passwords: 'a password of the customer, which nothing of ours shows again',
  dyn_db_ssh_keys: 'a key of the customer, which nothing of ours shows again',
  secret_values: 'a secret of the customer: whoever wrote it knows it outside of the service, and using it here takes a credential',
  secret_migration_items: 'secrets on their way, which nothing of ours shows',
  secret_migration_credentials: 'a credential of the customer for another store',
  mcp_grants: 'ends with the membership (membershipEnds)',
  mcp_registrations: 'our own registration at an upstream',
  mcp_sessions: 'a session at an upstream that a token of ours reaches',
  mcp_approvals: 'arguments of a call',
  log_payloads: 'recorded calls',
  inbound_deliveries: 'digests of calls that were received',
  webhook_auths: 'what a webhook presents, which is registered',
  webhook_attempts: 'recorded deliveries',
  workflow_executions: 'data of a run',
  workflow_node_executions: 'data of a run',
  payload_captures: 'captures one call of a route within an hour and opens nothing',
  oauth_states: 'a connection on its way: one use, within minutes',
  signup_claims: 'a sign-up on its way, before there is a workspace',
  step_up_verifications: 'good in the session of the person alone',
  notification_settings: 'how often mails are sent',
  routes: 'a capture opens nothing (payload_captures)',
  sso_assertions: 'remembers assertions that were used',
  sso: 'sessions end with the membership',
  people: 'what a person signs in with ends with their sessions',
  factors: 'what a person signs in with',
  signup: 'makes the first key of a workspace, which is registered',
};

const list: readonly Family[] = families;
const shapes = async (): Promise<TableShape[]> =>
  (
    await sql().query<TableShape>(
      "select table_name as name, array_agg(column_name::text) as columns from information_schema.columns where table_schema = 'public' group by table_name",
    )
  ).rows;

test('whatever a person makes that acts by itself is in the register, or there is a reason', async () => {
  assert.deepEqual(unregistered(list, await shapes(), REASONS), []);
});

test('no reason is left over from a table or family that is gone or registered', async () => {
  const tables = list.flatMap(({ tables = [] }) => tables.map(({ name }) => String(name)));
  const known = new Set([...tables, ...list.map(({ name }) => name)]);
  const made = new Set(list.flatMap(({ made = [] }) => made.map(({ table }) => String(table))));
  assert.deepEqual(
    Object.keys(REASONS).filter((name) => !known.has(name) || made.has(name)),
    [],
  );
});

test('a family that mints a credential nobody is told of is found, and so is a table without its maker', async () => {
  const planted: Family = {
    name: 'planted',
    tables: [{ name: 'planted_tokens' as never, reset: 'delete' }],
    operations: { create: { id: 'planted.create', kind: 'mint' } },
  };
  const tables = [...(await shapes()), { name: 'planted_tokens', columns: ['id', 'token_hash'] }];
  assert.deepEqual(unregistered([...list, planted], tables, REASONS), [
    'planted_tokens: holds a credential and is not registered',
    'planted: mints and registers nothing',
  ]);
  const entry = { type: 'planted', table: 'planted_tokens' as never, label: ['t', 'ts'] as const, name: 'r.id', works: 'true' };
  const half: Family = { ...planted, made: [{ ...entry, end: { set: 'revoked_at = $3', action: 'revoke', needs: 'secret:update' } }] };
  assert.deepEqual(unregistered([...list, half], tables, REASONS), ['planted_tokens: record_maker is missing in its migration']);
});
