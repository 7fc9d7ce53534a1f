import { isObject, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import { cacheWarnings } from './anthropic-to-chat.ts';
import { forceJsonTool } from './chat-to-anthropic.ts';
import { Refusing, unsupported } from './options.ts';
import type { Notes } from './turn.ts';

/** Anthropic messages as a Converse request (spec/51 §6.3). Throws {@link Refusing}. */
export function anthropicToConverse(given: JsonObject, notes: Notes): { body: JsonObject; warnings: string[] } {
  const body = { ...given };
  const { format, ...unknown } = objectOf(body.output_config);
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw new Refusing(unsupported(`output_config.${other}`));
  if (isObject(format)) forceJsonTool(body, objectOf(format.schema), notes);
  const system =
    typeof body.system === 'string'
      ? [{ text: body.system }]
      : objectsOf(body.system).map((block) => ({ text: textAt(block, 'text') ?? '' }));
  const inference: JsonObject = {
    maxTokens: body.max_tokens,
    ...(typeof body.temperature === 'number' && { temperature: body.temperature }),
    ...(typeof body.top_p === 'number' && { topP: body.top_p }),
    ...(Array.isArray(body.stop_sequences) && body.stop_sequences.length > 0 && { stopSequences: body.stop_sequences }),
  };
  const own: JsonObject = {
    ...(isObject(body.thinking) && body.thinking.type !== 'disabled' && { thinking: body.thinking }),
    ...(typeof body.top_k === 'number' && { top_k: body.top_k }),
  };
  const user = textAt(body.metadata, 'user_id');
  notes.reasoning ??= isObject(own.thinking);
  return {
    body: {
      messages: objectsOf(body.messages).map(({ role, content }) => ({ role, content: blocksOf(content) })),
      ...(system.length > 0 && { system }),
      inferenceConfig: inference,
      ...toolConfig(body),
      ...(Object.keys(own).length > 0 && { additionalModelRequestFields: own }),
      ...(user !== undefined && /^[\w\s:@$#=/+,.-]{1,256}$/.test(user) && { requestMetadata: { user_id: user } }),
    },
    warnings: cacheWarnings(given),
  };
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
      case 'thinking':
        return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
      case 'redacted_thinking':
        return { reasoningContent: { redactedContent: block.data } };
      default:
        throw new Refusing(unsupported(`messages.content.${String(block.type)}`));
    }
  });
}

/** `image/jpeg` is `jpeg`, `application/pdf` is `pdf`. */
const formatOf = ({ source }: JsonObject): string => (textAt(source, 'media_type') ?? '').split('/').at(-1) ?? '';

function bytesOf({ type, source }: JsonObject): string {
  if (objectOf(source).type !== 'base64')
    throw new Refusing(unsupported(`messages.content.${String(type)}.${String(objectOf(source).type)}`));
  return textAt(source, 'data') ?? '';
}

function toolConfig(body: JsonObject): JsonObject {
  const tools = objectsOf(body.tools).map((tool) => {
    if (tool.type !== undefined && tool.type !== 'custom') throw new Refusing(unsupported(`tools.${String(tool.type)}`));
    const description = textAt(tool, 'description');
    return { toolSpec: { name: tool.name, ...(description && { description }), inputSchema: { json: tool.input_schema } } };
  });
  if (tools.length === 0) return {};
  const choice = objectOf(body.tool_choice);
  if (choice.type === 'none') throw new Refusing(unsupported('tool_choice.none'));
  if (choice.disable_parallel_tool_use === true) throw new Refusing(unsupported('tool_choice.disable_parallel_tool_use'));
  const forced = choice.type === 'any' ? { any: {} } : choice.type === 'tool' ? { tool: { name: choice.name } } : undefined;
  return { toolConfig: { tools, ...(forced && { toolChoice: forced }) } };
}
