import { isObject, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import { Refusing, unsupportedContent } from './options.ts';

/**
 * An Anthropic request whose conversation changes its own rules, as one whose rules hold from the start: system messages in it can offer and withdraw tools,
 * set the effort, and end with their turn; tools that load later are offered once something refers to them. Throws {@link Refusing}.
 */
export function settledConversation(body: JsonObject): JsonObject {
  const messages = objectsOf(body.messages);
  const tools = new Map<string, JsonObject>();
  const offered = new Set<string>();
  for (const tool of objectsOf(body.tools)) {
    const name = String(tool.name);
    tools.set(name, tool);
    if (tool.defer_loading !== true) offered.add(name);
  }
  let effort: unknown;
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const kept = messages.flatMap((message, index): JsonObject[] => {
    if (message.role !== 'system') {
      for (const name of references(message.content)) offered.add(name);
      return [message];
    }
    effort = objectOf(message.output_config).effort ?? effort;
    if (!Array.isArray(message.content)) return isCleared(message, index, lastUser) ? [] : [message];
    const texts = objectsOf(message.content).filter((block) => !changeTools(block, tools, offered));
    return texts.length === 0 || isCleared(message, index, lastUser) ? [] : [{ ...message, content: texts }];
  });
  const settled: JsonObject = { ...body, messages: kept };
  if (tools.size > 0) settled.tools = [...tools].filter(([name]) => offered.has(name)).map(([, tool]) => tool);
  if (typeof effort === 'string') settled.output_config = { ...objectOf(body.output_config), effort };
  return settled;
}

const isCleared = ({ clear_at }: JsonObject, index: number, lastUser: number): boolean =>
  clear_at === 'next_user_message' && lastUser > index;

/** Names of the tools that results of a search for tools refer to. */
const references = (content: unknown): string[] =>
  objectsOf(content)
    .filter(({ type }) => type === 'tool_result')
    .flatMap((block) => objectsOf(block.content))
    .flatMap((part) => (part.type === 'tool_reference' ? [String(part.tool_name)] : []));

/** Whether a block of a system message offers or withdraws a tool, which it does. */
function changeTools(block: JsonObject, tools: Map<string, JsonObject>, offered: Set<string>): boolean {
  if (block.type !== 'tool_addition' && block.type !== 'tool_removal') return false;
  const change = objectOf(block.tool);
  const definition = isObject(change.definition) ? change.definition : undefined;
  const name = textAt(definition, 'name') ?? (change.type === 'tool_reference' ? textAt(change, 'name') : undefined);
  if (name === undefined) throw new Refusing(unsupportedContent(`messages.content.${block.type}.${String(change.type)}`));
  if (definition) tools.set(name, definition);
  if (block.type === 'tool_addition') offered.add(name);
  else offered.delete(name);
  return true;
}
