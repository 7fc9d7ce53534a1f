import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import type { Call } from '#server/gateway/core/call.ts';
import { blockLines } from '#server/gateway/core/response-block.ts';
import { OWN } from '#server/gateway/core/upstream-headers.ts';
import { docsPage } from './pages.ts';

const { markdown } = docsPage('headers') ?? assert.fail('no page about headers');
const documented = new Set([...markdown.matchAll(/`([A-Za-z][\w-]+)(?:`|: )/g)].map(([, name = '']) => name.toLowerCase()));

/** Of requests that our own pages and processes make. */
const INTERNAL = /^x-svc-(?:agent-test|proxy-test|test-request|parent-origin)$/;

test('every header of the response block, deprecated ones included, is explained as it is spelled', () => {
  const tier = { limit: 1, remaining: 0, resetAt: 0 };
  const all = { routeVerdict: tier, tenantVerdict: tier, monthly: tier, nonce: 'n', promotedRoute: 'r', snapshot: { sandbox: true } };
  const call = {
    ...all,
    planeName: 'proxy',
    requestId: 'id',
    origin: 'upstream',
    phase: 'complete',
    upstreamStatus: 200,
    latencyMs: 2,
    upstreamMs: 1,
  };
  const names = blockLines(call as unknown as Call, 'code')
    .split('\r\n')
    .filter(Boolean)
    .map((line) => line.slice(0, line.indexOf(':')));
  assert.equal(names.length, 14 + 9 + 2 + 2, String(names));
  assert.deepEqual(
    names.filter((name) => !new RegExp(`\`${name}(?:\`|: )`).test(markdown)),
    [],
  );
});

test('every header of our namespace that the code reads or writes has a place on the page', () => {
  const files = globSync('server/{gateway,api,mcp,platform}/**/*.ts').filter((file) => !/\.(?:test|fixture|fuzz)/.test(file));
  const named = new Set(
    files
      .flatMap((file) => readFileSync(file, 'utf8').match(/\bx-svc-[a-z0-9-]*[a-z0-9](?![\w-]|\.\.\.|…)/gi) ?? [])
      .map((name) => name.toLowerCase()),
  );
  assert.ok(named.size > 40);
  assert.deepEqual(
    [...named].filter((name) => !documented.has(name) && !INTERNAL.test(name)),
    [],
  );
});

test('every header that is never forwarded is named', () => {
  assert.deepEqual(
    [...OWN].filter((name) => !documented.has(name)),
    [],
  );
});
