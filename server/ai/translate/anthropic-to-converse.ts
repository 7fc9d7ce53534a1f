import { isNumber } from '#server/kernel/lossless-json.ts';
import { countAt, isObject, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import { textOfResultPart } from './anthropic-texts.ts';
import { warnOfCacheMarks } from './anthropic-to-chat.ts';
import { append, forceJsonTool } from './chat-to-anthropic.ts';
import { Refusing, type Report, type RequestContext, unsupportedContent } from './options.ts';
import type { Notes } from './turn.ts';

/** Anthropic messages as a Converse request (spec/51 §6.3). Throws {@link Refusing}. */
export function anthropicToConverse(given: JsonObject, { model, report }: RequestContext, notes: Notes): JsonObject {
  const body = { ...given };
  const { format = body.output_format, effort, ...unknown } = objectOf(body.output_config);
  for (const other of Object.keys(unknown)) report.unsupported(`output_config.${other}`);
  if (isObject(format)) forceJsonTool(body, objectOf(format.schema), notes);
  const system = systemBlocks(body.system);
  const messages: { role: string; content: JsonObject[] }[] = [];
  for (const { role, content } of objectsOf(body.messages)) {
    // Converse has one system text, so that one in mid-conversation joins it.
    if (role === 'system') system.push(...systemBlocks(content));
    else append(messages, String(role), blocksOf(content));
  }
  const inference: JsonObject = {
    maxTokens: body.max_tokens,
    ...(isNumber(body.temperature) && { temperature: body.temperature }),
    ...(isNumber(body.top_p) && { topP: body.top_p }),
    ...(Array.isArray(body.stop_sequences) && body.stop_sequences.length > 0 && { stopSequences: body.stop_sequences }),
  };
  const own: JsonObject = {
    ...thinkingOf(body, model, report),
    ...effortOf(body, effort, model, report),
    ...(isNumber(body.top_k) && { top_k: body.top_k }),
  };
  const user = textAt(body.metadata, 'user_id');
  notes.reasoning ??= isObject(own.thinking);
  warnOfCacheMarks(given, report);
  return {
    messages,
    ...(system.length > 0 && { system }),
    inferenceConfig: inference,
    ...toolConfig(body, report),
    ...(Object.keys(own).length > 0 && { additionalModelRequestFields: own }),
    ...(user !== undefined && /^[\w\s:@$#=/+,.-]{1,256}$/.test(user) && { requestMetadata: { user_id: user } }),
  };
}

const systemBlocks = (content: unknown): JsonObject[] =>
  typeof content === 'string' ? [{ text: content }] : objectsOf(content).map((block) => ({ text: textAt(block, 'text') ?? '' }));

/** Claude alone thinks as much as it finds right; other models refuse the member, and how much one thinks changes no meaning. */
function thinkingOf({ thinking }: JsonObject, model: string, report: Report): JsonObject {
  if (!isObject(thinking) || thinking.type === 'disabled') return {};
  if (/claude/.test(model) || countAt(thinking, 'budget_tokens') !== undefined) return { thinking };
  report.dropped('thinking');
  return {};
}

/** Claude models on Bedrock that take an effort: Opus 4.5 as a beta and up to `high`. */
const EFFORT = /claude-(?:opus-4-[5-9]|sonnet-4-[6-9]|[a-z]+-[5-9])(?=[-.:]|$)/;
const EFFORT_BETA = /claude-opus-4-5/;

/** An effort in the words of the model; one that takes none does without, since how much a model thinks changes no meaning. */
function effortOf({ thinking }: JsonObject, effort: unknown, model: string, report: Report): JsonObject {
  if (typeof effort !== 'string') return {};
  const atMostHigh = effort === 'max' || effort === 'xhigh' ? 'high' : effort;
  if (EFFORT_BETA.test(model)) return { output_config: { effort: atMostHigh }, anthropic_beta: ['effort-2025-11-24'] };
  if (EFFORT.test(model)) return { output_config: { effort } };
  const off = isObject(thinking) && thinking.type === 'disabled';
  if (/gpt-oss/.test(model) && !off) return { reasoning_effort: atMostHigh };
  // At `high` Nova takes no limit of tokens, which each of these requests has.
  if (/nova-2/.test(model) && !off)
    return { reasoningConfig: { type: 'enabled', maxReasoningEffort: atMostHigh === 'high' ? 'medium' : atMostHigh } };
  report.dropped('output_config.effort');
  return {};
}

function blocksOf(content: unknown): JsonObject[] {
  if (typeof content === 'string') return [{ text: content }];
  return objectsOf(content).map((block): JsonObject => {
    switch (block.type) {
      case 'text':
        return { text: textAt(block, 'text') ?? '' };
      case 'image':
        return { image: { format: formatOf(block), source: { bytes: bytesOf(block) } } };
      case 'document': {
        const source = objectOf(block.source);
        const name = (textAt(block, 'title') ?? 'document').replace(/[^\w\s()[\]-]+/g, ' ').trim() || 'document';
        if (source.type === 'text')
          return { document: { format: 'txt', name, source: { bytes: Buffer.from(String(source.data)).toString('base64') } } };
        return { document: { format: formatOf(block), name, source: { bytes: bytesOf(block) } } };
      }
      case 'tool_use':
        return { toolUse: { toolUseId: block.id, name: block.name, input: block.input ?? {} } };
      case 'tool_result':
        return {
          toolResult: {
            toolUseId: block.tool_use_id,
            content: blocksOf(block.content ?? ''),
            status: block.is_error === true ? 'error' : 'success',
          },
        };
      case 'tool_reference':
      case 'search_result':
        return { text: textOfResultPart(block) };
      case 'thinking':
        return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
      case 'redacted_thinking':
        return { reasoningContent: { redactedContent: block.data } };
      default:
        throw new Refusing(unsupportedContent(`messages.content.${String(block.type)}`));
    }
  });
}

/** `image/jpeg` is `jpeg`, `application/pdf` is `pdf`. */
const formatOf = ({ source }: JsonObject): string => (textAt(source, 'media_type') ?? '').split('/').at(-1) ?? '';

function bytesOf({ type, source }: JsonObject): string {
  if (objectOf(source).type !== 'base64')
    throw new Refusing(unsupportedContent(`messages.content.${String(type)}.${String(objectOf(source).type)}`));
  return textAt(source, 'data') ?? '';
}

function toolConfig(body: JsonObject, report: Report): JsonObject {
  const tools = objectsOf(body.tools).flatMap((tool): JsonObject[] => {
    if (tool.type !== undefined && tool.type !== 'custom') {
      report.unsupported(`tools.${String(tool.type)}`);
      return [];
    }
    const description = textAt(tool, 'description');
    return [{ toolSpec: { name: tool.name, ...(description && { description }), inputSchema: { json: tool.input_schema } } }];
  });
  if (tools.length === 0) return {};
  const choice = objectOf(body.tool_choice);
  if (choice.type === 'none') report.unsupported('tool_choice.none');
  if (choice.disable_parallel_tool_use === true) report.unsupported('tool_choice.disable_parallel_tool_use');
  const forced = choice.type === 'any' ? { any: {} } : choice.type === 'tool' ? { tool: { name: choice.name } } : undefined;
  return { toolConfig: { tools, ...(forced && { toolChoice: forced }) } };
}
