import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();

/** What a call is made of, and what its route is set to. A fault changes some of it. */
type Setting = 'address' | 'methods' | 'limit';
type Fault = {
  code: string;
  status: number;
  method?: string;
  headers?: Record<string, string>;
  suffix?: string;
  /** Only one of two faults can choose the credential, or the route. */
  key?: 'none' | 'wrong' | 'test' | 'reader';
  route?: string;
  set?: Setting;
};

/** In the order of interface rule 12 §18. */
const FAULTS: readonly Fault[] = [
  { code: 'headers_too_large', status: 431, headers: Object.fromEntries(Array.from({ length: 205 }, (_, i) => [`x-${i}`, 'a'])) },
  { code: 'method_not_allowed', status: 405, method: 'PURGE' },
  { code: 'invalid_path', status: 400, suffix: '/%2e%2e/x' },
  { code: 'authentication_required', status: 401, key: 'none' },
  { code: 'invalid_api_key', status: 401, key: 'wrong' },
  { code: 'wrong_key_type', status: 403, key: 'test' },
  { code: 'route_not_found', status: 404, route: 'missing' },
  { code: 'environment_not_configured', status: 404, headers: { 'x-svc-environment': 'nowhere' } },
  { code: 'forbidden', status: 403, key: 'reader' },
  { code: 'ip_not_allowed', status: 403, set: 'address' },
  { code: 'method_not_allowed', status: 405, set: 'methods' },
  { code: 'loop_detected', status: 508, headers: { via: '1.1 svc-gateway' } },
  { code: 'route_rate_limit_exceeded', status: 429, set: 'limit' },
  { code: 'unsupported_media_type', status: 415, headers: { 'content-type': 'text/plain' } },
  { code: 'upstream_unreachable', status: 502 },
];

/** A route per set of settings: nothing listens where they lead. */
const routeOf = (settings: readonly Setting[]) => `r-${settings.toSorted().join('-') || 'plain'}`;
const SETS: readonly (readonly Setting[])[] = [
  [],
  ['address'],
  ['methods'],
  ['limit'],
  ['address', 'methods'],
  ['address', 'limit'],
  ['methods', 'limit'],
];

test('of two faults in one call the earlier in the normative order answers, whatever the two are', async () => {
  const w = await workspace();
  for (const set of SETS)
    await makeRoute(w, routeOf(set), 'http://127.0.0.1:1', {
      inject_body_json: { a: '1' },
      ...(set.includes('address') && { ip_allowlist: ['10.0.0.0/8'] }),
      ...(set.includes('methods') && { allowed_methods: ['PUT'], http_method_restrictions_enabled: true }),
      ...(set.includes('limit') && { rate_limit_enabled: true, rate_limit_requests: 1, rate_limit_window_sec: 86_400 }),
    });
  const keys = {
    good: (await w.key()).text,
    test: (await w.key('test')).text,
    reader: (await w.key('live', 'Key - Read-only')).text,
    wrong: 'tk_live_wrong',
    none: undefined,
  };
  await served(running, w);
  const call = (faults: readonly Fault[]) => {
    const key = keys[faults.find((fault) => fault.key)?.key ?? 'good'];
    const settings = faults.flatMap((fault) => fault.set ?? []);
    const route = faults.find((fault) => fault.route)?.route ?? routeOf(settings);
    return ask(running.port, w.tenant.slug, `/${route}${faults.map((fault) => fault.suffix ?? '').join('')}`, {
      method: faults.find((fault) => fault.method)?.method ?? 'POST',
      headers: Object.assign({ 'content-type': 'application/json' }, ...faults.map((fault) => fault.headers)),
      body: '{}',
      ...(key && { key }),
    });
  };
  const spent = { method: 'POST', key: keys.good, headers: { 'content-type': 'application/json' }, body: '{}' };
  assert.equal((await ask(running.port, w.tenant.slug, `/${routeOf(['limit'])}`, spent)).status, 502);

  let pairs = 0;
  for (const [i, first] of FAULTS.entries())
    for (const second of FAULTS.slice(i)) {
      if (first !== second && first.key && second.key) continue;
      if (first.code === 'route_not_found' && second.set) continue;
      const answer = await call(first === second ? [first] : [first, second]);
      const what = `${first.code} before ${second.code}: ${answer.body.slice(0, 120)}`;
      assert.deepEqual([answer.status, answer.headers['x-svc-error']], [first.status, first.code], what);
      pairs++;
    }
  assert.ok(pairs > 95, `${pairs} pairs`);
});
