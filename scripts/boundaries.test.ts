import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaOf, boundaryViolations, codeViolations, folderCycles, heavyGateway, heavyShared, whyForbidden } from './boundaries.ts';
import { cycles, importsOf } from './imports.ts';

const own = (target: string, type = false) => ({ target, own: true, type, line: 1 });
const pkg = (target: string, type = false) => ({ target, own: false, type, line: 1 });

const forbidden: [string, ReturnType<typeof own>][] = [
  ['server/kernel/mutate.ts', own('server/platform/db.ts')],
  ['server/kernel/mutate.ts', own('server/generated/prisma/client.ts')],
  ['server/kernel/ids.ts', pkg('node:crypto')],
  ['server/kernel/address.ts', pkg('pg')],
  ['server/crypto/keyring.ts', own('server/platform/db.ts')],
  ['server/platform/mail.ts', own('server/domain/clients/service.ts')],
  ['server/platform/mail.ts', pkg('crypto')],
  ['server/domain/clients/service.ts', own('server/domain/keys/store.ts')],
  ['server/domain/clients/service.ts', own('server/api/match.ts')],
  ['server/domain/clients/service.ts', pkg('next/headers')],
  ['server/trpc/context.ts', pkg('next/headers')],
  ['server/auth/person.ts', pkg('react')],
  ['server/domain/clients/service.ts', pkg('node:https')],
  ['server/domain/clients/service.ts', pkg('node:net')],
  ['server/domain/clients/schema.ts', pkg('pg')],
  ['server/domain/clients/schema.ts', own('server/domain/clients/service.ts')],
  ['server/domain/tenants/status.shared.ts', pkg('zod')],
  ['server/domain/tenants/status.shared.ts', own('server/domain/tenants/schema.ts')],
  ['server/domain/tenants/status.shared.ts', pkg('croner')],
  ['server/domain/alerts/service.ts', pkg('croner')],
  ['server/domain/clients/schema.ts', own('server/domain/clients/store.ts')],
  ['server/api/match.ts', own('server/generated/prisma/client.ts')],
  ['server/api/match.ts', own('server/gateway/main.ts')],
  ['server/gateway/main.ts', own('server/generated/prisma/client.ts', true)],
  ['server/gateway/main.ts', own('server/domain/routes/service.ts')],
  ['server/gateway/main.ts', pkg('jose')],
  ['server/gateway/front-door/front-door.ts', own('server/api/match.ts')],
  ['server/gateway/core/exchange.ts', own('server/gateway/route/phases/rewrite.ts')],
  ['server/gateway/snapshot/store.ts', own('server/gateway/core/listener.ts')],
  ['server/gateway/wrap/plane.ts', own('server/gateway/route/plane.ts')],
  ['server/gateway/core/pipeline.ts', own('server/gateway/assemble.ts')],
  ['server/jobs/main.ts', own('server/api/match.ts')],
  ['app/page.tsx', own('server/domain/clients/service.ts')],
  ['app/page.tsx', own('server/platform/log.ts')],
  ['components/clients/list.tsx', own('server/domain/clients/service.ts')],
  ['components/clients/list.tsx', own('server/trpc/root.ts')],
  ['server/domain/clients/service.ts', own('server/testing/workspace.ts')],
  ['server/domain/clients/service.ts', own('server/domain/clients/service.test.ts')],
];
for (const [file, found] of forbidden) {
  test(`${file} may not import ${found.type ? 'types of ' : ''}${found.target}`, () => assert.ok(whyForbidden(file, found)));
}

const permitted: [string, ReturnType<typeof own>][] = [
  ['server/domain/workflows/cron.shared.ts', pkg('croner')],
  ['server/kernel/database.ts', own('server/generated/prisma/client.ts', true)],
  ['server/crypto/random.ts', pkg('node:crypto')],
  ['server/kernel/address.ts', pkg('ipaddr.js')],
  ['server/domain/clients/service.ts', own('server/domain/clients/store.ts')],
  ['server/domain/clients/service.ts', own('server/domain/keys/service.ts')],
  ['server/domain/clients/schema.ts', own('server/kernel/fields.ts')],
  ['server/domain/clients/schema.ts', pkg('zod')],
  ['server/domain/clients/schema.ts', own('server/domain/tenants/status.shared.ts')],
  ['server/domain/clients/service.ts', own('server/domain/tenants/status.shared.ts')],
  ['server/domain/tenants/status.shared.ts', own('server/kernel/capabilities.ts')],
  ['server/gateway/main.ts', own('server/domain/routes/schema.ts')],
  ['server/gateway/main.ts', pkg('node:net')],
  ['server/gateway/v1/hot.ts', own('server/api/match.ts')],
  ['server/gateway/route/phases/limit.ts', own('server/gateway/core/limits.ts')],
  ['server/gateway/core/call.ts', own('server/gateway/snapshot/slices.ts')],
  ['server/gateway/assemble.ts', own('server/gateway/route/plane.ts')],
  ['app/v1/route.ts', own('server/api/handle.ts')],
  ['components/clients/list.tsx', own('server/domain/clients/schema.ts')],
  ['components/clients/list.tsx', own('server/domain/tenants/status.shared.ts')],
  ['components/clients/list.tsx', own('server/trpc/root.ts', true)],
  ['components/clients/list.tsx', pkg('react')],
];
for (const [file, found] of permitted) {
  test(`${file} may import ${found.type ? 'types of ' : ''}${found.target}`, () => assert.equal(whyForbidden(file, found), undefined));
}

test('imports are found in every spelling, with their kind and line, and not in comments', () => {
  const source = `import a from 'zod';
import type { B } from './b.ts';
import {
  c,
} from '#server/kernel/c.ts';
// import d from 'd';
/* import e from 'e'; */
export * from '../keys/schema.ts';
import 'side-effect';
const f = await import("./f.ts");
const text = '// not a comment'; const g = await import('./g.ts');`;
  assert.deepEqual(
    importsOf('server/domain/clients/service.ts', source).map(({ target, type, line }) => [target, type, line]),
    [
      ['zod', false, 1],
      ['server/domain/clients/b.ts', true, 2],
      ['server/kernel/c.ts', false, 3],
      ['server/domain/keys/schema.ts', false, 8],
      ['side-effect', false, 9],
      ['server/domain/clients/f.ts', false, 10],
      ['server/domain/clients/g.ts', false, 11],
    ],
  );
});

test('a circle of imports is found, a diamond is not one', () => {
  const circle = new Map([
    ['a', ['b', 'd']],
    ['b', ['c']],
    ['c', ['a']],
    ['d', ['c']],
    ['e', ['a']],
  ]);
  assert.deepEqual(cycles(circle), [['a', 'b', 'c', 'd']]);
  const diamond = new Map([
    ['a', ['b', 'c']],
    ['b', ['d']],
    ['c', ['d']],
    ['d', []],
  ]);
  assert.deepEqual(cycles(diamond), []);
});

test('folders of the domain and of the gateway do not import each other in a circle, though their files would not', () => {
  const graph = new Map([
    ['server/domain/families.ts', ['server/domain/a/family.ts', 'server/domain/b/family.ts']],
    ['server/domain/a/family.ts', ['server/domain/a/schema.ts']],
    ['server/domain/a/schema.ts', ['server/domain/b/schema.ts', 'server/kernel/ids.ts']],
    ['server/domain/b/family.ts', ['server/domain/c/part/schema.ts']],
    ['server/domain/b/schema.ts', []],
    ['server/domain/c/part/schema.ts', []],
    ['server/gateway/core/call.ts', ['server/gateway/snapshot/slices.ts', 'server/domain/a/schema.ts']],
    ['server/gateway/snapshot/slices.ts', []],
  ]);
  assert.deepEqual(folderCycles(graph), []);
  const back = new Map(graph).set('server/domain/c/service.ts', ['server/domain/a/schema.ts']);
  assert.deepEqual(cycles(back), []);
  assert.deepEqual(folderCycles(back), [
    'cycle of folders: server/domain/a, server/domain/b, server/domain/c: server/domain/a/schema.ts imports server/domain/b/schema.ts; ' +
      'server/domain/b/family.ts imports server/domain/c/part/schema.ts; server/domain/c/service.ts imports server/domain/a/schema.ts',
  ]);
  assert.equal(folderCycles(new Map(graph).set('server/gateway/snapshot/feed.ts', ['server/gateway/core/call.ts'])).length, 1);
});

test('a shared file brings no package into a page, not even by way of others', () => {
  const [shared, via, heavy] = ['server/domain/a/words.shared.ts', 'server/kernel/via.ts', 'server/kernel/heavy.ts'] as const;
  const loads = new Map([
    [shared, [own(via)]],
    [via, [own(heavy)]],
    [heavy, [own(via), pkg('zod')]],
  ]);
  assert.deepEqual(heavyShared(loads), [`${shared} loads zod by ${heavy}: a shared file has no packages`]);
  assert.deepEqual(heavyShared(new Map([...loads, [heavy, []]])), []);
  const cron = new Map([['server/domain/workflows/cron.shared.ts', [pkg('croner')]]]);
  assert.deepEqual([heavyShared(cron).length, heavyShared(new Map([...loads, [heavy, [pkg('croner')]]])).length], [0, 1]);
});

test('the gateway and a hot operation bring no Prisma, not even by way of others, and types count for nothing', () => {
  const [main, hot, via] = ['server/gateway/main.ts', 'server/domain/hot-operations.ts', 'server/domain/a/via.ts'] as const;
  const loads = new Map([
    [main, [own(hot)]],
    [hot, [own(via)]],
    [via, [own(main), own('server/platform/db.ts')]],
  ]);
  assert.deepEqual(heavyGateway(loads).length, 2);
  assert.match(
    heavyGateway(loads)[0] ?? '',
    /^server\/gateway\/main\.ts > server\/domain\/hot-operations\.ts > server\/domain\/a\/via\.ts loads server\/platform\/db\.ts/,
  );
  for (const heavy of [pkg('next/server'), pkg('@prisma/client'), own('server/domain/a/operations.ts'), own('server/domain/families.ts')])
    assert.equal(heavyGateway(new Map([[main, [heavy]]])).length, 1, heavy.target);
  assert.deepEqual(
    heavyGateway(
      new Map([
        [main, [own(via), pkg('pg')]],
        [via, []],
      ]),
    ),
    [],
  );
});

test('settings, randomness and requests keep their one home', () => {
  assert.equal(codeViolations('server/domain/clients/service.ts', 'const x = process.env.PORT;').length, 1);
  assert.equal(codeViolations('app/page.tsx', 'process.env.NODE_ENV').length, 1);
  assert.equal(codeViolations('server/platform/env.ts', 'process.env').length, 0);
  assert.equal(codeViolations('server/domain/a.ts', 'Math.random()').length, 1);
  for (const text of ['const a = JSON.parse(text);', '  return response.json();'])
    assert.deepEqual(
      [
        'server/domain/vaults/a.ts',
        'components/routes/a.tsx',
        'server/api/input.ts',
        'server/domain/mail/a.ts',
        'server/trpc/explorer.ts',
      ].map((file) => codeViolations(file, text).length),
      [1, 1, 1, 0, 0],
      text,
    );
  assert.equal(codeViolations('server/domain/vaults/a.ts', 'body: z.json()').length, 0);
  assert.equal(codeViolations('server/domain/a.ts', "import { RE2JS } from 're2js';").length, 1);
  assert.equal(codeViolations('server/ai/patterns/compile.ts', "import { RE2JS } from 're2js';").length, 0);
  assert.equal(
    codeViolations('server/domain/a.ts', '\n\n  await fetch(url)')[0],
    'server/domain/a.ts:3 requests go out through server/platform/http-out',
  );
  for (const waits of ['await ready();', 'export const keys = await load();'])
    assert.match(codeViolations('server/domain/a.ts', waits)[0] ?? '', /no module that waits at its top/);
  assert.equal(codeViolations('server/domain/a.ts', '  const keys = await load();').length, 0);
  assert.equal(codeViolations('server/domain/a.ts', '// process.env is not read here').length, 0);
  assert.equal(codeViolations('server/domain/a.ts', 'cache.fetch(url); this.#fetch(url)').length, 0);
});

test('areas are the first folder of the server, or the top folder', () => {
  assert.deepEqual(['server/domain/a/service.ts', 'server/web.ts', 'app/x/page.tsx'].map(areaOf), ['domain', 'web', 'app']);
});

test('nothing in this checkout crosses a boundary', () => {
  assert.deepEqual(boundaryViolations(), []);
});
