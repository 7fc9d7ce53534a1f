import assert from 'node:assert/strict';
import test from 'node:test';
import { adapterOf } from '../shapes/adapters.ts';
import type { Shape } from '../shapes/shape.ts';
import { dataOf, MalformedFrame, type Stage } from './event.ts';
import { writtenMessage } from './event-stream.ts';
import { eventsIn } from './events.fixture.ts';
import { hiddenUsage } from './hidden-usage.ts';
import { toolGuard } from './tool-guard.ts';
import { usageMeter } from './usage-meter.ts';
import { streamWriter } from './writer.ts';

const frame = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** Data of what comes out of a stage. */
function through(stage: Stage, frames: readonly unknown[]): unknown[] {
  const events = eventsIn('sse', Buffer.from(frames.map(frame).join('')));
  const bytes = streamWriter('sse').bytes(events.flatMap((event) => stage.push(event)));
  return eventsIn('sse', bytes).map((event) => (dataOf(event).startsWith('{') ? JSON.parse(dataOf(event)) : dataOf(event)));
}

test('usage that a caller did not ask for is taken out of an OpenAI stream, however it is sent', () => {
  const text = { choices: [{ index: 0, delta: { content: 'say ,"usage":null or "usage":{}' } }] };
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  assert.deepEqual(through(hiddenUsage(), [{ ...text, usage: null }, { usage: null, ...text }, text]), [text, text, text]);
  assert.deepEqual(through(hiddenUsage(), [{ ...last, usage }, { choices: [], usage }, '[DONE]']), [last, '[DONE]']);
  assert.deepEqual(through(hiddenUsage(), [{ ...last, x_groq: { id: 'r', usage } }]), [{ ...last, x_groq: { id: 'r' } }]);
});

const only =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name);
const blockedText = '[The call of the tool "rm" was blocked by policy.]';

test('a tool call that the agent does not allow is replaced by a text, in every streamed shape', () => {
  const names: string[] = [];
  const guard = (shape: Shape) => toolGuard(shape, only('ls'), (name) => names.push(name));
  const call = (index: number, more: object) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index, ...more }] }, finish_reason: null }],
  });
  const end = (reason: string) => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
  const started = (index: number, name: string) => call(index, { id: 'c', function: { name, arguments: '' } });
  const more = (index: number) => call(index, { function: { arguments: '{}' } });
  const said = { choices: [{ index: 0, delta: { content: blockedText }, finish_reason: null }] };
  const nothing = { choices: [{ index: 0, delta: {}, finish_reason: null }] };
  assert.deepEqual(through(guard('openai-chat'), [started(0, 'rm'), more(0), end('tool_calls')]), [said, nothing, end('stop')]);
  assert.deepEqual(through(guard('openai-chat'), [started(0, 'rm'), more(0), started(1, 'ls'), more(1), end('tool_calls')]), [
    said,
    nothing,
    started(1, 'ls'),
    more(1),
    end('tool_calls'),
  ]);

  const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
  const input = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{}' } };
  const ended = (stop_reason: string) => ({ type: 'message_delta', delta: { stop_reason } });
  assert.deepEqual(through(guard('anthropic'), [block(0, { type: 'tool_use', name: 'rm' }), input, ended('tool_use')]), [
    block(0, { type: 'text', text: '' }),
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: blockedText } },
    ended('end_turn'),
  ]);

  const item = { type: 'function_call', id: 'fc_1', name: 'rm', arguments: '' };
  const message = {
    type: 'message',
    id: 'fc_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: blockedText, annotations: [] }],
  };
  const added = (one: object) => ({ type: 'response.output_item.added', output_index: 0, item: one });
  const args = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' };
  const completed = (one: object) => ({ type: 'response.completed', response: { output: [one] } });
  assert.deepEqual(through(guard('openai-responses'), [added(item), args, completed(item)]), [added(message), completed(message)]);

  const part = (one: object) => ({ candidates: [{ content: { parts: [one] }, finishReason: 'STOP' }] });
  assert.deepEqual(through(guard('gemini'), [part({ functionCall: { name: 'rm', args: {} } })]), [part({ text: blockedText })]);

  const converse = Buffer.concat([
    writtenMessage('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't', name: 'rm' } } }),
    writtenMessage('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{}' } } }),
    writtenMessage('messageStop', { stopReason: 'tool_use' }),
  ]);
  const stage = guard('bedrock-converse');
  const written = streamWriter('event-stream').bytes(eventsIn('event-stream', converse).flatMap((event) => stage.push(event)));
  assert.deepEqual(eventsIn('event-stream', written).map(dataOf), [
    JSON.stringify({ contentBlockIndex: 1, delta: { text: blockedText } }),
    JSON.stringify({ stopReason: 'end_turn' }),
  ]);
  assert.deepEqual(names, ['rm', 'rm', 'rm', 'rm', 'rm', 'rm']);
});

test('an interrupted stream is estimated by the text that came, and a whole one counted by its provider', () => {
  const meterOf = (frames: readonly unknown[]) => {
    const meter = usageMeter(adapterOf('openai-chat').stream);
    for (const event of eventsIn('sse', Buffer.from(frames.map(frame).join('')))) meter.see(event);
    return [meter.complete(), meter.usage({ textBytes: 400, images: 1 })] as const;
  };
  const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
  const cut = meterOf([chunk('a "quoted" text of 28 bytes!'), chunk('and 12 bytes')]);
  assert.deepEqual([cut[0], cut[1].source, cut[1].input_uncached, cut[1].output_text], [false, 'estimated', 185, 11]);
  const whole = meterOf([chunk('hello'), { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } }, '[DONE]']);
  assert.deepEqual([whole[0], whole[1].source, whole[1].input_uncached, whole[1].output_text], [true, 'provider', 5, 2]);
});

test('a frame that is not JSON cannot pass a stage that reads it', () => {
  const [event] = eventsIn('sse', Buffer.from('data: {"usage"\n\n'));
  assert.throws(() => event && hiddenUsage().push(event), MalformedFrame);
});
