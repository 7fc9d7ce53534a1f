import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { matchDashboard } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import { MEMBER_ROLES, type MemberRole, memberCapabilities, ROLE_MATRIX } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import { type AnyOperation, isOfPerson, type Reveal } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { refuseInserts } from '../refused-inserts.ts';
import { asPerson, enrolled, verified } from '../step-up.ts';
import { memberActor, type Workspace, workspace } from '../workspace.ts';
import { refuseAuditEntries } from './audit.ts';
import type { Subject } from './subject.ts';

/** Every row that answers with a stored secret goes through the one gate, in its order (interface rule 32 §4 and §8). */
export function reveals({ name, rows, ofPerson, reveals: gated, sample, fixture }: Subject): void {
  test(`${name}: what reveals has a gate, and nothing else has one`, () => {
    for (const op of [...rows, ...ofPerson]) assert.equal(op.reveal !== undefined, op.kind === 'reveal', op.id);
    for (const op of gated) assertDeclared(op);
  });

  for (const op of gated) {
    const gate = op.reveal as Reveal<unknown>;
    const arranged = async () => {
      const w = await workspace();
      const owner = person(w, 'owner');
      return { w, owner, input: await sample(op, owner) };
    };
    /** The same workspace in a call of its own, as each person makes one. */
    const granted = async (ctx: Ctx, input: Record<string, unknown>) => {
      await verified(ctx, gate.scope);
      return perform(op, ctx, input);
    };

    describe(`${op.id}: the gate`, () => {
      test('asks for a factor first, then for a verification of its scope, by this session of this person here', async () => {
        const { w, owner, input } = await arranged();
        await asPerson(owner);
        await assert.rejects(perform(op, owner, input), { type: 'mfa_required' });
        await enrolled(owner.actor.id as string);
        const refused = { type: 'reveal_step_up_required', status: 403 };
        const [refusal] = await Promise.allSettled([perform(op, owner, input)]);
        assert.deepEqual((refusal as { reason?: Refusal }).reason?.extra, {
          requires_step_up: true,
          action_scope: gate.scope,
          allowed_methods: ['passkey', '2fa'],
        });
        await verified(owner, gate.scope === 'mfa.credential' ? 'tenant.slug' : 'mfa.credential');
        await assert.rejects(perform(op, owner, input), refused, 'another scope');
        const elsewhere = { ...owner, actor: { ...owner.actor, session_id: newId() } } as Ctx;
        await verified(elsewhere, gate.scope);
        await assert.rejects(perform(op, owner, input), refused, 'another session');
        const somebody = person(w, 'owner');
        await verified(somebody, gate.scope);
        await assert.rejects(perform(op, owner, input), refused, 'another person');
        await verified(owner, gate.scope, { now: new Date(Date.now() - 301_000) });
        await assert.rejects(perform(op, owner, input), refused, 'expired');
        assert.deepEqual(await entriesOf(w), [], 'nothing was granted');
        await granted(owner, input);
        // A decision that was taken is refused for its state, before the factor is looked at.
        const again = op.http.startsWith('GET ') ? refused : ({ status }: Refusal) => status === 403 || status === 409;
        await assert.rejects(perform(op, owner, input), again, 'one verification, one use');
      });

      test('commits what it audits before it shows anything, and the entry says who, what, why and how', async () => {
        const { w, owner, input } = await arranged();
        owner.reveal_reason = encodeURIComponent('ticket 812');
        let before: Entry[] = [];
        await verified(owner, gate.scope);
        const { output } = await perform(
          spied(op, async () => {
            before = await entriesOf(w);
          }),
          owner,
          input,
        );
        assert.equal(before.length, 1, 'the entry was not committed before');
        const [entry] = await entriesOf(w);
        const { details, resource_id, actor_id, request_id } = entry as Entry;
        assert.deepEqual([actor_id, request_id, resource_id !== null], [owner.actor.id, owner.request_id, true]);
        const [http_method, route] = op.http.split(' ');
        const { verification_id } = details;
        assert.ok(typeof verification_id === 'string');
        for (const [field, value] of Object.entries({
          ...{ class: gate.class, scope: gate.scope, method: 'totp', outcome: 'granted', route, http_method },
          ...{ reason: 'ticket 812', sandbox: false },
        }))
          assert.equal(details[field], value, field);
        for (const text of fixture.revealed?.[op.id]?.(output) ?? [])
          assert.ok(!JSON.stringify(details).includes(text), 'the value is in the audit log');
      });

      test('lets each role through that the register names, and no other', async () => {
        const { w, owner, input: once } = await arranged();
        const [capability] = capabilitiesOf(op.needs);
        for (const role of MEMBER_ROLES)
          for (const reveal_secrets of [false, true]) {
            const ctx = person(w, role, reveal_secrets);
            const input = op.http.startsWith('GET ') ? once : await sample(op, owner); // a decision can't be taken twice
            const denied = denialOf(gate.class, role, reveal_secrets, ROLE_MATRIX.get(capability!)?.[role]);
            const result = await granted(ctx, input).then(
              () => undefined,
              (error: Refusal) => error.type,
            );
            assert.equal(result, denied, `${role}${reveal_secrets ? ' with Reveal secrets' : ''}`);
            assert.equal(await usable(ctx), denied === undefined ? 0 : 1, 'a refusal spends nothing');
          }
      });

      test('a tenant policy refuses an Owner before anything is spent', async () => {
        const { w, owner, input } = await arranged();
        const ctx = { ...owner, tenant_id: w.tenant.id };
        await db().tenant_policies.create({
          data: {
            id: newId(),
            tenant_id: w.tenant.id,
            name: 'four eyes',
            actions: [gate.policy],
            subjects: { all: true },
            resources: [],
            space: 'both',
            reason: 'four eyes',
          },
        });
        await new Promise((done) => setTimeout(done, 1_050)); // rules are kept for a second
        await assert.rejects(granted(ctx, input), (error: Refusal) => {
          assert.deepEqual([error.type, error.extra?.policy_action], ['reveal_policy_denied', gate.policy]);
          return true;
        });
        assert.equal(await usable(ctx), 1);
      });

      if (op.http.includes('{'))
        test('what does not exist is not found, whoever asks, and leaves the verification usable', async () => {
          const { w, owner, input } = await arranged();
          const ids = Object.fromEntries([...op.http.matchAll(/\{(\w+)\}/g)].map(([, id]) => [id, crypto.randomUUID()]));
          for (const ctx of [owner, person(w, 'viewer')]) {
            await assert.rejects(granted(ctx, { ...input, ...ids }), { status: 404 });
            assert.equal(await usable(ctx), 1);
          }
        });

      test('of parallel uses of one verification exactly one is shown', async () => {
        const { w, owner, input } = await arranged();
        await verified(owner, gate.scope);
        const results = await Promise.allSettled([1, 2, 3, 4].map(() => perform(op, { ...owner, request_id: newId() }, input)));
        assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
        assert.equal((await entriesOf(w)).length, 1);
      });

      test('without an audit entry or a budget nothing is decrypted and nothing is spent', async () => {
        const { w, owner, input } = await arranged();
        await verified(owner, gate.scope);
        let shown = 0;
        const watched = spied(op, async () => void shown++);
        const release = await refuseAuditEntries(w);
        try {
          await assert.rejects(perform(watched, owner, input), { type: 'reveal_audit_unavailable', status: 503 });
        } finally {
          await release();
        }
        await withoutLedger(owner, () =>
          assert.rejects(perform(watched, owner, input), { type: 'reveal_budget_unavailable', status: 503 }),
        );
        assert.deepEqual([shown, await usable(owner), await spent(owner)], [0, 1, 0]);
        await perform(watched, owner, input);
        assert.deepEqual([shown, await usable(owner), await spent(owner)], [1, 0, 1]);
      });

      test('what fails after it was granted stays spent and says so in a second entry', async () => {
        const { w, owner, input } = await arranged();
        await verified(owner, gate.scope);
        const broken = spied(op, async () => {
          throw new Error('the value cannot be opened');
        });
        await assert.rejects(perform(broken, owner, input), { type: 'internal_error' });
        assert.deepEqual(
          (await entriesOf(w)).map(({ details }) => details.outcome),
          ['granted', 'failed'],
        );
        assert.deepEqual([await usable(owner), await spent(owner)], [0, 1]);
      });

      test('machines and operators never pass', async () => {
        const { w, input } = await arranged();
        await assert.rejects(perform(op, w.ctx('live'), input), { type: 'not_authenticated' });
        const operator: Ctx['actor'] = { type: 'operator', id: null, label: 'operator', capabilities: new Set() };
        await assert.rejects(perform(op, w.ctx('live', operator), input), { type: 'operator_custody_blocked' });
      });
    });
  }
}

function assertDeclared(op: AnyOperation): void {
  const [method, address = ''] = op.http.split(' ') as [string, string];
  assert.ok(address.startsWith('/admin/') && !isOfPerson(op), `${op.id}: only the dashboard plane reveals`);
  const gate = op.reveal as Reveal<unknown>;
  for (const capability of capabilitiesOf(op.needs)) {
    const cells = ROLE_MATRIX.get(capability);
    assert.ok(cells?.viewer === '-' && cells.member === '-', `${op.id}: ${capability}`);
    assert.equal(cells.editor, gate.class === 'A' ? 't' : '-', `${op.id}: class ${gate.class} and ${capability}`);
  }
  const [path = '', query] = address.replaceAll(/\{\w+\}/g, 'x').split('?');
  if (method === 'GET') assert.ok('allow' in (matchDashboard('HEAD', path, new URLSearchParams(query)) ?? {}), `${op.id}: HEAD is 405`);
}

/** What interface rule 32 §1 says of a role, apart from what the gate does. */
function denialOf(of: 'A' | 'B', role: MemberRole, reveal_secrets: boolean, cell = '-'): string | undefined {
  if (role === 'viewer' || role === 'member' || cell === '-') return 'reveal_role_denied';
  if (role !== 'editor') return undefined;
  if (of === 'B') return 'reveal_role_denied';
  return reveal_secrets ? undefined : 'reveal_tick_required';
}

const person = (w: Workspace, role: MemberRole, reveal_secrets = false): Ctx =>
  w.ctx('live', { ...memberActor(role), reveal_secrets, capabilities: memberCapabilities(role, { reveal_secrets }) } as Ctx['actor']);

/** The row with something before what decrypts. */
const spied = (op: AnyOperation, before: () => Promise<void>): AnyOperation => ({
  ...op,
  run: async (ctx, input, families) => {
    await before();
    return op.run(ctx, input, families);
  },
});

type Entry = { resource_id: string | null; actor_id: string | null; request_id: string | null; details: Record<string, unknown> };
const entriesOf = async (w: Workspace) =>
  (await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: 'plaintext.reveal' },
    orderBy: { seq: 'asc' },
  })) as unknown as Entry[];

const usable = (ctx: Ctx) =>
  db().step_up_verifications.count({ where: { user_id: ctx.actor.id as string, consumed_at: null, expires_at: { gt: new Date() } } });
const spent = (ctx: Ctx) => db().reveal_ledger.count({ where: { user_id: ctx.actor.id as string } });

/** Refuses every row of this person until the work is done. */
async function withoutLedger(ctx: Ctx, work: () => Promise<void>): Promise<void> {
  const release = await refuseInserts('reveal_ledger', 'user_id', ctx.actor.id as string);
  try {
    await work();
  } finally {
    await release();
  }
}
