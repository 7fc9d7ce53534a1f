import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { type ApiDocument, operationsOf } from '#components/explorer/document.ts';
import { commandsOf } from './commands.ts';
import { readLine } from './parse-line.ts';

const commands = commandsOf(operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument));
const call = (line: string) => {
  const reading = readLine(line, commands);
  assert.ok(reading.kind === 'call', `${line}: ${JSON.stringify(reading)}`);
  return reading;
};
const problem = (line: string) => {
  const reading = readLine(line, commands);
  assert.ok(reading.kind === 'problem', line);
  return `${reading.message} ${reading.next ?? ''}`;
};

test('a secret is never taken from the line, shown of it or kept of it: it is asked for', () => {
  const needle = 'needle-in-a-line';
  const flags = [
    `--value ${needle}`,
    `--value=${needle}`,
    `--value='${needle}'`,
    `--VALUE "${needle}"`,
    `—value ${needle}`, // of a phone that makes one dash of two
    `--value ${needle} and ${needle}`,
    `--value=${needle} and ${needle}`,
    `--value “${needle} and ${needle}”`,
    `--value --${needle}`,
    `--value -----BEGIN PRIVATE KEY-----${needle}/= -----END PRIVATE KEY-----`,
    `--value-from-prompt=${needle}`,
  ];
  for (const flag of flags) {
    const reading = call(`secrets create --name A ${flag} --tags x`);
    assert.ok(!JSON.stringify(reading).includes(needle), flag);
    assert.deepEqual([reading.dropped, reading.ask.map(({ name }) => name)], [['value'], ['value']]);
    assert.match(reading.kept ?? '', /(?:--|—)value(?:-from-prompt)?[ =]- --tags x$/i);
    assert.match(reading.echo, /(?:--|—)value(?:-from-prompt)?[ =]… --tags x$/i);
  }
  for (const flag of ['--json', '--JSON', '—json']) {
    const json = call(`secrets create ${flag} '{"name": "A", "value": "${needle}"}'`);
    assert.ok(!JSON.stringify({ ...json, command: 0 }).includes(needle), flag);
    assert.equal(json.kept, undefined);
  }
  for (const line of ['secrets create --name A', 'secrets create --name A --value -', 'secrets create --name A --value-from-prompt']) {
    assert.deepEqual([call(line).dropped, call(line).ask.length, call(line).kept], [[], 1, line], line);
  }
  assert.deepEqual(call('secrets put-value --value - A').call.path, { id: 'A' });
  // A slip, or the secret where something else belongs: it is told in no problem either.
  for (const line of [
    needle,
    `help ${needle}`,
    `secrets ${needle}`,
    `secrets create --${needle}`,
    `secrets create --name A --vlaue ${needle}`,
    `secrets create --name A --value '${needle}`,
    `secrets create --name A value=${needle}`,
    `secrets create --json '{"${needle}": 1}'`,
    `secrets create --json '{"name": "A", "Value": "${needle}"}'`,
    `secrets craete --value ${needle}`,
    `secrets put-value A ${needle}`,
    `secrets put-value --value two ${needle}`,
    `secrets put-value '--value=${needle}'`,
    `secrets put-value value=${needle}`,
    `secrets put-value -value ${needle}`,
    `routes list --sort ${needle}`,
    `clients create-credential c --kind ip --data '{"secret": "${needle}"}'`,
    `clients create-credential c --json '{"kind": "ip", "data": {"secret": "${needle}"}}'`,
  ])
    assert.ok(!problem(line).includes(needle), line);
});

test('a line with anything that looks like a credential is not kept, and not shown whole', () => {
  const key = `sk_live_${'a1'.repeat(14)}`;
  for (const line of [
    `routes list --q ${key}`,
    `routes get ${key}`,
    `routes update x --name "Bearer ${key}"`,
    `routes update x --target-base-url https://user:hunter2secret@api.test/`,
    `routes update x --inject-headers-json '{"Authorization": "Basic aHVudGVyMg=="}'`,
    `routes update x --json '{"inject_headers_json": {"X-Api-Key": "hunter2hunter2"}}'`,
  ]) {
    const { kept, echo } = call(line);
    assert.equal(kept, undefined, line);
    assert.ok(!/a1a1a1a1|hunter2|aHVudGVy/.test(echo), echo);
  }
  const placed = `routes update x --inject-headers-json '{"Authorization": "Bearer {{secret:A}}"}'`;
  assert.deepEqual([call(placed).kept, call(placed).echo], [placed, placed]);
  const id = 'routes get 01a200c5-ce3b-7001-9fcd-a5a57ee37094';
  assert.equal(call(id).kept, id);
});
