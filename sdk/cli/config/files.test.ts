import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { CONFIG_DEFAULTS } from '#server/domain/routes/effective.ts';
import { cli } from '../cli.fixture.ts';
import { configurationOf } from './check.ts';
import { parseText } from './files.ts';
import { SETTING_DEFAULTS } from './route-settings.ts';

// What a file may say, judged before anything is sent: these commands have no address that answers.

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'configuration-'));
after(() => fs.rmSync(folder, { recursive: true }));
const env = { SERVICE_API_KEY: 'tk_live_xxxxxxxxxxxx_none', SERVICE_BASE_URL: 'http://127.0.0.1:1', HOME: folder };
let files = 0;
function file(text: string, name = `${files++}.yaml`): string {
  fs.writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}
const diff = (...paths: string[]) => cli(['diff', ...paths.flatMap((one) => ['-f', one])], { env });

const SECRET = 'correct-horse-battery-staple';
const hostile: [string, string, RegExp][] = [
  ['a text that is no YAML', 'format: 1\nroutes: [', /is not valid YAML or JSON/],
  ['a list', '- 1', /must be a mapping that starts with format: 1/],
  ['nothing', '', /must be a mapping/],
  ['no format', 'routes: []', /format is required/],
  ['a format of another time', 'format: 2', /format: must be 1/],
  ['an unknown kind', 'format: 1\nplugins: []', /there is no member called plugins/],
  ['an unknown member', 'format: 1\nenvironments: [{ name: a, colour: red }]', /environments\[a\]: there is no member called colour/],
  ['an ID', 'format: 1\nclients: [{ name: a, ip_address: 203.0.113.1, collection_id: x }]', /write collection with a name/],
  [
    'a wrong type',
    'format: 1\nroutes: [{ name: a, target_base_url: "https://a.b", timeout_ms: soon }]',
    /:2 routes\[a\]\.timeout_ms: must be integer/,
  ],
  [
    'a number out of range',
    'format: 1\nroutes:\n  - name: a\n    target_base_url: https://a.b\n    timeout_ms: 1',
    /:5 routes\[a\]\.timeout_ms: must be >= 100/,
  ],
  [
    'two resources of one name',
    'format: 1\nenvironments: [{ name: a }, { name: a }]',
    /environments\[a\]: .* describes the same environment/,
  ],
  ['two members of one name', 'format: 1\nformat: 1', /is not valid YAML or JSON \(duplicate key\)/],
  [
    'a resource that is deleted as well',
    'format: 1\nenvironments: [{ name: a }]\n_delete: { environments: [a] }',
    /is described as well as deleted/,
  ],
  [
    'a prototype',
    'format: 1\nroutes: [{ name: a, target_base_url: "https://a.b", inject_body_json: { "__proto__": { x: 1 } } }]',
    /a member called __proto__/,
  ],
  ['a prototype in JSON', '{"format":1,"environments":[{"name":"a","constructor":{}}]}', /a member called constructor/],
  [
    "a secret's value",
    `format: 1\nsecrets: [{ name: A, value: ${SECRET} }]`,
    /secrets\[A\]\.value: a secret's value can't stand in a file/,
  ],
  [
    "a secret's value per environment",
    `format: 1\nsecrets: [{ name: A, environments: { staging: { value: ${SECRET} } } }]`,
    /a secret's value can't stand/,
  ],
  [
    'a credential in a header',
    `format: 1\nroutes: [{ name: a, target_base_url: "https://a.b", inject_headers_json: { Authorization: Bearer ${SECRET} } }]`,
    /routes\[a\]\.inject_headers_json\.Authorization: looks like a credential/,
  ],
  [
    'a credential of one method',
    `format: 1\nroutes: [{ name: a, target_base_url: "https://a.b", method_configs: [{ method: GET, inject_query_json: { api_key: ${SECRET} } }] }]`,
    /looks like a credential/,
  ],
  [
    'a shared secret of a client',
    `format: 1\nclients: [{ name: a, ip_address: 203.0.113.1, credentials: [{ kind: signature_hmac, data: { secret: A, mode: generate } }] }]`,
    /there is no member called mode/,
  ],
  ['aliases that multiply', bomb(), /repeats its aliases too often/],
  ['a deep nesting', `format: 1\nroutes: ${'['.repeat(5_000)}${']'.repeat(5_000)}`, /nested|resource exhaustion/],
  ['more levels than a configuration has', `format: 1\nroutes: ${'['.repeat(50)}${']'.repeat(50)}`, /nested deeper than 40 levels/],
  ['an alias of itself', 'format: 1\nroutes: &a [*a]', /nested|aliases/],
];

function bomb(): string {
  const lines = ['format: 1', 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}

for (const [what, text, message] of hostile)
  test(`a file with ${what} is refused with its place, and nothing of it is repeated`, async () => {
    const ended = await diff(file(text));
    assert.equal(ended.code, 1, ended.err);
    assert.match(ended.err, message);
    assert.doesNotMatch(ended.err + ended.out, new RegExp(SECRET));
  });

test('10 MB are refused before they are read, in a file as on standard input', async () => {
  const large = `format: 1\n# ${'x'.repeat(10 * 1024 * 1024)}`;
  assert.match((await diff(file(large))).err, /is larger than 5 MiB/);
  assert.match((await cli(['diff', '-f', '-'], { env, input: large })).err, /is larger than 5 MiB/);
});

test('files of a folder are one configuration, and the same resource twice names both places', async () => {
  const own = path.join(folder, 'several');
  fs.mkdirSync(own);
  fs.writeFileSync(path.join(own, 'b.yml'), 'format: 1\nenvironments: [{ name: a }]\n');
  fs.writeFileSync(path.join(own, 'a.json'), '{ "format": 1, "environments": [{ "name": "a" }] }');
  fs.writeFileSync(path.join(own, 'notes.txt'), 'not a configuration');
  assert.match((await diff(own)).err, /b\.yml:2 environments\[a\]: .*a\.json:1 environments\[a\] describes the same/);
  assert.match((await diff(path.join(folder, 'nothing'))).err, /can't be read: ENOENT/);
});

test('a wrong flag of diff is no difference, and wrong usage of apply is', async () => {
  assert.equal((await cli(['diff', '--fiel', 'x'], { env })).code, 1);
  assert.equal((await cli(['diff'], { env })).code, 1);
  assert.equal((await cli(['diff', '--help'], { env })).code, 0);
  assert.equal((await cli(['apply'], { env })).code, 2);
  assert.equal((await cli(['apply', '-f', file('format: 1'), '--yes'], { env })).code, 5, 'a right file is sent to the address');
});

test('the schema is printed, and a file of it is accepted', async () => {
  const printed = await cli(['schema'], { env });
  const { $defs } = JSON.parse(printed.out) as { $defs: Record<string, { properties: object; additionalProperties: boolean }> };
  assert.deepEqual(
    Object.entries($defs).map(([name, { additionalProperties }]) => [name, additionalProperties]),
    ['value_from', 'secret', 'environment', 'collection', 'client', 'route'].map((name) => [name, false]),
  );
  assert.deepEqual(
    Object.keys($defs.secret?.properties ?? {}).filter((name) => /^(?:value|password|private_key|client_secret)$/.test(name)),
    [],
  );
  const { resources } = configurationOf([parseText('a', 'format: 1\nroutes: [{ name: a, target_base_url: "https://a.b" }]')]);
  assert.equal(resources.routes[0]?.place, 'a:2 routes[a]');
});

test('the defaults of routes are those of the service', () => {
  const { enabled: _, payload_structure, mtls_certificate_id, upstream_ca_certificate_id, ...same } = CONFIG_DEFAULTS;
  assert.deepEqual(
    { ...same, mtls_certificate: mtls_certificate_id, upstream_ca_certificate: upstream_ca_certificate_id },
    SETTING_DEFAULTS,
  );
});
