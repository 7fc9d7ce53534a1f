import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { call } from '../calls.ts';
import { sampled } from '../thorough.ts';
import { workspace } from '../workspace.ts';
import { hasBody } from './send.ts';
import type { Subject } from './subject.ts';

const HOSTILE = ['nonsense', '%06', '%zz', '%', '%ff', '%00', '%20', '..%2f..', `${'9'.repeat(2_000)}`, '%F0%9F%92%A9', "'%20or%201=1"];

export function unknownIds({ v1, dashboard, sample }: Subject): void {
  describe('an id that could be no id at all is not found, whatever it is made of', () => {
    for (const op of v1.filter(({ http }) => http.includes('{')))
      test(op.id, async () => {
        const w = await workspace();
        const key = await w.credentialFor(op);
        const [method, path] = op.http.split(' ') as [string, string];
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
        const body = Object.fromEntries(Object.entries(await sample(op, w.live)).filter(([name]) => !names.includes(name)));
        for (const id of sampled(HOSTILE, 3, op.id)) {
          const answer = await call(method, path.replace(/\{\w+\}/g, id), { key, ...(hasBody(op) ? { body } : {}) });
          assert.deepEqual([answer.status, answer.body.error?.type], [404, 'not_found'], `${op.http} ${id.slice(0, 20)}: ${answer.text}`);
        }
      });
  });

  describe('an id that could be no id at all is not found on the dashboard plane either', () => {
    for (const op of dashboard.filter(({ http }) => http.includes('{')))
      test(op.id, async () => {
        const owner = (await workspace()).member('owner');
        const ids = Object.fromEntries([...op.http.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, '\u0006']));
        await assert.rejects(perform(op, owner, { ...(await sample(op, owner)), ...ids }), { status: 404 });
      });
  });
}
