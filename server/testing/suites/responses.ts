import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { errorTypesOf } from '#server/api/openapi/refusals.ts';
import { successesOf } from '#server/kernel/operation.ts';
import { type Answer, call } from '../calls.ts';
import { workspace } from '../workspace.ts';
import { ajv, responseOf, validatorOf } from './document.ts';
import { hasBody, send } from './send.ts';
import type { Subject } from './subject.ts';

/** What callers of /v1 get back is what the OpenAPI document says. */
export function responses({ byKey, sample }: Subject): void {
  describe('answers agree with the OpenAPI document, and every refusal is a declared one', () => {
    for (const op of byKey)
      test(op.id, async () => {
        const w = await workspace();
        const key = await w.credentialFor(op);
        const [method, path] = op.http.split(' ') as [string, string];
        const check = (answer: Answer): void => {
          const response = responseOf(op, answer.status);
          assert.ok(response, `status ${answer.status} is not documented: ${answer.text}`);
          if (op.media && answer.status === 200) {
            assert.ok(answer.headers.get('content-type')?.startsWith(op.media), `${answer.headers.get('content-type')}`);
            assert.deepEqual(Object.keys(response.content), [op.media]);
            return;
          }
          const validate = validatorOf(response.content['application/json'].schema);
          assert.ok(validate(answer.body), `${answer.status}: ${ajv.errorsText(validate.errors)}\n${answer.text}`);
          const type = (JSON.parse(answer.text) as { error?: { type: string } }).error?.type;
          if (type) assert.ok((errorTypesOf(op) as string[]).includes(type), `${type} is not declared`);
        };
        check(await send(op, await sample(op, w.live), key));
        const wrong = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map((m) => [m[1], crypto.randomUUID()]));
        check(await send(op, { ...(await sample(op, w.live)), ...wrong }, key));
        check(await send(op, wrong, key));
        check(
          await call(method, path.replace(/\{\w+\}/g, 'nonsense%20%F0%9F%92%A9'), {
            key,
            ...(hasBody(op) ? { body: { name: 17, id: [], value: {}, page: 'x' } } : {}),
          }),
        );
      });
  });

  describe('unknown members of a body change nothing, and the caller is told that they did not', () => {
    for (const op of byKey.filter((o) => o.http.startsWith('POST ')))
      test(op.id, async () => {
        const w = await workspace();
        const key = await w.credentialFor(op);
        const unknown = {
          tenant_id: crypto.randomUUID(),
          sandbox: true,
          created_at: '1999-01-01T00:00:00Z',
          unknown_member: { a: 1 },
        };
        const answer = await send(op, { ...(await sample(op, w.live)), ...unknown }, key);
        assert.ok(successesOf(op).includes(answer.status as 200), answer.text);
        assert.ok(!answer.text.includes('1999-01-01') && !JSON.stringify(answer.body.data).includes('unknown_member'));
        const told: string[] = answer.body.meta.warnings ?? [];
        assert.ok(
          told.some((warning) => warning.startsWith('Ignored unknown field') && warning.includes('unknown_member')),
          answer.text,
        );
        if (answer.body.data?.tenant_id) assert.equal(answer.body.data.tenant_id, w.tenant.id);
        if (answer.body.data?.sandbox !== undefined) assert.equal(answer.body.data.sandbox, false);
      });
  });
}
