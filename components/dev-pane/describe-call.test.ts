import assert from 'node:assert/strict';
import test from 'node:test';
import { shown } from '#components/trpc/masked-input.ts';
import type { RecordedCall } from '#components/trpc/recorder.ts';
import { listedOperations, secretFieldNames } from '#server/trpc/listed-operations.ts';
import { type DescribedCall, describeCall, explorerLink, ofPage } from './describe-call.ts';

const call = (procedure: string, input: unknown, more: Partial<RecordedCall> = {}): RecordedCall => ({
  key: 'k',
  what: { procedure, input },
  kind: 'query',
  ms: 1,
  at: 0,
  request_id: 'r',
  page: '/',
  ...more,
});
/** A call in terms of the API; it must be one. */
const lineOf = (made: RecordedCall) => {
  const line = describeCall(made, listedOperations());
  assert.ok(line);
  return line;
};
/** The address that a call opens the explorer by. */
const linkOf = (line: DescribedCall) => new URL(explorerLink(line) ?? '', 'http://x.test');
const id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

test('a call of a page reads as the call of the API that does the same', () => {
  assert.deepEqual(describeCall(call('routes.list', { page: 2, sort: 'name', q: undefined }), listedOperations()), {
    method: 'GET',
    path: '/routes',
    query: 'page=2&sort=name',
    body: undefined,
    public: true,
    status: 200,
    operation: 'routes.list',
    summary: 'List routes',
  });
  const edit = lineOf(call('routes.update', { id, name: 'n', expected_updated_at: 'x' }, { kind: 'mutation' }));
  assert.deepEqual([edit.method, edit.path, edit.body], ['PATCH', `/routes/${id}`, { name: 'n' }]);
  assert.equal(lineOf(call('routes.create', {})).status, 201);
});

test('what no API key can do is told apart', () => {
  assert.equal(lineOf(call('account.plan', {})).public, false);
  assert.equal(explorerLink(lineOf(call('account.plan', {}))), undefined);
});

test('every procedure of the dashboard has its line', () => {
  for (const { procedure } of listedOperations())
    if (procedure) assert.ok(describeCall(call(procedure, {}), listedOperations()), procedure);
});

test('nothing typed into a secret field reaches the pane, its code or its links', () => {
  const canary = 'canary-7f3a1c';
  const inputs: Record<string, unknown> = {
    'secrets.create': { name: 'A', value: canary },
    'secrets.putValue': { id, value: canary, environment: 'production' },
    'secrets.importEnv': { content: `A=${canary}`, environment: 'production' },
    'clients.createCredential': { id, kind: 'hmac', secret: canary, data: { secret: canary } },
    'import.propose': { kind: 'curl', text: `curl -H 'Authorization: ${canary}' https://x.test` },
    'import.create': { routes: [], secrets: [{ name: 'A', value: canary }] },
    'routes.test': { id, method: 'GET', headers: [{ name: 'Authorization', value: canary }] },
  };
  for (const [procedure, input] of Object.entries(inputs)) {
    const kept = call(procedure, shown(procedure, input, secretFieldNames()), { kind: 'mutation' });
    const line = lineOf(kept);
    assert.ok(!`${JSON.stringify(kept)}${JSON.stringify(line)}${explorerLink(line)}`.includes(canary), procedure);
    assert.ok(JSON.stringify(input).includes(canary), 'the canary is in what was sent');
  }
});

test('text that looks like a credential is masked wherever it was typed', () => {
  const key = `tk_live_${'a'.repeat(12)}_${'B'.repeat(51)}`;
  assert.ok(!JSON.stringify(shown('search.query', { description: `see ${key}`, q: key }, {})).includes('BBBB'));
});

test('a call opens in the explorer filled in, without what was masked, and never as an address too long to follow', () => {
  const line = lineOf(call('secrets.create', shown('secrets.create', { name: 'A', value: 'v' }, secretFieldNames()), { kind: 'mutation' }));
  const { searchParams } = linkOf(line);
  assert.equal(searchParams.get('op'), 'secrets.create');
  assert.deepEqual(JSON.parse(searchParams.get('call') ?? ''), { path: '/secrets', query: '', body: { name: 'A' } });
  const long = linkOf({ ...line, body: { description: 'x'.repeat(9_000) } });
  assert.deepEqual([...long.searchParams], [['op', 'secrets.create']]);
});

test('what is no secret stays readable: addresses, plain variables, and placeholders that stand for a secret', () => {
  const placed = { inject_headers_json: { Authorization: 'Bearer {{secret:STRIPE_KEY}}', 'X-Api-Key': '{{secret:KEY}}' } };
  assert.deepEqual(shown('routes.putEnvironment', placed, secretFieldNames()), placed);
  const typed = { inject_headers_json: { Authorization: 'Bearer {{secret:A}} and-a-literal' } };
  assert.ok(!JSON.stringify(shown('routes.putEnvironment', typed, secretFieldNames())).includes('literal'));
  const address = { id, kind: 'ip', data: { value: '203.0.113.0/24' } };
  assert.deepEqual(shown('clients.createCredential', address, secretFieldNames()), address);
});

test('the change that led to a page is among its calls, older ones and reads of other pages are not', () => {
  const at = (time: number, page: string, kind: 'query' | 'mutation' = 'query') =>
    call('routes.list', {}, { key: `${time}`, at: time, page, kind });
  const calls = [at(60_000, '/b'), at(59_000, '/a'), at(58_000, '/a', 'mutation'), at(20_000, '/a', 'mutation'), at(1_000, '/c')];
  assert.deepEqual(
    ofPage(calls, '/b').map(({ key }) => key),
    ['60000', '58000'],
  );
  assert.deepEqual(ofPage(calls, '/nowhere'), []);
});
