import assert from 'node:assert/strict';
import test from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { connect, person, setSso, trail, verifiedWorkspace } from './people.fixture.ts';
import { certificate, type SamlTags, samlProvider } from './saml.fixture.ts';
import * as sso from './service.ts';

await testDatabase();
test.after(backgroundSettled);
const idp = await samlProvider({ acs: `${env.PUBLIC_ADMIN_URL}/auth/sso/acs` });
type Browser = ReturnType<typeof browser>;

async function scene(extra: Parameters<typeof connect>[1] = {}) {
  const { w, domain } = await verifiedWorkspace();
  const connection = await connect(w, { kind: 'saml', metadata_xml: idp.metadata, ...extra });
  const email = `anna@${domain}`;
  const anna = await person(email, [{ w }]);
  return { w, domain, connection, email, anna, entity_id: connection.service.entity_id };
}

/** Begins a sign-in; what the provider is sent. */
async function begin(b: Browser, slug: string) {
  const answer = await b.get(`/auth/sso/start?tenant=${slug}`);
  assert.equal(answer.status, 303, answer.text);
  const url = new URL(String(answer.headers.get('location')));
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
  return { url, xml, relay_state: String(url.searchParams.get('RelayState')), request_id: /\sID="([^"]+)"/.exec(xml)?.[1] ?? '' };
}

/** The page of the provider posts: another site, so no cookie of ours comes along. */
const post = (b: Browser, xml: string | Buffer, relay_state?: string) =>
  b.call(
    'POST',
    '/auth/sso/acs',
    new URLSearchParams({
      SAMLResponse: Buffer.from(xml).toString('base64'),
      ...(relay_state === undefined ? {} : { RelayState: relay_state }),
    }).toString(),
    { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site', cookie: null, 'content-type': 'application/x-www-form-urlencoded' },
  );

const follow = (b: Browser, answer: Awaited<ReturnType<typeof post>>) => {
  const url = new URL(String(answer.headers.get('location')));
  return b.get(url.pathname + url.search);
};
const isSignedIn = async (b: Browser) => (await b.get('/auth/me')).status === 200;
const reasonOf = (answer: { status: number; body: Record<string, unknown> }) => [answer.status, answer.body.code, answer.body.reason];

test('a member signs in: the request names this service, the response is posted by another site, and the browser gets its session on the way back', async () => {
  const { w, email, entity_id } = await scene();
  const b = browser();
  const { url, xml, relay_state, request_id } = await begin(b, w.tenant.slug);
  assert.equal(url.origin + url.pathname, idp.ssoUrl);
  assert.ok(xml.includes(`>${entity_id}<`) && xml.includes('/auth/sso/acs"'), xml);
  const posted = await post(b, await idp.respond({ entity_id, request_id }, { Email: email }), relay_state);
  assert.equal(posted.status, 303, posted.text);
  assert.equal(posted.headers.getSetCookie().filter((line) => line.includes('svc_session')).length, 0, 'the post itself signs nobody in');
  const back = await follow(b, posted);
  assert.deepEqual([back.status, back.headers.get('location')], [303, `/${w.tenant.slug}/test`]);
  const me = (await b.load()).body as unknown as { user: { email: string }; session: { scope_tenant_id: string } };
  assert.deepEqual([me.user.email, me.session.scope_tenant_id], [email, w.tenant.id]);
  assert.ok((await trail(w)).some(({ what, details }) => what === 'login session' && details.method === 'sso'));
});

test('a response that lands in another browser signs nobody in (login CSRF)', async () => {
  const { w, email, entity_id } = await scene();
  const [attacker, victim] = [browser(), browser()];
  const { relay_state, request_id } = await begin(attacker, w.tenant.slug);
  await begin(victim, w.tenant.slug);
  const posted = await post(victim, await idp.respond({ entity_id, request_id }, { Email: email }), relay_state);
  assert.deepEqual(reasonOf(await follow(victim, posted)), [403, 'sso_refused', 'expired']);
  assert.equal(await isSignedIn(victim), false);
});

test('an assertion is accepted once, for one request, whoever sends it again', async () => {
  const { w, email, entity_id } = await scene();
  const b = browser();
  const first = await begin(b, w.tenant.slug);
  const xml = await idp.respond({ entity_id, request_id: first.request_id }, { Email: email });
  assert.equal((await post(b, xml, first.relay_state)).status, 303);
  assert.equal(reasonOf(await post(b, xml, first.relay_state))[2], 'expired');
  const second = await begin(b, w.tenant.slug);
  assert.equal(reasonOf(await post(b, xml, second.relay_state))[2], 'assertion_invalid', 'it answers the first request');
  const [one, two] = [await begin(b, w.tenant.slug), await begin(b, w.tenant.slug)];
  const same = { AssertionID: '_the-same', Email: email };
  assert.equal((await post(b, await idp.respond({ entity_id, request_id: one.request_id }, same), one.relay_state)).status, 303);
  assert.equal(
    reasonOf(await post(b, await idp.respond({ entity_id, request_id: two.request_id }, same), two.relay_state))[2],
    'assertion_replayed',
  );
});

test('an assertion that is unsigned, by another key, for somebody else, or out of time is refused', async () => {
  const { w, email, entity_id, domain } = await scene();
  const other = await scene();
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const stranger = await certificate();
  const cases: [string, SamlTags, Parameters<typeof idp.respond>[2], string][] = [
    ['unsigned', {}, { sign: false }, 'assertion_invalid'],
    ['another key', {}, { by: stranger }, 'assertion_invalid'],
    ['SHA-1', {}, { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }, 'assertion_invalid'],
    ['audience', { Audience: other.entity_id }, {}, 'assertion_invalid'],
    ['recipient', { Recipient: 'https://elsewhere.example/acs' }, {}, 'assertion_invalid'],
    ['issuer', { Issuer: 'https://elsewhere.example' }, {}, 'assertion_invalid'],
    ['another request', { InResponseTo: '_another' }, {}, 'assertion_invalid'],
    ['expired', { NotBefore: at(-900), NotOnOrAfter: at(-300) }, {}, 'expired'],
    ['not yet', { NotBefore: at(600), NotOnOrAfter: at(900) }, {}, 'expired'],
    ['endless', { NotOnOrAfter: at(10 * 86_400) }, {}, 'assertion_invalid'],
    ['transient name', { Format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, {}, 'assertion_invalid'],
    ['another domain', { Email: `eve@${other.domain}` }, {}, 'domain_unverified'],
    ['subdomain', { Email: `eve@sub.${domain}` }, {}, 'domain_unverified'],
  ];
  for (const [name, tags, how, reason] of cases) {
    const b = browser();
    const { relay_state, request_id } = await begin(b, w.tenant.slug);
    const posted = await post(b, await idp.respond({ entity_id, request_id }, { Email: email, ...tags }, how), relay_state);
    const end = posted.status === 303 ? await follow(b, posted) : posted;
    assert.deepEqual(reasonOf(end), [403, 'sso_refused', reason], `${name}: ${end.text}`);
    assert.equal(await isSignedIn(b), false, name);
  }
  const b = browser();
  const { relay_state, request_id } = await begin(b, w.tenant.slug);
  const skewed = await idp.respond({ entity_id, request_id }, { Email: email, NotBefore: at(40) });
  assert.equal((await follow(b, await post(b, skewed, relay_state))).status, 303, 'a clock that is 40 seconds ahead');
});

/** Cuts a signed response into its parts, for putting them together again. */
function partsOf(xml: string) {
  const assertion = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
  const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(assertion)?.[0] ?? '';
  assert.ok(assertion && signature, xml);
  return { assertion, signature, bare: assertion.replace(signature, '') };
}

test('no way of wrapping a signed assertion into a forged one is accepted', async () => {
  const { w, email, entity_id, domain } = await scene();
  const victim = `boss@${domain}`;
  await person(victim, [{ w, role: 'admin' }]);
  const forge = (text: string) => text.replaceAll(email, victim).replace(/ID="_a[^"]+"/, 'ID="_evil"');
  const shapes: [string, (xml: string) => string][] = [
    ['changed inside', (xml) => xml.replaceAll(email, victim)],
    ['forged in front', (xml) => xml.replace(partsOf(xml).assertion, forge(partsOf(xml).bare) + partsOf(xml).assertion)],
    ['forged behind', (xml) => xml.replace(partsOf(xml).assertion, partsOf(xml).assertion + forge(partsOf(xml).bare))],
    [
      'XSW1: the signed response within the signature of a forged one',
      (xml) => {
        const { signature } = partsOf(xml);
        return forge(xml).replace(
          /<ds:Signature .*<\/ds:Signature>/s,
          signature.replace('</ds:Signature>', `<ds:Object>${xml}</ds:Object></ds:Signature>`),
        );
      },
    ],
    ['XSW3: the signed assertion as a sibling', (xml) => xml.replace('<saml:Assertion ', `${forge(partsOf(xml).bare)}<saml:Assertion `)],
    [
      'XSW4: the signed assertion as a child of a forged one',
      (xml) => {
        const { assertion, bare } = partsOf(xml);
        return xml.replace(assertion, forge(bare).replace('</saml:Assertion>', `${assertion}</saml:Assertion>`));
      },
    ],
    [
      'XSW5: the signature in the forged assertion, the signed content behind',
      (xml) => {
        const { assertion, signature, bare } = partsOf(xml);
        return xml.replace(assertion, forge(bare).replace('</saml:Issuer>', `</saml:Issuer>${signature}`) + bare);
      },
    ],
    [
      'XSW6: the signed content within the signature',
      (xml) => {
        const { assertion, signature, bare } = partsOf(xml);
        const stuffed = signature.replace('</ds:Signature>', `${bare}</ds:Signature>`);
        return xml.replace(assertion, forge(bare).replace('</saml:Issuer>', `</saml:Issuer>${stuffed}`));
      },
    ],
    [
      'XSW7: in extensions',
      (xml) =>
        xml.replace(partsOf(xml).assertion, `<samlp:Extensions>${partsOf(xml).assertion}</samlp:Extensions>${forge(partsOf(xml).bare)}`),
    ],
    [
      'XSW8: in an object of the signature',
      (xml) => {
        const { assertion, signature, bare } = partsOf(xml);
        const stuffed = signature.replace('</ds:Signature>', `<ds:Object>${bare}</ds:Object></ds:Signature>`);
        return xml.replace(assertion, forge(bare).replace('</saml:Issuer>', `</saml:Issuer>${stuffed}`));
      },
    ],
    [
      'another namespace prefix',
      (xml) =>
        xml.replace(
          partsOf(xml).assertion,
          forge(partsOf(xml).bare).replaceAll('saml:', 'x:').replace('xmlns:saml', 'xmlns:x') + partsOf(xml).assertion,
        ),
    ],
    [
      'the same ID twice',
      (xml) => xml.replace(partsOf(xml).assertion, partsOf(xml).bare.replaceAll(email, victim) + partsOf(xml).assertion),
    ],
    ['a signature emptied of its reference', (xml) => xml.replaceAll(email, victim).replace(/<ds:Reference .*<\/ds:Reference>/s, '')],
    ['a reference to everything', (xml) => xml.replaceAll(email, victim).replace(/URI="#[^"]*"/, 'URI=""')],
  ];
  for (const [name, wrap] of shapes) {
    const b = browser();
    const { relay_state, request_id } = await begin(b, w.tenant.slug);
    const wrapped = wrap(await idp.respond({ entity_id, request_id }, { Email: email }));
    assert.ok(wrapped.includes(victim), name);
    const posted = await post(b, wrapped, relay_state);
    assert.deepEqual(
      reasonOf(posted),
      [403, 'sso_refused', 'assertion_invalid'],
      `${name}: ${posted.text} ${posted.headers.get('location')}`,
    );
  }
});

test('comments, entities and what else makes two readers see two names is refused before it is parsed', async () => {
  const { w, email, entity_id, domain } = await scene();
  const evil = `anna@${domain}.evil.example`;
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 12 }, (_, i) => `<!ENTITY ${'abcdefghijklm'[i + 1]} "${`&${'abcdefghijklm'[i]};`.repeat(10)}">`).join('')}]>`;
  const shapes: [string, (xml: string) => string | Buffer][] = [
    ['a comment in the name', (xml) => xml.replaceAll(evil, evil.replace('.evil', '<!---->.evil'))],
    ['CDATA', (xml) => xml.replaceAll(evil, `<![CDATA[${email}]]>`)],
    ['a processing instruction', (xml) => xml.replaceAll(evil, evil.replace('.evil', '<?x?>.evil'))],
    ['an element in the name', (xml) => xml.replaceAll(`${evil}</saml:NameID>`, `${email}<x/>.evil.example</saml:NameID>`)],
    ['an external entity', (xml) => `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml.replaceAll(evil, '&e;')}`],
    ['a bomb of entities', (xml) => `${bomb}${xml.replaceAll(evil, '&m;')}`],
    ['UTF-16', (xml) => Buffer.from(`\uFEFF${xml}`, 'utf16le')],
    ['no XML', () => 'hello'],
    ['nothing', () => ''],
    ['half a megabyte', (xml) => xml.replace('</samlp:Response>', `${'<x/>'.repeat(70_000)}</samlp:Response>`)],
  ];
  for (const [name, change] of shapes) {
    const b = browser();
    const { relay_state, request_id } = await begin(b, w.tenant.slug);
    const posted = await post(b, change(await idp.respond({ entity_id, request_id }, { Email: evil })), relay_state);
    assert.ok(posted.status === 403 || posted.status === 400 || posted.status === 413, `${name}: ${posted.status} ${posted.text}`);
    assert.equal(posted.text.includes('root:'), false);
  }
  const b = browser();
  const { relay_state, request_id } = await begin(b, w.tenant.slug);
  const whole = await post(b, await idp.respond({ entity_id, request_id }, { Email: evil }), relay_state);
  assert.equal(reasonOf(await follow(b, whole))[2], 'domain_unverified', 'the name as a whole counts');
});

test('two certificates at once let a provider change its key, and the old one stops when it is taken away', async () => {
  const next = await certificate();
  const { w, connection, email, entity_id } = await scene();
  const owner = w.member('owner');
  const attempt = async (by: typeof next) => {
    const b = browser();
    const { relay_state, request_id } = await begin(b, w.tenant.slug);
    return (await post(b, await idp.respond({ entity_id, request_id }, { Email: email }, { by }), relay_state)).status;
  };
  assert.deepEqual([await attempt(idp.signing), await attempt(next)], [303, 403]);
  await sso.updateConnection(owner, { id: connection.id, certificates: [idp.signing.cert, next.cert] });
  assert.deepEqual([await attempt(idp.signing), await attempt(next)], [303, 303]);
  const after = await sso.updateConnection(owner, { id: connection.id, certificates: [next.cert] });
  assert.deepEqual([await attempt(idp.signing), await attempt(next)], [403, 303]);
  assert.deepEqual([after.certificates.length, after.certificates[0]?.subject], [1, 'CN=idp']);
});

test('a response that nobody asked for is refused until the connection allows it, and binds itself to the browser then', async () => {
  const { w, connection, email, entity_id } = await scene();
  const unasked = async () =>
    (await idp.respond({ entity_id, request_id: 'X' }, { Email: email }, { sign: false })).replaceAll(' InResponseTo="X"', '');
  assert.equal(reasonOf(await post(browser(), await unasked()))[2], 'expired');
  await sso.updateConnection(w.member('owner'), { id: connection.id, allow_idp_initiated: true });
  assert.equal(reasonOf(await post(browser(), await unasked()))[2], 'assertion_invalid', 'still only signed');
  const b = browser();
  const { request_id, relay_state } = await begin(b, w.tenant.slug);
  const asked = await idp.respond({ entity_id, request_id }, { Email: email });
  assert.equal(
    reasonOf(await post(b, asked, 'not our state'))[2],
    'assertion_invalid',
    'an answer to a request is none that nobody asked for',
  );
  assert.equal((await post(b, asked, relay_state)).status, 303);
  const signed = await idp.respond({ entity_id, request_id: '' }, { Email: email, InResponseTo: undefined as unknown as string });
  const c = browser();
  const posted = await post(c, signed, 'https://anywhere.example/');
  assert.equal(posted.status, 303, posted.text);
  assert.equal((await follow(browser(), posted)).status, 403, 'in this browser alone');
  assert.equal((await follow(c, posted)).status, 303);
  assert.equal(await isSignedIn(c), true);
  assert.equal(reasonOf(await post(c, signed))[2], 'assertion_replayed');
});

test('a new person joins by SAML where joining is on, and the provider is trusted for its second factor only when the workspace says so', async () => {
  const { w, domain, connection, entity_id } = await scene({ trust_mfa: true });
  await setSso(w, { jit_joining: true });
  const b = browser();
  const { relay_state, request_id } = await begin(b, w.tenant.slug);
  const tags = {
    Email: `new@${domain}`,
    NameID: 'opaque-7',
    Format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    Context: 'https://refeds.org/profile/mfa',
  };
  assert.equal((await follow(b, await post(b, await idp.respond({ entity_id, request_id }, tags), relay_state))).status, 303);
  const me = (await b.load()).body as unknown as { session: { mfa_at: string | null }; workspaces: { role: string }[] };
  assert.deepEqual([me.session.mfa_at !== null, me.workspaces[0]?.role], [true, 'member']);
  const link = await db().user_identities.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([link.issuer, link.subject, link.connection_id], [idp.entityID, 'opaque-7', connection.id]);
});

test('metadata is read from what a provider publishes, and what is none is refused', async () => {
  const { w, connection } = await scene();
  assert.deepEqual([connection.issuer, connection.sso_url, connection.certificates.length], [idp.entityID, idp.ssoUrl, 1]);
  const { xml } = await sso.getMetadata(w.member('owner'), { id: connection.id });
  assert.ok(
    xml.includes(`entityID="${connection.service.entity_id}"`) &&
      xml.includes('WantAssertionsSigned="true"') &&
      xml.includes('/auth/sso/acs"'),
    xml,
  );
  for (const metadata_xml of [
    '<x/>',
    'hello',
    xml,
    `<!DOCTYPE x [<!ENTITY a "b">]>${idp.metadata}`,
    idp.metadata.replaceAll(idp.ssoUrl, 'javascript:alert(1)'),
  ])
    await assert.rejects(connect(w, { kind: 'saml', metadata_xml }), { type: 'validation_error', message: /^metadata_xml:/ });
  await assert.rejects(connect(w, { kind: 'saml', entity_id: 'x', sso_url: 'https://idp.example/sso', certificates: ['nope'] }), {
    message: /^certificates\.0:/,
  });
  await assert.rejects(connect(w, { kind: 'saml', entity_id: 'x', sso_url: 'https://idp.example/sso' }), {
    message: /^certificates: is required/,
  });
  await assert.rejects(connect(w, { kind: 'saml', metadata_xml: idp.metadata, client_id: 'x' }), { message: /^client_id: doesn't belong/ });
});
