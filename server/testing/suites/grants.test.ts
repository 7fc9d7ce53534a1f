import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { unaskedGrants } from './grants.ts';
import { deletedUnasked, unjudgedSettings } from './loosening.ts';
import { trustingUnasked } from './step-up.ts';

const row = (more: object): AnyOperation =>
  ({
    ...operation({
      id: 'robots.create',
      summary: '',
      http: 'POST /robots',
      kind: 'change',
      needs: ['route:create'],
      refuses: [],
      input: z.object({ name: z.string() }),
      output: z.object({}),
      run: async () => ({}),
    }),
    ...more,
  }) as AnyOperation;

test('a planted door that grants without asking is found, by each way of naming a grant', () => {
  const inputs = {
    role_ids: z.object({ role_ids: z.array(z.string()) }),
    allowed_scopes: z.object({ settings: z.object({ allowed_scopes: z.array(z.string()) }).partial() }),
    'role: admin': z.object({ role: z.enum(['owner', 'admin', 'editor']).optional() }),
    'action: decrypt': z.object({ steps: z.array(z.object({ action: z.enum(['encrypt', 'decrypt']) })) }),
    'mode: intercept': z.object({ mode: z.enum(['control', 'intercept']) }),
  };
  for (const [what, input] of Object.entries(inputs))
    assert.deepEqual(unaskedGrants([row({ input })], {}), [`robots.create names ${what}`]);
  assert.deepEqual(unaskedGrants([row({ id: 'robots.duplicate' })], {}), ['robots.duplicate names what it copies or gives anew']);
});

test('a door that asks, says why it grants nothing, or names none, is not', () => {
  const input = z.object({ role_ids: z.array(z.string()) });
  assert.deepEqual(unaskedGrants([row({ input, step_up: { by_verb: ['api_key.create', 'capability.grant'] } })], {}), []);
  assert.deepEqual(unaskedGrants([row({ input, step_up: 'oauth.client' })], {}), []);
  assert.deepEqual(unaskedGrants([row({ input })], { 'robots.create': 'robots hold nothing' }), []);
  assert.deepEqual(unaskedGrants([row({}), row({ kind: 'read', input })], {}), []);
  // A rule by the input alone doesn't see what else it grants: that was the fault of access keys.
  assert.deepEqual(unaskedGrants([row({ input, step_up: () => undefined })], {}), ['robots.create names role_ids']);
});

test('a planted deletion that goes around the question of an edit is found, unless others refer to the thing by its ID', () => {
  const edit = (path: string) => row({ id: 'robots.update', http: `PATCH ${path}`, step_up: { by_verb: 'protection.loosen' } });
  const removal = (path: string, more = {}) => row({ id: 'robots.delete', http: `DELETE ${path}`, ...more });
  const named = '/fleets/{fleet}/robots/{robot}';
  assert.deepEqual(deletedUnasked([edit(named), removal(named)]), [
    'robots.delete loosens what robots.update asks about: call confirmLoosening',
  ]);
  assert.deepEqual(deletedUnasked([edit(named), removal(named, { step_up: { by_verb: 'protection.loosen' } })]), []);
  for (const path of ['/robots/{id}', '/fleets/{id}/robots/{robotId}', '/robots/{robot_id}'])
    assert.deepEqual(deletedUnasked([edit(path), removal(path)]), [], path);
});

test('a planted door that trusts another issuer unasked is found', () => {
  const input = z.object({ issuer: z.string() });
  assert.deepEqual(trustingUnasked([row({ input })]), ['robots.create takes an issuer: give its row `trusts`']);
  assert.deepEqual(
    trustingUnasked([row({ input, trusts: true }), row({ input, step_up: 'sso.change' }), row({ input, kind: 'read' })]),
    [],
  );
});

test('a planted setting without a rule is found, and one that asks needs its pairs', () => {
  const edit = {
    id: 'robots.update',
    http: 'PATCH /robots/{id}',
    input: z.object({ id: z.string(), name: z.string(), guarded: z.boolean() }),
  };
  assert.deepEqual(unjudgedSettings([row(edit)], { harmless: { 'robots.update': ['name'] } }), [
    'robots.update has guarded: does changing it loosen a protection?',
  ]);
  assert.deepEqual(unjudgedSettings([row({ ...edit, step_up: { by_verb: 'protection.loosen' } })], {}), [
    'robots.update asks before it loosens: add its pairs to loosening',
  ]);
  assert.deepEqual(unjudgedSettings([row(edit)], { harmless: { 'robots.update': ['name', 'guarded'] } }), []);
});
