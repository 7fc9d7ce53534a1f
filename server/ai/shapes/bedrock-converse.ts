import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, table, textAt } from '../json.ts';
import { changed, jsonOf, made, nameOf, type StreamEvent } from '../stream/event.ts';
import { converseUsage } from '../usage/provider-counts.ts';
import { withTier } from '../usage/tier.ts';
import {
  type Adapter,
  blockedTool,
  type Clamped,
  type Delta,
  type FinishReason,
  type StreamGrammar,
  type TextRef,
  type TextRole,
  type ToolGrammar,
} from './adapter.ts';
import { clampMembers, withNothing } from './common-body.ts';
import { plainAdapter, textsOfEvent } from './plain.ts';
import { textsOfItems, withRest } from './rest.ts';
import { leaves, textIn } from './texts.ts';

// Amazon Bedrock's Converse and ConverseStream.

const toolName = (tool: JsonObject): string | undefined => textAt(tool.toolSpec, 'name') ?? textAt(tool.systemTool, 'name');
const toolsOf = (body: JsonObject): JsonObject[] => objectsOf(objectOf(body.toolConfig).tools);

const tools: ToolGrammar = {
  names: (body) => toolsOf(body).flatMap((tool) => toolName(tool) ?? []),
  keep(body, allowed) {
    const before = tools.names(body).length;
    const config = objectOf(body.toolConfig);
    config.tools = toolsOf(body).filter(
      (tool) => allowed(toolName(tool) ?? '') || (toolName(tool) === undefined && tool.cachePoint !== undefined),
    );
    const left = tools.names(body).length;
    if (left === 0) withNothing(body, 'toolConfig');
    return before - left;
  },
  forced(body) {
    const name = textAt(objectOf(objectOf(body.toolConfig).toolChoice).tool, 'name');
    return name === undefined ? [] : [name];
  },
};

/** Members of `additionalModelRequestFields` by which models name their own maximum. */
const OWN_MAXIMUM = ['max_tokens', 'maxTokens', 'max_gen_len', 'max_new_tokens', 'max_tokens_to_sample', 'max_completion_tokens'];

export const bedrockConverse: Adapter = plainAdapter('bedrock-converse', {
  model: () => undefined,
  setModel: () => {},
  wantsStream: () => undefined,
  setStream: () => {},
  maxTokens: (body) => countAt(body.inferenceConfig, 'maxTokens'),
  clamp(body, ceiling): Clamped {
    if (!isObject(body.inferenceConfig)) body.inferenceConfig = {};
    const own = objectOf(body.additionalModelRequestFields);
    for (const member of OWN_MAXIMUM) if (own[member] !== undefined) clampMembers(own, [member], member, ceiling);
    const clamped = clampMembers(body.inferenceConfig as JsonObject, ['maxTokens'], 'maxTokens', ceiling);
    const thinking = objectOf(own.thinking);
    if ((countAt(thinking, 'budget_tokens') ?? 0) < ceiling) return clamped;
    if (ceiling > 1_024) {
      thinking.budget_tokens = ceiling - 1;
      return clamped;
    }
    delete own.thinking;
    return { ...clamped, warnings: ['thinking_removed'] };
  },
  texts: (body) => [
    ...contentTexts('system', body.system),
    ...objectsOf(body.messages).flatMap(({ role, content }) => contentTexts(role === 'assistant' ? 'assistant' : 'user', content)),
    ...(isObject(body.promptVariables) ? leaves('user', body.promptVariables) : []),
    ...(isObject(body.requestMetadata) ? leaves('metadata', body.requestMetadata) : []),
  ],
  images: (body) =>
    objectsOf(body.messages)
      .flatMap(({ content }) => objectsOf(content))
      .filter((block) => block.image !== undefined || block.document !== undefined || block.video !== undefined).length,
  appendSystem(body, text) {
    body.system = [...listOf(body.system), { text }];
    return true;
  },
  appendTurn(body, answer, correction) {
    const turns = [
      { role: 'assistant', content: [{ text: answer }] },
      { role: 'user', content: [{ text: correction }] },
    ];
    body.messages = [...listOf(body.messages), ...turns];
    return true;
  },
  tools,

  usage: (answer) => withTier(converseUsage(objectOf(answer).usage), answer),
  answerTexts: (answer) => contentTexts('assistant', contentOf(answer)),
  answerText: (answer) =>
    contentOf(answer)
      .map((block) => textAt(block, 'text') ?? '')
      .join(''),
  finish: (answer) => finishOf(objectOf(answer).stopReason),
  toolCalls: (answer) => contentOf(answer).flatMap((block) => textAt(block.toolUse, 'name') ?? []),
  blockTools(answer, allowed) {
    const blocked = contentOf(answer).filter((block) => block.toolUse !== undefined && !allowed(textAt(block.toolUse, 'name') ?? ''));
    if (blocked.length === 0) return [];
    const name = (block: JsonObject) => textAt(block.toolUse, 'name') ?? '';
    objectOf(objectOf(objectOf(answer).output).message).content = contentOf(answer).map((block) =>
      blocked.includes(block) ? { text: blockedTool(name(block)) } : block,
    );
    objectOf(answer).stopReason = 'end_turn';
    return blocked.map(name);
  },
  stream: streamGrammar(),
});

const contentOf = (answer: unknown): JsonObject[] => objectsOf(objectOf(objectOf(objectOf(answer).output).message).content);

/** All texts of content blocks. Reasoning too: its values were restored in the answer, so that what replaces them in a request is what was signed. */
const contentTexts = (role: TextRole, blocks: unknown): TextRef[] =>
  textsOfItems(role, blocks, (block) => withRest(role, block, blockTexts(role, [block])));

function blockTexts(role: TextRole, blocks: unknown): TextRef[] {
  return objectsOf(blocks).flatMap((block) => [
    ...textIn(role, block, 'text'),
    ...(isObject(block.guardContent) && isObject(block.guardContent.text) ? textIn(role, block.guardContent.text, 'text') : []),
    ...(isObject(block.toolUse) && isObject(block.toolUse.input) ? leaves('tool_args', block.toolUse.input) : []),
    ...(isObject(block.toolResult) ? blockTexts('tool_result', block.toolResult.content) : []),
    ...(isObject(block.json) || Array.isArray(block.json) ? leaves('tool_result', block.json as JsonObject) : []),
    ...(isObject(block.document)
      ? [...textIn('tool_result', block.document, 'name'), ...textIn('tool_result', objectOf(block.document.source), 'text')]
      : []),
    ...(isObject(block.reasoningContent) ? textIn('reasoning', objectOf(block.reasoningContent.reasoningText), 'text') : []),
  ]);
}

const REASONS = table<FinishReason>({
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
});

const finishOf = (reason: unknown): FinishReason | undefined => (typeof reason === 'string' ? (REASONS.get(reason) ?? 'other') : undefined);

type Place = Delta & { readonly holder: JsonObject; readonly member: string };

/** Channels: `1.text`, `1.toolUse`, `1.reasoning` of content block 1. */
function placeIn(event: StreamEvent): Place | undefined {
  if (nameOf(event) !== 'contentBlockDelta') return undefined;
  const { delta, contentBlockIndex } = objectOf(jsonOf(event));
  const at = (name: string, kind: Delta['kind'], holder: unknown, member: string): Place | undefined => {
    const text = textAt(holder, member);
    return text === undefined
      ? undefined
      : { channel: `${Number(contentBlockIndex ?? 0)}.${name}`, kind, text, holder: objectOf(holder), member };
  };
  const { text: _, toolUse, reasoningContent } = objectOf(delta);
  return (
    at('text', 'text', delta, 'text') ??
    at('toolUse', 'tool_args', toolUse, 'input') ??
    at('reasoning', 'reasoning', reasoningContent, 'text')
  );
}

function streamGrammar(): StreamGrammar {
  return {
    wire: 'event-stream',
    terminal: (event) => nameOf(event) === 'metadata',
    failure: (event) => (nameOf(event).startsWith('!') ? (textAt(jsonOf(event), 'message') ?? nameOf(event).slice(1)) : undefined),
    deltas(event) {
      const place = placeIn(event);
      return place ? [place] : [];
    },
    setDelta(event, channel, text) {
      const place = placeIn(event);
      if (!place || place.channel !== channel || place.text === text) return event;
      place.holder[place.member] = text;
      return changed(event);
    },
    delta(channel, text) {
      const dot = channel.indexOf('.');
      const name = channel.slice(dot + 1);
      const delta = name === 'text' ? { text } : name === 'toolUse' ? { toolUse: { input: text } } : { reasoningContent: { text } };
      return made('event-stream', { contentBlockIndex: Number(channel.slice(0, dot)), delta }, 'contentBlockDelta');
    },
    closes(event, open) {
      const name = nameOf(event);
      if (name === 'messageStop' || name === 'metadata') return [...open];
      if (name !== 'contentBlockStop') return [];
      const of = `${Number(objectOf(jsonOf(event)).contentBlockIndex ?? 0)}.`;
      return [...open].filter((channel) => channel.startsWith(of));
    },
    texts(event) {
      const place = placeIn(event);
      const known = place ? textIn('assistant', place.holder, place.member) : [];
      return textsOfEvent(event, withRest('assistant', jsonOf(event), known).slice(known.length));
    },
    usage: (event, before) =>
      nameOf(event) === 'metadata' ? (withTier(converseUsage(objectOf(jsonOf(event)).usage), jsonOf(event)) ?? before) : before,
    textMembers: ['"text"', '"input"'],
    finish: (event) => (nameOf(event) === 'messageStop' ? finishOf(objectOf(jsonOf(event)).stopReason) : undefined),
  };
}
