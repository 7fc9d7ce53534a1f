import assert from 'node:assert/strict';
import test from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { digest } from '#server/crypto/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { env } from '#server/platform/env.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { browser } from '#server/testing/people.ts';
import { connect, person, verifiedWorkspace } from './people.fixture.ts';
import { samlProvider } from './saml.fixture.ts';
import { updateConnection } from './service.ts';

// Responses that nobody authenticated, in numbers: what they cost is counted before a thread reads them, and nobody's sign-in waits for them.

await testDatabase();
test.after(backgroundSettled);
const idp = await samlProvider({ acs: `${env.PUBLIC_ADMIN_URL}/auth/sso/acs` });

async function scene() {
  const { w, domain } = await verifiedWorkspace();
  const connection = await connect(w, { kind: 'saml', metadata_xml: idp.metadata });
  await updateConnection(w.member('owner'), { id: connection.id, allow_idp_initiated: true });
  const email = `anna@${domain}`;
  await person(email, [{ w }]);
  return { slug: w.tenant.slug, email, id: connection.id, entity_id: connection.service.entity_id };
}
type Scene = Awaited<ReturnType<typeof scene>>;

const post = (b: ReturnType<typeof browser>, xml: string, relay_state?: string) =>
  b.call(
    'POST',
    '/auth/sso/acs',
    new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64'), ...(relay_state && { RelayState: relay_state }) }).toString(),
    {
      origin: 'https://idp.example',
      'sec-fetch-site': 'cross-site',
      cookie: null,
      'content-type': 'application/x-www-form-urlencoded',
    },
  );

async function begin(b: ReturnType<typeof browser>, { slug }: Scene) {
  const { headers } = await b.get(`/auth/sso/start?tenant=${slug}`);
  const { searchParams } = new URL(String(headers.get('location')));
  const xml = inflateRawSync(Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
  return { relay_state: String(searchParams.get('RelayState')), request_id: /\sID="([^"]+)"/.exec(xml)?.[1] ?? '' };
}

/** A person of the workspace signs in from an address of their own. */
async function signIn(to: Scene) {
  const b = browser();
  const { relay_state, request_id } = await begin(b, to);
  return (await post(b, await idp.respond({ entity_id: to.entity_id, request_id }, { Email: to.email }), relay_state)).status;
}

/** A large response, signed by nobody: it names the connection as its audience. */
async function large(to: Scene): Promise<string> {
  const xml = await idp.respond({ entity_id: to.entity_id, request_id: '_1' }, { Email: to.email });
  return xml.replace('<saml:Subject>', `${'<e a="1">t</e>'.repeat(600)}<saml:Subject>`);
}

test('a flood at one connection, from many addresses, locks nobody out of it and blocks nothing', async () => {
  const to = await scene();
  const xml = await large(to);
  await neverBlocks(async () => {
    const flood = Array.from({ length: 26 }, () => post(browser(), xml));
    await Promise.race(flood);
    assert.equal(await signIn(to), 303);
    for (const { status, text } of await Promise.all(flood)) assert.ok(status === 403 || status === 503, text);
  });
});

test('responses that name no connection, or no attempt, are refused without a thread', async () => {
  const to = await scene();
  const xml = (await large(to)).replaceAll(to.id, newId());
  const answers = await neverBlocks(() =>
    Promise.all(Array.from({ length: 30 }, (_, i) => post(browser(), xml, i % 2 ? 'A'.repeat(43) : undefined))),
  );
  for (const { status, body } of answers) assert.deepEqual([status, body.reason], [403, 'expired']);
});

test('an address posts sixty in five minutes', async () => {
  const to = await scene();
  const b = browser();
  const statuses = await Promise.all(Array.from({ length: 62 }, () => post(b, '<x/>').then(({ status }) => status)));
  assert.deepEqual([statuses.filter((one) => one === 403).length, statuses.filter((one) => one === 429).length], [60, 2]);
  assert.equal(await signIn(to), 303);
});

test('a connection takes a thousand unasked responses in five minutes, and sign-ins that began here are not among them', async () => {
  const to = await scene();
  const b = browser();
  const xml = await large(to);
  assert.equal((await post(b, xml)).status, 403);
  const key = `throttle:sso-responses:${digest(to.id).toString('base64url')}`;
  assert.equal((await sql().query('update rate_counters set n = 1000 where key = $1', [key])).rowCount, 1);
  assert.equal((await post(b, xml)).status, 429);
  assert.equal(await signIn(to), 303);
});

test('an attempt takes five responses, then it must be begun anew', async () => {
  const to = await scene();
  const b = browser();
  const { relay_state, request_id } = await begin(b, to);
  const xml = await large(to);
  for (let i = 0; i < 5; i++) assert.equal((await post(b, xml, relay_state)).body.reason, 'assertion_invalid');
  const good = await idp.respond({ entity_id: to.entity_id, request_id }, { Email: to.email });
  assert.equal((await post(b, good, relay_state)).body.reason, 'expired');
});
