import { isExact } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { isObject, type Params } from './messages.ts';

/** A text inside a message that may be read and replaced. */
export type TextSlot = { readonly text: string; replace(text: string): void };

const DEEPEST = 1_000;

/**
 * Every string value inside a value, which is changed in place: of arguments, and of structured content. Throws for one that is nested too deeply: what isn't
 * read must not pass.
 */
export function textSlots(root: unknown): TextSlot[] {
  const slots: TextSlot[] = [];
  collect(root, slots, 0);
  return slots;
}

function collect(value: unknown, slots: TextSlot[], depth: number): void {
  if (typeof value !== 'object' || value === null || isExact(value)) return;
  if (depth > DEEPEST) throw new Error(`a value is nested more than ${grouped(DEEPEST)} levels deep`);
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const child = members[key];
    if (typeof child === 'string') slots.push(slot(members, key, child));
    else collect(child, slots, depth + 1);
  }
}

const slot = (members: Record<string, unknown>, key: string, text: string): TextSlot => ({
  text,
  replace: (other) => {
    members[key] = other;
  },
});

/** What of a result can be read: texts that belong together in the order a model reads them, those that stand alone, and whether there is more that can't be. */
export type ResultTexts = { readonly running: readonly TextSlot[]; readonly structured: readonly TextSlot[]; readonly binary: boolean };

/** The texts of a `tools/call` result: of content, embedded resources, links and structured content. Pictures, sound and blobs can't be scanned. */
export function resultTexts(result: Params): ResultTexts {
  const running: TextSlot[] = [];
  let binary = false;
  for (const item of Array.isArray(result.content) ? result.content : []) {
    if (!isObject(item)) continue;
    const members = item as Record<string, unknown>;
    if (typeof item.text === 'string') running.push(slot(members, 'text', item.text));
    if (typeof item.data === 'string') binary = true;
    for (const key of ['title', 'description', 'name', 'uri']) {
      const text = members[key];
      if (typeof text === 'string') running.push(slot(members, key, text));
    }
    if (isObject(item.resource)) {
      const resource = item.resource as Record<string, unknown>;
      if (typeof resource.text === 'string') running.push(slot(resource, 'text', resource.text));
      if (typeof resource.blob === 'string') binary = true;
    }
  }
  // What a person is asked for is read as well.
  return { running, structured: [...textSlots(result.structuredContent), ...textSlots(result.inputRequests)], binary };
}
