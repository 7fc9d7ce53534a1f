import assert from 'node:assert/strict';
import test from 'node:test';
import { callersOf } from '#server/domain/policies/enforcement.ts';
import { auditActor } from '#server/kernel/context.ts';
import type { Caller } from '../snapshot/model.ts';
import { actorOfCaller } from './caller-context.ts';

const CALLER: Caller = {
  id: 'limits',
  kind: 'oauth_client',
  ref: 'client-row',
  label: 'An application',
  digest: new Uint8Array(),
  mayInvoke: true,
  mayDetokenize: true,
  allows: null,
  routes: null,
  endsAt: Number.POSITIVE_INFINITY,
  subjects: [{ oauth_client_id: 'client-row', user_id: null }],
  used: [],
  apiKeyId: null,
  oauthClientId: 'svc_client_x',
  userId: null,
};

test('policies see the same of a token that the gateway serves as the gateway admitted it by: its client, its key with roles, its person with their role', () => {
  const callers: readonly Caller[] = [
    CALLER,
    { ...CALLER, apiKeyId: 'key', subjects: [{ oauth_client_id: 'client-row', user_id: null, api_key_id: 'key', key_role_ids: ['role'] }] },
    {
      ...CALLER,
      userId: 'person',
      email: 'p@example.test',
      subjects: [{ oauth_client_id: 'client-row', user_id: 'person', role: 'editor' }],
    },
    {
      ...CALLER,
      kind: 'api_key',
      ref: 'key',
      apiKeyId: 'key',
      oauthClientId: null,
      subjects: [{ api_key_id: 'key', key_role_ids: ['role'] }],
    },
  ];
  for (const caller of callers) assert.deepEqual(callersOf(actorOfCaller(caller)), caller.subjects);
});

test('an audit entry of the gateway names the person behind a token by their address', () => {
  const caller: Caller = { ...CALLER, userId: 'person', email: 'p@example.test', subjects: [{ user_id: 'person', role: 'editor' }] };
  assert.deepEqual(auditActor(actorOfCaller(caller)).user, { id: 'person', label: 'p@example.test' });
});
