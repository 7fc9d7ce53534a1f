import { type AnyNumber, compareNumbers, isMultipleOf, isWhole } from '#server/kernel/decimals.ts';
import { isExact, isNumber, valueText } from '#server/kernel/lossless-json.ts';
import { isSameScalar } from '#server/kernel/number-values.ts';
import { charge, DEEPEST, type Format, isScalar, type Part, type Run, say, TooMuchWork } from './check.ts';
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
  if (type === 'integer') return isNumber(value) && isWhole(value);
  if (type === 'number') return isNumber(value);
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
    scalars = new Set(allowed.filter(isScalar).map((one) => keyOfScalar(run, one)));
    run.of.scalars.set(allowed, scalars);
  }
  return scalars.has(keyOfScalar(run, value));
}

/** Equal scalars have one key, and others another. */
function keyOfScalar(run: Run, value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  if (!isExact(value)) return value;
  charge(run, value.value.length / 4);
  return valueText(value);
}

function same(run: Run, a: unknown, b: unknown, depth: number): boolean {
  charge(run, 2);
  if (isScalar(a) || isScalar(b)) return isSameScalar(a, b);
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
  if (isNumber(minLength) || isNumber(maxLength)) {
    const length = lengthOf(run, text);
    if (isNumber(minLength) && length < Number(minLength)) say(part, 'minLength', `must NOT have fewer than ${minLength} characters`);
    if (isNumber(maxLength) && length > Number(maxLength)) say(part, 'maxLength', `must NOT have more than ${maxLength} characters`);
  }
  if (typeof pattern === 'string' && !matches(run, pattern, text)) say(part, 'pattern', `must match pattern "${pattern.slice(0, 200)}"`);
  if (typeof format === 'string') checkFormat(part, format);
}

function checkFormat(part: Part<string> | Part<AnyNumber>, format: string): void {
  const { run, value } = part;
  const known = run.of.formats.get(format);
  if (known?.of !== (isExact(value) ? 'number' : typeof value)) return;
  charge(run, 4 + String(value).length);
  // A regular expression of a package reads no more than what formats are made for.
  if ((typeof value === 'string' && value.length > LONGEST_FORMATTED) || !isOfFormat(known, value))
    say(part, 'format', `must match format "${format.slice(0, 100)}"`);
}
const LONGEST_FORMATTED = 8_192;

/** The test of a format reads a double: that of a number with a fraction may be whole. */
const isOfFormat = ({ test }: Format, value: string | AnyNumber): boolean =>
  isExact(value) ? test(Number(value) as never) && (test(0.5 as never) || isWhole(value)) : test(value as never);

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

export function checkNumber(part: Part<AnyNumber>): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = part.schema;
  const { run, value } = part;
  const wrong = (keyword: string, message: string) => say(part, keyword, message);
  const compared = (bound: AnyNumber): number => {
    if (typeof value !== 'number' || typeof bound !== 'number') charge(run, COST_OF_DIGITS);
    return compareNumbers(value, bound);
  };
  if (isNumber(minimum) && compared(minimum) < 0) wrong('minimum', `must be >= ${minimum}`);
  if (isNumber(maximum) && compared(maximum) > 0) wrong('maximum', `must be <= ${maximum}`);
  if (isNumber(exclusiveMinimum) && compared(exclusiveMinimum) <= 0) wrong('exclusiveMinimum', `must be > ${exclusiveMinimum}`);
  if (isNumber(exclusiveMaximum) && compared(exclusiveMaximum) >= 0) wrong('exclusiveMaximum', `must be < ${exclusiveMaximum}`);
  if (isNumber(multipleOf)) {
    charge(run, COST_OF_DIVISION);
    if (!isMultipleOf(value, multipleOf)) wrong('multipleOf', `must be multiple of ${multipleOf}`);
  }
  if (typeof format === 'string') checkFormat(part, format);
}

/** Of comparing two numbers that keep their digits, and of dividing numbers, of 400 characters each. */
const COST_OF_DIGITS = 80;
const COST_OF_DIVISION = 200;
