import assert from 'node:assert/strict';
import test from 'node:test';
import { type Health, needsOf, readiness, type Trouble, type Web } from './health.ts';

const since = new Date('2026-11-30T10:00:00Z');
const trouble = (part: Trouble['part']): Trouble => ({ part, since, effect: `${part} is away` });
const FINE: Health = { calls: 'ok', degraded: [], down: [] };
const [WEB, NO_WEB, NO_PAGES]: Web[] = [
  { api: null, pages: null },
  { api: trouble('web'), pages: null },
  { api: null, pages: trouble('dashboard') },
];
const parts = ({ body }: ReturnType<typeof readiness>) => Object.keys((body.parts ?? {}) as object);

test('each address is ready when what it serves is', () => {
  const told = (web: Web | undefined, needs: 'calls' | 'api' | 'pages') => readiness(FINE, needs, web as Web, false);
  for (const needs of ['calls', 'api', 'pages'] as const) assert.deepEqual(told(WEB, needs), { status: 200, body: { status: 'ok' } });
  assert.deepEqual([told(NO_WEB, 'calls').status, told(NO_WEB, 'api').status, told(NO_WEB, 'pages').status], [200, 503, 503]);
  assert.deepEqual([told(NO_PAGES, 'calls').status, told(NO_PAGES, 'api').status, told(NO_PAGES, 'pages').status], [200, 200, 503]);
  assert.deepEqual(told(NO_WEB, 'pages').body, {
    status: 'unavailable',
    since: since.toISOString(),
    parts: { web: { since: since.toISOString(), effect: 'web is away' } },
  });
  assert.deepEqual([told(NO_WEB, 'calls').body.status, parts(told(NO_WEB, 'calls'))], ['degraded', ['web']], 'and says what else is away');
});

test('a gateway without its database is ready for calls, and says what does not work', () => {
  const answer = readiness({ ...FINE, degraded: [trouble('database'), trouble('counters')] }, 'pages', WEB as Web, false);
  assert.deepEqual([answer.status, answer.body.status, parts(answer)], [200, 'degraded', ['database', 'counters']]);
});

test('a gateway that serves no calls is not ready anywhere, and says why', () => {
  for (const needs of ['calls', 'api', 'pages'] as const) {
    const old = readiness({ calls: 'unavailable', degraded: [], down: [trouble('database')] }, needs, WEB as Web, false);
    assert.deepEqual([old.status, old.body.status, parts(old)], [503, 'unavailable', ['database']]);
    assert.equal(readiness({ ...FINE, calls: 'starting' }, needs, WEB as Web, false).body.status, 'starting');
    assert.deepEqual(readiness(FINE, needs, WEB as Web, true), { status: 503, body: { status: 'stopping' } });
  }
});

test('what an address needs follows from its port or host, and a probe that names none may ask for calls only', () => {
  const tenant = { plane: 'tenant', label: 'a', slug: 'a', space: 'live', mount: '', target: '/readyz' } as const;
  assert.equal(needsOf(null, tenant, '/readyz'), 'calls');
  assert.equal(needsOf('proxy', { plane: 'unknown' }, '/readyz'), 'calls');
  assert.equal(needsOf(null, { plane: 'api', space: 'test', target: '/readyz' }, '/readyz'), 'api');
  assert.equal(needsOf('admin', { plane: 'admin', target: '/readyz' }, '/readyz'), 'pages');
  assert.equal(needsOf(null, { plane: 'unknown' }, '/readyz'), 'pages');
  assert.equal(needsOf(null, { plane: 'unknown' }, '/readyz?only=calls'), 'calls');
});
