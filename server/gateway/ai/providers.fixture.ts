import type { ServerResponse } from 'node:http';
import { startUpstream, type Upstream } from '../gateway.fixture.ts';

// Providers as their API references describe them: what the official clients read. A model named `overloaded` fails; a request with tools is answered with
// a call of the first one until a result is there.

type Data = Record<string, unknown>;
type Asked = Data & { model?: string; stream?: boolean; tools?: Data[]; input?: unknown; stream_options?: { include_usage?: boolean } };

function answer(res: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Events one by one, each in a write of its own. */
function stream(res: ServerResponse, frames: readonly string[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const frame of frames) res.write(frame);
  res.end();
}

export const dataFrame = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
export const eventFrame = (data: Data): string => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;

export const WORDS = ['Grüße ', 'aus ', 'Zürich 😀'];
export const TEXT = WORDS.join('');
const ARGUMENTS = ['{"city":', '"Bern"}'];

/** OpenAI: chat, responses and embeddings. */
export const openAiProvider = (): Promise<Upstream> =>
  startUpstream((req, res, bytes) => {
    const asked = JSON.parse(bytes.toString() || '{}') as Asked;
    if (asked.model === 'overloaded')
      return answer(res, 429, { error: { message: 'Slow down', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' } });
    if (req.url?.startsWith('/v1/embeddings')) return answer(res, 200, embeddings(asked));
    if (req.url?.startsWith('/v1/responses'))
      return asked.stream ? stream(res, responseFrames()) : answer(res, 200, response('completed', [message()]));
    if (asked.stream) return stream(res, chatFrames(asked));
    const calls = callsTool(asked);
    return answer(res, 200, {
      ...chatHead('chat.completion'),
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: calls ? null : TEXT, refusal: null, ...(calls && { tool_calls: [toolCall()] }) },
          logprobs: null,
          finish_reason: calls ? 'tool_calls' : 'stop',
        },
      ],
      usage: CHAT_USAGE,
    });
  });

const CHAT_USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, prompt_tokens_details: { cached_tokens: 4 } };
const chatHead = (object: string) => ({
  id: 'chatcmpl-01',
  object,
  created: 1_795_196_040,
  model: 'gpt-test-2026-01-01',
  system_fingerprint: 'fp_1',
});
const toolCall = () => ({ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: ARGUMENTS.join('') } });
const callsTool = ({ tools, messages }: Asked) => (tools ?? []).length > 0 && !JSON.stringify(messages).includes('"tool');

function chatFrames(asked: Asked): string[] {
  const chunk = (delta: Data, finish_reason: string | null = null) =>
    dataFrame({
      ...chatHead('chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(asked.stream_options?.include_usage && { usage: null }),
    });
  const call = (more: Data) => chunk({ tool_calls: [{ index: 0, ...more }] });
  const said = callsTool(asked)
    ? [
        call({ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } }),
        ...ARGUMENTS.map((text) => call({ function: { arguments: text } })),
        chunk({}, 'tool_calls'),
      ]
    : [...WORDS.map((content) => chunk({ content })), chunk({}, 'stop')];
  const usage = asked.stream_options?.include_usage
    ? [dataFrame({ ...chatHead('chat.completion.chunk'), choices: [], usage: CHAT_USAGE })]
    : [];
  return [chunk({ role: 'assistant', content: '', refusal: null }), ...said, ...usage, dataFrame('[DONE]')];
}

function embeddings({ input, model, encoding_format }: Asked): Data {
  const vector = encoding_format === 'base64' ? Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64') : [0.5, -1];
  const count = Array.isArray(input) ? input.length : 1;
  const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: vector }));
  return { object: 'list', data, model, usage: { prompt_tokens: 6, total_tokens: 6 } };
}

const message = () => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: TEXT, annotations: [] }],
});

const response = (status: string, output: unknown[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_196_040,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  model: 'gpt-test',
  output,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  metadata: {},
  usage:
    status === 'completed'
      ? {
          input_tokens: 20,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 5,
          output_tokens_details: { reasoning_tokens: 1 },
          total_tokens: 25,
        }
      : null,
});

function responseFrames(): string[] {
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  const events: Data[] = [
    { type: 'response.created', response: response('in_progress', []) },
    { type: 'response.output_item.added', output_index: 0, item: { ...message(), status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...place, part },
    ...WORDS.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text: TEXT, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: { ...part, text: TEXT } },
    { type: 'response.output_item.done', output_index: 0, item: message() },
    { type: 'response.completed', response: response('completed', [message()]) },
  ];
  return events.map((event, sequence_number) => eventFrame({ ...event, sequence_number }));
}

/** Anthropic: messages and count_tokens. */
export const anthropicProvider = (): Promise<Upstream> =>
  startUpstream((req, res, bytes) => {
    const asked = JSON.parse(bytes.toString() || '{}') as Asked;
    if (asked.model === 'overloaded')
      return answer(res, 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    if (req.url?.includes('count_tokens')) return answer(res, 200, { input_tokens: 14 });
    const calls = callsAnthropicTool(asked);
    const block = calls ? { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Bern' } } : { type: 'text', text: TEXT };
    const whole = {
      ...anthropicHead,
      content: [block],
      stop_reason: calls ? 'tool_use' : 'end_turn',
      usage: { ...ANTHROPIC_USAGE, output_tokens: 5 },
    };
    return asked.stream ? stream(res, anthropicFrames(calls)) : answer(res, 200, whole);
  });

const callsAnthropicTool = ({ tools, messages }: Asked) => (tools ?? []).length > 0 && !JSON.stringify(messages).includes('tool_result');
const anthropicHead = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-test',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};
const ANTHROPIC_USAGE = { input_tokens: 16, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 1 };

export function anthropicFrames(calls = false): string[] {
  const block = calls ? { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} } : { type: 'text', text: '' };
  const deltas: Data[] = calls
    ? ARGUMENTS.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    : WORDS.map((text) => ({ type: 'text_delta', text }));
  return [
    eventFrame({ type: 'message_start', message: { ...anthropicHead, usage: ANTHROPIC_USAGE } }),
    eventFrame({ type: 'content_block_start', index: 0, content_block: block }),
    eventFrame({ type: 'ping' }),
    ...deltas.map((delta) => eventFrame({ type: 'content_block_delta', index: 0, delta })),
    eventFrame({ type: 'content_block_stop', index: 0 }),
    eventFrame({
      type: 'message_delta',
      delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    eventFrame({ type: 'message_stop' }),
  ];
}

/** Google: generateContent, its stream, countTokens and embeddings. */
export const geminiProvider = (): Promise<Upstream> =>
  startUpstream((req, res, bytes) => {
    const asked = JSON.parse(bytes.toString() || '{}') as Asked;
    const [path = '', query = ''] = (req.url ?? '').split('?');
    if (path.includes('overloaded')) return answer(res, 503, { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } });
    if (path.endsWith(':countTokens')) return answer(res, 200, { totalTokens: 14 });
    if (path.endsWith(':batchEmbedContents'))
      return answer(res, 200, { embeddings: (asked.requests as unknown[]).map(() => ({ values: [0.5, -1] })) });
    const calls = (asked.tools ?? []).length > 0 && !JSON.stringify(asked.contents).includes('functionResponse');
    const part = calls ? { functionCall: { name: 'get_weather', args: { city: 'Bern' } } } : { text: TEXT };
    if (!path.endsWith(':streamGenerateContent')) return answer(res, 200, gemini([part], true));
    const frames = calls ? [gemini([part], true)] : WORDS.map((text, index) => gemini([{ text }], index === WORDS.length - 1));
    if (query.includes('alt=sse')) return stream(res, frames.map(dataFrame));
    return answer(res, 200, frames);
  });

const gemini = (parts: unknown[], last: boolean) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(last && { finishReason: 'STOP' }) }],
  usageMetadata: {
    promptTokenCount: 20,
    cachedContentTokenCount: 4,
    ...(last && { candidatesTokenCount: 4, thoughtsTokenCount: 1 }),
    totalTokenCount: 25,
  },
  modelVersion: 'gemini-test',
  responseId: 'r-1',
});
