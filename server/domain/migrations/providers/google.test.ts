import assert from 'node:assert/strict';
import test from 'node:test';
import { workloadSubject, workloadToken } from '#server/platform/workload-identity.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Answer, type Asked, startCloud, trusted } from './clouds.fixture.ts';
import { type GoogleGrant, google, googleAudience } from './google.ts';
import type { Provider, ProviderFault, SourceEntry } from './provider.ts';

await testDatabase();

const place = { tenant_id: crypto.randomUUID(), space: 'live' } as const;
const email = 'reader@first-project.iam.gserviceaccount.com';
const grant: GoogleGrant = {
  ...{ project_number: '123456789012', pool: 'sallyport', pool_provider: 'sallyport-oidc', service_account_email: email },
  project_ids: ['first-project', 'second-project'],
};
const signal = new AbortController().signal;
const SECRETS = 130;
const POOL = '//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/sallyport/providers/sallyport-oidc';

/** The token service, the impersonation of one account, and two projects of a hundred and thirty secrets. */
async function started(change: (asked: Asked) => Answer | undefined = () => undefined) {
  const cloud = await startCloud(async (asked) => {
    const { host, path, query, body, headers } = asked;
    const changed = change(asked);
    if (changed) return changed;
    if (host === 'sts.googleapis.com') {
      const form = JSON.parse(body) as { subjectToken: string; audience: string };
      const claims = await trusted(form.subjectToken, `https:${POOL}`);
      if (claims?.sub !== workloadSubject(place) || form.audience !== POOL)
        return { status: 400, body: { error: 'invalid_grant', error_description: 'The given credential is rejected' } };
      return {
        body: {
          access_token: 'federated',
          token_type: 'Bearer',
          expires_in: 3600,
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        },
      };
    }
    if (host === 'iamcredentials.googleapis.com') {
      const right = path === `/v1/projects/-/serviceAccounts/${email}:generateAccessToken` && headers.authorization === 'Bearer federated';
      return right
        ? { body: { accessToken: 'impersonated', expireTime: new Date(Date.now() + 3_600_000).toISOString() } }
        : { status: 403 };
    }
    if (headers.authorization !== 'Bearer impersonated') return { status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } };
    const [, , , project, , name] = path.split('/');
    if (name) {
      const data = name === 'key-1' ? Buffer.from([0, 255, 1]) : Buffer.from(`${project} ${name}`);
      return { body: { name: `projects/1/secrets/${name}/versions/3`, payload: { data: data.toString('base64') } } };
    }
    const from = Number(query.get('pageToken') || 0);
    const secrets = Array.from({ length: Math.min(100, SECRETS - from) }, (_, i) => ({
      name: `projects/${project}/secrets/key-${from + i}`,
      createTime: '2026-01-02T03:04:05Z',
      labels: { team: 'a' },
    }));
    return { body: { secrets, ...(from + 100 < SECRETS ? { nextPageToken: String(from + 100) } : {}) } };
  });
  const open = (who: { tenant_id: string; space: 'live' | 'test' } = place) =>
    google(grant, () => workloadToken(who, googleAudience(grant)), cloud.http);
  return { ...cloud, open };
}

test('loopback protocol server: projects are read page by page as the impersonated account, over every restart', async (t) => {
  const { open, asked, close } = await started();
  t.after(close);
  const provider = open();
  await provider.probe(signal);
  assert.ok(!asked.some((one) => /:access/.test(one)), 'the probe read a value');
  const entries: SourceEntry[] = [];
  for (let cursor = null, first = true; first || cursor; first = false) {
    const page: Awaited<ReturnType<Provider['list']>> = await open().list(cursor, signal);
    entries.push(...page.entries);
    cursor = JSON.parse(JSON.stringify(page.next));
  }
  assert.deepEqual([entries.length, new Set(entries.map(({ ref }) => ref)).size], [260, 260]);
  const [one, two] = entries as [SourceEntry, SourceEntry];
  const { ref, name, version, tags, updated_at } = one;
  assert.deepEqual([ref, name, version, tags], ['projects/first-project/secrets/key-0', 'key-0', null, { team: 'a' }]);
  assert.equal(updated_at?.toISOString(), '2026-01-02T03:04:05.000Z');
  const value = await provider.readValue(one, signal);
  assert.deepEqual([value.bytes.toString(), value.version], ['first-project key-0', '3']);
  assert.deepEqual([...(await provider.readValue(two, signal)).bytes], [0, 255, 1], 'bytes that are no text');
  const hosts = new Set(asked.map((line) => line.split(' ')[1]?.split('/')[0]));
  assert.deepEqual([...hosts].sort(), ['iamcredentials.googleapis.com', 'secretmanager.googleapis.com', 'sts.googleapis.com']);
  await provider.close();
});

const faultOf = async (work: Promise<unknown>) =>
  (await work.then(
    () => assert.fail('no fault'),
    (error: unknown) => error,
  )) as ProviderFault;

test('loopback protocol server: the grant of one space is of no use to another, and the refusal says what to check', async (t) => {
  const { open, close } = await started();
  t.after(close);
  for (const who of [
    { ...place, space: 'test' as const },
    { tenant_id: crypto.randomUUID(), space: 'live' as const },
  ]) {
    const { reason, message } = await faultOf(open(who).probe(signal));
    assert.equal(reason, 'access_denied');
    assert.match(message, /workload identity provider/);
    assert.ok(!/eyJ/.test(message), 'the token is in the message');
  }
});

test('loopback protocol server: refusals, limits and failures are told apart, and a disabled version has no value', async (t) => {
  let now: Answer | undefined;
  const { open, close } = await started(({ host }) => (host === 'secretmanager.googleapis.com' ? now : undefined));
  t.after(close);
  for (const [status, code, reason] of [
    [403, 'PERMISSION_DENIED', 'access_denied'],
    [404, 'NOT_FOUND', 'not_found'],
    [429, 'RESOURCE_EXHAUSTED', 'throttled'],
    [503, 'UNAVAILABLE', 'unreachable'],
  ] as const) {
    now = { status, body: { error: { code: status, status: code, message: 'names nobody should see' } } };
    assert.equal((await faultOf(open().list(null, signal))).reason, reason, code);
  }
  now = { status: 400, body: { error: { code: 400, status: 'FAILED_PRECONDITION', message: 'disabled' } } };
  const entry = { ref: 'projects/first-project/secrets/x', name: 'x', version: null, region: '', updated_at: null, tags: {} };
  assert.equal((await faultOf(open().readValue(entry, signal))).reason, 'not_found');
});
