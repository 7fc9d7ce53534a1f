import assert from 'node:assert/strict';
import test from 'node:test';
import { creationProblem } from './placeholders.shared.ts';
import { renderUserDocument, userDocumentProblem } from './user-documents.shared.ts';

const document = {
  roles: [{ role: 'read', db: '{{database}}' }, 'clusterMonitor'],
  mechanisms: ['SCRAM-SHA-256'],
  authenticationRestrictions: [{ clientSource: ['10.0.0.0/8'] }],
  customData: { for: '{{role}}', '{{username}}': 1 },
};

test('a document of rights is accepted and filled in, keys too', () => {
  const text = JSON.stringify(document);
  assert.equal(creationProblem(text, 'mongo'), null);
  const fill = (each: string) => each.replaceAll('{{database}}', 'app').replaceAll('{{role}}', 'r').replaceAll('{{username}}', 'u');
  assert.deepEqual(renderUserDocument(text, fill), {
    ...document,
    roles: [{ role: 'read', db: 'app' }, 'clusterMonitor'],
    customData: { for: 'r', u: 1 },
  });
});

test('a document with anything else is refused', () => {
  const refused: [string, RegExp][] = [
    ['', /must be a JSON object/],
    ['[]', /must be a JSON object/],
    ['null', /must be a JSON object/],
    ['{"roles":[]', /must be a JSON object/],
    ['{"roles":[]} {"dropDatabase":1}', /must be a JSON object/],
    ['{"roles":[],"createUser":"root"}', /unknown key "createUser"/],
    ['{"roles":[],"pwd":"x"}', /unknown key "pwd"/],
    ['{"roles":[],"passwordDigestor":"client"}', /unknown key/],
    ['{"roles":[],"$db":"admin"}', /unknown key/],
    ['{"roles":[],"writeConcern":{}}', /unknown key/],
    ['{"roles":[],"__proto__":{}}', /unknown key "__proto__"/],
    ['{}', /must have roles/],
    ['{"roles":"root"}', /must have roles/],
    ['{"roles":[{"role":"read"}]}', /must have roles/],
    ['{"roles":[{"role":"read","db":"a","x":1}]}', /must have roles/],
    ['{"roles":[{"role":{"$ne":1},"db":"a"}]}', /must have roles/],
    ['{"roles":[""]}', /must have roles/],
    ['{"roles":[],"mechanisms":["PLAIN"]}', /must have mechanisms/],
    ['{"roles":[],"mechanisms":[]}', /must have mechanisms/],
    ['{"roles":[],"authenticationRestrictions":[{"clientSource":"10.0.0.1"}]}', /must have authenticationRestrictions/],
    ['{"roles":[],"authenticationRestrictions":[{"other":["10.0.0.1"]}]}', /must have authenticationRestrictions/],
    ['{"roles":[],"customData":[]}', /must have an object as customData/],
    ['{"roles":[],"customData":{"p":"{{password}}"}}', /can't contain \{\{password\}\}/],
    // The same, spelled so that the text doesn't show it.
    ['{"roles":[],"customData":{"p":"\\u007b{password}}"}}', /can't contain \{\{password\}\}/],
    [`{"roles":[],"customData":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`, /nested/],
    [`${'['.repeat(16_000)}${']'.repeat(16_000)}`, /must be a JSON object/],
  ];
  for (const [text, problem] of refused) assert.match(userDocumentProblem(text) ?? '', problem, text.slice(0, 80));
});

test('an unknown placeholder is refused however it is spelled', () => {
  for (const text of ['{"roles":["{{nope}}"]}', '{"roles":["\\u007b{nope}}"]}', '{"roles":[],"customData":{"\\u007b\\u007bnope}}":1}}'])
    assert.match(creationProblem(text, 'mongo') ?? '', /unknown placeholder \{\{nope\}\}/, text);
});

test('a custom document keeps the key __proto__ as a key', () => {
  const made = renderUserDocument('{"roles":[],"customData":{"__proto__":{"admin":true}}}', (each) => each);
  assert.deepEqual(Object.keys(made.customData ?? {}), ['__proto__']);
  assert.equal(({} as Record<string, unknown>).admin, undefined);
});
