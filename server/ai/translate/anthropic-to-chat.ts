import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { countAt, isObject, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import type { RequestContext } from './chat-to-anthropic.ts';
import { Refusing, unsupported } from './options.ts';
import type { Notes } from './turn.ts';

/** Models of OpenAI that take `max_completion_tokens` only. */
const REASONING = /^(?:o[1-9]|gpt-[5-9])/;
const LOW = 1_024;
const MEDIUM = 4_096;

/** Anthropic messages as an OpenAI chat completion (spec/51 §6.2). Throws {@link Refusing}. */
export function anthropicToChat(body: JsonObject, context: RequestContext, notes: Notes): { body: JsonObject; warnings: string[] } {
  const warnings = cacheWarnings(body);
  const system =
    typeof body.system === 'string'
      ? body.system
      : objectsOf(body.system)
          .map((block) => textAt(block, 'text') ?? '')
          .join('\n\n');
  const messages = objectsOf(body.messages).flatMap((message) =>
    message.role === 'assistant' ? assistantMessages(message.content, context) : userMessages(message.content, context),
  );
  const result: JsonObject = {
    model: context.model,
    messages: system === '' ? messages : [{ role: 'system', content: system }, ...messages],
  };
  const max = countAt(body, 'max_tokens') ?? context.ceiling;
  const reasoning = context.provider === 'azure-openai' || (context.provider === 'openai' && REASONING.test(context.model));
  if (max !== undefined) result[reasoning ? 'max_completion_tokens' : 'max_tokens'] = max;
  if (typeof body.temperature === 'number') result.temperature = body.temperature;
  if (typeof body.top_p === 'number') result.top_p = body.top_p;
  if (Array.isArray(body.stop_sequences) && body.stop_sequences.length > 0) result.stop = body.stop_sequences;
  setTools(result, body);
  setOutput(result, body);
  const user = textAt(body.metadata, 'user_id');
  if (user !== undefined) result.user = user;
  if (body.stream === true) {
    result.stream = true;
    result.stream_options = { include_usage: true };
  }
  notes.reasoning = true;
  return { body: result, warnings };
}

/** Providers cache by themselves here: marks of what to cache are not carried over. */
export function cacheWarnings(body: JsonObject): string[] {
  const blocks = [
    ...objectsOf(body.system),
    ...objectsOf(body.tools),
    ...objectsOf(body.messages).flatMap(({ content }) => objectsOf(content)),
  ];
  return blocks.some((block) => isObject(block.cache_control)) ? ['cache_control_dropped'] : [];
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
      throw new Refusing(unsupported(`messages.content.${String(block.type)}`));
  }
  if (texts.length === 0 && calls.length === 0) return [];
  return [{ role: 'assistant', content: texts.length > 0 ? texts.join('') : null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Results of tools become messages of their own, before what the user says. */
function userMessages(content: unknown, context: RequestContext): JsonObject[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  for (const block of objectsOf(content)) {
    if (block.type === 'tool_result') results.push(toolMessage(block, context));
    else parts.push(userPart(block));
  }
  const only = parts.length === 1 && parts[0]?.type === 'text' ? parts[0].text : parts;
  return parts.length === 0 ? results : [...results, { role: 'user', content: only }];
}

function userPart(block: JsonObject): JsonObject {
  const source = objectOf(block.source);
  if (block.type === 'text') return { type: 'text', text: textAt(block, 'text') ?? '' };
  if (block.type === 'image' && source.type === 'url') return { type: 'image_url', image_url: { url: source.url } };
  if (block.type === 'image' && source.type === 'base64')
    return { type: 'image_url', image_url: { url: `data:${String(source.media_type)};base64,${String(source.data)}` } };
  if (block.type === 'document' && source.type === 'text') return { type: 'text', text: String(source.data) };
  throw new Refusing(unsupported(`messages.content.${String(block.type)}`));
}

function toolMessage(block: JsonObject, context: RequestContext): JsonObject {
  const content =
    typeof block.content === 'string'
      ? block.content
      : objectsOf(block.content)
          .map((part) => {
            if (part.type !== 'text') throw new Refusing(unsupported(`messages.content.tool_result.${String(part.type)}`));
            return textAt(part, 'text') ?? '';
          })
          .join('\n');
  return {
    role: 'tool',
    tool_call_id: callId(String(block.tool_use_id), context),
    content: block.is_error === true ? `Error: ${content}` : content,
  };
}

/** Mistral takes ids of nine letters and digits only; the same id gives the same nine. */
function callId(id: string, { provider }: RequestContext): string {
  return provider !== 'mistral' || /^[A-Za-z0-9]{9}$/.test(id) ? id : contentFingerprint(id).slice(0, 9);
}

function setTools(result: JsonObject, body: JsonObject): void {
  const tools = objectsOf(body.tools).map((tool) => {
    if (tool.type !== undefined && tool.type !== 'custom') throw new Refusing(unsupported(`tools.${String(tool.type)}`));
    const description = textAt(tool, 'description');
    return {
      type: 'function',
      function: { name: tool.name, ...(description !== undefined && { description }), parameters: tool.input_schema },
    };
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

function setOutput(result: JsonObject, body: JsonObject): void {
  const { format, effort, ...unknown } = objectOf(body.output_config);
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw new Refusing(unsupported(`output_config.${other}`));
  if (isObject(format))
    result.response_format = { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema, strict: true } };
  const budget = countAt(body.thinking, 'budget_tokens');
  if (typeof effort === 'string') result.reasoning_effort = effort === 'max' ? 'high' : effort;
  else if (budget !== undefined) result.reasoning_effort = budget <= LOW ? 'low' : budget <= MEDIUM ? 'medium' : 'high';
}
