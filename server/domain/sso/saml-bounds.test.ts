import assert from 'node:assert/strict';
import test from 'node:test';
import { SamlRefused } from '#server/crypto/saml.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { samlProvider } from './saml.fixture.ts';
import { run } from './saml.thread.ts';
import { MS, providerOf, verifiedResponse } from './saml-reading.ts';

const SP = { entity_id: 'https://service.example', acs_url: 'https://service.example/acs' };
const idp = await samlProvider({ acs: SP.acs_url });
const provider = await providerOf(idp.metadata, 'tests');
assert.ok(provider);
const honest = await idp.respond({ entity_id: SP.entity_id, request_id: '_1' }, { Email: 'anna@example.com' });

const read = (xml: string) =>
  verifiedResponse({ response: Buffer.from(xml).toString('base64'), idp: provider, sp: SP, request_id: '_1', now: new Date() }, 'tests');

/** What stands between the elements of the response, where any XML may. */
const beside = (more: string) => honest.replace('<samlp:Status>', `${more}<samlp:Status>`);
const REFERENCE = /<ds:Reference .*?<\/ds:Reference>/s.exec(honest)?.[0] ?? '';
const TRANSFORM = /<ds:Transform [^>]*\/>/.exec(honest)?.[0] ?? '';
const names = (count: number, name: (i: number) => string) => Array.from({ length: count }, (_, i) => name(i)).join('');

const OVER: [what: string, xml: string, message: RegExp][] = [
  ['references', honest.replace(REFERENCE, REFERENCE.repeat(215)), /more than one reference/],
  ['references and empty elements', beside('<e/>'.repeat(22_000)).replace(REFERENCE, REFERENCE.repeat(215)), /more than 2000 elements/],
  ['transforms', honest.replace(TRANSFORM, TRANSFORM.repeat(1_000)), /more than two transforms/],
  ['namespaces', beside(`<e ${names(4_000, (i) => ` xmlns:a${i}="urn:${i}"`)}/>`), /more than 500 namespace declarations/],
  ['nested namespaces', beside(names(3_000, (i) => `<e xmlns:a${i}="urn:${i}">`) + '</e>'.repeat(3_000)), /more than 40 deep/],
  [
    'namespaces in scope',
    beside(names(38, (i) => `<e ${names(13, (n) => ` xmlns:n${i}_${n}="urn:${i}:${n}"`)}>`) + '<e/>'.repeat(1_900) + '</e>'.repeat(38)),
    /too many namespaces in scope/,
  ],
  ['attributes', beside(`<e ${names(10_000, (i) => ` a${i}=""`)}/>`), /more than 2000 attributes/],
  ['depth', beside('<e>'.repeat(41) + '</e>'.repeat(41)), /more than 40 deep/],
  ['brackets', '<'.repeat(200_000), /a tag that does not end/],
  ['a tag in quotes', beside(`<e a="<e/>"/>`), /a tag that does not end/],
  ['an open quote', beside(`<e a="`), /a tag that does not end/],
];

test('an honest response is read', async () => {
  assert.equal((await read(honest)).email, 'anna@example.com');
});

for (const [what, xml, message] of OVER)
  test(`a response with too much of ${what} is refused before it is parsed`, async () => {
    assert.ok(xml.length > honest.length || what === 'brackets', 'the shape is in it');
    await neverBlocks(() => assert.rejects(read(xml), (error: SamlRefused) => error instanceof SamlRefused && message.test(error.message)));
  });

test('the largest response that is let through takes a part of its deadline in processor time, beside a loop that goes on', async () => {
  const nested = names(36, () => '<e a="1">') + '<e a="1"/>'.repeat(1_800) + '</e>'.repeat(36);
  const xml = honest.replace('<saml:Subject>', `${nested}<saml:Subject>`);
  const outcome = await neverBlocks(() =>
    read(xml).then(
      () => 'read',
      (error: Error) => error.message,
    ),
  );
  assert.match(outcome, /no valid signature|too long/, 'a busy machine may not come to its end in time');
  const began = process.threadCpuUsage();
  const here = await run({ response: Buffer.from(xml).toString('base64'), idp: provider, sp: SP, request_id: '_1', now: new Date() });
  const { user, system } = process.threadCpuUsage(began);
  assert.match(JSON.stringify(here), /no valid signature/);
  assert.ok((user + system) / 1_000 < MS / 2, `${(user + system) / 1_000} ms`);
});

test('metadata with comments, CDATA and instructions is read, whatever stands in them', async () => {
  const noted = idp.metadata.replace(
    '</EntityDescriptor>',
    `<!-- don't edit: <old entityID="a" --><?note don't <?><Extensions><![CDATA[it's <b>]]></Extensions></EntityDescriptor>`,
  );
  assert.deepEqual(await providerOf(noted, 'tests'), provider);
  assert.equal(await providerOf(noted.replace(' -->', ''), 'tests'), undefined);
});

test('metadata with too much of anything is none', async () => {
  const over = idp.metadata.replace('</EntityDescriptor>', `${'<e/>'.repeat(30_000)}</EntityDescriptor>`);
  assert.ok(over.length > idp.metadata.length);
  assert.equal(await neverBlocks(() => providerOf(over, 'tests')), undefined);
});
