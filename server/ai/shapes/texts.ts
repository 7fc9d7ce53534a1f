import { isNumber, parseExact } from '#server/kernel/lossless-json.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { TextRef, TextRole } from './adapter.ts';

/** The text in a member of a body, in its place. */
export function textIn(role: TextRole, holder: JsonObject, member: string): TextRef[] {
  if (typeof holder[member] !== 'string' || holder[member] === '') return [];
  return [
    {
      role,
      at: { holder, member },
      get text() {
        return holder[member] as string;
      },
      set(text) {
        holder[member] = text;
      },
    },
  ];
}

/**
 * All strings in a value of any form, each in its place. Numbers with so many digits that they may name a person or a card count too, and in the data of tools the
 * names of members.
 */
export function leaves(role: TextRole, holder: JsonObject | unknown[], onChange: () => void = () => {}): TextRef[] {
  const hasNames = !Array.isArray(holder) && (role === 'tool_args' || role === 'tool_result');
  const taken = new Map<string, number>();
  return Object.entries(holder).flatMap(([key, value]) => {
    const place = { holder: holder as JsonObject, key };
    const named = hasNames && !FIELD_NAME.test(key) ? [nameOf(role, place, taken, onChange)] : [];
    if (isObject(value) || Array.isArray(value)) return [...named, ...leaves(role, value as JsonObject | unknown[], onChange)];
    if (typeof value !== 'string' && !(isNumber(value) && Math.abs(Number(value)) >= MANY_DIGITS)) return named;
    const ref: TextRef = {
      role,
      at: { holder, member: key },
      get text() {
        return String(place.holder[place.key]);
      },
      set(text: string) {
        if (text === String(place.holder[place.key])) return;
        place.holder[place.key] = text;
        onChange();
      },
    };
    return [...named, ref];
  });
}

/** A name that a tool declares, and no value. */
export const FIELD_NAME = /^[A-Za-z_$-]{1,64}$/;

/** The name of a member. One that is taken already gets a number, so that no member is lost. */
function nameOf(
  role: TextRole,
  place: { readonly holder: JsonObject; key: string },
  taken: Map<string, number>,
  onChange: () => void,
): TextRef {
  const { holder } = place;
  return {
    role,
    at: { holder, member: `name of ${place.key}` },
    get text() {
      return place.key;
    },
    set(text) {
      if (text === place.key) return;
      const value = holder[place.key];
      delete holder[place.key];
      let name = text;
      for (let i = taken.get(text) ?? 2; Object.hasOwn(holder, name); i++) {
        name = `${text} ${i}`;
        taken.set(text, i + 1);
      }
      Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
      place.key = name;
      onChange();
    },
  };
}

const MANY_DIGITS = 1e7;

/** Arguments of a tool call, written as JSON in a string: its strings one by one, or the whole text when it isn't JSON. */
export function argumentTexts(holder: JsonObject, member: string): TextRef[] {
  const text = holder[member];
  if (typeof text !== 'string' || text === '') return [];
  try {
    const parsed = parseExact(text);
    if (isObject(parsed) || Array.isArray(parsed))
      return leaves('tool_args', parsed as JsonObject | unknown[], () => {
        holder[member] = JSON.stringify(parsed);
      }).map((ref) => Object.defineProperty(ref, 'at', { value: { holder, member } }));
  } catch {
    // Not JSON: it is read as a text.
  }
  return textIn('tool_args', holder, member);
}
