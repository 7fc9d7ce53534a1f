import { capitalize } from './capitalize.ts';

/** What the server said no with. `fields` maps a field path to its message; without it the message's leading `field:` names the field. */
export type RefusalView = { type: string; message: string; request_id?: string | undefined; fields?: Record<string, string> | undefined };

/**
 * Which fields of a form a refusal is about, with the text for each; empty when it is about none of them.
 * `host: must be …` (how validation speaks) and `name is taken` both count, when the form has a field of that name.
 */
export function refusedFields(refusal: RefusalView, isField: (name: string) => boolean): Record<string, string> {
  if (refusal.fields) return Object.fromEntries(Object.entries(refusal.fields).filter(([path]) => isField(topOf(path))));
  const match = /^["'`]?([a-z_]\w*(?:\.\w+)*)["'`]?(:)?\s+(.+)$/is.exec(refusal.message);
  const [, path = '', colon, rest = ''] = match ?? [];
  if (path === '' || !isField(topOf(path))) return {};
  return { [path]: colon ? capitalize(withoutReason(rest)) : refusal.message };
}

/** Without the finer reason that some refusals give programs behind the field, or first: `regex_unsupported: `. */
export const withoutReason = (message: string): string => message.replace(/(^|: )[a-z]+(?:_[a-z]+)+: (?=.)/, '$1');

const topOf = (path: string): string => path.split('.')[0] ?? '';
