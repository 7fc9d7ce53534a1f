import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { z } from 'zod';
import { perform } from '#server/api/perform.ts';
import { scopeFor } from '#server/kernel/action-scopes.ts';
import { memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { MOVE_REFUSALS } from '#server/kernel/moves.ts';
import { isSatisfied } from '#server/kernel/needs.ts';
import { type AnyOperation, isChange } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import type { Moving } from '../factories.ts';
import { asPerson, confirm, enrolled, verified } from '../step-up.ts';
import { memberActor, tokenActor, type Workspace, workspace } from '../workspace.ts';
import { auditCount } from './audit.ts';
import { marked } from './secret-marks.ts';
import type { Subject } from './subject.ts';

/** A credential never follows its destination: see server/kernel/moves.ts. */
export function destinations(subject: Subject): void {
  const { name, rows, operations, fixture } = subject;
  test(`${name}: every edit that takes an address says whether a stored credential could follow it`, () => {
    assert.deepEqual(undeclaredAddresses(rows, fixture), []);
    for (const op of operations.filter(({ moves }) => moves)) assertDeclared(op, fixture.moving?.[op.id]);
  });
  for (const op of operations.filter(({ moves }) => moves))
    describe(`${op.id}: a stored credential doesn't follow to another place`, () => {
      for (const space of ['live', 'test'] as const)
        for (const field of op.moves?.to ?? []) {
          test(`${field} in ${space}: refused, and nothing changes`, () => assertRefused(subject, op, field, space));
          test(`${field} in ${space}: passes for an Owner who confirms it, audited`, () => assertConfirmed(subject, op, field, space));
          if (op.moves?.credentials.length)
            test(`${field} in ${space}: passes when the credential is given again`, () => assertGivenAgain(subject, op, field, space));
        }
    });
}

const movingOf = ({ fixture }: Pick<Subject, 'fixture'>, op: AnyOperation): Moving => {
  const moving = fixture.moving?.[op.id];
  if (!moving) throw new Error(`${op.id} declares moves: add it to moving in samples.fixture.ts`);
  return moving;
};

/** A thing with a stored credential, and the edit that changes this field alone. */
export async function movingEdit(subject: Pick<Subject, 'fixture'>, op: AnyOperation, field: string, ctx: Ctx) {
  const edit = movingOf(subject, op).edits[field];
  if (!edit) throw new Error(`moving of ${op.id} has no edit of ${field}`);
  return edit(ctx);
}

type Mover = Pick<Subject, 'fixture' | 'caller' | 'keyMay'>;

/** What a person without a factor, an Editor, a key and a person's token are refused with; the thing stays as it is. */
export async function assertRefused(subject: Mover, op: AnyOperation, field: string, space: Space): Promise<void> {
  const w = await workspace();
  const maker = subject.caller(op, w, space);
  const input = await movingEdit(subject, op, field, maker);
  const before = await stateOf(w, op, maker, input);
  const tries = (ctx: Ctx) => perform(op, { ...ctx, warnings: [] }, input);

  const owner = w.member('owner', space);
  const who = await asPerson(owner);
  await assert.rejects(tries(owner), { type: 'mfa_required' }, 'an Owner without a factor');
  await enrolled(who.user_id);
  await assert.rejects(tries(owner), { type: 'step_up_required' }, 'an Owner who confirmed nothing');

  const held = memberCapabilities('editor', { reveal_secrets: false });
  if (isSatisfied(op.needs, held)) {
    const editor = w.member('editor', space);
    await verified(editor, 'credential.move');
    await assert.rejects(tries(editor), refusal(op, field), 'an Editor who may not reveal it');
  }
  if (subject.keyMay(op)) await assert.rejects(tries(subject.caller(op, w, space)), refusal(op, field), 'an API key');
  const token = tokenActor();
  if (token.type === 'oauth_token' && !op.http.includes(' /admin/') && isSatisfied(op.needs, token.capabilities)) {
    const person = {
      ...token,
      user_id: who.user_id,
      person: { email: 'owner@example.test', role: 'owner' as const },
      step_up_at: new Date(),
    };
    await assert.rejects(tries(w.ctx(space, person)), refusal(op, field), 'a token of an Owner');
  }
  assert.deepEqual(await stateOf(w, op, maker, input), before, 'something changed');
}

async function assertConfirmed(subject: Subject, op: AnyOperation, field: string, space: Space): Promise<void> {
  const w = await workspace();
  const input = await movingEdit(subject, op, field, subject.caller(op, w, space));
  const owner = w.ctx(space, memberActor('owner'));
  const before = await auditCount(w);
  await verified(owner, scopeFor(op.step_up, input) ?? 'credential.move');
  await perform(op, owner, input);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' }, skip: before });
  const details = entries.map((entry) => entry.details as { moved?: string[]; kept?: string[]; step_up?: unknown });
  const entry = details.find(({ moved }) => moved?.includes(field));
  assert.ok(entry?.kept?.length && entry.step_up, `no entry says that ${field} moved: ${JSON.stringify(details)}`);
  const user_id = owner.actor.id as string;
  assert.equal(await db().step_up_verifications.count({ where: { user_id, consumed_at: null } }), 0, 'the confirmation is used up');
  assert.equal(await db().reveal_ledger.count({ where: { user_id } }), 1, 'it counts towards the reveal budget');
}

async function assertGivenAgain(subject: Subject, op: AnyOperation, field: string, space: Space): Promise<void> {
  const w = await workspace();
  const maker = subject.caller(op, w, space);
  const input = { ...(await movingEdit(subject, op, field, maker)), ...movingOf(subject, op).again };
  const ctx = { ...subject.caller(op, w, space) };
  // A row that always asks for a confirmation does so here too; of the others an Owner confirms nothing.
  if (typeof op.step_up === 'string') await confirm(op, ctx, input);
  await perform(op, ctx, input);
}

const stateOf = async (w: Workspace, op: AnyOperation, ctx: Ctx, input: Record<string, unknown>) => [
  await auditCount(w),
  op.edits ? (await read(ctx, (tx) => op.edits!.row(tx, ctx, input))).updated_at : null,
];

const refusal = (op: AnyOperation, field: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal, String(error));
  assert.equal(error.type, 'validation_error', error.message);
  assert.ok(error.message.startsWith(`${field}: `), error.message);
  const { moved = [], again = [] } = (error.extra ?? {}) as { moved?: string[]; again?: string[] };
  assert.ok(moved.includes(field));
  assert.ok(
    again.every((one) => op.moves?.credentials.includes(one)),
    `${again} are not fields of this input`,
  );
  assert.equal(again.length > 0, (op.moves?.credentials.length ?? 0) > 0, 'it says what can be given again');
  return true;
};

/** Names of fields that say where something goes. Origins of pages and addresses of callers are none. */
const ADDRESS = /(?:^|_)(?:urls?|upstream|uri|hosts?|hostname|endpoint|issuer|port|sslmode|tls|srv|fingerprint|agent_id|ca_cert_pem)$/;

/** Address fields of edits, in families with credentials, that neither a row nor the fixture speaks of; and what the fixture says for nothing. */
export function undeclaredAddresses(rows: readonly AnyOperation[], fixture: Subject['fixture']): string[] {
  const said = Object.keys(fixture.movesNothing ?? {});
  if (!fixture.secretInput && !rows.some(({ moves }) => moves)) return said;
  const found = rows.filter(isEdit).flatMap((op) =>
    addressesOf(op.input)
      .filter((field) => !op.moves?.to.includes(field))
      .map((field) => `${op.id} ${field}`),
  );
  return [...found.filter((one) => !said.includes(one)), ...said.filter((one) => !found.includes(one))];
}

/** A change of something that exists already. */
const isEdit = (op: AnyOperation) => (isChange(op) || op.kind === 'reveal') && (/^(?:PATCH|PUT) /.test(op.http) || op.http.includes('{'));

function addressesOf(schema: z.ZodType): string[] {
  const found = new Set<string>();
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, items, anyOf, oneOf, allOf, $ref } = node as Record<string, unknown>;
    for (const [name, child] of Object.entries((properties ?? {}) as object)) {
      const at = path ? `${path}.${name}` : name;
      if (ADDRESS.test(name) && !('not' in (child as object))) found.add(at);
      walk(child, at);
    }
    for (const child of [anyOf, oneOf, allOf].flat()) walk(child, path);
    walk(items, path);
    if (typeof $ref === 'string') walk(definitions[$ref.replace('#/$defs/', '')], path);
  };
  const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;
  const definitions = (document.$defs ?? {}) as Record<string, unknown>;
  walk(document, '');
  return [...found].sort();
}

function assertDeclared(op: AnyOperation, moving: Moving | undefined): void {
  const { to, credentials } = op.moves as NonNullable<typeof op.moves>;
  assert.deepEqual(Object.keys(moving?.edits ?? {}).sort(), [...to].sort(), `${op.id}: moving has an edit of each field`);
  assert.ok(
    MOVE_REFUSALS.every((type) => op.refuses.includes(type)),
    `${op.id}: refuses lists MOVE_REFUSALS`,
  );
  const secrets = marked(op.input, 'input', 'x-secret');
  for (const field of credentials) assert.ok(secrets.includes(field), `${op.id}: ${field} is marked as a secret`);
  assert.equal(credentials.length > 0, moving?.again !== undefined, `${op.id}: moving says how the credential is given again`);
}
