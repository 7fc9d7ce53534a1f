import { isNumber, parseExact } from '#server/kernel/lossless-json.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { TextRef, TextRole } from './adapter.ts';

/** The text in a member of a body, in its place. */
export function textIn(role: TextRole, holder: JsonObject, member: string): TextRef[] {
  if (typeof holder[member] !== 'string' || holder[member] === '') return [];
  return [
    {
      role,
      get text() {
        return holder[member] as string;
      },
      set(text) {
        holder[member] = text;
      },
    },
  ];
}

/** All strings in a value of any form, each in its place. Numbers with so many digits that they may name a person or a card count too. */
export function leaves(role: TextRole, holder: JsonObject | unknown[], onChange: () => void = () => {}): TextRef[] {
  return Object.entries(holder).flatMap(([key, value]) => {
    if (isObject(value) || Array.isArray(value)) return leaves(role, value as JsonObject | unknown[], onChange);
    if (typeof value !== 'string' && !(isNumber(value) && Math.abs(Number(value)) >= MANY_DIGITS)) return [];
    return [
      {
        role,
        get text() {
          return String((holder as JsonObject)[key]);
        },
        set(text: string) {
          if (text === String((holder as JsonObject)[key])) return;
          (holder as JsonObject)[key] = text;
          onChange();
        },
      },
    ];
  });
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
      });
  } catch {
    // Not JSON: it is read as a text.
  }
  return textIn('tool_args', holder, member);
}
