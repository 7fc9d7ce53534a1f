import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import table from '../generated/operations.json' with { type: 'json' };
import { type Reply, startServer } from '../hostile-server.fixture.ts';
import type { OperationTable } from '../operation.ts';
import { cli } from './cli.fixture.ts';
import { configurationOf } from './config/check.ts';
import { parseText } from './config/files.ts';
import { changesBetween } from './config/kind.ts';
import { flagOf, RESERVED_FLAGS } from './operation-input.ts';
import { toYaml } from './yaml.ts';

// Numbers and names of a document go through the command line as they were written, both ways, whatever the operation.

const DOCUMENT = '{"id":7615917337495251231,"e":1e400,"2":1,"1":2,"r":1.10,"neg":-0,"big":123456789012345678901234567890.10}';
const { operations } = table as OperationTable;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'exact-numbers-'));
after(() => fs.rmSync(folder, { recursive: true }));

const reply =
  (body: string): Reply =>
  (res) =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(body);
const envelope = (data: string) => reply(`{"data":${data},"meta":{"request_id":"r"}}`);

async function serviceOf(...replies: readonly Reply[]) {
  const { url, heard } = await startServer(...replies);
  const env = { SERVICE_API_KEY: 'tk_live_aaaaaaaaaaaa_key', SERVICE_BASE_URL: `${url}/v1`, HOME: folder, VALUE: 'x' };
  return { heard, run: (args: readonly string[], input?: string) => cli(args, { env, ...(input === undefined ? {} : { input }) }) };
}

/** The words of an operation's command, with a value for each part of its path, and a yes. */
const commandOf = ({ id, params, destructive }: OperationTable['operations'][number]): string[] => [
  ...id.split('.').map(flagOf),
  ...params.filter((one) => one.in === 'path').map(() => 'x'),
  ...(destructive ? ['--yes'] : []),
];
const flagFor = (name: string) => `--${RESERVED_FLAGS.has(flagOf(name)) ? 'field-' : ''}${flagOf(name)}`;

const withJson = operations.flatMap((operation) => {
  const field = operation.body?.fields.find(({ type, secret }) => type === 'json' && !secret);
  return field ? [{ operation, field }] : [];
});

test('a flag that takes JSON sends its text as it was given, of every operation', async () => {
  const { heard, run } = await serviceOf(envelope('{}'));
  assert.ok(withJson.length > 20);
  for (const { operation, field } of withJson) {
    const secrets = operation.body?.fields.filter(({ secret }) => secret).flatMap(({ name }) => [`${flagFor(name)}-from-env`, 'VALUE']);
    const ended = await run([...commandOf(operation), flagFor(field.name), DOCUMENT, ...(secrets ?? [])]);
    assert.equal(ended.code, 0, `${operation.id}: ${ended.err}`);
    assert.ok(heard.at(-1)?.body.includes(`"${field.name}":${DOCUMENT}`), `${operation.id}: ${heard.at(-1)?.body}`);
  }
});

test('--data sends its text as it was given: on the command line, from a file and from standard input', async () => {
  const { heard, run } = await serviceOf(envelope('{}'));
  const file = path.join(folder, 'body.json');
  fs.writeFileSync(file, DOCUMENT);
  for (const command of [
    ['routes', 'update', 'x'],
    ['api', 'PATCH', '/routes/x'],
  ])
    for (const data of [DOCUMENT, `@${file}`, '-']) {
      assert.equal((await run([...command, '--data', data], DOCUMENT)).code, 0);
      assert.equal(heard.at(-1)?.body, DOCUMENT);
    }
});

test('flags override members of --data, and the others stay as they were written', async () => {
  const { heard, run } = await serviceOf(envelope('{}'));
  const data = `{ "name": "a", "inject_body_json": ${DOCUMENT}, "n\\u0061me": "b" }`;
  assert.equal((await run(['routes', 'update', 'x', '--data', data, '--name', 'c', '--timeout-ms', '300.0'])).code, 0);
  assert.equal(heard.at(-1)?.body, `{"inject_body_json":${DOCUMENT},"timeout_ms":300.0,"name":"c"}`);
  for (const wrong of ['[1]', '"x"', '{', '{"a":01}']) assert.equal((await run(['routes', 'update', 'x', '--data', wrong])).code, 2, wrong);
  assert.equal((await run(['routes', 'update', 'x', '--timeout-ms', '1e400'])).code, 2, 'no integer');
});

test('an answer is printed with its numbers, as JSON, as a table and as an object', async () => {
  const { run } = await serviceOf(
    envelope(DOCUMENT),
    envelope(DOCUMENT),
    envelope(`[${DOCUMENT}]`),
    reply(`{"data":[{"request_id":"r","cursor":"c","extra":${DOCUMENT}}],"meta":{"request_id":"r"}}`),
  );
  const numbers = ['7615917337495251231', '1e400', '1.10', '-0', '123456789012345678901234567890.10'];
  for (const args of [
    ['routes', 'get', 'x'],
    ['routes', 'list'],
    ['logs', '--json'],
  ]) {
    const { out } = await run(args);
    for (const one of numbers) assert.ok(out.includes(one), `${args.join(' ')}: ${one} in ${out}`);
  }
});

test('a file is read and written with its numbers, whether YAML or JSON', () => {
  const body =
    '{ id: 7615917337495251231, r: 1.10, e: 1e400, neg: -0, big: 123456789012345678901234567890.10, hex: 0x1f, plus: +7, half: .5 }';
  const { value } = parseText('a.yaml', `format: 1\nclients: [{ name: a, ip_address: 203.0.113.1, ip_notes: ${body} }]`);
  const [client] = configurationOf([{ file: 'a.yaml', value, lineOf: () => 1 }]).resources.clients;
  const written =
    '{"id":7615917337495251231,"r":1.10,"e":1e400,"neg":-0,"big":123456789012345678901234567890.10,"hex":31,"plus":7,"half":0.5}';
  assert.equal(JSON.stringify(client?.entry.ip_notes), written);
  const again = parseText('b.yaml', toYaml({ notes: client?.entry.ip_notes })).value as { notes: unknown };
  assert.equal(JSON.stringify(again.notes), written);
  assert.equal(JSON.stringify((parseText('c.json', `{"notes":${written}}`).value as { notes: unknown }).notes), written);
  const digits = (text: string) => parseText('d.yaml', `id: ${text}`).value as { name: string };
  assert.equal(changesBetween(digits('7615917337495251231'), digits('7615917337495251232')).length, 1);
  const { value: typed } = parseText('e.yaml', 'format: 1\nroutes: [{ name: a, target_base_url: "https://a.b", timeout_ms: 300.0 }]');
  assert.equal(configurationOf([{ file: 'e.yaml', value: typed, lineOf: () => 1 }]).resources.routes[0]?.entry.timeout_ms, 300);
  assert.throws(() => parseText('f.yaml', 'a: .inf'), /has a number that is none/);
});
