import assert from 'node:assert/strict';
import { request } from 'node:http';
import test from 'node:test';
import { inSlices } from '#server/kernel/slices.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { completion, makeAgent, makeToken, PROMPT, SECRET } from '../ai.fixture.ts';
import { withoutOpaque } from './opaque.ts';
import { outlineSteps } from './outline.ts';

// What a provider answers is read beside a loop that goes on, however long it is, and an honest answer is never refused for its form.

await testDatabase();
const running = await startGateway();
const MIB = 1024 * 1024;
const PIECE = 64 * 1024;

/** Sends bytes as the reader takes them, so that the upstream of the test holds up nothing. */
async function setUp(answer: Buffer, agent: Record<string, unknown> = {}) {
  const w = await workspace();
  const upstream = await startUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    const write = (at: number): void => {
      if (at >= answer.length) return void res.end();
      if (res.write(answer.subarray(at, at + PIECE))) setImmediate(write, at + PIECE);
      else res.once('drain', () => write(at + PIECE));
    };
    write(0);
  });
  const its = await makeAgent(w, upstream, agent);
  const { text: token } = await makeToken(w, its);
  await served(running, w);
  return (path = '/v1/chat/completions', body: object = PROMPT) =>
    new Promise<{ status: number; id: string; pieces: Buffer[] }>((resolve, reject) => {
      const headers = {
        host: `${w.tenant.slug}.localhost:${running.port}`,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      };
      const target = {
        host: '127.0.0.1',
        port: running.port,
        path: `/v1/ai/${its.agent.slug}${path}`,
        method: 'POST',
        headers,
        agent: false,
      };
      const req = request(target, (res) => {
        const pieces: Buffer[] = [];
        res.on('data', (piece: Buffer) => pieces.push(piece));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, id: String(res.headers['x-svc-request-id']), pieces }));
        res.on('error', reject);
      });
      req.on('error', reject);
      req.end(JSON.stringify(body));
    });
}

/** What the call was charged with. */
async function loggedOf(id: string) {
  const rows = () => db().ai_request_logs.findMany({ where: { request_id: id } });
  await until(async () => (await rows()).length === 1);
  const [row] = await rows();
  return row as NonNullable<typeof row>;
}

const PLACE = JSON.stringify({ token: ' the', logprob: -0.0123, bytes: [32, 116, 104, 101] });
const TOP = `{"token":" the","logprob":-0.01,"bytes":null,"top_logprobs":[${Array(20).fill(PLACE).join(',')}]}`;
/** A chat completion with the probabilities of 20 tokens at so many places. */
const withProbabilities = (places: number, content = 'Write to jane@example.com') =>
  Buffer.from(
    JSON.stringify(completion(content)).replace(
      '"finish_reason"',
      () => `"logprobs":{"content":[${Array(places).fill(TOP).join(',')}]},"finish_reason"`,
    ),
  );
const vector = (i: number) => Array.from({ length: 3_072 }, (_, j) => (((i + j) % 1_000) - 500) / 7_919);
const vectors = (inputs: number) =>
  Buffer.from(
    `{"object":"list","data":[${Array.from({ length: inputs }, (_, index) => `{"object":"embedding","index":${index},"embedding":${JSON.stringify(vector(index)).replace(/(\.\d{6})\d*/g, '$1')}}`).join(',')}],"model":"gpt-test","usage":{"prompt_tokens":8000,"total_tokens":8000}}`,
  );

test('an answer with the probabilities of 20 tokens at each of 5,000 places is judged, and none of it is lost', async () => {
  const answer = withProbabilities(5_000);
  const call = await setUp(answer);
  const { status, id, pieces } = await neverBlocks(() => call());
  const body = Buffer.concat(pieces).toString();
  assert.equal(status, 200, body.slice(0, 500));
  assert.equal(body, answer.toString().replace('jane@example.com', '<EMAIL_ADDRESS>'));
  const row = await loggedOf(id);
  assert.deepEqual([Number(row.input_tokens), Number(row.output_tokens)], [10, 2]);
});

test('embeddings of 2,048 inputs of 3,072 numbers go on as their bytes, with their usage', async () => {
  const answer = vectors(2_048);
  assert.ok(answer.length > 50 * MIB && answer.length <= 64 * MIB, String(answer.length));
  const call = await setUp(answer);
  const { status, id, pieces } = await neverBlocks(() => call('/v1/embeddings', { model: 'gpt-test', input: ['a', 'b'] }));
  const body = Buffer.concat(pieces);
  assert.equal(status, 200, body.subarray(0, 500).toString());
  assert.ok(body.equals(answer));
  const row = await loggedOf(id);
  assert.equal(Number(row.input_tokens), 8_000);
});

test('a chat answer of 62 MiB is judged beside a loop that goes on', async () => {
  const places = Math.floor((62 * MIB) / (TOP.length + 1));
  const answer = withProbabilities(places, 'Hello');
  const call = await setUp(answer);
  const { status, pieces } = await neverBlocks(() => call());
  const body = Buffer.concat(pieces);
  assert.equal(status, 200, body.subarray(0, 500).toString());
  assert.ok(body.equals(answer));
});

test('pictures of 60 MiB go on, and the words beside them are judged and counted', async () => {
  const data = [{ b64_json: 'QUJD'.repeat(15 * MIB), revised_prompt: 'A letter to jane@example.com' }];
  const answer = Buffer.from(JSON.stringify({ created: 1, data, usage: { input_tokens: 7, output_tokens: 9 } }));
  const call = await setUp(answer);
  const { status, id, pieces } = await neverBlocks(() => call('/v1/images/generations', { model: 'gpt-test', prompt: 'A letter' }));
  const body = Buffer.concat(pieces);
  assert.equal(status, 200, body.subarray(0, 500).toString());
  assert.ok(body.equals(Buffer.from(answer.toString().replace('jane@example.com', '<EMAIL_ADDRESS>'))));
  const { usage } = await loggedOf(id);
  assert.equal((usage as { images: number }).images, 1);
});

test('an answer of millions of empty lists is refused where controls must read it, and nothing else happens', async () => {
  const call = await setUp(Buffer.from(`{"choices":[${'[],'.repeat(20 * MIB)}[]],"usage":{"prompt_tokens":3,"completion_tokens":4}}`));
  const { status, id, pieces } = await neverBlocks(() => call());
  assert.equal(status, 502);
  assert.match(Buffer.concat(pieces).toString(), /has more than 16 MiB, 200 levels, 300,000 members.*Ask for less at once/);
  const row = await loggedOf(id);
  assert.deepEqual([Number(row.input_tokens), Number(row.output_tokens)], [3, 4]);
  assert.equal((await neverBlocks(() => call('/v1/embeddings', { model: 'gpt-test', input: 'a' }))).status, 200);
});

test('a long answer is translated, its forbidden tools are taken out, and its schema is judged', async () => {
  const text = JSON.stringify({ total: 'x'.repeat(100_000) });
  const call = await setUp(Buffer.from(JSON.stringify(completion(text))), {
    output_schema: { type: 'object', required: ['sum'] },
    output_validation_action: 'block',
  });
  const refused = await call();
  assert.equal(refused.status, 422);
  assert.match(Buffer.concat(refused.pieces).toString(), /"output_schema_violation"/);
  const tools = { tool_calls: [{ id: '1', type: 'function', function: { name: 'drop', arguments: '{}' } }] };
  const message = { role: 'assistant', content: 'y'.repeat(100_000), ...tools };
  const calling = await setUp(
    Buffer.from(JSON.stringify(completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))),
    {
      tool_allowlist: ['keep'],
    },
  );
  const body = Buffer.concat((await calling()).pieces).toString();
  assert.match(body, /The call of the tool \\"drop\\" was blocked by policy/);
  const translated = await setUp(Buffer.from(JSON.stringify(completion('z'.repeat(100_000)))));
  const message_ = { model: 'gpt-test', max_tokens: 10, messages: [{ role: 'user', content: 'Say hello' }] };
  const answered = JSON.parse(Buffer.concat((await translated('/v1/messages', message_)).pieces).toString());
  assert.deepEqual([answered.type, answered.content[0].text.length], ['message', 100_000]);
});

test('a long answer that holds the credential of the agent leaves without it', async () => {
  const filler = 'w'.repeat(200_000);
  const call = await setUp(Buffer.from(JSON.stringify({ object: 'list', data: [filler, SECRET, filler], usage: { prompt_tokens: 1 } })));
  const { pieces } = await neverBlocks(() => call('/v1/embeddings', { model: 'gpt-test', input: 'a' }));
  const { data } = JSON.parse(Buffer.concat(pieces).toString()) as { data: string[] };
  assert.deepEqual([data[0], data[2]], [filler, filler]);
  assert.match(data[1]?.slice(0, 100) ?? '', /^\[redacted:secret:KEY_/);
});

test('an outline has short members as they are, counts the elements of long lists, and is undefined for what is no JSON', async () => {
  const outline = (text: string) => inSlices(outlineSteps(Buffer.from(text)));
  const long = JSON.stringify('l'.repeat(20_000));
  assert.deepEqual(
    { ...(await outline(`{"id":"1","data":[${long},${long},{}],"text":${long},"usage":{"n":1},"all":{"a":${long}}}`)) },
    {
      id: '1',
      data: [null, null, null],
      text: '',
      usage: { n: 1 },
      all: {},
    },
  );
  assert.deepEqual(await outline('{"a":1,"a":2}'), {});
  assert.deepEqual(await outline(`[${long}]`), {});
  assert.equal(await outline('{"a":1'), undefined);
  assert.equal(await outline(`{"a":[${long},]}`), undefined);
});

test('opaque values are taken out and put back as they were, and what only looks like one stays', () => {
  const long = JSON.stringify('a"logprobs"'.repeat(500));
  const probabilities = `[${Array(100).fill('{"token" : "x","bytes":[1]}').join(', ')}]`;
  const json = `{"text":${long},"end":"say \\"logprobs","choices":[{"logprobs" : ${probabilities},"b64_json":null}],"inlineData":{"data":${long}}}`;
  const { rest, whole } = withoutOpaque(Buffer.from(json));
  const read = JSON.parse(rest.toString()) as { text: string; choices: { logprobs: unknown; b64_json: unknown }[]; inlineData: unknown };
  assert.equal(JSON.stringify(read.text), long);
  assert.equal(typeof read.choices[0]?.logprobs, 'string');
  assert.equal(read.choices[0]?.b64_json, null);
  assert.equal(typeof read.inlineData, 'string');
  assert.deepEqual(JSON.parse(Buffer.from(whole(JSON.stringify(read))).toString()), JSON.parse(json));
  assert.ok(Buffer.from(whole(rest.toString())).equals(Buffer.from(json)));
  assert.throws(() => withoutOpaque(Buffer.from('{"logprobs":}')), SyntaxError);
});
