import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { type ApiDocument, operationsOf } from '#components/explorer/document.ts';
import { listedOperations } from '#server/trpc/listed-operations.ts';
import { commandsOf } from './commands.ts';
import { commonStart, completed, slotAt } from './complete.ts';
import { readLine } from './parse-line.ts';
import { listOf, namesIn, type Sources, withIds, wordFor } from './resource-names.ts';
import { tokensOf } from './tokens.ts';

const commands = commandsOf(operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument));
const options = (text: string) => slotAt(text, commands).options.map(({ value }) => value);
const [echo, twinA, twinB, client] = ['a', 'b', 'c', 'd'].map((one) => `01a200c5-ce3b-7001-9fcd-a5a57ee3709${one}`) as [
  string,
  string,
  string,
  string,
];

const asked: [string, Record<string, unknown>][] = [];
const rows: Record<string, Record<string, unknown>[]> = {
  'routes.list': [
    { id: echo, name: 'Echo', slug: 'echo' },
    { id: twinA, name: 'Twin', slug: 'twin' },
    { id: twinB, name: 'Twin', slug: null },
  ],
  'clients.list': [{ id: client, name: 'Partner, Inc.' }],
  'collections.list': [{ id: twinA, name: 'Payments', slug: 'payments' }],
};
const sources: Sources = {
  commands,
  listed: async () => listedOperations(),
  ask: async (procedure, input) => {
    asked.push([procedure, input]);
    return { data: rows[procedure] ?? [] };
  },
};
const resolve = async (line: string) => {
  const reading = readLine(line, commands);
  assert.ok(reading.kind === 'call', line);
  return withIds(reading.command, reading.call, sources);
};

test('a word is completed to what can stand there: families, verbs, flags, their values', () => {
  assert.deepEqual(options('rou'), ['routes']);
  assert.ok(options('').includes('help') && options('').includes('secrets'));
  assert.deepEqual(options('routes l'), ['list', 'logs']);
  assert.ok(options('routes environments ').includes('put'));
  assert.deepEqual(options('routes list --per'), ['--per-page']);
  assert.deepEqual(options('routes list --order '), ['asc', 'desc']);
  assert.deepEqual(options('routes list --order d'), ['desc']);
  assert.deepEqual(options('routes list --enabled t'), ['true']);
  assert.deepEqual(options('routes list --output '), ['table', 'json']);
  assert.deepEqual(options('secrets create --value '), ['-']);
  assert.deepEqual(options('secrets create --value some '), [], 'the secret may go on');
  assert.deepEqual(options('help rou'), ['routes']);
  assert.ok(!options('routes list --page 1 --').includes('--page'), 'a flag is offered once');
  assert.ok(options('routes update x --allowed-methods GET --').includes('--allowed-methods'), 'one that takes several, again');
  assert.ok(options('routes create ')[0]?.startsWith('--'));
  assert.equal(completed('routes l', slotAt('routes l', commands), 'list'), 'routes list ');
  assert.equal(completed('routes get e', slotAt('routes get e', commands), 'two words'), "routes get 'two words' ");
  assert.equal(commonStart(['--rate-limit-burst', '--rate-limit-enabled']), '--rate-limit-');
});

test('a completed word is one word in the place of the one that was begun, however the text ends', () => {
  for (const text of [
    "routes get 'a",
    'x '.repeat(500),
    '--',
    '-- ',
    '\\',
    'routes list --output=',
    'routes get a b c ',
    'help help',
    '__proto__ ',
  ]) {
    const slot = slotAt(text, commands);
    const whole = completed(text, slot, 'two words');
    assert.ok(whole.startsWith(text.slice(0, slot.from)), text);
    const [before, after] = [text.slice(0, slot.from), whole].map((line) => tokensOf(line).tokens.map((token) => token.text));
    assert.deepEqual(after, [...(before ?? []), 'two words'], text);
  }
});

test('a thing of the person is named by slug or name where that says which, else by its id', async () => {
  const slot = slotAt('routes get ', commands);
  assert.ok(slot.names);
  const { found } = await namesIn(slot.names.list, {}, 'tw', sources);
  assert.deepEqual(
    found.map((one) => wordFor(one, found, 'id')),
    ['echo', 'twin', twinB],
  );
  assert.deepEqual(asked.at(-1), ['routes.list', { per_page: 100, q: 'tw' }]);
  assert.ok(slotAt('routes list --collection-id ', commands).names);
  assert.equal(slotAt('secrets create --environment ', commands).names?.list.by, 'name');
  assert.ok(slotAt('clients list-credentials ', commands).names);
  assert.equal(slotAt('routes list --q ', commands).names, undefined);
});

/** Calls, deliveries, and the number of a key's version. */
const UNLISTED = new Set(['request_id', 'log_id', 'n', 'provider', 'model', 'pack']);
/** Lists of these stand below a gateway, which a call of theirs doesn't name. */
const FLAT = /^\/ai-gateway\/(?:agents|mcp-servers|tokens)\/\{/;
/** A root names its active intermediate; the dashboard alone lists those before. */
const UNNAMED = /^\/pki\/roots\/\{name\}\/intermediates\/\{id\}/;
/** A run of a workflow. */
const RUN = /^\/workflows\/executions\/\{id\}/;
test('every id in a path of the API is listed somewhere, but for calls, deliveries and numbers of versions', () => {
  for (const command of commands)
    for (const flag of command.flags.values())
      if (
        flag.place === 'path' &&
        !UNLISTED.has(flag.name) &&
        !FLAT.test(command.op.path) &&
        !RUN.test(command.op.path) &&
        !(flag.name === 'id' && UNNAMED.test(command.op.path))
      )
        assert.ok(listOf(command, flag, commands), `${command.op.id} ${flag.name}`);
});

test('names become ids before a call, in paths, queries and bodies; what nobody knows is left to the service', async () => {
  assert.deepEqual((await resolve('routes get echo')).path, { id: echo });
  assert.deepEqual((await resolve('routes get ECHO')).path, { id: echo });
  assert.deepEqual((await resolve('routes get nobody')).path, { id: 'nobody' });
  assert.deepEqual((await resolve('routes list --collection-id Payments')).query, { collection_id: twinA });
  const { path, body } = await resolve(`routes clients set echo prod --json '{"client_ids": ["Partner, Inc."]}'`);
  assert.deepEqual([path, body], [{ id: echo, env: 'prod' }, { client_ids: [client] }]);
  const before = asked.length;
  await resolve(`routes get ${twinB}`);
  assert.equal(asked.length, before, 'an id is not looked up');
  await assert.rejects(resolve('routes get Twin'), /2 resources are named Twin/);
});

test('what stands behind a secret field is looked up nowhere', () => {
  for (const text of [
    'secrets put-value --value two wor',
    'secrets put-value --value=two wor',
    'secrets put-value --value ',
    "secrets put-value '--value=wor",
    'secrets put-value value=wor',
    'secrets put-value -value=wor',
  ])
    assert.equal(slotAt(text, commands).names, undefined, text);
  assert.ok(slotAt('secrets put-value --value - A', commands).names, 'where it is asked for, a name comes next');
});

test('text that looks like a credential is never sent to be looked up, or as a part of a path', async () => {
  const before = asked.length;
  await assert.rejects(resolve(`routes get sk_live_${'a1'.repeat(14)}`), /looks like a credential/);
  assert.equal(asked.length, before);
});
