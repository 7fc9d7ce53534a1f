import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, textAt } from '../json.ts';
import { callId, countsReasoning, IMAGE_FOLLOWS } from './anthropic-to-chat.ts';
import { Refusing, type Report, type RequestContext, unsupportedContent } from './options.ts';
import { chatToolChoice, chatTools, flatName } from './responses-tools.ts';
import type { Notes } from './turn.ts';

/** A Responses request as an OpenAI chat completion. Throws {@link Refusing}; notes what the answer's translation needs. */
export function responsesToChat(body: JsonObject, context: RequestContext, notes: Notes): JsonObject {
  const { report } = context;
  const instructions = textAt(body, 'instructions');
  const messages = [
    ...(instructions ? [{ role: 'system', content: instructions }] : []),
    ...(typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : conversation(body.input, context)),
  ];
  const result: JsonObject = { model: context.model, messages };
  const max = countAt(body, 'max_output_tokens') ?? context.ceiling;
  if (max !== undefined) result[countsReasoning(context) ? 'max_completion_tokens' : 'max_tokens'] = max;
  for (const member of ['temperature', 'top_p', 'user', 'safety_identifier'] as const)
    if (body[member] !== undefined && body[member] !== null) result[member] = body[member];
  const tools = chatTools(body.tools, notes, report);
  if (tools.length > 0) {
    result.tools = tools;
    const choice = chatToolChoice(body.tool_choice, report);
    if (choice !== undefined) result.tool_choice = choice;
    if (body.parallel_tool_calls === false) result.parallel_tool_calls = false;
  }
  setReasoning(result, body, report);
  setText(result, body, report);
  for (const wanted of listOf(body.include)) if (String(wanted).includes('logprobs')) report.unsupported(`include.${String(wanted)}`);
  if (body.stream === true) {
    result.stream = true;
    result.stream_options = { include_usage: true };
  }
  notes.reasoning = isObject(body.reasoning);
  return result;
}

/** Items as messages: calls join the assistant's message before them, and images of results follow as the user's. */
function conversation(input: unknown, context: RequestContext): JsonObject[] {
  const messages: JsonObject[] = [];
  /** Of results since the last call; a message between results would part them from their calls. */
  let images: JsonObject[] = [];
  const flush = () => {
    if (images.length > 0) messages.push({ role: 'user', content: images });
    images = [];
  };
  for (const item of objectsOf(input)) {
    const type = textAt(item, 'type') ?? 'message';
    if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      messages.push({ role: 'tool', tool_call_id: callId(String(item.call_id), context), content: outputText(item.output, images) });
      continue;
    }
    flush();
    switch (type) {
      case 'message':
        messages.push(messageOf(item));
        break;
      case 'function_call':
      case 'custom_tool_call':
        addCall(messages, item, context);
        break;
      case 'reasoning':
        // Another provider's thoughts, mostly encrypted.
        break;
      default:
        throw new Refusing(unsupportedContent(`input.${type}`));
    }
  }
  flush();
  return messages;
}

function addCall(messages: JsonObject[], item: JsonObject, context: RequestContext): void {
  const name = flatName(textAt(item, 'namespace'), textAt(item, 'name') ?? '');
  const text = item.type === 'custom_tool_call' ? JSON.stringify({ input: item.input }) : textAt(item, 'arguments') || '{}';
  const call = { id: callId(String(item.call_id), context), type: 'function', function: { name, arguments: text } };
  const last = messages.at(-1);
  if (last?.role === 'assistant') {
    last.tool_calls ??= [];
    listOf(last.tool_calls).push(call);
  } else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
}

function messageOf(item: JsonObject): JsonObject {
  const role = item.role === 'developer' ? 'system' : item.role;
  if (typeof item.content === 'string') return { role, content: item.content };
  const parts = objectsOf(item.content).map(partOf);
  const texts = parts.every(({ type }) => type === 'text');
  return { role, content: texts ? parts.map(({ text }) => text).join('\n') : parts };
}

function partOf(part: JsonObject): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textAt(part, 'text') ?? '' };
    case 'refusal':
      return { type: 'text', text: textAt(part, 'refusal') ?? '' };
    case 'input_image': {
      const url = textAt(part, 'image_url');
      if (url === undefined) throw new Refusing(unsupportedContent('input.content.input_image.file_id'));
      const detail = textAt(part, 'detail');
      return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
    }
    case 'input_file': {
      const data = textAt(part, 'file_data');
      if (data === undefined) throw new Refusing(unsupportedContent('input.content.input_file.file_id'));
      const filename = textAt(part, 'filename');
      return { type: 'file', file: { file_data: data, ...(filename !== undefined && { filename }) } };
    }
    default:
      throw new Refusing(unsupportedContent(`input.content.${String(part.type)}`));
  }
}

function outputText(output: unknown, images: JsonObject[]): string {
  if (typeof output === 'string') return output;
  return objectsOf(output)
    .map((given) => {
      const part = partOf(given);
      if (part.type === 'text') return part.text;
      images.push(part);
      return IMAGE_FOLLOWS;
    })
    .join('\n');
}

function setReasoning(result: JsonObject, body: JsonObject, report: Report): void {
  const { effort, summary: _, generate_summary: __, ...others } = objectOf(body.reasoning);
  for (const [name, value] of Object.entries(others)) if (value !== null) report.dropped(`reasoning.${name}`);
  if (typeof effort === 'string') result.reasoning_effort = effort === 'xhigh' ? 'high' : effort;
}

function setText(result: JsonObject, body: JsonObject, report: Report): void {
  const { format, verbosity, ...others } = objectOf(body.text);
  for (const name of Object.keys(others)) report.unsupported(`text.${name}`);
  if (typeof verbosity === 'string') report.dropped('text.verbosity');
  const { type, ...described } = objectOf(format);
  if (type === undefined || type === 'text') return;
  result.response_format = type === 'json_schema' ? { type, json_schema: described } : { type };
}
