import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';
import { startCollector } from './collector.fixture.ts';

await testDatabase();

const MOST = 64 * 1024;

test('of what a collector answers 64 KiB are read, and whatever they are holds nobody up', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const owner = w.ctx('live', memberActor('owner'));
  const { id } = await made(owner, 'log_streams.create', { name: fresh('siem'), source: 'audit', kind: 'otlp', endpoint: collector.url });
  const rejected = (more: string) => `{"partialSuccess":{"rejectedLogRecords":1},"more":${more}}`;
  const sent = async (body: string) => {
    collector.answer = { status: 200, body };
    const { ok, error } = await neverBlocks(() => made(owner, 'log_streams.test', { id }));
    return { ok, error };
  };
  assert.equal((await sent(rejected('1'))).ok, false, 'what it rejected is told');
  for (const more of ['['.repeat(MOST / 2 - 100) + ']'.repeat(MOST / 2 - 100), `[${'1,'.repeat(MOST / 2 - 100)}1]`])
    assert.equal((await sent(rejected(more))).ok, false, 'also in the largest answer that is read');
  for (const bytes of [MOST, 20 * MOST]) assert.deepEqual(await sent(rejected(`"${'x'.repeat(bytes)}"`)), { ok: true, error: null });
});
