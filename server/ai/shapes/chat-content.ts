import { isObject, type JsonObject, listOf } from '../json.ts';

/** A text of a content: what says it, and the member that holds it. */
export type ContentPlace = { readonly kind: 'text' | 'reasoning'; readonly holder: JsonObject; readonly member: string };

/**
 * The texts of a chat content, in order: a string, or a list of parts, as Mistral's reasoning models answer. Lenient servers also take strings among the parts,
 * or one part bare.
 */
export function contentPlaces(holder: JsonObject, member: string, kind: ContentPlace['kind'] = 'text'): ContentPlace[] {
  const content = holder[member];
  if (typeof content === 'string') return [{ kind, holder, member }];
  const parts = isObject(content) ? [content] : listOf(content);
  return parts.flatMap((part, index) => {
    if (!isObject(part)) return typeof part === 'string' ? [{ kind, holder: parts as unknown as JsonObject, member: String(index) }] : [];
    const own = part.type === 'thinking' || part.type === 'reasoning' ? 'reasoning' : kind;
    return [
      ...(part.thinking === undefined ? [] : contentPlaces(part, 'thinking', 'reasoning')),
      ...['text', 'refusal'].flatMap((name) => (typeof part[name] === 'string' ? [{ kind: own, holder: part, member: name }] : [])),
    ];
  });
}

/** The text of one kind in a content. */
export const contentText = (holder: JsonObject, member: string, kind: ContentPlace['kind']): string =>
  contentPlaces(holder, member)
    .map((place) => (place.kind === kind ? String(place.holder[place.member]) : ''))
    .join('');
