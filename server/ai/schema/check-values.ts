import { charge, DEEPEST, isScalar, type Part, type Run, say, TooMuchWork } from './check.ts';
import { isMembers, type Members } from './keywords.ts';

export function checkValue(part: Part): void {
  const { run, schema, value } = part;
  const { type, enum: allowed, const: only } = schema;
  // OpenAPI's `nullable`, as many schemas have it, adds null to the type and to nothing else.
  const nullable = schema.nullable === true && value === null;
  if (type !== undefined && !nullable && !(Array.isArray(type) ? type.some((one) => isOf(one, value)) : isOf(type, value)))
    say(part, 'type', `must be ${Array.isArray(type) ? type.join(',') : type}`);
  if (only !== undefined && !same(run, only, value, 0)) say(part, 'const', 'must be equal to constant');
  if (Array.isArray(allowed) && !isListed(run, allowed, value)) say(part, 'enum', 'must be equal to one of the allowed values');
}

function isOf(type: unknown, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isMembers(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function isListed(run: Run, allowed: readonly unknown[], value: unknown): boolean {
  if (!isScalar(value))
    return allowed.some((one) => {
      charge(run, 1);
      return !isScalar(one) && same(run, one, value, 0);
    });
  let scalars = run.of.scalars.get(allowed);
  if (scalars === undefined) {
    scalars = new Set(allowed.filter(isScalar));
    run.of.scalars.set(allowed, scalars);
  }
  return scalars.has(value);
}

function same(run: Run, a: unknown, b: unknown, depth: number): boolean {
  charge(run, 2);
  if (isScalar(a) || isScalar(b)) return a === b;
  if (depth > DEEPEST) throw new TooMuchWork();
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Members, b as Members];
  const keys = Object.keys(left);
  charge(run, keys.length);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && same(run, left[key], right[key], depth + 1))
  );
}

export function checkText(part: Part<string>): void {
  const { run, schema, value: text } = part;
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    const length = lengthOf(run, text);
    if (typeof minLength === 'number' && length < minLength) say(part, 'minLength', `must NOT have fewer than ${minLength} characters`);
    if (typeof maxLength === 'number' && length > maxLength) say(part, 'maxLength', `must NOT have more than ${maxLength} characters`);
  }
  if (typeof pattern === 'string' && !matches(run, pattern, text)) say(part, 'pattern', `must match pattern "${pattern.slice(0, 200)}"`);
  if (typeof format === 'string') checkFormat(part, format);
}

function checkFormat(part: Part<string> | Part<number>, format: string): void {
  const { run, value } = part;
  const known = run.of.formats.get(format);
  if (known?.of !== typeof value) return;
  charge(run, 4 + String(value).length);
  // A regular expression of a package reads no more than what formats are made for.
  if ((typeof value === 'string' && value.length > LONGEST_FORMATTED) || !known.test(value as never))
    say(part, 'format', `must match format "${format.slice(0, 100)}"`);
}
const LONGEST_FORMATTED = 8_192;

/** Characters as code points. */
function lengthOf(run: Run, text: string): number {
  charge(run, text.length / 16);
  let length = text.length;
  for (let i = 0; i < text.length - 1; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--;
      i++;
    }
  return length;
}

/**
 * A small program costs some units a character. A large one can cost a hundred times that where its states are new at every character, so it reads texts that
 * take 15 ms at worst, and what it took is charged.
 */
export function matches(run: Run, pattern: string, text: string): boolean {
  const found = run.of.patterns.get(pattern);
  if (!found) return true;
  charge(run, 20 + text.length * COST_OF_CHARACTER);
  if (found.size <= SMALL) return found.test(text);
  if (text.length * Math.max(WORST, found.size * WORST_OF_INSTRUCTION) > MOST_OF_A_MATCH) throw new TooMuchWork();
  const before = usedUnits();
  const answer = found.test(text);
  charge(run, usedUnits() - before);
  return answer;
}

const COST_OF_CHARACTER = 8;
/** Instructions. */
const SMALL = 16;
const WORST = 240;
const WORST_OF_INSTRUCTION = 1.2;
const MOST_OF_A_MATCH = 600_000;

/** Processor time of this thread in units. */
function usedUnits(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) * UNITS_OF_MICROSECOND;
}
const UNITS_OF_MICROSECOND = 40;

export function checkNumber(part: Part<number>): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = part.schema;
  const { value } = part;
  const wrong = (keyword: string, message: string) => say(part, keyword, message);
  if (typeof minimum === 'number' && value < minimum) wrong('minimum', `must be >= ${minimum}`);
  if (typeof maximum === 'number' && value > maximum) wrong('maximum', `must be <= ${maximum}`);
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) wrong('exclusiveMinimum', `must be > ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) wrong('exclusiveMaximum', `must be < ${exclusiveMaximum}`);
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf)) wrong('multipleOf', `must be multiple of ${multipleOf}`);
  if (typeof format === 'string') checkFormat(part, format);
}
