import assert from 'node:assert/strict';
import test from 'node:test';
import { withFullLine } from '#server/custody/ai/detectors/full-line.fixture.ts';
import { aGateway } from '#server/domain/mcp-servers/samples.fixture.ts';
import { own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

type W = Awaited<ReturnType<typeof workspace>>;

async function anAgent(w: W, columns: object = {}) {
  const { id: gateway_id } = await aGateway(w.live);
  const slug = fresh('agent');
  return db().ai_agents.create({ data: { ...own(w.live), id: newId(), gateway_id, name: slug, slug, ...columns } as never });
}

const entriesOf = (w: W, resource_id: string) =>
  db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id }, orderBy: { seq: 'asc' } });

test('a policy that an agent or a server uses is not deleted; archived ones let go of it', async () => {
  const w = await workspace();
  for (const [kind, column] of [
    ['pii_policies', 'pii_redact_policy_id'],
    ['firewall_policies', 'firewall_policy_id'],
  ] as const) {
    const policy = await made(w.live, `ai_controls.${kind}.create`, { name: fresh('Policy') });
    const agent = await anAgent(w, { [column]: policy.id });
    const server = await made(w.live, 'mcp_servers.create', {
      id: (await aGateway(w.live)).id,
      name: 'Tools',
      slug: fresh('mcp'),
      server_type: 'collection',
      [column]: policy.id,
    });
    const remove = () => made(w.live, `ai_controls.${kind}.delete`, { id: policy.id });
    const { attached_to } = await made(w.live, `ai_controls.${kind}.get`, { id: policy.id });
    assert.deepEqual(attached_to.map((one: { type: string }) => one.type).sort(), ['ai_agent', 'mcp_server']);
    await assert.rejects(remove(), { type: 'in_use', message: new RegExp(`policy_in_use.*${agent.name}`) });
    await db().ai_agents.update({ where: { id: agent.id }, data: { status: 'archived' } });
    await assert.rejects(remove(), { type: 'in_use', message: /Tools/ });
    await made(w.live, 'mcp_servers.delete', { id: server.id });
    assert.equal((await remove()).deleted, true);
    assert.equal((await db().ai_agents.findUniqueOrThrow({ where: { id: agent.id } }))[column], null);
    await assert.rejects(remove(), { type: 'not_found' });
    assert.deepEqual(
      (await entriesOf(w, policy.id)).map(({ action }) => action),
      ['create', 'delete'],
    );
  }
});

test('what detectors compile is compiled before a recognizer is locked, and only when it changed', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'ai_controls.pii_recognizers.create', { name: 'member', kind: 'regex', pattern: 'M-[0-9]{6}' });
  const update = (changes: object) => made(w.live, 'ai_controls.pii_recognizers.update', { id, ...changes });
  await withFullLine(w.tenant.id, async () => {
    assert.equal((await update({ confidence: 0.5, pattern: 'M-[0-9]{6}' })).confidence, 0.5);
    await assert.rejects(update({ pattern: 'N-[0-9]{6}' }), { type: 'dependency_unavailable' });
  });
  let compiled = false;
  let waiting: Promise<unknown> = Promise.resolve();
  await withFullLine('another', async () => {
    waiting = update({ pattern: 'N-[0-9]{6}' }).then(() => {
      compiled = true;
    });
    assert.equal((await update({ confidence: 0.6 })).confidence, 0.6);
    assert.equal(compiled, false, 'nobody waits for the lock of a change that waits for a thread');
  });
  await waiting;
  const { pattern, confidence } = await made(w.live, 'ai_controls.pii_recognizers.get', { id });
  assert.deepEqual([pattern, confidence], ['N-[0-9]{6}', 0.6]);
});

test('a recognizer that a policy names is not deleted: without its last one a policy would run all of them', async () => {
  const w = await workspace();
  const recognizer = await made(w.live, 'ai_controls.pii_recognizers.create', {
    name: 'member_id',
    kind: 'regex',
    pattern: 'MEM-[0-9]{6}',
  });
  const policy = await made(w.live, 'ai_controls.pii_policies.create', { name: 'Members', recognizer_ids: [recognizer.id] });
  const remove = () => made(w.live, 'ai_controls.pii_recognizers.delete', { id: recognizer.id });
  await assert.rejects(remove(), { type: 'in_use', message: /recognizer_in_use.*Members/ });
  for (const other of [w.test, (await workspace()).live])
    await assert.rejects(made(other, 'ai_controls.pii_policies.create', { name: 'Mine', recognizer_ids: [recognizer.id] }), {
      type: 'validation_error',
      message: /recognizer_not_found/,
    });
  await made(w.live, 'ai_controls.pii_policies.update', { id: policy.id, recognizer_ids: [] });
  assert.equal((await remove()).deleted, true);
});

test('the same name makes the next version, also many at once; agents stay on the version that they name', async () => {
  const w = await workspace();
  const rule = { name: 'codename', kind: 'keyword', pattern: 'Project X' };
  const create = (more: object = {}) =>
    made(w.live, 'ai_controls.firewall_policies.create', { name: 'Injection', heuristics: [rule], ...more });
  const first = await create();
  const agent = await anAgent(w, { firewall_policy_id: first.id });
  const others = await Promise.all(Array.from({ length: 5 }, () => create({ action: 'block' })));
  assert.deepEqual(others.map(({ version }) => version).sort(), [2, 3, 4, 5, 6]);
  assert.equal(first.version, 1);
  assert.equal((await db().ai_agents.findUniqueOrThrow({ where: { id: agent.id } })).firewall_policy_id, first.id);
  const changed = await made(w.live, 'ai_controls.firewall_policies.update', { id: first.id, action: 'block' });
  assert.deepEqual([changed.id, changed.version, changed.action], [first.id, 1, 'block'], 'an edit stays in its version');
  const versions = await made(w.live, 'ai_controls.firewall_policies.list', { name: 'Injection' });
  assert.equal(versions.length, 6);
  assert.equal((await made(w.test, 'ai_controls.firewall_policies.create', { name: 'Injection' })).version, 1, 'a space counts by itself');
});

test('patterns that no linear-time engine runs are refused, naming the rule, and leave nothing', async () => {
  const w = await workspace();
  for (const pattern of ['(a)\\1', '(?=a)b', '(?<!a)b'])
    await assert.rejects(
      made(w.live, 'ai_controls.firewall_policies.create', { name: 'Bad', heuristics: [{ name: 'one', kind: 'regex', pattern }] }),
      { type: 'validation_error', message: /heuristics\[0\]\.pattern: regex_unsupported/ },
      pattern,
    );
  const refused: [string, string, RegExp][] = [
    [
      'regex',
      '(?:a{1,30}){1,30}(?:b{1,30}){1,30}',
      /^pattern: regex_unsupported: is too large: it becomes more than 1,000 instructions .* Use smaller/,
    ],
    [
      'regex',
      '(a{1,100}){1,100}',
      /^pattern: regex_unsupported: is too large: it becomes more than 1,000 instructions .* Use smaller counts/,
    ],
    ['regex', 'a{1001}', /^pattern: regex_unsupported: repeats something more than 1,000 times, .* Use smaller counts/],
    ['aho_corasick', 'a\n'.repeat(10_001), /^pattern: must have at most 10,000 words/],
  ];
  for (const [kind, pattern, message] of refused)
    await assert.rejects(made(w.live, 'ai_controls.pii_recognizers.create', { name: 'large', kind, pattern }), {
      type: 'validation_error',
      message,
    });
  await assert.rejects(made(w.live, 'ai_controls.pii_recognizers.create', { name: 'bad', kind: 'regex', pattern: '(a)\\1' }), {
    type: 'validation_error',
    message: /regex_unsupported/,
  });
  assert.equal(await db().ai_firewall_policies.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('a pack is installed once; again it keeps what people edited, adds what is missing, and attaches what is named', async () => {
  const w = await workspace();
  const install = (more: object = {}) => made(w.live, 'ai_controls.compliance_packs.install', { pack: 'hipaa', ...more });
  const first = await install();
  assert.ok(first.created.length > 0 && first.upgraded.length === 0 && first.kept.length === 0);
  const [edited, lost] = first.recognizers;
  const later = { ...w.live, now: new Date(w.live.now.getTime() + 1_000) };
  await made(later, 'ai_controls.pii_recognizers.update', { id: edited.id, confidence: 0.5 });
  const rest = first.policy.recognizer_ids.filter((id: string) => id !== lost.id);
  if (rest.length > 0) {
    await made(later, 'ai_controls.pii_policies.update', { id: first.policy.id, recognizer_ids: rest, description: 'Ours' });
    await made(w.live, 'ai_controls.pii_recognizers.delete', { id: lost.id });
  }
  const agent = await anAgent(w);
  const [again, twice] = await Promise.all([install({ attach_to_agent_ids: [agent.id] }), install()]);
  for (const one of [again, twice]) assert.equal(one.policy.id, first.policy.id, 'one policy, however often');
  assert.deepEqual([...again.created, ...twice.created], rest.length > 0 ? [lost.name] : [], 'what is missing is made once');
  const after = await made(w.live, 'ai_controls.pii_recognizers.get', { id: edited.id });
  assert.equal(after.confidence, 0.5, 'an edit is kept');
  assert.equal((await db().ai_agents.findUniqueOrThrow({ where: { id: agent.id } })).pii_redact_policy_id, first.policy.id);
  assert.ok(
    (await entriesOf(w, agent.id)).some(({ action }) => action === 'update'),
    'attaching is in the audit log of the agent',
  );
  const foreign = await anAgent(await workspace());
  await assert.rejects(install({ attach_to_agent_ids: [foreign.id] }), { type: 'validation_error', message: /foreign_reference/ });
  await assert.rejects(made(w.live, 'ai_controls.compliance_packs.install', { pack: 'nothing' }), {
    type: /not_found|validation_error/,
  } as never);
  const listed = await made(w.live, 'ai_controls.compliance_packs.list', {});
  assert.equal(listed.find((one: { id: string }) => one.id === 'hipaa').policy_id, first.policy.id);
});

test('a name of a pack that somebody else has is a conflict, and nothing of the pack is installed', async () => {
  const w = await workspace();
  const other = await workspace();
  const { recognizers } = await made(other.live, 'ai_controls.compliance_packs.install', { pack: 'hipaa' });
  await made(w.live, 'ai_controls.pii_recognizers.create', { name: recognizers.at(-1).name, kind: 'regex', pattern: 'X-[0-9]{6}' });
  await assert.rejects(made(w.live, 'ai_controls.compliance_packs.install', { pack: 'hipaa' }), {
    type: 'conflict',
    message: /already exists/,
  });
  assert.equal(await db().ai_pii_recognizers.count({ where: { tenant_id: w.tenant.id } }), 1);
  assert.equal(await db().ai_pii_policies.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('word lists have a limit together, of a policy and of a space; what is longer stays and can only be shortened', async () => {
  const w = await workspace();
  const list = (kib: number, word = 'word') => `${word}\n`.repeat(Math.ceil((kib * 1024) / (word.length + 1))).slice(0, kib * 1024);
  const create = (pattern: string) =>
    made(w.live, 'ai_controls.pii_recognizers.create', { name: fresh('list').replaceAll('-', '_'), kind: 'aho_corasick', pattern });
  const update = (id: string, changes: object) => made(w.live, 'ai_controls.pii_recognizers.update', { id, ...changes });
  await assert.rejects(create('x'.repeat(257)), { type: 'validation_error', message: /256 characters/ });
  const first = await create(list(200, 'a word of forty characters in each line1'));
  // Lists of the time before the limits, which no operation has judged.
  const stored = (kib: number) =>
    db().ai_pii_recognizers.create({
      data: {
        ...own(w.live),
        ...{ id: newId(), name: fresh('old').replaceAll('-', '_'), kind: 'aho_corasick', pattern: list(kib, 'y'.repeat(300)) },
        ...{ context_words: [], confidence: 0.85, action: 'redact', enabled: true, created_at: w.live.now, updated_at: w.live.now },
      } as never,
    });
  const old = [await stored(900), await stored(1_800), await stored(1_200)];
  await assert.rejects(create(list(200, 'b'.repeat(40))), { message: /space to 4,300 KiB, and 4,096 KiB are allowed/ });
  await assert.rejects(update(first.id, { pattern: list(250, 'c'.repeat(40)) }), { message: /4,150 KiB/ });
  assert.equal((await update(first.id, { pattern: list(100, 'd'.repeat(40)) })).id, first.id);
  assert.equal((await update(old[1]?.id ?? '', { context_words: ['near'] })).context_words.length, 1);
  const policy = (recognizer_ids: string[]) => made(w.live, 'ai_controls.pii_policies.create', { name: fresh('Policy'), recognizer_ids });
  await assert.rejects(policy([old[1]?.id ?? '']), { message: /1,800 KiB together, and 1,024 KiB/ });
  const small = await policy([old[0]?.id ?? '', first.id]);
  await assert.rejects(update(first.id, { pattern: list(150, 'e'.repeat(40)) }), { message: new RegExp(`${small.name} to 1,050 KiB`) });
  await assert.rejects(made(w.live, 'ai_controls.pii_policies.update', { id: small.id, recognizer_ids: [old[0]?.id, old[2]?.id] }), {
    message: /2,100 KiB/,
  });
});
