import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { putValue, type Seen, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, frames, makeAgent, makeToken, PROMPT } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();

const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ACCESS_TOKEN = 'ya29.canary-access-token-0123456789';
const ROLE = 'arn:aws:iam::123456789012:role/gateway';
const AWS = { access_key_id: 'AKIAEXAMPLECANARY01', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+canary' };
const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
};
const ASSUMED = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAASSUMED01</AccessKeyId>
<SecretAccessKey>assumed-secret-key-canary</SecretAccessKey><SessionToken>assumed-session-token==</SessionToken>
<Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;

/** Provider, Google's and Amazon's token services in one; `exchange` is the status of the latter. */
const provider = (exchange = 200) =>
  startUpstream((req, res) => {
    if (req.url === '/token')
      return void res
        .writeHead(exchange, JSON_TYPE)
        .end(JSON.stringify({ access_token: ACCESS_TOKEN, expires_in: 3600, token_type: 'Bearer' }));
    if (req.url === '/sts')
      return void res.writeHead(exchange, { 'content-type': 'text/xml' }).end(exchange === 200 ? ASSUMED : '<Error/>');
    if (req.url?.includes('/converse')) return void res.writeHead(200, JSON_TYPE).end(JSON.stringify(CONVERSED));
    res.writeHead(200, JSON_TYPE).end(JSON.stringify(completion(`It was ${ACCESS_TOKEN}`)));
  });
const JSON_TYPE = { 'content-type': 'application/json' };

async function setUp(id: 'vertex' | 'bedrock' | 'gemini', value: (url: string) => unknown, exchange?: number) {
  const w = await workspace();
  const upstream = await provider(exchange);
  const header = id === 'gemini' ? { 'x-goog-api-key': '$KEY' } : {};
  const made = await makeAgent(w, upstream, { provider: id, default_model: 'some-model' }, {}, header);
  const written = value(upstream.url);
  const held = await db().secret_environments.findFirstOrThrow({ where: { secret_id: made.secret.id } });
  await putValue(w, held.id, typeof written === 'string' ? written : JSON.stringify(written), 2);
  if (id === 'bedrock')
    await db().route_environment_configs.updateMany({
      where: { route_id: made.route.id },
      data: {
        inject_headers_json: {},
        upstream_auth: { type: 'aws_sigv4', secret_id: made.secret.id, region: 'us-east-1', service: 'bedrock' },
      },
    });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const send = () => askAgent(running, w, made.agent, text, { ...PROMPT, model: 'some-model' });
  return { w, upstream, send };
}

const account = (url: string) => ({
  type: 'service_account',
  project_id: 'acme-prod',
  client_email: 'gateway@acme-prod.iam.gserviceaccount.com',
  private_key: PEM,
  token_uri: `${url}/token`,
});

test('a Google service account is exchanged for an access token once, its project stands in the path, and the token never comes back', async () => {
  const { upstream, send } = await setUp('vertex', account);
  const answers = [await send(), await send()];
  for (const answer of answers) {
    assert.equal(answer.status, 200, answer.body);
    assert.equal(answer.body.includes(ACCESS_TOKEN), false);
  }
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ['/token', ...Array(2).fill('/v1/projects/acme-prod/locations/global/endpoints/openapi/chat/completions')],
  );
  assert.equal(upstream.seen[1]?.headers.authorization, `Bearer ${ACCESS_TOKEN}`);
  const form = new URLSearchParams(upstream.seen[0]?.body);
  assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  assert.ok(verify('sha256', Buffer.from(`${head}.${claims}`), createPublicKey(PEM), Buffer.from(signature, 'base64url')));
  const { iss, scope, aud, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  assert.deepEqual(
    [iss, scope, aud, exp - iat],
    ['gateway@acme-prod.iam.gserviceaccount.com', 'https://www.googleapis.com/auth/cloud-platform', `${upstream.url}/token`, 3_600],
  );
});

test('a Bedrock API key is sent as it is, and nothing is signed', async () => {
  const { upstream, send } = await setUp('bedrock', () => 'ABSKQmVkcm9ja0FQSUtleS1jYW5hcnk=');
  const answer = await send();
  assert.equal(answer.status, 200, answer.body);
  const { headers } = upstream.seen[0] as Seen;
  assert.deepEqual([headers.authorization, headers['x-amz-date']], ['Bearer ABSKQmVkcm9ja0FQSUtleS1jYW5hcnk=', undefined]);
});

test('a role is assumed once, with the workspace as its external ID, and calls are signed with what it gives', async () => {
  const { w, upstream, send } = await setUp('bedrock', (url) => ({ ...AWS, role_arn: ROLE, sts_endpoint_url: `${url}/sts` }));
  for (let i = 0; i < 2; i++) assert.equal((await send()).status, 200);
  const [asked, first] = upstream.seen;
  assert.deepEqual([asked?.url, upstream.seen.length], ['/sts', 3]);
  assert.match(
    String(asked?.headers.authorization),
    /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLECANARY01\/\d{8}\/us-east-1\/sts\/aws4_request/,
  );
  const form = new URLSearchParams(asked?.body);
  assert.deepEqual([form.get('Action'), form.get('RoleArn'), form.get('ExternalId')], ['AssumeRole', ROLE, w.tenant.id]);
  assert.match(String(first?.headers.authorization), /Credential=ASIAASSUMED01\/\d{8}\/us-east-1\/bedrock\/aws4_request/);
  assert.equal(first?.headers['x-amz-security-token'], 'assumed-session-token==');
});

test('Google’s OpenAI-compatible door gets the key as a bearer token', async () => {
  const { upstream, send } = await setUp('gemini', () => 'AIza-canary-key-0123456789');
  assert.equal((await send()).status, 200);
  const { url, headers } = upstream.seen[0] as Seen;
  assert.deepEqual(
    [url, headers.authorization, headers['x-goog-api-key']],
    ['/v1beta/openai/chat/completions', 'Bearer AIza-canary-key-0123456789', undefined],
  );
});

test('a credential that can’t be used refuses the call, and the provider gets nothing', async () => {
  const cases = [
    await setUp('vertex', () => 'ya29.a-token-of-mine'),
    await setUp('vertex', (url) => ({ ...account(url), type: 'authorized_user' })),
    await setUp('vertex', (url) => ({ ...account(url), private_key: 'x'.repeat(200) })),
    await setUp('vertex', account, 400),
    await setUp('bedrock', () => ({ access_key_id: 'AKIA' })),
    await setUp('bedrock', () => ({ ...AWS, role_arn: 'not-a-role' })),
    await setUp('bedrock', (url) => ({ ...AWS, role_arn: ROLE, sts_endpoint_url: `${url}/sts` }), 403),
  ];
  for (const [i, { upstream, send }] of cases.entries()) {
    const answer = await send();
    assert.deepEqual([answer.status, answer.json().code], [503, 'upstream_credential_unavailable'], `${i}: ${answer.body}`);
    assert.doesNotMatch(answer.body, /canary|PRIVATE KEY|AKIA/);
    assert.equal(upstream.seen.filter(({ url }) => url !== '/token' && url !== '/sts').length, 0, String(i));
  }
});

test('Mistral’s older models, which know no stream_options, are asked once more without it', async () => {
  const w = await workspace();
  const upstream = await startUpstream((_, res, bytes) => {
    const asked = JSON.parse(bytes.toString()) as { stream_options?: unknown; model: string };
    if (asked.stream_options !== undefined || asked.model === 'always-422')
      return void res.writeHead(422, JSON_TYPE).end('{"message":"Extra inputs are not permitted: stream_options"}');
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames().join(''));
  });
  const made = await makeAgent(w, upstream, { provider: 'mistral' });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const answer = await askAgent(running, w, made.agent, text, { ...PROMPT, stream: true });
  assert.equal(answer.status, 200, answer.body);
  assert.match(answer.body, /\[DONE\]/);
  assert.equal(upstream.seen.length, 2);
  const refused = await askAgent(running, w, made.agent, text, { ...PROMPT, model: 'always-422', stream: true });
  assert.deepEqual([refused.status, upstream.seen.length], [422, 4], refused.body);
  assert.match(refused.body, /Extra inputs/);
});
