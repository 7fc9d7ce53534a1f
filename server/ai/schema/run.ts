import { type AnyNumber, NumberTooLong } from '#server/kernel/decimals.ts';
import { isNumber } from '#server/kernel/lossless-json.ts';
import { asSameDoubles } from '#server/kernel/number-values.ts';
import {
  add,
  charge,
  enter,
  type Fault,
  type Found,
  MOST_FAULTS,
  MOST_WORK,
  must,
  type Part,
  type Place,
  type Prepared,
  pointer,
  type Run,
  type Seen,
  say,
} from './check.ts';
import { checkList, checkMembers } from './check-members.ts';
import { checkNumber, checkText, checkValue } from './check-values.ts';
import { isMembers, type Members } from './keywords.ts';

/** The first faults of a value, none when it fits. A number that is too long to be compared exactly is one. @throws TooMuchWork */
export function faultsOf(of: Prepared, value: unknown): Fault[] {
  const found: Found[] = [];
  try {
    fits({ of, left: MOST_WORK, depth: 0, fits }, of.root, asSameDoubles(value), null, found, null);
  } catch (error) {
    if (error instanceof NumberTooLong) return [{ path: '', keyword: 'number', message: error.message }];
    throw error;
  }
  return found.map(({ place, keyword, message }) => ({ path: pointer(place), keyword, message }));
}

/** Whether the value fits. Up to five faults are added; null asks for none. */
function fits(run: Run, schema: unknown, value: unknown, place: Place, faults: Found[] | null, seenAbove: Seen | null): boolean {
  if (!isMembers(schema)) {
    if (schema === false) add(faults, place, 'false schema', 'is not allowed');
    return schema !== false;
  }
  enter(run);
  const counts = seenAbove !== null || schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined;
  const part: Part = { run, schema, value, place, faults, seen: counts ? new Set() : null, good: true };
  checkValue(part);
  if (typeof value === 'string') checkText(part as Part<string>);
  else if (isNumber(value)) checkNumber(part as Part<AnyNumber>);
  else if (Array.isArray(value)) checkList(part as Part<unknown[]>);
  else if (isMembers(value)) checkMembers(part as Part<Members>);
  checkInPlace(part);
  if (part.seen && part.good) checkUnevaluated(part, part.seen);
  run.depth--;
  if (part.good && seenAbove && part.seen) {
    charge(run, part.seen.size);
    for (const one of part.seen) seenAbove.add(one);
  }
  return part.good;
}

/** Schemas that look at the same value. */
function checkInPlace(part: Part): void {
  const { run, schema, value } = part;
  const { $ref, $dynamicRef, allOf, anyOf, oneOf, not, if: condition, dependentSchemas } = schema;
  if (typeof $ref === 'string') mustHere(part, run.of.targets.get($ref));
  // Within one schema a dynamic reference leads where an ordinary one does.
  if (typeof $dynamicRef === 'string') mustHere(part, run.of.targets.get($dynamicRef));
  if (Array.isArray(allOf)) for (const child of allOf) mustHere(part, child);
  if (Array.isArray(anyOf)) checkBranches(part, 'anyOf', anyOf);
  if (Array.isArray(oneOf)) checkBranches(part, 'oneOf', oneOf);
  if (not !== undefined && run.fits(run, not, value, null, null, null)) say(part, 'not', 'must NOT be valid');
  if (condition !== undefined) {
    const next = here(part, condition, null) ? schema.then : schema.else;
    if (next !== undefined) mustHere(part, next);
  }
  if (isMembers(dependentSchemas) && isMembers(value))
    for (const [name, child] of Object.entries(dependentSchemas)) {
      charge(run, 4);
      if (Object.hasOwn(value, name)) mustHere(part, child);
    }
}

const here = ({ run, value, place, seen }: Part, child: unknown, faults: Found[] | null): boolean =>
  run.fits(run, child, value, place, faults, seen);

function mustHere(part: Part, child: unknown): void {
  if (!here(part, child, part.faults)) part.good = false;
}

function checkBranches(part: Part, keyword: 'anyOf' | 'oneOf', branches: readonly unknown[]): void {
  const found: Found[] | null = part.faults && [];
  let fitting = 0;
  for (const child of branches) {
    if (here(part, child, found)) fitting++;
    // All count where what they look at is counted.
    if (fitting === (keyword === 'anyOf' ? 1 : 2) && (keyword === 'oneOf' || part.seen === null)) break;
  }
  if (fitting === 1 || (fitting > 1 && keyword === 'anyOf')) return;
  // Why no branch fits says more than that none does.
  if (fitting === 0) for (const fault of found ?? []) if (part.faults && part.faults.length < MOST_FAULTS) part.faults.push(fault);
  say(part, keyword, keyword === 'anyOf' ? 'must match a schema in anyOf' : 'must match exactly one schema in oneOf');
}

function checkUnevaluated(part: Part, seen: Seen): void {
  const { run, schema, value } = part;
  const list = Array.isArray(value);
  const child = list ? schema.unevaluatedItems : schema.unevaluatedProperties;
  if (child === undefined || typeof value !== 'object' || value === null) return;
  for (const key of list ? value.keys() : Object.keys(value)) {
    charge(run, 1);
    if (seen.has(key)) continue;
    seen.add(key);
    if (child === false)
      say(part, list ? 'unevaluatedItems' : 'unevaluatedProperties', `must NOT have unevaluated ${list ? 'items' : 'properties'}`);
    else if (!must(part, child, (value as Members)[key], key)) part.good = false;
  }
}
