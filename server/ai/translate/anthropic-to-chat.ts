import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { isNumber } from '#server/kernel/lossless-json.ts';
import { countAt, isObject, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import { textOfResultPart } from './anthropic-texts.ts';
import { endUser, LONGEST_CHAT_USER } from './end-user.ts';
import { Refusing, type Report, type RequestContext, unsupportedContent } from './options.ts';
import type { Notes } from './turn.ts';

/** Models of OpenAI that take `max_completion_tokens` only, and an effort. */
const REASONING = /^(?:o[1-9]|gpt-[5-9])/;
const LOW = 1_024;
const MEDIUM = 4_096;
/** Providers whose models refuse an effort that they don't know. */
const WITHOUT_EFFORT: ReadonlySet<string | null> = new Set(['mistral', 'cohere']);

/** Whether a model takes its maximum as `max_completion_tokens`. */
export const countsReasoning = ({ provider, model }: Pick<RequestContext, 'provider' | 'model'>): boolean =>
  provider === 'azure-openai' || (provider === 'openai' && REASONING.test(model));

/** Anthropic messages as an OpenAI chat completion (spec/51 §6.2). Throws {@link Refusing}. */
export function anthropicToChat(body: JsonObject, context: RequestContext, notes: Notes): JsonObject {
  const { report } = context;
  warnOfCacheMarks(body, report);
  const system = systemText(body.system);
  const messages = objectsOf(body.messages).flatMap(({ role, content }) =>
    role === 'assistant'
      ? assistantMessages(content, context)
      : role === 'system'
        ? [{ role: 'system', content: systemText(content) }]
        : userMessages(content, context),
  );
  const result: JsonObject = {
    model: context.model,
    messages: system === '' ? messages : [{ role: 'system', content: system }, ...messages],
  };
  const max = countAt(body, 'max_tokens') ?? context.ceiling;
  if (max !== undefined) result[countsReasoning(context) ? 'max_completion_tokens' : 'max_tokens'] = max;
  if (isNumber(body.temperature)) result.temperature = body.temperature;
  if (isNumber(body.top_p)) result.top_p = body.top_p;
  if (Array.isArray(body.stop_sequences) && body.stop_sequences.length > 0) result.stop = body.stop_sequences;
  setTools(result, body, report);
  setOutput(result, body, context);
  const user = textAt(body.metadata, 'user_id');
  if (user !== undefined) result.user = endUser(user, LONGEST_CHAT_USER);
  if (body.stream === true) {
    result.stream = true;
    result.stream_options = { include_usage: true };
  }
  notes.reasoning = true;
  return result;
}

/** A system text: a string, or text blocks. */
export const systemText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objectsOf(content)
        .map((block) => textAt(block, 'text') ?? '')
        .join('\n\n');

/** Providers cache by themselves here: marks of what to cache are not carried over. */
export function warnOfCacheMarks(body: JsonObject, report: Report): void {
  const blocks = [
    ...objectsOf(body.system),
    ...objectsOf(body.tools),
    ...objectsOf(body.messages).flatMap(({ content }) => objectsOf(content)),
  ];
  if (blocks.some((block) => isObject(block.cache_control))) report.warn('cache_control_dropped');
}

function assistantMessages(content: unknown, context: RequestContext): JsonObject[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const texts: string[] = [];
  const calls: JsonObject[] = [];
  for (const block of objectsOf(content)) {
    if (block.type === 'text') texts.push(textAt(block, 'text') ?? '');
    else if (block.type === 'tool_use')
      calls.push({
        id: callId(String(block.id), context),
        type: 'function',
        function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
      });
    else if (block.type !== 'thinking' && block.type !== 'redacted_thinking')
      throw new Refusing(unsupportedContent(`messages.content.${String(block.type)}`));
  }
  if (texts.length === 0 && calls.length === 0) return [];
  return [{ role: 'assistant', content: texts.length > 0 ? texts.join('') : null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Results of tools become messages of their own, before what the user says. Their images follow as the user's: a result holds text alone. */
function userMessages(content: unknown, context: RequestContext): JsonObject[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: JsonObject[] = [];
  const images: JsonObject[] = [];
  const parts: JsonObject[] = [];
  for (const block of objectsOf(content)) {
    if (block.type === 'tool_result') results.push(toolMessage(block, context, images));
    else parts.push(userPart(block));
  }
  const all = [...images, ...parts];
  const only = all.length === 1 && all[0]?.type === 'text' ? all[0].text : all;
  return all.length === 0 ? results : [...results, { role: 'user', content: only }];
}

function userPart(block: JsonObject): JsonObject {
  const source = objectOf(block.source);
  if (block.type === 'text') return { type: 'text', text: textAt(block, 'text') ?? '' };
  if (block.type === 'image' && source.type === 'url') return { type: 'image_url', image_url: { url: source.url } };
  if (block.type === 'image' && source.type === 'base64')
    return { type: 'image_url', image_url: { url: `data:${String(source.media_type)};base64,${String(source.data)}` } };
  if (block.type === 'document' && source.type === 'text') return { type: 'text', text: String(source.data) };
  throw new Refusing(unsupportedContent(`messages.content.${String(block.type)}`));
}

function toolMessage(block: JsonObject, context: RequestContext, images: JsonObject[]): JsonObject {
  const parts = objectsOf(block.content).map((part) => {
    const text = textOfResultPart(part);
    if (text !== undefined) return text;
    if (part.type !== 'image') throw new Refusing(unsupportedContent(`messages.content.tool_result.${String(part.type)}`));
    images.push(userPart(part));
    return IMAGE_FOLLOWS;
  });
  const content = typeof block.content === 'string' ? block.content : parts.join('\n');
  return {
    role: 'tool',
    tool_call_id: callId(String(block.tool_use_id), context),
    content: block.is_error === true ? `Error: ${content}` : content,
  };
}

/** What a result says in place of an image. */
export const IMAGE_FOLLOWS = '[The image is in the next message.]';

/** Mistral takes ids of nine letters and digits only; the same id gives the same nine. */
export function callId(id: string, { provider }: Pick<RequestContext, 'provider'>): string {
  return provider !== 'mistral' || /^[A-Za-z0-9]{9}$/.test(id) ? id : contentFingerprint(id).slice(0, 9);
}

function setTools(result: JsonObject, body: JsonObject, report: Report): void {
  const tools = objectsOf(body.tools).flatMap((tool): JsonObject[] => {
    if (tool.type !== undefined && tool.type !== 'custom') {
      report.unsupported(`tools.${String(tool.type)}`);
      return [];
    }
    const description = textAt(tool, 'description');
    const described = { name: tool.name, ...(description !== undefined && { description }), parameters: tool.input_schema };
    return [{ type: 'function', function: described }];
  });
  if (tools.length === 0) return;
  result.tools = tools;
  const choice = objectOf(body.tool_choice);
  const words: Readonly<Record<string, unknown>> = {
    auto: 'auto',
    any: 'required',
    none: 'none',
    tool: { type: 'function', function: { name: choice.name } },
  };
  if (typeof choice.type === 'string' && Object.hasOwn(words, choice.type)) result.tool_choice = words[choice.type];
  if (choice.disable_parallel_tool_use === true) result.parallel_tool_calls = false;
}

function setOutput(result: JsonObject, body: JsonObject, { model, provider, report }: RequestContext): void {
  const { format = body.output_format, effort, ...unknown } = objectOf(body.output_config);
  for (const other of Object.keys(unknown)) report.unsupported(`output_config.${other}`);
  if (isObject(format))
    result.response_format = { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema, strict: true } };
  const budget = countAt(body.thinking, 'budget_tokens');
  const off = objectOf(body.thinking).type === 'disabled';
  const wanted = typeof effort === 'string' && !off ? effortWord(effort) : budget === undefined ? undefined : effortOf(budget);
  if (wanted === undefined) return;
  // A model without reasoning would refuse the call; how much one thinks changes no meaning.
  if (WITHOUT_EFFORT.has(provider) || (provider === 'openai' && !REASONING.test(model))) report.dropped('output_config.effort');
  else result.reasoning_effort = wanted;
}

const effortWord = (effort: string): string => (effort === 'max' || effort === 'xhigh' ? 'high' : effort);
const effortOf = (budget: number): string => (budget <= LOW ? 'low' : budget <= MEDIUM ? 'medium' : 'high');
