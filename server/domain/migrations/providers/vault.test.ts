import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { discover } from '#server/domain/migrations/discovery.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { published } from './clouds.fixture.ts';

// HashiCorp's own server, in development mode. Named by VAULT_BIN; without it these tests are skipped.

await testDatabase();

const BIN = process.env.VAULT_BIN;
const skip = BIN ? false : 'VAULT_BIN names no Vault';
const ROOT = 'root-of-the-test';
let server: ChildProcess | undefined;
after(() => void server?.kill('SIGKILL'));

let address: Promise<string> | undefined;
const started = () => {
  address ??= start();
  return address;
};

async function start(): Promise<string> {
  const port = await freePort();
  server = spawn(
    BIN as string,
    ['server', '-dev', `-dev-root-token-id=${ROOT}`, `-dev-listen-address=127.0.0.1:${port}`, '-dev-no-store-token'],
    {
      stdio: 'ignore',
    },
  );
  const address = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${address}/v1/sys/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isUp, 'Vault answers');
  return address;
}

const api =
  (address: string) =>
  async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': ROOT, 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (answer.status >= 400) throw new Error(`${path}: ${await answer.text()}`);
    return answer.status === 204 ? {} : ((await answer.json()) as { wrap_info?: { token: string } });
  };

test('reads KV 1 and 2 of a real Vault by a wrapping token that is spent, within the prefixes', { skip }, async () => {
  const address = await started();
  const vault = api(address);
  await vault('POST', 'sys/mounts/old', { type: 'kv', options: { version: '1' } });
  for (const [path, fields] of [
    ['app/prod/stripe', { value: 'sk_live_1' }],
    ['app/prod/deep/er/db', { username: 'ada', password: 'secret' }],
    ['other/name', { value: 'not in the prefix' }],
  ] as const)
    await vault('POST', `secret/data/${path}`, { data: fields });
  await vault('POST', 'secret/data/app/prod/stripe', { data: { value: 'sk_live_2' } });
  await vault('POST', 'old/app/legacy', { value: 'kv one' });
  const policy = `path "secret/*" { capabilities = ["list","read"] }\npath "old/*" { capabilities = ["list","read"] }`;
  await vault('PUT', 'sys/policies/acl/reader', { policy });
  const wrapped = async () =>
    (await vault('POST', 'auth/token/create', { policies: ['reader'], ttl: '1h' }, { 'x-vault-wrap-ttl': '300' })).wrap_info
      ?.token as string;
  const token = await wrapped();
  const ctx = (await workspace()).member('owner');
  const input = (one: string) => ({
    provider: 'hashicorp_vault',
    credentials: { address, auth: { method: 'wrapped_token', token: one } },
    scope: { mounts: ['secret', 'old'], path_prefixes: ['app/'] },
  });
  const { id } = await made(ctx, 'migrations.create', input(token));
  await assert.rejects(made(ctx, 'migrations.create', input(token)), { type: 'provider_probe_failed' }, 'a wrapping token works once');
  const row = await db().secret_migrations.findUniqueOrThrow({ where: { id } });
  assert.ok(!JSON.stringify(row).includes(token));
  await discover(db(), id, { rate: 1_000 });
  const { items } = await made(ctx, 'migrations.items', { id });
  assert.deepEqual(
    items.map((item: { source_ref: string; source_version: string; kind: string; suggested: { name: string; environment: string } }) => [
      item.source_ref,
      item.source_version,
      item.kind,
      item.suggested.name,
    ]),
    [
      ['old/app/legacy', '', 'string', 'legacy'],
      ['secret/app/prod/deep/er/db', '1', 'json', 'prod_deep_er_db'],
      ['secret/app/prod/stripe', '2', 'string', 'prod_stripe'],
    ],
  );
  assert.equal(items[2].suggested.environment, 'production');
  const narrow = await made(ctx, 'migrations.create', { ...input(await wrapped()), scope: { mounts: ['nothing'] } }).catch(
    (error) => error,
  );
  assert.deepEqual([narrow.type, narrow.extra.reason], ['provider_probe_failed', 'access_denied']);
});

test('signs in to a real Vault with a token that only this space and this address are good for', { skip }, async (t) => {
  const address = await started();
  const vault = api(address);
  const keys = createHttpServer(async (_, res) => res.end(JSON.stringify(await published('/jwks.json'))));
  await new Promise<void>((resolve) => void keys.listen(0, '127.0.0.1', resolve));
  t.after(() => void keys.close());
  const w = await workspace();
  const ctx = w.member('owner');
  const { workload_identity } = await made(ctx, 'migrations.setup', {});
  await vault('POST', 'sys/auth/jwt', { type: 'jwt' });
  await vault('POST', 'auth/jwt/config', {
    jwks_url: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks.json`,
    bound_issuer: workload_identity.issuer,
  });
  await vault('PUT', 'sys/policies/acl/jwt-reader', {
    policy: 'path "secret/*" { capabilities = ["list","read"] }\npath "sys/internal/ui/mounts/secret" { capabilities = ["read"] }',
  });
  const role = (bound_audiences: string[], bound_subject: string) =>
    vault('POST', 'auth/jwt/role/migrations', {
      ...{ role_type: 'jwt', user_claim: 'sub', token_policies: ['jwt-reader'], token_ttl: '10m', bound_audiences, bound_subject },
    });
  await vault('POST', 'secret/data/jwt/number', { data: { account: '@', limit: 0 } });
  const raw = '{"data":{"account":9007199254740993,"limit":1.5}}';
  await fetch(`${address}/v1/secret/data/jwt/number`, { method: 'POST', headers: { 'x-vault-token': ROOT }, body: raw });
  const input = {
    provider: 'hashicorp_vault',
    credentials: { address, auth: { method: 'jwt', role: 'migrations' } },
    scope: { mounts: ['secret'], path_prefixes: ['jwt/'] },
  };
  for (const [audience, subject] of [
    ['https://vault.other.example', workload_identity.subject],
    [address, workload_identity.subject.replace(':live:', ':test:')],
  ] as const) {
    await role([audience], subject);
    const refused = await made(ctx, 'migrations.create', input).catch((error) => error);
    assert.deepEqual([refused.type, refused.extra.reason], ['provider_probe_failed', 'access_denied'], audience);
  }
  await role([address], workload_identity.subject);
  const { id } = await made(ctx, 'migrations.create', input);
  await discover(db(), id, { rate: 1_000 });
  const { items } = await made(ctx, 'migrations.items', { id });
  assert.deepEqual(
    [items.length, items[0].source_ref, items[0].value_length],
    [1, 'secret/jwt/number', '{"account":9007199254740993,"limit":1.5}'.length],
  );
  const { data } = (await vault('LIST', 'auth/token/accessors')) as { data?: { keys: string[] } };
  const display = await Promise.all(
    (data?.keys ?? []).map(async (accessor) => {
      const found = (await vault('POST', 'auth/token/lookup-accessor', { accessor }).catch(() => ({}))) as { data?: { path?: string } };
      return found.data?.path;
    }),
  );
  assert.ok(!display.includes('auth/jwt/login'), 'a token that we signed in for outlives the discovery');
});
