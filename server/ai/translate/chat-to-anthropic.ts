import { countAt, isObject, type JsonObject, listOf, numberAt, objectOf, objectsOf, parsedJson, table, textAt } from '../json.ts';
import { endUser, LONGEST_MESSAGES_USER } from './end-user.ts';
import { invalid, Refusing, type Report, type RequestContext, unsupportedContent } from './options.ts';
import { JSON_TOOL, type Notes } from './turn.ts';

const DEFAULT_MAX = 4_096;
const LEAST_THINKING = 1_024;
const EFFORTS = table<number>({ low: 1_024, medium: 4_096, high: 16_384, xhigh: 16_384 });
const NO_EFFORT = new Set(['none', 'minimal']);

/** Claude models that take a schema in `output_config`. */
export const takesSchema = (model: string): boolean =>
  /^claude-(?:(?:opus-4-[1-9]|sonnet-4-[5-9]|haiku-4-[5-9])|[a-z]+-[5-9])(?:-|$)/.test(model);

/** An OpenAI chat completion as Anthropic messages (spec/51 §6.2). Throws {@link Refusing}; notes what the answer's translation needs. */
export function chatToAnthropic(body: JsonObject, context: RequestContext, notes: Notes): JsonObject {
  const { report } = context;
  const system: JsonObject[] = [];
  const messages: { role: string; content: JsonObject[] }[] = [];
  for (const message of objectsOf(body.messages)) {
    const { role } = message;
    if (role === 'system' || role === 'developer') system.push(...textBlocks(message.content));
    else if (role === 'function') throw new Refusing(unsupportedContent('messages.role=function'));
    else
      append(
        messages,
        role === 'assistant' ? 'assistant' : 'user',
        role === 'assistant' ? assistantBlocks(message) : role === 'tool' ? [toolResult(message)] : userBlocks(message.content),
      );
  }
  const result: JsonObject = { model: context.model, messages };
  const max = countAt(body, 'max_completion_tokens') ?? countAt(body, 'max_tokens');
  result.max_tokens = max ?? context.ceiling ?? DEFAULT_MAX;
  if (typeof body.stop === 'string') result.stop_sequences = [body.stop];
  else if (Array.isArray(body.stop)) result.stop_sequences = body.stop;
  setTools(result, body, report);
  setFormat(result, body, system, context, notes);
  setThinking(result, body, context, notes);
  setSampling(result, body, report);
  if (system.length > 0) result.system = system;
  const user = textAt(body, 'safety_identifier') ?? textAt(body, 'user');
  if (user !== undefined) result.metadata = { user_id: endUser(user, LONGEST_MESSAGES_USER) };
  if (body.stream === true) result.stream = true;
  notes.includeUsage = objectOf(body.stream_options).include_usage === true;
  return result;
}

/** Anthropic wants turns of alternating roles. */
export function append(messages: { role: string; content: JsonObject[] }[], role: string, content: JsonObject[]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) last.content.push(...content);
  else messages.push({ role, content });
}

/** Anthropic refuses empty texts, and so leaves nothing out. */
const textBlock = (text: string): JsonObject[] => (text === '' ? [] : [{ type: 'text', text }]);

function textBlocks(content: unknown): JsonObject[] {
  if (typeof content === 'string') return textBlock(content);
  return objectsOf(content).flatMap((part) => {
    if (part.type !== 'text') throw new Refusing(unsupportedContent(`messages.content.${String(part.type)}`));
    return textBlock(textAt(part, 'text') ?? '');
  });
}

function userBlocks(content: unknown): JsonObject[] {
  if (typeof content === 'string') return textBlock(content);
  return objectsOf(content).flatMap((part) => {
    switch (part.type) {
      case 'text':
        return textBlock(textAt(part, 'text') ?? '');
      case 'image_url':
        return [{ type: 'image', source: imageSource(textAt(part.image_url, 'url') ?? '') }];
      case 'file': {
        const data = textAt(part.file, 'file_data');
        const source = data === undefined ? undefined : dataSource(data);
        if (!source) throw new Refusing(unsupportedContent('messages.content.file.file_id'));
        const title = textAt(part.file, 'filename');
        return [{ type: 'document', source, ...(title !== undefined && { title }) }];
      }
      default:
        throw new Refusing(unsupportedContent(`messages.content.${String(part.type)}`));
    }
  });
}

function imageSource(url: string): JsonObject {
  if (!url.startsWith('data:')) return { type: 'url', url };
  const source = dataSource(url);
  if (!source) throw new Refusing(invalid('An image_url is a data URL that is not base64.'));
  return source;
}

/** `data:image/png;base64,…` as a source. */
function dataSource(url: string): JsonObject | undefined {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma);
  if (!head.startsWith('data:') || !head.endsWith(';base64')) return undefined;
  return { type: 'base64', media_type: head.slice('data:'.length, -';base64'.length), data: url.slice(comma + 1) };
}

function assistantBlocks(message: JsonObject): JsonObject[] {
  const said =
    typeof message.content === 'string'
      ? textBlock(message.content)
      : objectsOf(message.content).flatMap((part) => textBlock(textAt(part, 'text') ?? textAt(part, 'refusal') ?? ''));
  if (message.function_call !== undefined && message.function_call !== null)
    throw new Refusing(unsupportedContent('messages.function_call'));
  const calls = objectsOf(message.tool_calls).map((call) => {
    const text = textAt(call.function, 'arguments') ?? '';
    const input = text === '' ? {} : parsedJson(text);
    if (call.type === 'custom') throw new Refusing(unsupportedContent('messages.tool_calls.custom'));
    if (!isObject(input)) throw new Refusing(invalid('The arguments of a tool call in `messages` are not a JSON object.'));
    return { type: 'tool_use', id: call.id, name: textAt(call.function, 'name') ?? '', input };
  });
  return [...said, ...calls];
}

function toolResult({ tool_call_id, content }: JsonObject): JsonObject {
  return { type: 'tool_result', tool_use_id: tool_call_id, content: typeof content === 'string' ? content : userBlocks(content) };
}

function setTools(result: JsonObject, body: JsonObject, report: Report): void {
  const tools = objectsOf(body.tools).flatMap(({ type, function: described }): JsonObject[] => {
    if (type !== 'function' || !isObject(described)) {
      report.unsupported(`tools.${String(type)}`);
      return [];
    }
    if (described.strict === true) report.warn('strict_dropped');
    const schema = isObject(described.parameters) ? described.parameters : { type: 'object', properties: {} };
    const description = textAt(described, 'description');
    return [{ name: described.name, ...(description !== undefined && { description }), input_schema: schema }];
  });
  if (tools.length === 0) return;
  result.tools = tools;
  const choice = choiceOf(body.tool_choice, report);
  const serial = body.parallel_tool_calls === false && choice?.type !== 'none';
  if (choice || serial) result.tool_choice = { ...(choice ?? { type: 'auto' }), ...(serial && { disable_parallel_tool_use: true }) };
}

function choiceOf(choice: unknown, report: Report): JsonObject | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  const name = textAt(objectOf(objectOf(choice).function), 'name');
  if (name !== undefined) return { type: 'tool', name };
  report.unsupported('tool_choice');
  return undefined;
}

function setFormat(
  result: JsonObject,
  body: JsonObject,
  system: JsonObject[],
  { model, structuredOutput, report }: RequestContext,
  notes: Notes,
): void {
  const format = objectOf(body.response_format);
  if (format.type === undefined || format.type === 'text') return;
  if (format.type === 'json_object') {
    system.push({ type: 'text', text: 'Answer with one JSON object and nothing else: no other text, and no code fence.' });
    return;
  }
  if (format.type !== 'json_schema') {
    report.unsupported(`response_format.${String(format.type)}`);
    return;
  }
  const schema = objectOf(objectOf(format.json_schema).schema);
  if (structuredOutput && takesSchema(model)) result.output_config = { format: { type: 'json_schema', schema } };
  else forceJsonTool(result, schema, notes);
}

/** One tool whose arguments are the answer. Beside other tools the model must call one of them. */
export function forceJsonTool(result: JsonObject, schema: JsonObject, notes: Notes): void {
  const tools = listOf(result.tools);
  notes.jsonTool = JSON_TOOL;
  result.tools = [...tools, { name: JSON_TOOL, description: 'Gives the final answer.', input_schema: schema }];
  result.tool_choice = tools.length === 0 ? { type: 'tool', name: JSON_TOOL } : { type: 'any' };
}

function setThinking(result: JsonObject, body: JsonObject, { ceiling, report }: RequestContext, notes: Notes): void {
  const effort = body.reasoning_effort;
  if (typeof effort !== 'string' || NO_EFFORT.has(effort)) return;
  const wanted = EFFORTS.get(effort);
  const forced = isObject(result.tool_choice) && result.tool_choice.type !== 'auto' && result.tool_choice.type !== 'none';
  if (wanted === undefined || forced) {
    report.unsupported(forced ? 'reasoning_effort with a forced tool or a schema of the answer' : 'reasoning_effort');
    return;
  }
  // The budget comes on top of the answer's own tokens, as far as the ceiling allows.
  const asked = result.max_tokens as number;
  const max = Math.min(asked + wanted, ceiling ?? Number.POSITIVE_INFINITY);
  const budget = Math.max(LEAST_THINKING, Math.min(wanted, max - asked));
  // Anthropic wants its signed thinking back in front of the calls of a conversation, and other shapes have no place for it.
  if (budget >= max || hasCalls(result.messages)) {
    report.warn('thinking_removed');
    return;
  }
  notes.reasoning = true;
  result.max_tokens = max;
  result.thinking = { type: 'enabled', budget_tokens: budget };
}

const hasCalls = (messages: unknown): boolean =>
  objectsOf(messages).some(({ role, content }) => role === 'assistant' && objectsOf(content).some(({ type }) => type === 'tool_use'));

/** Anthropic's temperature ends at 1; with thinking it takes neither of the two. */
function setSampling(result: JsonObject, body: JsonObject, report: Report): void {
  const [temperature, topP] = [numberAt(body, 'temperature'), numberAt(body, 'top_p')];
  const sampled = temperature !== undefined || topP !== undefined;
  if (result.thinking !== undefined) {
    if (sampled) report.warn('sampling_dropped');
    return;
  }
  if (temperature !== undefined) result.temperature = Math.min(1, temperature);
  if (topP !== undefined) result.top_p = topP;
}
