import { type ApiField, kindOf, type Schema, withoutNull } from '#components/explorer/document.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { nearest } from './commands.ts';

export type Meant = { value: unknown } | { problem: string };

/** What the words after a flag mean by the field's schema. Only the kind is looked at: bounds and patterns are the service's to judge. */
export function parseValue({ schema: given }: ApiField, texts: readonly string[]): Meant {
  const { schema, nullable } = withoutNull(given);
  const kind = kindOf(given);
  const [text = '', ...more] = texts;
  if (nullable && more.length === 0 && text === 'null') return { value: null };
  if (kind === 'words') return words(texts);
  if (more.length > 0) return { problem: 'is given twice but takes one value' };
  switch (kind) {
    case 'number':
      return number(schema, text);
    case 'flag':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { problem: 'must be true or false' };
    case 'choice':
      return choice(schema, text);
    case 'json':
      return json(text);
    default:
      return { value: text };
  }
}

/** Once for each, or with commas between, or as a JSON array. */
function words(texts: readonly string[]): Meant {
  const all: unknown[] = [];
  for (const text of texts) {
    if (!text.startsWith('[')) {
      all.push(
        ...text
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean),
      );
      continue;
    }
    const meant = json(text);
    if ('problem' in meant) return meant;
    all.push(...(meant.value as unknown[]));
  }
  return { value: all };
}

function number(schema: Schema, text: string): Meant {
  const isWhole = schema.type !== 'number' && !schema.anyOf?.some((one) => one.type === 'number');
  const value = /^-?\d+(?:\.\d+)?(?:e\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (isWhole ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return { problem: `must be a ${isWhole ? 'whole ' : ''}number` };
  return { value };
}

function choice(schema: Schema, text: string): Meant {
  const choices = (schema.enum ?? []).map(String);
  const at = choices.indexOf(text);
  if (at !== -1) return { value: schema.enum?.[at] };
  const meant = nearest(text, choices);
  return { problem: `must be ${oneOf(choices)}${meant ? `; did you mean ${meant}?` : ''}` };
}

function json(text: string): Meant {
  try {
    return { value: parseExact(text) };
  } catch {
    return { problem: `must be JSON in single quotes, such as '{"a": 1}'` };
  }
}

const oneOf = (choices: readonly string[]) =>
  choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;

/** What a field takes, in a word or two, for help: `number`, `a, b or c`, `text, several`. */
export function takes(given: Schema): string {
  const { schema, nullable } = withoutNull(given);
  const words = {
    text: schema.format === 'date-time' ? 'time' : 'text',
    secret: 'prompted, hidden',
    number: 'number',
    flag: 'true or false',
    choice: oneOf((schema.enum ?? []).map(String)),
    words: 'text, several',
    json: schema.type === 'null' ? 'null' : schema.type === 'array' ? 'JSON array' : 'JSON',
  }[kindOf(given)];
  return nullable ? `${words}, or null` : words;
}
