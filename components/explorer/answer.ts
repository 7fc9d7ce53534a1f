import { nextStepOf } from '#components/trpc/refusal.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';

/** A text as the JSON it is; undefined for one that is none. */
export function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

type Refused = { code: string; message: string; next: string | undefined };
/** What was refused, and what to do about it where the pages know. */
export function refusalIn({ body, status }: { body: string; status: number }): Refused {
  const { error } = (parsed(body) ?? {}) as { error?: { type?: string; message?: string } };
  const code = error?.type ?? '';
  return { code, message: error?.message ?? `The call failed with status ${status}.`, next: nextStepOf(code) };
}

/** What stands in an answer for a value that is handed over by itself. */
export const HANDED_OVER = '(shown once, separately)';

/** The body of an answer without the members of these names, wherever in it they stand, and their values. A body that is no JSON stays as it is. */
export function withoutShownOnce(body: string, names: readonly string[]): { body: string; taken: { name: string; value: string }[] } {
  const taken: { name: string; value: string }[] = [];
  if (names.length === 0) return { body, taken };
  // A replacer sees every member, so none is missed for the place it stands in.
  const clean = (name: string, value: unknown) => {
    if (typeof value !== 'string' || !names.includes(name)) return value;
    taken.push({ name, value });
    return HANDED_OVER;
  };
  try {
    return { body: JSON.stringify(parseExact(body), clean), taken };
  } catch {
    return { body, taken };
  }
}
