import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { type ApiDocument, operationsOf } from '#components/explorer/document.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { COMMON_FLAGS, commandsOf, helpLine, positionsOf } from './commands.ts';
import { readLine } from './parse-line.ts';
import { isFlag } from './parse-words.ts';
import { LONGEST_LINE, quoted, tokensOf } from './tokens.ts';

const commands = commandsOf(operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument));
const read = (line: string) => readLine(line, commands);
const call = (line: string) => {
  const reading = read(line);
  assert.equal(reading.kind, 'call', `${line}: ${JSON.stringify(reading)}`);
  return reading as Extract<typeof reading, { kind: 'call' }>;
};
const problem = (line: string) => {
  const reading = read(line);
  assert.equal(reading.kind, 'problem', line);
  const { message, next = '' } = reading as Extract<typeof reading, { kind: 'problem' }>;
  return `${message} ${next}`;
};

test('words are split as a POSIX shell splits them, and nothing is expanded', () => {
  const words = (line: string) => tokensOf(line).tokens.map(({ text }) => text);
  assert.deepEqual(words(`a  'b c' "d \\"e\\" \\n" f\\ g ''`), ['a', 'b c', 'd "e" \\n', 'f g', '']);
  assert.deepEqual(words('$HOME `id` $(id) *.txt ~ a;b|c && d > e'), [
    '$HOME',
    '`id`',
    '$(id)',
    '*.txt',
    '~',
    'a;b|c',
    '&&',
    'd',
    '>',
    'e',
  ]);
  assert.deepEqual(words('ends with \\'), ['ends', 'with', '\\']);
  for (const value of ['', 'plain', `it's`, 'a b', '"', '\\', '--x', '…']) {
    assert.deepEqual(words(`x ${quoted(value)}`), ['x', value], `${value} is one word again`);
    assert.ok(!isFlag(tokensOf(quoted(value)).tokens[0] ?? { text: '--', quoted: false }), `${value} is no flag`);
  }
});

test('every operation can be typed, each of its fields by one flag, and none hides behind what works everywhere', () => {
  assert.equal(new Set(commands.map(({ words }) => words.join(' '))).size, commands.length);
  for (const command of commands) {
    const { op, words, flags } = command;
    const all = [...op.inPath, ...op.inQuery, ...op.inBody, ...op.inHeader];
    assert.equal(flags.size, all.length, `${op.id}: two fields of one name`);
    for (const name of COMMON_FLAGS) assert.ok(!flags.has(name), `${op.id} --${name}`);
    const reading = read([...words, ...positionsOf(command).map(() => 'x')].join(' '));
    if (reading.kind === 'call') assert.equal(reading.command.op.id, op.id);
    else assert.match(JSON.stringify(reading), op.machineOnly ? /signed in/ : /requires --/, op.id);
    assert.deepEqual(read(`${words.join(' ')} --help`), { kind: 'help', commands: [command] });
  }
});

test('a line becomes the call it means, typed by the schema', () => {
  assert.deepEqual(call('routes list --search pay --per-page 5 --enabled').call, {
    path: {},
    query: { q: 'pay', per_page: '5', enabled: 'true' },
    headers: {},
    body: undefined,
  });
  assert.deepEqual(call('routes get echo').call.path, { id: 'echo' });
  assert.deepEqual(call('ROUTES environments put echo --env prod --timeout_ms=2000 --enabled false').call, {
    path: { id: 'echo', env: 'prod' },
    query: {},
    headers: {},
    body: { timeout_ms: 2000, enabled: false },
  });
  const { body, headers } = call(
    `routes update echo --name="A & b" --allowed-methods GET --allowed-methods 'POST, PUT' --allowed-methods '["HEAD"]' --rate-limit-requests null --inject-headers-json '{"X-A": "1"}' --idempotency-key k`,
  ).call;
  assert.deepEqual(body, {
    name: 'A & b',
    allowed_methods: ['GET', 'POST', 'PUT', 'HEAD'],
    rate_limit_requests: null,
    inject_headers_json: { 'X-A': '1' },
  });
  assert.deepEqual(headers, { 'Idempotency-Key': 'k' });
  assert.deepEqual(call(`environments create --json '{"name": "qa", "is_default": true}' --color '#fff'`).call.body, {
    name: 'qa',
    is_default: true,
    color: '#fff',
  });
  assert.equal(call('routes list --output json').as, 'json');
  assert.deepEqual(call('routes get -- --odd').call.path, { id: '--odd' });
});

test('wrong input gets an answer that helps', () => {
  const said: [line: string, answer: RegExp][] = [
    ['rotues list', /Unknown command: rotues.*`routes list`/],
    ['rotues get needle', /`routes get`/],
    ['sercets', /`secrets`/],
    ['routes lst', /routes has no command lst.*`routes list`/],
    ['help rotues', /`help routes`/],
    ['routes frobnicate', /routes has no such command.*Available: .*list/],
    ['frobnicate', /Unknown command.*`help`/],
    ['routes list --per-pgae 5', /no --per-pgae.*`--per-page`/],
    ['routes list --sort nmae', /must be created_at, name or enabled; did you mean name\?/],
    ['routes list --per-page five', /--per-page must be a whole number/],
    ['routes list --per-page 1.5', /whole number/],
    ['routes list --per-page', /--per-page requires a value/],
    ['routes list --per-page --page 2', /--per-page requires a value/],
    ['routes list --enabled=maybe', /true or false/],
    ['routes list --page 1 --page 2', /twice/],
    ['routes get', /requires <id>.*`routes get --help`/],
    ['routes get a b', /Too many arguments.*quotes/],
    ['routes get a --id b', /twice/],
    ['routes get id=a', /two dashes/],
    [`routes get '--id=a'`, /two dashes/],
    ['routes list --frobnicate', /unknown flag.*`routes list --help`/],
    ['routes list x', /only takes flags/],
    ['routes list -n', /two dashes/],
    ['routes create --name x', /requires --target-base-url/],
    ["routes get 'a", /Missing closing '/],
    ['routes list --output yaml', /table or json/],
    ['routes list --json {}', /takes no body/],
    ['routes update a --json [1]', /must be an object/],
    ['routes update a --json {', /not valid JSON/],
    ['routes update a --json {"nmae":1}', /not valid JSON|unknown field/],
    [`routes update a --json '{"nmae":1}'`, /unknown field nmae.*`name`/],
    [`routes update a --json '{"frobnicate":1}'`, /a field that routes update doesn’t have/],
    [`routes update a --name b --json '{"name":"c"}'`, /twice/],
    ['routes update a --inject-headers-json {', /must be JSON/],
    ['signup start --email a@b.test --tenant-name x', /signed in/],
  ];
  for (const [line, answer] of said) assert.match(problem(line), answer, line);
  for (const line of [
    'help',
    'routes',
    'routes environments',
    'routes create --help',
    'routes --help',
    'secrets create --value needle --help',
  ]) {
    const reading = read(line);
    assert.ok(reading.kind === 'help', line);
    const again = helpLine(reading.commands);
    assert.deepEqual(read(again), reading, again);
    assert.ok(!again.includes('needle'));
  }
  assert.equal(read('   ').kind, 'nothing');
  assert.equal(read('history clear').kind, 'forget');
});

test('hostile lines are read in linear time and reach no prototype', async () => {
  assert.match(problem(`x${'a'.repeat(LONGEST_LINE)}`), /exceeds/);
  for (const [before, piece] of [
    ['', '"a" '],
    ['routes get ', '\\'],
    ['routes update x --allowed-methods ', ','],
    ['', 'a'],
  ] as const)
    await assertGrowsLinearly(before + piece, 19_900, (size) => before + piece.repeat(size / piece.length), read);
  for (const line of [
    '__proto__ list',
    'constructor',
    'routes __proto__',
    'routes list --__proto__ x',
    'routes get x --constructor y',
    'toString',
  ])
    problem(line);
  assert.match(
    problem(`routes update x --json '{"__proto__": {"polluted": true}, "constructor": 1}'`),
    /a field that routes update doesn’t have/,
  );
  const { body } = call(`routes update x --inject-headers-json '{"__proto__": {"polluted": true}}'`).call;
  assert.ok(Object.hasOwn(body?.inject_headers_json as object, '__proto__'));
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.deepEqual(call('routes get __proto__').call.path, { id: '__proto__' });
});
