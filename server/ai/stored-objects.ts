import { isObject, type JsonObject, objectOf, objectsOf, textAt } from './json.ts';

// IDs of objects that providers keep between calls (interface rule 51 §10.2). All agents of a workspace share its account at a provider, so an ID is as good as
// the object to anyone who knows it.

/** Members that name such an object, wherever they stand in a request. */
const REFERENCES: ReadonlySet<string> = new Set([
  'previous_response_id',
  'conversation',
  'container',
  'container_id',
  'file_id',
  'file_ids',
  'fileUri',
  'file_uri',
  'cachedContent',
  'cached_content',
  'batch_id',
]);
/** What the model or a schema says is no reference. */
const OPAQUE: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'inputSchema', 'arguments', 'args', 'schema', 'metadata']);

/** IDs of objects that a request names. */
export function namedObjects(body: JsonObject): string[] {
  const found = new Set<string>();
  walk(body, (name, value, holder) => {
    if (!REFERENCES.has(name) || isToolInput(holder)) return;
    if (name === 'fileUri' || name === 'file_uri') {
      const file =
        typeof value === 'string' ? /^https:\/\/generativelanguage\.googleapis\.com\/[\w./-]*(files\/[\w-]+)$/.exec(value)?.[1] : undefined;
      if (file !== undefined) found.add(file);
      return;
    }
    for (const one of Array.isArray(value) ? value : [value]) {
      const id = typeof one === 'string' ? one : textAt(one, 'id');
      if (id !== undefined && id !== '' && id !== 'auto') found.add(id);
    }
  });
  // An item of an earlier answer, whose type may be left out.
  for (const item of objectsOf(body.input)) {
    const id = item.type === 'item_reference' || (item.type == null && item.role == null) ? textAt(item, 'id') : undefined;
    if (id !== undefined && id !== '') found.add(id);
  }
  return [...found];
}

/** IDs of objects that an answer, or an event of one, hands out. */
export function handedOut(answer: unknown): string[] {
  const found = new Set<string>();
  if (!isObject(answer)) return [];
  const add = (id: string | undefined) => {
    if (id !== undefined && id !== '') found.add(id);
  };
  add(textAt(answer, 'object') === 'response' ? textAt(answer, 'id') : undefined);
  add(textAt(answer.response, 'id'));
  // Items of an answer can be named by later calls (`item_reference`).
  for (const holder of [answer, answer.response]) for (const item of objectsOf(objectOf(holder).output)) add(textAt(item, 'id'));
  if (textAt(answer, 'type') === 'response.output_item.done') add(textAt(answer.item, 'id'));
  walk(answer, (name, value) => {
    if (name === 'container_id' || name === 'file_id') add(typeof value === 'string' ? value : undefined);
    if (name === 'conversation' || name === 'container') add(typeof value === 'string' ? value : textAt(value, 'id'));
  });
  return [...found];
}

const isToolInput = (holder: JsonObject): boolean => /(?:^|_)tool_use$/.test(textAt(holder, 'type') ?? '') && !('source' in holder);

const MOST_DEPTH = 100;

function walk(value: unknown, see: (name: string, value: unknown, holder: JsonObject) => void, depth = 0): void {
  if (depth > MOST_DEPTH) return;
  if (Array.isArray(value)) for (const one of value) walk(one, see, depth + 1);
  else if (isObject(value))
    for (const name in value) {
      see(name, value[name], value);
      if (OPAQUE.has(name) || (name === 'input' && isToolInput(value))) continue;
      walk(value[name], see, depth + 1);
    }
}
