import { objectOf } from '#server/kernel/name-order.ts';

// The one walk over values that hold templates. Checking, listing ("used by") and filling all go through it, so what is filled is what was listed and checked.

/** A text of a value: the text of a member or item, or the name of a member. `path` names the member, such as `body.items[0]`. */
export type Text = { readonly path: string; readonly text: string; readonly place: 'value' | 'name' };

/**
 * The value with every text replaced by what `change` makes of it. Names of members are visited too and stay as they are: no template is filled there.
 * Objects of classes (numbers that keep their digits) are leaves.
 */
export function mapTexts(value: unknown, change: (text: Text) => unknown, path = ''): unknown {
  if (typeof value === 'string') return change({ path, text: value, place: 'value' });
  if (Array.isArray(value)) return value.map((item, i) => mapTexts(item, change, `${path}[${i}]`));
  if (!isPlain(value)) return value;
  return objectOf(
    Object.entries(value).map(([name, item]) => {
      const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
      const at = path === '' ? short : `${path}.${short}`;
      change({ path: at, text: name, place: 'name' });
      return [name, mapTexts(item, change, at)];
    }),
  );
}

/** Characters of a name that a path shows: paths are made and searched for every text below a name, however long it is. */
const LONGEST_NAME = 80;

/** Every text of a value, names of members included, in the order in which `mapTexts` visits them. */
export function textsIn(value: unknown, path = ''): Text[] {
  const found: Text[] = [];
  mapTexts(value, (text) => found.push(text), path);
  return found;
}

/** What `fill` makes of every text but names, by the text: `mapTexts` puts it in. The same text is filled once. */
export async function filledTexts<T>(value: unknown, fill: (text: string) => Promise<T>): Promise<ReadonlyMap<string, T>> {
  const filled = new Map<string, T>();
  for (const { text, place } of textsIn(value)) if (place === 'value' && !filled.has(text)) filled.set(text, await fill(text));
  return filled;
}

/** Why a placeholder in the name of a member is refused, to follow its path. */
export const NAME_WITH_PLACEHOLDER = "is the name of a member, where placeholders aren't filled. Move the placeholder into a value";

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
