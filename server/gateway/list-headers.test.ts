import assert from 'node:assert/strict';
import test from 'node:test';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { members } from '#server/kernel/list-header.ts';
import { codingFor } from '#server/platform/content-coding.ts';
import { nominatedBy } from './core/upstream-headers.ts';
import { isHandshake } from './core/websocket/handshake.ts';
import { codingsOf } from './templates/content-codings.ts';

test('a list has the members that hold something, in their order, however often its lines were repeated', () => {
  assert.deepEqual(members(' a , ,b,,\tc ,'), ['a', 'b', 'c']);
  assert.deepEqual(members(['a,', ',b']), ['a', 'b']);
  for (const nothing of [undefined, null, '', ',', ' , ,']) assert.deepEqual(members(nothing), []);
});

test('every reader of a list header takes one with empty members for the list without them', () => {
  for (const [empty, full] of [
    [',gzip,,', 'gzip'],
    ['br;q=0, ,gzip,', 'br;q=0, gzip'],
  ] as const)
    assert.equal(codingFor(empty), codingFor(full));
  assert.deepEqual(codingsOf(', gzip,, br ,'), ['gzip', 'br']);
  assert.equal(isKnownTag(', W/"x",', '"x"'), true);
  assert.equal(isKnownTag(',*,', '"x"'), true);
  assert.equal(isKnownTag(',', ''), false);
  assert.deepEqual([...(nominatedBy(', X-Hop,,') ?? [])], ['x-hop']);
  const asks = { upgrade: ',websocket,', connection: ',, Upgrade ,', 'sec-websocket-version': '13', 'sec-websocket-key': 'k' };
  assert.equal(isHandshake({ method: 'GET', headers: asks }), true);
  assert.equal(isHandshake({ method: 'GET', headers: { ...asks, upgrade: 'websocket, h2c' } }), false);
});
