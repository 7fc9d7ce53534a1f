import { isObject, type JsonObject, listOf, objectOf, objectsOf, textAt } from '../json.ts';
import type { Shape } from '../shapes/shape.ts';
import { doneEvent, jsonOf, made, nameOf, type StreamEvent } from '../stream/event.ts';

// Answers that came as a stream, put together, and answers that are told as one. Only what both forms hold alike: anything else is undefined, and not kept.

type Form = {
  assembled: (events: readonly StreamEvent[]) => JsonObject | undefined;
  replayed: (answer: JsonObject, asked: { usage: boolean }) => StreamEvent[] | undefined;
};

/** Shapes whose streams can be kept and told again. */
export const streamForm = (shape: Shape): Form | undefined =>
  shape === 'openai-chat' ? chat : shape === 'anthropic' ? messages : shape === 'openai-responses' ? responses : undefined;

const PIECE = 1_024;
/** Never between the halves of a character. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + PIECE);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] as string)) end--;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

const picked = (from: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
const hasOnly = (value: JsonObject, names: ReadonlySet<string>): boolean =>
  Object.entries(value).every(([name, member]) => names.has(name) || member === null || (Array.isArray(member) && member.length === 0));

const CHAT_HEAD = ['id', 'created', 'model', 'system_fingerprint', 'service_tier'] as const;
const CHAT_TEXTS = ['content', 'reasoning_content', 'refusal'] as const;
const CHAT_MESSAGE = new Set<string>(['role', ...CHAT_TEXTS]);
const CHAT_CHOICE = new Set(['index', 'message', 'delta', 'finish_reason', 'content_filter_results']);

const chat: Form = {
  assembled(events) {
    let head: JsonObject | undefined;
    let usage: unknown;
    let finish: unknown = null;
    const message: JsonObject = { role: 'assistant', content: null };
    for (const event of events) {
      const json = jsonOf(event);
      if (!isObject(json)) continue;
      head ??= picked(json, CHAT_HEAD);
      if (isObject(json.usage)) usage = json.usage;
      for (const choice of objectsOf(json.choices)) {
        const delta = objectOf(choice.delta);
        if ((choice.index ?? 0) !== 0 || !hasOnly(choice, CHAT_CHOICE) || !hasOnly(delta, CHAT_MESSAGE)) return undefined;
        for (const name of CHAT_TEXTS) if (typeof delta[name] === 'string') message[name] = `${textAt(message, name) ?? ''}${delta[name]}`;
        finish = choice.finish_reason ?? finish;
      }
    }
    if (!head || typeof finish !== 'string') return undefined;
    return {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      ...(usage === undefined ? {} : { usage }),
    };
  },
  replayed(answer, asked) {
    const [choice, second] = objectsOf(answer.choices);
    const message = objectOf(choice?.message);
    if (!choice || second || !hasOnly(choice, CHAT_CHOICE) || !hasOnly(message, CHAT_MESSAGE)) return undefined;
    const chunk = (delta: JsonObject, finish_reason: unknown = null) =>
      made('sse', {
        ...picked(answer, CHAT_HEAD),
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, logprobs: null, finish_reason }],
        ...(asked.usage ? { usage: null } : {}),
      });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(['reasoning_content', 'content', 'refusal'] as const).flatMap((name) =>
        pieces(textAt(message, name) ?? '').map((text) => chunk({ [name]: text })),
      ),
      chunk({}, choice.finish_reason),
      ...(asked.usage && isObject(answer.usage)
        ? [made('sse', { ...picked(answer, CHAT_HEAD), object: 'chat.completion.chunk', choices: [], usage: answer.usage })]
        : []),
      doneEvent(),
    ];
  },
};

const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
};
const ADDED: Readonly<Record<string, string>> = { text_delta: 'text', thinking_delta: 'thinking', signature_delta: 'signature' };

const knownBlock = (block: JsonObject): boolean => {
  const members = BLOCKS[textAt(block, 'type') ?? ''];
  return members !== undefined && hasOnly(block, members);
};

/** Without members that are null, which clients of streams refuse. */
const given = (block: JsonObject): JsonObject => Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null));

const messages: Form = {
  assembled(events) {
    let message: JsonObject | undefined;
    const blocks: JsonObject[] = [];
    for (const event of events) {
      const json = jsonOf(event);
      if (!isObject(json)) continue;
      if (json.type === 'message_start') message = { ...objectOf(json.message) };
      else if (json.type === 'content_block_start') {
        const block = { ...objectOf(json.content_block) };
        if (json.index !== blocks.length || !knownBlock(block)) return undefined;
        blocks.push(block);
      } else if (json.type === 'content_block_delta') {
        const delta = objectOf(json.delta);
        const member = ADDED[textAt(delta, 'type') ?? ''];
        const block = blocks[Number(json.index)];
        if (member === undefined || !block) return undefined;
        block[member] = `${textAt(block, member) ?? ''}${textAt(delta, member) ?? ''}`;
      } else if (json.type === 'message_delta' && message) {
        const told = Object.entries(objectOf(json.usage)).filter(([, value]) => value !== null);
        message = { ...message, ...objectOf(json.delta), usage: { ...objectOf(message.usage), ...Object.fromEntries(told) } };
      }
    }
    return message && typeof message.stop_reason === 'string' ? { ...message, content: blocks } : undefined;
  },
  replayed(answer) {
    const blocks = objectsOf(answer.content);
    if (!Array.isArray(answer.content) || !blocks.every(knownBlock)) return undefined;
    const event = (json: JsonObject) => made('sse', json, String(json.type));
    const { stop_reason, stop_sequence = null, ...head } = answer;
    return [
      event({ type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null } }),
      ...blocks.flatMap((block, index) => {
        const member = block.type === 'thinking' ? 'thinking' : 'text';
        const empty =
          block.type === 'redacted_thinking' ? block : { ...given(block), [member]: '', ...(member === 'thinking' && { signature: '' }) };
        const added = (name: string, text: string) =>
          event({ type: 'content_block_delta', index, delta: { type: `${name}_delta`, [name]: text } });
        return [
          event({ type: 'content_block_start', index, content_block: empty }),
          ...pieces(textAt(block, member) ?? '').map((text) => added(member, text)),
          ...(textAt(block, 'signature') ? [added('signature', textAt(block, 'signature') as string)] : []),
          event({ type: 'content_block_stop', index }),
        ];
      }),
      event({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: answer.usage }),
      event({ type: 'message_stop' }),
    ];
  },
};

const responses: Form = {
  /** The last event holds all of it. */
  assembled(events) {
    const last = events.findLast(
      (event) => nameOf(event) === 'response.completed' || objectOf(jsonOf(event)).type === 'response.completed',
    );
    const response = last && objectOf(jsonOf(last)).response;
    return isObject(response) ? response : undefined;
  },
  replayed(answer) {
    const items = objectsOf(answer.output);
    if (!items.every(({ type }) => type === 'message' || type === 'reasoning')) return undefined;
    const begun = { ...answer, status: 'in_progress', output: [], usage: null };
    const told = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...items.flatMap(itemEvents),
      { type: 'response.completed', response: answer },
    ];
    return told.map((json, sequence_number) => made('sse', { ...json, sequence_number }, json.type));
  },
};

function itemEvents(item: JsonObject, output_index: number): (JsonObject & { type: string })[] {
  const place = { item_id: item.id, output_index };
  const parts = item.type === 'message' ? objectsOf(item.content) : [];
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: item.type === 'message' ? { ...item, status: 'in_progress', content: [] } : item,
    },
    ...parts.flatMap((part, content_index) => {
      const at = { ...place, content_index };
      const [name, member] = part.type === 'refusal' ? ['refusal', 'refusal'] : ['output_text', 'text'];
      const text = textAt(part, member) ?? '';
      return [
        {
          type: 'response.content_part.added',
          ...at,
          part: { ...part, [member]: '', ...(part.annotations === undefined ? {} : { annotations: [] }) },
        },
        ...pieces(text).map((delta) => ({ type: `response.${name}.delta`, ...at, delta, ...(name === 'output_text' && { logprobs: [] }) })),
        { type: `response.${name}.done`, ...at, [member]: text, ...(name === 'output_text' && { logprobs: listOf(part.logprobs) }) },
        { type: 'response.content_part.done', ...at, part },
      ];
    }),
    { type: 'response.output_item.done', output_index, item },
  ];
}
