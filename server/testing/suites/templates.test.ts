import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '../database.ts';
import { templateProblems } from './templates.ts';

await testDatabase();

const planted = (run: AnyOperation['run']) =>
  operation({
    ...{ id: 'planted.fill', summary: 'Fill', http: 'POST /planted', kind: 'change', needs: ['secret:read'], refuses: [] },
    input: z.object({ headers: z.record(z.string(), z.string()) }),
    output: z.object({}),
    run,
  } as never) as unknown as AnyOperation;
const sample = async () => ({ headers: { 'X-A': 'a' } });

test('the suite finds an operation that neither lists nor refuses what it takes, in values and in names', async () => {
  const { problems } = await templateProblems(
    planted(async () => ({})),
    (w) => w.live,
    sample,
  );
  for (const place of ['headers.X-A', 'headers{name}'])
    for (const kind of ['secret:', 'secret_id:'])
      assert.ok(
        problems.some((one) => one.startsWith(`${place} takes {{${kind}`)),
        `${place} ${kind}: ${problems}`,
      );
});

test('the suite finds an operation that lists what it takes and asks nobody for the right', async () => {
  const listing = planted(async (ctx, { headers }) => {
    for (const [field, text] of Object.entries(headers as Record<string, string>)) {
      const [, name] = /secret:(\w+)/.exec(field + text) ?? [];
      const secret = name && (await db().secrets.findFirst({ where: { ...own(ctx), shortcode_name: name } }));
      if (secret)
        await db().secret_references.create({
          data: { ...own(ctx), id: newId(), secret_id: secret.id, kind: 'planted', referrer_id: newId(), field_path: field, by: 'name' },
        });
    }
    return {};
  });
  // Its row lets in everybody, so that only its verb could ask.
  const { problems, listed } = await templateProblems({ ...listing, needs: ['workflow:create'] } as AnyOperation, (w) => w.live, sample);
  assert.equal(listed, 2);
  assert.equal(problems.filter((one) => /of who may not read secrets/.test(one)).length, 2, problems.join('\n'));
});
