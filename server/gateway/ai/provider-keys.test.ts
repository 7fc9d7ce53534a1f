import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, makeAgent, makeToken, PROMPT, SECRET } from './ai.fixture.ts';

// Several keys of one provider (interface rule 50 §14.12), and the system prompt that an agent enforces (§14.6).

await testDatabase();
const running = await startGateway();

type Told = { status: number; headers?: Record<string, string> };

async function setUp(keys: number, answer: (key: string) => Told, agent: Record<string, unknown> = {}) {
  const w = await workspace();
  const used: string[] = [];
  const bodies: Record<string, unknown>[] = [];
  const upstream = await startUpstream((req, res, body) => {
    const key = String(req.headers.authorization).slice('Bearer '.length);
    used.push(key);
    bodies.push(JSON.parse(body.toString()) as Record<string, unknown>);
    const { status, headers } = answer(key);
    const text = JSON.stringify(status === 200 ? completion() : { error: { message: `no: ${key}` } });
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers }).end(text);
  });
  const environment = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false, is_default: true } });
  const names = Array.from({ length: keys }, (_, i) => `sk-rotated-${i}-0123456789`);
  const secrets = await Promise.all(names.map((value, i) => makeSecret(w, `ROTATED_${i}`, { [environment.name]: value })));
  const made = await makeAgent(w, upstream, { upstream_secret_ids: secrets.map(({ id }) => id), ...agent });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const ask = (body: unknown = PROMPT, path?: string) => askAgent(running, w, made.agent, text, body, path === undefined ? {} : { path });
  return { w, used, bodies, names, secrets, ask, ...made };
}

test('calls take turns over the keys of an agent, and the route’s own is not sent', async () => {
  const { used, names, ask, agent, secrets, w } = await setUp(3, () => ({ status: 200 }));
  for (let n = 0; n < 6; n++) assert.equal((await ask()).status, 200);
  assert.deepEqual([...used].sort(), [...names, ...names].sort());
  assert.equal(used.includes(SECRET), false);
  // Off the list, and no further call has it.
  await db().ai_agents.update({ where: { id: agent.id }, data: { upstream_secret_ids: secrets.slice(1).map(({ id }) => id) } });
  await served(running, w);
  used.length = 0;
  for (let n = 0; n < 4; n++) await ask();
  assert.equal(used.includes(names[0] as string), false);
});

test('a key that is refused or throttled rests, and the same call goes out with the next', async () => {
  for (const status of [401, 403, 429]) {
    const { used, names, ask } = await setUp(2, (key) => ({ status: key.includes('-0-') ? status : 200 }));
    for (let n = 0; n < 4; n++) assert.equal((await ask()).status, 200, String(status));
    assert.equal(used.filter((key) => key === names[0]).length, 1, String(status));
  }
});

test('when every key is refused the caller hears it once, and never of a key', async () => {
  const { ask, used, names } = await setUp(2, () => ({ status: 401 }));
  const answer = await ask();
  assert.deepEqual([answer.status, answer.json().code, used.length], [502, 'upstream_auth_failed', 2]);
  for (const name of names) assert.equal(answer.body.includes(name), false);
});

test('a key whose secret has no value any more is passed over', async () => {
  const { w, ask, used, names, secrets } = await setUp(2, () => ({ status: 200 }));
  await db().secret_environments.updateMany({ where: { secret_id: (secrets[0] as { id: string }).id }, data: { current_value_id: null } });
  await served(running, w);
  for (let n = 0; n < 3; n++) assert.equal((await ask()).status, 200);
  assert.deepEqual([...new Set(used)], [names[1]]);
});

test('every prompt begins with what the agent says, whatever the caller says as the system', async () => {
  const prefix = 'You work for Acme.';
  const { ask, bodies } = await setUp(1, () => ({ status: 200 }), { enforced_system_prefix: prefix });
  const said = { role: 'system', content: 'You are free.' };
  assert.equal((await ask({ ...PROMPT, messages: [said, ...PROMPT.messages] })).status, 200);
  assert.deepEqual((bodies[0] as { messages: unknown[] }).messages.slice(0, 2), [{ role: 'system', content: prefix }, said]);
  await ask({ model: 'gpt-test', input: 'Hi', instructions: 'Mine' }, '/v1/responses');
  assert.equal(bodies[1]?.instructions, `${prefix}\nMine`);
  const refused = await ask({ model: 'gpt-test', prompt: 'Hi' }, '/v1/completions');
  assert.deepEqual([refused.status, refused.json().code, bodies.length], [422, 'shape_not_supported', 2], refused.body);
});
