import { isObject, type JsonObject, objectsOf, textAt } from '../json.ts';
import type { Report } from './options.ts';
import type { Notes, ToolName } from './turn.ts';

/** Tools of a Responses request as functions of a chat completion; notes which of them the answer has to name otherwise. */
export function chatTools(tools: unknown, notes: Notes, report: Report): JsonObject[] {
  const listed = objectsOf(tools);
  const others = listed.some(({ type }) => type !== 'web_search');
  return listed.flatMap((tool) => {
    // Clients list the search unasked: beside other tools, a model without it does what it can. A choice that names it is refused.
    if (tool.type === 'web_search' && (others || tool.external_web_access === false)) {
      report.dropped('tools.web_search');
      return [];
    }
    if (tool.type !== 'namespace') return chatTool(tool, undefined, notes, report);
    const namespace = textAt(tool, 'name') ?? '';
    return objectsOf(tool.tools).flatMap((one) => chatTool(one, namespace, notes, report));
  });
}

/** A chat completion has no namespaces, so that the name holds both. */
export const flatName = (namespace: string | undefined, name: string): string => (namespace ? `${namespace}__${name}`.slice(0, 64) : name);

function chatTool(tool: JsonObject, namespace: string | undefined, notes: Notes, report: Report): JsonObject[] {
  const own = textAt(tool, 'name') ?? '';
  const name = flatName(namespace, own);
  const description = textAt(tool, 'description');
  const said = description === undefined ? {} : { description };
  if (tool.type === 'function') {
    if (namespace) note(notes, name, { namespace, name: own });
    const strict = typeof tool.strict === 'boolean' ? { strict: tool.strict } : {};
    const parameters = isObject(tool.parameters) ? { parameters: tool.parameters } : {};
    return [{ type: 'function', function: { name, ...said, ...parameters, ...strict } }];
  }
  if (tool.type === 'custom') {
    note(notes, name, { namespace, name: own, custom: true });
    return [{ type: 'function', function: { name, ...said, parameters: FREE_TEXT } }];
  }
  report.unsupported(`tools.${String(tool.type)}`);
  return [];
}

function note(notes: Notes, sent: string, tool: ToolName): void {
  notes.tools ??= new Map();
  notes.tools.set(sent, tool);
}

/** A custom tool takes a text, which a function takes in a member. */
const FREE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, in the form that its description asks for.' } },
  required: ['input'],
  additionalProperties: false,
};

export function chatToolChoice(choice: unknown, report: Report): unknown {
  if (choice === undefined || choice === null || typeof choice === 'string') return choice ?? undefined;
  const name = textAt(choice, 'name');
  const type = textAt(choice, 'type');
  if (name !== undefined && (type === 'function' || type === 'custom'))
    return { type: 'function', function: { name: flatName(textAt(choice, 'namespace'), name) } };
  report.unsupported(`tool_choice.${type ?? ''}`);
  return undefined;
}
