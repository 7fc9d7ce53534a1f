import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import type { JsonObject } from '../json.ts';
import { MEMBERS } from './members.ts';
import type { RefusedRequest, TranslatedRequest, Unsupported } from './options.ts';
import type { ClientShape, UpstreamShape } from './shapes.ts';
import { translation } from './translation.ts';

// What the official clients can send is the list of what the tables must know.

const SOURCES: Readonly<Record<ClientShape, readonly [file: string, name: string][]>> = {
  'openai-chat': [['openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase']],
  'openai-responses': [['openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase']],
  anthropic: [
    ['@anthropic-ai/sdk/resources/messages/messages.d.ts', 'MessageCreateParamsBase'],
    ['@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', 'MessageCreateParamsBase'],
  ],
};

/** Members of an interface of a package, as its declaration lists them. */
function membersOf(file: string, name: string): string[] {
  const text = fs.readFileSync(new URL(`../../../node_modules/${file}`, import.meta.url), 'utf8');
  const start = text.indexOf(`export interface ${name} {\n`);
  const body = text.slice(start, text.indexOf('\n}\n', start)).replace(/\/\*\*.*?\*\//gs, '');
  const found = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member]) => member as string);
  assert.ok(start > 0 && found.length > 10, `${name} of ${file}`);
  return found;
}

const BASE: Readonly<Record<ClientShape, JsonObject>> = {
  'openai-chat': { messages: [] },
  'openai-responses': { input: 'Hi' },
  anthropic: { max_tokens: 1, messages: [] },
};
const pairs = (Object.entries(MEMBERS) as [UpstreamShape, (typeof MEMBERS)[UpstreamShape]][]).flatMap(([to, tables]) =>
  (Object.keys(tables) as ClientShape[]).map((from) => [from, to] as const),
);

function request(from: ClientShape, to: UpstreamShape, more: JsonObject, unsupported?: Unsupported): TranslatedRequest | RefusedRequest {
  const context = { model: 'the-model', provider: null, requestId: 'req-01', now: new Date(0), unsupported };
  return translation(from, to, context).request({ ...BASE[from], ...more });
}
const refusal = (result: TranslatedRequest | RefusedRequest) => ('refuse' in result ? [result.refuse, result.option] : undefined);

test('every member that an official client sends is in the table of every target', () => {
  for (const [from, to] of pairs)
    for (const [file, name] of SOURCES[from])
      assert.deepEqual(
        membersOf(file, name).filter((member) => !MEMBERS[to][from]?.has(member)),
        [],
        `${from} to ${to}`,
      );
});

test('a hint is dropped with a warning, and an option that changes the meaning is refused by its name or dropped, as the agent says', () => {
  for (const [from, to] of pairs) {
    const table = [...(MEMBERS[to][from] ?? [])].filter(([name]) => name !== '');
    for (const [name, fate] of [...table, ...['unheard_of', 'constructor', '__proto__x'].map((one) => [one, 'refused'] as const)]) {
      if (fate === 'same' || fate === 'translated') continue;
      const given = { [name]: { a: 1 } };
      const message = `${from} to ${to}: ${name}`;
      const kept = request(from, to, given);
      if (fate === 'dropped') assert.ok('body' in kept && kept.warnings.includes(`dropped:${name}`), message);
      else assert.deepEqual(refusal(kept), ['unsupported_option', name], message);
      const dropped = request(from, to, given, 'drop');
      assert.ok('body' in dropped && dropped.warnings.includes(`dropped:${name}`), message);
      assert.equal(Object.hasOwn(dropped.body, name), false, message);
      assert.equal(refusal(request(from, to, { [name]: null })), undefined, message);
    }
  }
});

test('a value that says what holds anyway is neither refused nor warned of', () => {
  const cases: [ClientShape, JsonObject][] = [
    ['openai-chat', { n: 1, seed: 0, presence_penalty: 0, frequency_penalty: 0, logprobs: false, modalities: ['text'], logit_bias: {} }],
    ['anthropic', { service_tier: 'auto', mcp_servers: [], inference_geo: 'global' }],
    ['openai-responses', { background: false, truncation: 'disabled', store: false, metadata: {}, top_logprobs: 0 }],
  ];
  for (const [from, more] of cases)
    for (const [source, to] of pairs) {
      if (source !== from) continue;
      const result = request(from, to, more);
      assert.deepEqual(refusal(result) ?? ('warnings' in result && result.warnings), [], `${from} to ${to}`);
    }
});

test('thousands of unknown members make few warnings, and their names break no list', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
  const result = request('openai-chat', 'anthropic', { 'a, b\r\n': 1, ...many }, 'drop');
  assert.ok('warnings' in result);
  assert.deepEqual([result.warnings.length, result.warnings[0], result.warnings.at(-1)], [30, 'dropped:a??b??', 'dropped:more']);
});

test('parts of a conversation are refused whatever the agent says', () => {
  const audio = { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] };
  assert.deepEqual(refusal(request('openai-chat', 'anthropic', audio, 'drop')), ['unsupported_option', 'messages.content.input_audio']);
  const file = { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] };
  assert.deepEqual(refusal(request('openai-responses', 'openai-chat', file, 'drop')), [
    'unsupported_option',
    'input.content.input_file.file_id',
  ]);
});

test('a web search beside other tools is dropped with a warning, and refused where it is all there is or the choice names it', () => {
  const search = { type: 'web_search', external_web_access: true };
  const other = { type: 'function', name: 'now', parameters: { type: 'object' } };
  for (const [from, to] of pairs.filter(([one]) => one === 'openai-responses')) {
    const beside = request(from, to, { tools: [search, other], tool_choice: 'auto' }, 'refuse');
    assert.deepEqual('refuse' in beside ? beside : beside.warnings, ['dropped:tools.web_search'], to);
    assert.deepEqual(refusal(request(from, to, { tools: [search] }, 'refuse')), ['unsupported_option', 'tools.web_search'], to);
    const named = request(from, to, { tools: [search, other], tool_choice: { type: 'web_search' } }, 'refuse');
    assert.deepEqual(refusal(named), ['unsupported_option', 'tool_choice.web_search'], to);
  }
});
