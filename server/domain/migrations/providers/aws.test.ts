import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import test, { after } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { until } from '#server/testing/until.ts';
import { type AwsGrant, aws } from './aws.ts';
import type { StoreHttp } from './http.ts';
import { ProviderFault } from './provider.ts';

// AWS's own SDK against moto (PyPI), the server named by MOTO_SERVER; without it these tests are skipped. The transport sends to that server what would go to
// the hosts of AWS, and keeps which hosts those were.

const BIN = process.env.MOTO_SERVER;
const skip = BIN ? false : 'MOTO_SERVER names no moto server';
Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'operator' });
let server: ChildProcess | undefined;
after(() => void server?.kill('SIGKILL'));

async function started(): Promise<{ endpoint: string; hosts: Set<string>; http: StoreHttp }> {
  const port = await freePort();
  server = spawn(BIN as string, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${endpoint}/moto-api/data.json`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isUp, 'moto answers');
  const hosts = new Set<string>();
  const http: StoreHttp = {
    async send({ url, method = 'GET', headers = {}, body, signal }) {
      const { hostname, pathname, search } = new URL(url);
      hosts.add(hostname);
      const init = {
        method,
        headers,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
        ...(signal ? { signal } : {}),
      };
      const answer = await fetch(`${endpoint}${pathname}${search}`, init);
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: Buffer.from(await answer.arrayBuffer()),
        truncated: false,
      };
    },
    close: async () => {},
  };
  return { endpoint, hosts, http };
}

const signal = new AbortController().signal;
const grant: AwsGrant = {
  provider: 'aws_sm',
  role_arn: 'arn:aws:iam::123456789012:role/svc-migration-reader',
  external_id: 'sallyport-x',
  regions: ['us-east-1', 'eu-central-1'],
  arn_allowlist: [],
  path_prefixes: [],
};

async function all(provider: ReturnType<typeof aws>) {
  const entries = [];
  for (let cursor = null, first = true; first || cursor; first = false) {
    const page: Awaited<ReturnType<typeof provider.list>> = await provider.list(cursor, signal);
    entries.push(...page.entries);
    cursor = page.next as null;
  }
  return entries;
}

test('Secrets Manager and Parameter Store are read in every region, page by page, as an assumed role', { skip }, async () => {
  const { endpoint, hosts, http } = await started();
  const { SecretsManager } = await import('@aws-sdk/client-secrets-manager');
  const { SSM } = await import('@aws-sdk/client-ssm');
  for (const region of grant.regions) {
    const client = new SecretsManager({ region, endpoint });
    for (let i = 0; i < 120; i++)
      await client.createSecret({
        Name: `app/s${String(i).padStart(3, '0')}`,
        SecretString: `${region} ${i}`,
        Tags: [{ Key: 'team', Value: 'a' }],
      });
  }
  const secrets = aws(grant, http);
  await secrets.probe(signal);
  const entries = await all(secrets);
  assert.equal(new Set(entries.map(({ ref }) => ref)).size, 240);
  const [one] = entries;
  assert.deepEqual([one?.tags, one?.region, typeof one?.version], [{ team: 'a' }, 'us-east-1', 'string']);
  const value = await secrets.readValue(one as NonNullable<typeof one>, signal);
  assert.match(value.bytes.toString(), /^us-east-1 \d+$/);
  assert.equal(value.version, one?.version, 'the version in the list is that of the value');
  const narrow = aws({ ...grant, arn_allowlist: [`${one?.ref.slice(0, -7)}*`] }, http);
  assert.equal((await all(narrow)).length, 1);
  const gone = { ...(one as NonNullable<typeof one>), ref: `${one?.ref}x` };
  await assert.rejects(
    secrets.readValue(gone, signal),
    (error: ProviderFault) => error instanceof ProviderFault && error.reason === 'not_found',
  );

  const client = new SSM({ region: 'us-east-1', endpoint });
  for (let i = 0; i < 60; i++) await client.putParameter({ Name: `/prod/p${i}`, Value: `p ${i}`, Type: 'SecureString' });
  await client.putParameter({ Name: '/dev/x', Value: 'not asked for', Type: 'String' });
  const parameters = aws({ ...grant, provider: 'aws_ssm', regions: ['us-east-1'], path_prefixes: ['/prod/'] }, http);
  const found = await all(parameters);
  assert.equal(found.length, 60);
  const p7 = found.find(({ name }) => name === '/prod/p7');
  assert.equal((await parameters.readValue(p7 as NonNullable<typeof p7>, signal)).bytes.toString(), 'p 7');
  assert.deepEqual([...hosts].sort(), [
    'secretsmanager.eu-central-1.amazonaws.com',
    'secretsmanager.us-east-1.amazonaws.com',
    'ssm.us-east-1.amazonaws.com',
    'sts.us-east-1.amazonaws.com',
  ]);
});
