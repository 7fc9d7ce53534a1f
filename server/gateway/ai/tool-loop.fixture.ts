import type { ServerResponse } from 'node:http';
import { writtenMessage } from '#server/ai/stream/event-stream.ts';
import { startUpstream, type Upstream } from '../gateway.fixture.ts';
import { dataFrame, eventFrame } from './providers.fixture.ts';

// Providers whose model runs one command with the tool that it is offered for that, and then says what the command gave. A request that their API would
// refuse is refused.

type Data = Record<string, unknown>;
type Turn = { call?: { name: string; args: string }; text?: string };

/** The tools of command lines that run a command, each with the arguments of `cat note.txt`. */
const COMMANDS: Readonly<Record<string, Data>> = {
  Bash: { command: 'cat note.txt', description: 'Read the note' },
  exec_command: { cmd: 'cat note.txt' },
};
export const NOTE = 'The colour is ultramarine.';
export const ANSWER = 'I ran it, and the colour is ultramarine.';

const objects = (value: unknown): Data[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []);

/** What the model does: a command first, and an answer once the note is in a result. */
function turnOf(offered: string[], results: string[]): Turn {
  if (results.some((text) => text.includes('ultramarine'))) return { text: ANSWER };
  const name = offered.find((one) => Object.hasOwn(COMMANDS, one));
  // A call without such a tool, as for a title of the session.
  return name === undefined || results.length > 0 ? { text: 'Nothing to do.' } : { call: { name, args: JSON.stringify(COMMANDS[name]) } };
}

const parsed = (bytes: Buffer) => JSON.parse(bytes.toString()) as Data;

function refuse(res: ServerResponse, message: string): void {
  res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { type: 'invalid_request_error', message } }));
}

function events(res: ServerResponse, frames: readonly string[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames) res.write(frame);
  res.end();
}

/** What is wrong with a member, or nothing. */
const unknownMember = (body: Data, known: string): string | undefined => {
  const found = Object.keys(body).find((name) => !known.split(' ').includes(name));
  return found && `Unrecognized request argument supplied: ${found}`;
};

const CHAT =
  'model messages max_tokens max_completion_tokens temperature top_p stop tools tool_choice parallel_tool_calls response_format reasoning_effort user safety_identifier stream stream_options';

export const chatModel = (): Promise<Upstream> =>
  startUpstream((_, res, bytes) => {
    const body = parsed(bytes);
    const messages = objects(body.messages);
    const tools = objects(body.tools);
    const wrong =
      unknownMember(body, CHAT) ??
      tools.find(({ type }) => type !== 'function')?.type ??
      messages.find(({ role }) => !['system', 'user', 'assistant', 'tool'].includes(String(role)))?.role;
    if (wrong !== undefined) return refuse(res, String(wrong));
    const turn = turnOf(
      tools.map((tool) => String((tool.function as Data).name)),
      messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content)),
    );
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: body.model };
    const chunk = (delta: Data, finish: string | null = null) =>
      dataFrame({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    const { call } = turn;
    events(res, [
      chunk({ role: 'assistant', content: turn.text ?? null }),
      ...(call
        ? [chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: call.name, arguments: call.args } }] })]
        : []),
      chunk({}, call ? 'tool_calls' : 'stop'),
      dataFrame({ ...head, choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } }),
      dataFrame('[DONE]'),
    ]);
  });

const MESSAGES =
  'model messages system max_tokens temperature top_p top_k stop_sequences tools tool_choice thinking output_config metadata stream context_management cache_control';

export const claudeModel = (): Promise<Upstream> =>
  startUpstream((_, res, bytes) => {
    const body = parsed(bytes);
    const tools = objects(body.tools);
    const blocks = objects(body.messages).flatMap(({ content }) => objects(content));
    const thinks = (body.thinking as Data | undefined)?.type === 'enabled';
    const wrong =
      unknownMember(body, MESSAGES) ??
      (body.max_tokens === undefined ? 'max_tokens: Field required' : undefined) ??
      (thinks && blocks.some(({ type }) => type === 'tool_use') ? 'Expected `thinking`, but found `tool_use`' : undefined) ??
      tools.find((tool) => typeof tool.input_schema !== 'object')?.name;
    if (wrong !== undefined) return refuse(res, String(wrong));
    const turn = turnOf(
      tools.map(({ name }) => String(name)),
      blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => JSON.stringify(content)),
    );
    const { call } = turn;
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
    const start = call ? { type: 'tool_use', id: 'toolu_1', name: call.name, input: {} } : { type: 'text', text: '' };
    const delta = call ? { type: 'input_json_delta', partial_json: call.args } : { type: 'text_delta', text: turn.text };
    events(res, [
      eventFrame({ type: 'message_start', message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } }),
      eventFrame({ type: 'content_block_start', index: 0, content_block: start }),
      eventFrame({ type: 'content_block_delta', index: 0, delta }),
      eventFrame({ type: 'content_block_stop', index: 0 }),
      eventFrame({
        type: 'message_delta',
        delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 4 },
      }),
      eventFrame({ type: 'message_stop' }),
    ]);
  });

const CONVERSE = 'messages system inferenceConfig toolConfig additionalModelRequestFields requestMetadata';

export const converseModel = (): Promise<Upstream> =>
  startUpstream((req, res, bytes) => {
    const body = parsed(bytes);
    const messages = objects(body.messages);
    const tools = objects((body.toolConfig as Data | undefined)?.tools);
    const wrong =
      unknownMember(body, CONVERSE) ??
      messages.find(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))?.role ??
      (req.url?.includes('claude') ? undefined : Object.keys((body.additionalModelRequestFields as Data | undefined) ?? {})[0]);
    if (wrong !== undefined) return refuse(res, String(wrong));
    const results = messages.flatMap(({ content }) => objects(content)).filter(({ toolResult }) => toolResult !== undefined);
    const turn = turnOf(
      tools.map(({ toolSpec }) => String((toolSpec as Data).name)),
      results.map((result) => JSON.stringify(result)),
    );
    const { call } = turn;
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    const say = (name: string, data: Data) => res.write(writtenMessage(name, data));
    say('messageStart', { role: 'assistant' });
    if (call) say('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't1', name: call.name } } });
    say('contentBlockDelta', { contentBlockIndex: 0, delta: call ? { toolUse: { input: call.args } } : { text: turn.text } });
    say('contentBlockStop', { contentBlockIndex: 0 });
    say('messageStop', { stopReason: call ? 'tool_use' : 'end_turn' });
    res.end(writtenMessage('metadata', { usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 } }));
  });

export const responsesModel = (): Promise<Upstream> =>
  startUpstream((_, res, bytes) => {
    const body = parsed(bytes);
    const turn = turnOf(
      objects(body.tools).map(({ name }) => String(name)),
      objects(body.input)
        .filter(({ type }) => type === 'function_call_output')
        .map(({ output }) => JSON.stringify(output)),
    );
    const { call } = turn;
    const done = { id: 'resp_1', object: 'response', status: 'completed', model: body.model };
    const item = call
      ? { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: call.name, arguments: call.args, status: 'completed' }
      : {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: turn.text, annotations: [] }],
        };
    const told: Data[] = [
      { type: 'response.created', response: { ...done, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...done, output: [item], usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 } } },
    ];
    events(
      res,
      told.map((event, sequence_number) => eventFrame({ ...event, sequence_number })),
    );
  });
