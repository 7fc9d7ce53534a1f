import { FIELD_NAME } from '../shapes/texts.ts';
import type { Rewriting } from './rewrite.ts';
import { HeldTooLong, type JsonState, type TextState, type TextStream, textStream } from './text-stream.ts';

/**
 * JSON text that arrives in parts, such as the arguments of a tool call: strings are judged as decoded text and written as JSON again, and so are names of members
 * which aren't plain words; structure passes. A bare number is judged as a whole; a placeholder in its place is written as a string. Text that isn't JSON is judged word by word.
 */
export function jsonStream(
  rewriting: Rewriting,
  { buffers = false, state }: { buffers?: boolean; state?: JsonState | undefined } = {},
): TextStream {
  const places = [...(state?.places ?? [])];
  /** Decoded text of the string that is open; undefined outside of strings. */
  let open: { stream: TextStream | undefined; decoded: string; raw: string } | undefined;
  let { escapeText = '', bare = '', key = '', buffered = '' } = state ?? {};
  const value = (known?: TextState) => textStream(rewriting, { before: `${key}: `, state: known });
  if (state?.open) open = { ...state.open, stream: state.open.stream && value(state.open.stream) };

  const rewriteWhole = (text: string): string => {
    const stream = value();
    return stream.push(text) + stream.flush();
  };
  const endBare = (): string => {
    const word = bare;
    bare = '';
    if (word.length < 6) return word;
    const result = rewriteWhole(word);
    return result === word || /^-?\d+$/.test(result) ? result : JSON.stringify(result);
  };
  const decodedOf = (character: string): string | undefined => {
    escapeText += character;
    if (escapeText === '\\' || (escapeText.startsWith('\\u') && escapeText.length < 6)) return undefined;
    const text = escapeText;
    escapeText = '';
    if (text.startsWith('\\u')) {
      const code = Number.parseInt(text.slice(2), 16);
      return Number.isNaN(code) ? text : String.fromCharCode(code);
    }
    return ESCAPES[text] ?? text;
  };
  const rewrittenName = ({ decoded, raw }: NonNullable<typeof open>): string => {
    if (decoded === '' || FIELD_NAME.test(decoded)) return raw;
    const stream = textStream(rewriting, { before: '' });
    const name = stream.push(decoded) + stream.flush();
    return name === decoded ? raw : escaped(name);
  };
  const inString = (current: NonNullable<typeof open>, character: string): string => {
    if (escapeText !== '' || character === '\\') {
      current.decoded += decodedOf(character) ?? '';
      current.raw += character;
      return '';
    }
    if (character !== '"') {
      current.decoded += character;
      current.raw += character;
      return '';
    }
    open = undefined;
    if (!current.stream) {
      key = current.decoded.slice(-KEY_KEPT);
      return `${rewrittenName(current)}"`;
    }
    return `${escaped(current.stream.push(current.decoded) + current.stream.flush())}"`;
  };
  const outside = (character: string): string => {
    if (!STRUCTURE.test(character)) {
      bare += character;
      if (bare.length > MOST_BARE) throw new HeldTooLong('A value outside of a string is too long.');
      return '';
    }
    const before = endBare();
    if (character === '{') places.push('key');
    else if (character === '[') places.push('element');
    else if (character === '}' || character === ']') places.pop();
    else if (character === ':' && places.at(-1) === 'key') places[places.length - 1] = 'value';
    else if (character === ',' && places.at(-1) === 'value') places[places.length - 1] = 'key';
    if (places.length > MOST_DEPTH) throw new HeldTooLong('The JSON is nested too deeply.');
    if (character === '"') open = { stream: places.at(-1) === 'key' ? undefined : value(), decoded: '', raw: '' };
    return before + character;
  };
  const step = (text: string): string => {
    let result = '';
    for (let i = 0; i < text.length; i++) {
      const character = text[i] as string;
      result += open ? inString(open, character) : outside(character);
    }
    if (open?.stream && open.decoded !== '') {
      result += escaped(open.stream.push(open.decoded));
      open.decoded = '';
      open.raw = '';
    }
    return result;
  };

  return {
    push(text) {
      if (!buffers) return step(text);
      buffered += text;
      if (buffered.length > MOST_BUFFERED) throw new HeldTooLong('Too much text was held back.');
      return '';
    },
    flush() {
      let result = buffered === '' ? '' : step(buffered);
      buffered = '';
      if (open) result += open.stream ? escaped(open.stream.push(open.decoded) + open.stream.flush()) + escapeText : rewrittenName(open);
      else result += endBare();
      open = undefined;
      escapeText = '';
      return result;
    },
    state: () => ({
      places,
      open: open && { ...open, stream: open.stream?.state() as TextState | undefined },
      escapeText,
      bare,
      key,
      buffered,
    }),
    get held() {
      return buffered.length + bare.length + (open ? open.decoded.length + open.raw.length + (open.stream?.held ?? 0) : 0);
    },
  };
}

/** As it stands between the quotes of a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const ESCAPES: Readonly<Record<string, string>> = {
  '\\"': '"',
  '\\\\': '\\',
  '\\/': '/',
  '\\b': '\b',
  '\\f': '\f',
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
};
const STRUCTURE = /[\s{}[\]:,"]/;
const KEY_KEPT = 64;
const MOST_BARE = 8_192;
const MOST_DEPTH = 1_000;
const MOST_BUFFERED = 1024 * 1024;
