import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, table, textAt } from '../json.ts';
import { changed, dataOf, jsonOf, made, mentions, nameOf, type StreamEvent } from '../stream/event.ts';
import { anthropicUsage } from '../usage/provider-counts.ts';
import {
  type Adapter,
  blockedTool,
  type Delta,
  type FinishReason,
  type StreamGrammar,
  type TextRef,
  type TextRole,
  type ToolGrammar,
} from './adapter.ts';
import { clampMembers, withNothing } from './common-body.ts';
import { textsOfEvent } from './plain.ts';
import { textsOfItems, withRest } from './rest.ts';
import { leaves, textIn } from './texts.ts';

// Anthropic messages.

const tools: ToolGrammar = {
  names: (body) => [
    ...[...objectsOf(body.tools), ...additions(body).map(definitionOf)].flatMap(toolNames),
    ...objectsOf(body.mcp_servers).map(serverName),
  ],
  keep(body, allowed) {
    const before = listOf(body.tools).length;
    // A server tool passes by its type (`web_search_20250305`) or its name (`web_search`).
    if (Array.isArray(body.tools)) body.tools = objectsOf(body.tools).filter((tool) => toolNames(tool).some(allowed));
    const added = dropAdditions(body, allowed);
    const left = listOf(body.tools).length;
    if (left === 0) withNothing(body, 'tools', 'tool_choice');
    // The provider calls these servers itself, with all the tools that they have.
    const servers = objectsOf(body.mcp_servers);
    const kept = servers.filter((server) => allowed(serverName(server)));
    if (kept.length === 0) withNothing(body, 'mcp_servers');
    else body.mcp_servers = kept;
    return before - left + added + servers.length - kept.length;
  },
  forced(body) {
    const name = textAt(body.tool_choice, 'name');
    return name === undefined ? [] : [name];
  },
};

/** Blocks of system messages in mid-conversation that bring a tool along. */
const additions = (body: JsonObject): JsonObject[] =>
  objectsOf(body.messages)
    .flatMap(({ content }) => objectsOf(content))
    .filter((block) => block.type === 'tool_addition' && isObject(objectOf(block.tool).definition));

const definitionOf = (block: JsonObject): JsonObject => objectOf(objectOf(block.tool).definition);

/** Takes out the tools of a conversation that don't pass. Returns how many. */
function dropAdditions(body: JsonObject, allowed: (name: string) => boolean): number {
  const dropped = new Set(additions(body).filter((block) => !toolNames(definitionOf(block)).some(allowed)));
  if (dropped.size === 0) return 0;
  body.messages = objectsOf(body.messages).flatMap((message) => {
    const { content } = message;
    if (!Array.isArray(content) || !content.some((block) => dropped.has(block))) return [message];
    const kept = content.filter((block) => !dropped.has(block));
    return kept.length === 0 ? [] : [{ ...message, content: kept }];
  });
  return dropped.size;
}

const serverName = (server: JsonObject): string => textAt(server, 'name') ?? '';

function toolNames(tool: JsonObject): string[] {
  const type = textAt(tool, 'type') ?? 'custom';
  const name = textAt(tool, 'name') ?? '';
  return type === 'custom' ? [name] : [type, name];
}

const LEAST_THINKING = 1_024;

export const anthropic: Adapter = {
  shape: 'anthropic',
  prepare: () => {},
  model: (body) => textAt(body, 'model'),
  setModel(body, model) {
    body.model = model;
  },
  otherModels: (body) => listOf(body.models).filter((one) => typeof one === 'string'),
  wantsStream: (body) => body.stream === true,
  setStream(body, stream) {
    body.stream = stream;
  },
  maxTokens: (body) => countAt(body, 'max_tokens'),
  clamp(body, ceiling) {
    const clamped = clampMembers(body, ['max_tokens'], 'max_tokens', ceiling);
    const thinking = objectOf(body.thinking);
    const budget = countAt(thinking, 'budget_tokens');
    if (budget === undefined || budget < (body.max_tokens as number)) return clamped;
    if ((body.max_tokens as number) > LEAST_THINKING) {
      thinking.budget_tokens = Math.max(LEAST_THINKING, (body.max_tokens as number) - 1);
      return clamped;
    }
    delete body.thinking;
    return { ...clamped, warnings: ['thinking_removed'] };
  },
  texts: (body) => [
    ...contentTexts('system', body, 'system'),
    ...objectsOf(body.messages).flatMap((message) =>
      contentTexts(message.role === 'assistant' || message.role === 'system' ? message.role : 'user', message, 'content'),
    ),
    ...(isObject(body.metadata) ? textIn('metadata', body.metadata, 'user_id') : []),
  ],
  images: (body) =>
    objectsOf(body.messages)
      .flatMap(({ content }) => objectsOf(content))
      .flatMap((block) => [block, ...objectsOf(block.content)])
      .filter(({ type, source }) => type === 'image' || (type === 'document' && objectOf(source).type !== 'text')).length,
  appendSystem(body, text) {
    if (Array.isArray(body.system)) body.system.push({ type: 'text', text });
    else body.system = typeof body.system === 'string' && body.system !== '' ? `${body.system}\n${text}` : text;
    return true;
  },
  appendTurn(body, answer, correction) {
    body.messages = [...listOf(body.messages), { role: 'assistant', content: answer }, { role: 'user', content: correction }];
    return true;
  },
  requestSchema: () => false,
  tools,

  usage: (answer) => anthropicUsage(objectOf(answer).usage),
  answerTexts: (answer) => objectsOf(objectOf(answer).content).flatMap((block) => outputTexts(block)),
  answerText: (answer) =>
    objectsOf(objectOf(answer).content)
      .map((block) => (block.type === 'text' ? (textAt(block, 'text') ?? '') : ''))
      .join(''),
  finish: (answer) => finishOf(objectOf(answer).stop_reason),
  toolCalls: (answer) =>
    objectsOf(objectOf(answer).content)
      .filter(isCall)
      .map(({ name }) => String(name)),
  blockTools(answer, allowed) {
    const body = objectOf(answer);
    const blocked = objectsOf(body.content).filter((block) => isCall(block) && !allowed(String(block.name)));
    if (blocked.length === 0) return [];
    body.content = objectsOf(body.content).map((block) =>
      blocked.includes(block) ? { type: 'text', text: blockedTool(String(block.name)) } : block,
    );
    body.stop_reason = 'end_turn';
    return blocked.map(({ name }) => String(name));
  },
  stream: streamGrammar(),
};

const isCall = ({ type }: JsonObject) => type === 'tool_use';

/**
 * A content: a string, or blocks. Thinking too: its values were restored in the answer, so that what replaces them here is what the provider signed.
 */
function contentTexts(role: TextRole, holder: JsonObject, member: string): TextRef[] {
  if (typeof holder[member] === 'string') return textIn(role, holder, member);
  return textsOfItems(role, holder[member], (block) => withRest(role, block, blockTexts(role, { content: [block] }, 'content')));
}

function blockTexts(role: TextRole, holder: JsonObject, member: string): TextRef[] {
  if (typeof holder[member] === 'string') return textIn(role, holder, member);
  return objectsOf(holder[member]).flatMap((block): TextRef[] => {
    switch (block.type) {
      case 'tool_use':
      case 'server_tool_use':
      case 'mcp_tool_use':
        return isObject(block.input) ? leaves('tool_args', block.input) : [];
      case 'tool_result':
      case 'mcp_tool_result':
        return blockTexts('tool_result', block, 'content');
      case 'document':
        return [
          ...textIn('tool_result', block, 'title'),
          ...textIn('tool_result', block, 'context'),
          ...(isObject(block.source) && block.source.type === 'text' ? textIn('tool_result', block.source, 'data') : []),
          ...(isObject(block.source) && block.source.type === 'content' ? blockTexts('tool_result', block.source, 'content') : []),
        ];
      case 'search_result':
        return [...textIn('tool_result', block, 'title'), ...blockTexts('tool_result', block, 'content')];
      default:
        return textIn(role, block, 'text');
    }
  });
}

function outputTexts(block: JsonObject): TextRef[] {
  return withRest('assistant', block, [
    ...textIn('reasoning', block, 'thinking'),
    ...(isObject(block.input) ? leaves('tool_args', block.input) : []),
    ...textIn('assistant', block, 'text'),
  ]);
}

const REASONS = table<FinishReason>({
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
});

const finishOf = (reason: unknown): FinishReason | undefined => (typeof reason === 'string' ? (REASONS.get(reason) ?? 'other') : undefined);

const DELTAS = table<readonly [member: string, kind: Delta['kind']]>({
  text_delta: ['text', 'text'],
  input_json_delta: ['partial_json', 'tool_args'],
  thinking_delta: ['thinking', 'reasoning'],
});

/** Channels: `2.text_delta` of content block 2. */
function streamGrammar(): StreamGrammar {
  return {
    wire: 'sse',
    terminal: (event) => mentions(event, 'message_stop') && typeOf(event) === 'message_stop',
    failure(event) {
      if (!mentions(event, 'error') || typeOf(event) !== 'error') return undefined;
      return textAt(objectOf(jsonOf(event)).error, 'message') ?? 'the provider reported an error';
    },
    deltas(event) {
      const { index, delta } = objectOf(jsonOf(event));
      const type = textAt(delta, 'type') ?? '';
      const [member, kind] = DELTAS.get(type) ?? [];
      const text = member === undefined ? undefined : textAt(delta, member);
      return kind === undefined || text === undefined ? [] : [{ channel: `${Number(index)}.${type}`, kind, text }];
    },
    setDelta(event, channel, text) {
      const { index, delta } = objectOf(jsonOf(event));
      const type = textAt(delta, 'type') ?? '';
      const [member] = DELTAS.get(type) ?? [];
      if (member === undefined || channel !== `${Number(index)}.${type}` || textAt(delta, member) === text) return event;
      objectOf(delta)[member] = text;
      return changed(event);
    },
    delta(channel, text) {
      const dot = channel.indexOf('.');
      const type = channel.slice(dot + 1);
      const [member = 'text'] = DELTAS.get(type) ?? [];
      const delta = { type, [member]: text };
      return made('sse', { type: 'content_block_delta', index: Number(channel.slice(0, dot)), delta }, 'content_block_delta');
    },
    closes(event, open) {
      const type = typeOf(event);
      if (type === 'message_delta' || type === 'message_stop') return [...open];
      if (type !== 'content_block_stop') return [];
      const of = `${Number(objectOf(jsonOf(event)).index)}.`;
      return [...open].filter((channel) => channel.startsWith(of));
    },
    texts(event) {
      const { content_block, delta } = objectOf(jsonOf(event));
      const [member] = DELTAS.get(textAt(delta, 'type') ?? '') ?? [];
      const known = member === undefined || !isObject(delta) ? [] : textIn('assistant', delta, member);
      const block = isObject(content_block) ? outputTexts(content_block) : [];
      return textsOfEvent(event, withRest('assistant', jsonOf(event), [...known, ...block]).slice(known.length));
    },
    usage(event, before) {
      if (!mentions(event, '"usage"')) return before;
      const { message, usage } = objectOf(jsonOf(event));
      const told = objectOf(usage ?? objectOf(message).usage);
      const now = anthropicUsage(told);
      if (!now || !before) return now ?? before;
      // Counts are cumulative: what a later event leaves out stands as it was.
      const has = (member: string) => countAt(told, member) !== undefined;
      const counted = { input: has('input_tokens'), output: has('output_tokens') };
      const unread = [...new Set([...(before.unread ?? []).filter((side) => !counted[side]), ...(now.unread ?? [])])];
      return {
        ...before,
        unread: unread.length > 0 ? unread : undefined,
        ...(has('input_tokens') && { input_uncached: now.input_uncached }),
        ...(has('cache_read_input_tokens') && { input_cached: now.input_cached }),
        ...(has('cache_creation_input_tokens') &&
          isObject(told.cache_creation) && { cache_write_5m: now.cache_write_5m, cache_write_1h: now.cache_write_1h }),
        ...(has('output_tokens') && { output_text: now.output_text, reasoning: now.reasoning }),
        ...(isObject(told.server_tool_use) && { requests_web_search: now.requests_web_search }),
      };
    },
    textMembers: ['"text"', '"partial_json"', '"thinking"'],
    finish(event) {
      if (!mentions(event, '"stop_reason"') || typeOf(event) !== 'message_delta') return undefined;
      return finishOf(objectOf(objectOf(jsonOf(event)).delta).stop_reason);
    },
  };
}

/** The event's type, as its data says it: the name beside it is what most clients ignore. */
function typeOf(event: StreamEvent): string {
  if (event.json === undefined && event.raw && dataOf(event) === '') return nameOf(event);
  return textAt(jsonOf(event), 'type') ?? nameOf(event);
}
