import assert from 'node:assert/strict';
import test from 'node:test';
import { workloadSubject, workloadToken } from '#server/platform/workload-identity.ts';
import { testDatabase } from '#server/testing/database.ts';
import { AZURE_AUDIENCE, type AzureGrant, azure } from './azure.ts';
import { type Answer, type Asked, startCloud, trusted } from './clouds.fixture.ts';
import type { Provider, ProviderFault, SourceEntry } from './provider.ts';

await testDatabase();

const directory = crypto.randomUUID();
const place = { tenant_id: crypto.randomUUID(), space: 'live' } as const;
const grant: AzureGrant = {
  tenant_id: directory,
  client_id: crypto.randomUUID(),
  subscription_id: null,
  vault_names: ['first-vault', 'second-vault'],
};
const signal = new AbortController().signal;
const SECRETS = 60;

/** Entra ID, Resource Manager and vaults of sixty secrets each, which trust the subject of one space of one workspace. */
async function started(change: (asked: Asked) => Answer | undefined = () => undefined) {
  const cloud = await startCloud(async (asked) => {
    const { host, path, query, body, headers } = asked;
    const changed = change(asked);
    if (changed) return changed;
    if (host === 'login.microsoftonline.com') {
      if (path.endsWith('/.well-known/openid-configuration')) return { body: discovery() };
      const form = new URLSearchParams(body);
      const claims = await trusted(form.get('client_assertion') ?? '', AZURE_AUDIENCE);
      if (claims?.sub !== workloadSubject(place) || path !== `/${directory}/oauth2/v2.0/token`)
        return {
          status: 400,
          body: { error: 'invalid_client', error_description: 'AADSTS700213: No matching federated identity record found' },
        };
      return { body: { token_type: 'Bearer', expires_in: 3600, access_token: `for ${form.get('scope')?.split(' ')[0]}` } };
    }
    if (host === 'management.azure.com') {
      if (headers.authorization !== 'Bearer for https://management.azure.com/.default') return { status: 401 };
      return query.has('$skiptoken')
        ? { body: { value: [{ name: 'Second-Vault' }, { name: 'evil.example/x' }] } }
        : { body: { value: [{ name: 'first-vault' }], nextLink: `https://management.azure.com${path}?api-version=1&$skiptoken=2` } };
    }
    if (headers.authorization !== 'Bearer for https://vault.azure.net/.default')
      return {
        status: 401,
        headers: {
          'www-authenticate': `Bearer authorization="https://login.microsoftonline.com/${directory}", resource="https://vault.azure.net"`,
        },
      };
    const [, , name, version] = path.split('/');
    if (name)
      return {
        body: { id: `https://${host}/secrets/${name}/v7`, value: `${host} ${name}${version ?? ''}`, attributes: { enabled: true } },
      };
    const from = Number(query.get('from') ?? 0);
    const more = from + 25 < SECRETS ? `https://${host}/secrets?api-version=7.6&from=${from + 25}` : null;
    const value = Array.from({ length: Math.min(25, SECRETS - from) }, (_, i) => ({
      id: `https://${host}/secrets/key-${from + i}`,
      attributes: { enabled: true, updated: 1_760_000_000 },
      tags: { team: 'a' },
    }));
    return { body: { value, nextLink: more } };
  });
  const open = (given: Partial<AzureGrant> = {}, who: { tenant_id: string; space: 'live' | 'test' } = place) =>
    azure({ ...grant, ...given }, () => workloadToken(who, AZURE_AUDIENCE), cloud.http);
  return { ...cloud, open };
}

const discovery = () => ({
  issuer: `https://login.microsoftonline.com/${directory}/v2.0`,
  authorization_endpoint: `https://login.microsoftonline.com/${directory}/oauth2/v2.0/authorize`,
  token_endpoint: `https://login.microsoftonline.com/${directory}/oauth2/v2.0/token`,
  jwks_uri: `https://login.microsoftonline.com/${directory}/discovery/v2.0/keys`,
});

/** Every page by a provider of its own, as after a restart at each step. */
async function all(open: () => Provider): Promise<SourceEntry[]> {
  const entries: SourceEntry[] = [];
  for (let cursor = null, first = true; first || cursor; first = false) {
    const page: Awaited<ReturnType<Provider['list']>> = await open().list(cursor, signal);
    entries.push(...page.entries);
    cursor = JSON.parse(JSON.stringify(page.next));
  }
  return entries;
}

test('loopback protocol server: vaults are read page by page with a federated token, over every restart', async (t) => {
  const { open, asked, close } = await started();
  t.after(close);
  const provider = open();
  await provider.probe(signal);
  assert.ok(!asked.some((one) => /secrets\/key/.test(one)), 'the probe read a value');
  const entries = await all(() => open());
  assert.deepEqual([entries.length, new Set(entries.map(({ ref }) => ref)).size], [120, 120]);
  const [one] = entries as [SourceEntry];
  const { ref, name, version, tags, updated_at } = one;
  assert.deepEqual([ref, name, version, tags], ['https://first-vault.vault.azure.net/secrets/key-0', 'key-0', null, { team: 'a' }]);
  assert.equal(updated_at?.getTime(), 1_760_000_000_000);
  const value = await provider.readValue(one, signal);
  assert.deepEqual([value.bytes.toString(), value.version, value.binary], ['first-vault.vault.azure.net key-0', 'v7', false]);
  await provider.close();
});

test('loopback protocol server: of a subscription the names of vaults are believed, and nothing else', async (t) => {
  const { open, asked, close } = await started();
  t.after(close);
  const entries = await all(() => open({ subscription_id: crypto.randomUUID(), vault_names: [] }));
  assert.equal(entries.length, 120);
  const hosts = new Set(asked.map((one) => one.split(' ')[1]?.split('/')[0]));
  const expected = ['first-vault.vault.azure.net', 'login.microsoftonline.com', 'management.azure.com', 'second-vault.vault.azure.net'];
  assert.deepEqual([...hosts].sort(), expected);
});

const faultOf = async (work: Promise<unknown>) => {
  const fault = (await work.then(
    () => assert.fail('no fault'),
    (error: unknown) => error,
  )) as ProviderFault;
  return [fault.reason, fault.provider_request_id, fault.message];
};

test('loopback protocol server: the grant of one space is of no use to another, and the refusal says what to check', async (t) => {
  const { open, close } = await started();
  t.after(close);
  for (const who of [
    { ...place, space: 'test' as const },
    { tenant_id: crypto.randomUUID(), space: 'live' as const },
  ]) {
    const [reason, request, message] = await faultOf(open({}, who).probe(signal));
    assert.deepEqual([reason, request], ['access_denied', 'request-7']);
    assert.match(String(message), /federated credential/);
    assert.ok(!/eyJ/.test(String(message)), 'the token is in the message');
  }
});

test('loopback protocol server: refusals, limits and failures of a vault are told apart, and no link leads elsewhere', async (t) => {
  let now: Answer = {};
  const { open, asked, close } = await started(({ host, path }) =>
    host.startsWith('first') && path === '/secrets' && now.body ? now : undefined,
  );
  t.after(close);
  for (const [status, reason] of [
    [403, 'access_denied'],
    [404, 'not_found'],
    [429, 'throttled'],
    [503, 'unreachable'],
  ] as const) {
    now = { status, body: { error: { code: 'X', message: 'names nobody should see' } } };
    assert.equal((await faultOf(open().list(null, signal)))[0], reason, String(status));
  }
  for (const nextLink of ['https://evil.example/secrets', 'http://first-vault.vault.azure.net/secrets', 'https://169.254.169.254/x']) {
    now = { body: { value: [], nextLink } };
    const { next } = await open().list(null, signal);
    const before = asked.length;
    assert.equal((await faultOf(open().list(next, signal)))[0], 'misconfigured', nextLink);
    assert.ok(!asked.slice(before).some((one) => /evil|169/.test(one)));
  }
});
