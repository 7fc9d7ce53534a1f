import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { isExact, isNumber } from '#server/kernel/lossless-json.ts';
import { charge, DEEPEST, isScalar, must, type Part, type Run, say, TooMuchWork, tried } from './check.ts';
import { matches } from './check-values.ts';
import { isMembers, type Members } from './keywords.ts';

export function checkList(part: Part<readonly unknown[]>): void {
  const { run, value: list, seen } = part;
  const { minItems, maxItems, uniqueItems, prefixItems, items, contains } = part.schema;
  if (isNumber(minItems) && list.length < Number(minItems)) say(part, 'minItems', `must NOT have fewer than ${minItems} items`);
  if (isNumber(maxItems) && list.length > Number(maxItems)) say(part, 'maxItems', `must NOT have more than ${maxItems} items`);
  if (uniqueItems === true && !areUnique(run, list)) say(part, 'uniqueItems', 'must NOT have duplicate items');
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  const end = items === undefined ? Math.min(first.length, list.length) : list.length;
  for (let i = 0; i < end; i++) {
    charge(run, 1);
    if (!must(part, i < first.length ? first[i] : items, list[i], i)) part.good = false;
    seen?.add(i);
  }
  if (contains !== undefined) checkContains(part, contains);
}

function checkContains(part: Part<readonly unknown[]>, contains: unknown): void {
  const { minContains: least = 1, maxContains: most } = part.schema;
  let found = 0;
  for (const [i, item] of part.value.entries()) {
    charge(part.run, 1);
    if (!tried(part, contains, item)) continue;
    found++;
    part.seen?.add(i);
  }
  if (isNumber(least) && found < Number(least)) say(part, 'contains', `must contain at least ${least} valid item(s)`);
  if (isNumber(most) && found > Number(most)) say(part, 'contains', `must contain at most ${most} valid item(s)`);
}

/** Compares texts of the items instead of every pair. */
function areUnique(run: Run, list: readonly unknown[]): boolean {
  chargeWhole(run, list, 0);
  try {
    return new Set(list.map((item) => (typeof item === 'string' ? `"${item}` : canonicalJson(item)))).size === list.length;
  } catch {
    throw new TooMuchWork(); // deeper than a canonical text may be, or half of a character
  }
}

function chargeWhole(run: Run, value: unknown, depth: number): void {
  charge(run, typeof value === 'string' ? 2 + value.length / 16 : isExact(value) ? 6 + value.value.length / 4 : 6);
  if (isScalar(value)) return;
  if (depth > DEEPEST) throw new TooMuchWork();
  if (Array.isArray(value)) for (const item of value) chargeWhole(run, item, depth + 1);
  else
    for (const [key, member] of Object.entries(value as Members)) {
      charge(run, 6 + key.length / 16);
      chargeWhole(run, member, depth + 1);
    }
}

export function checkMembers(part: Part<Members>): void {
  const { run, value, seen } = part;
  const { propertyNames, properties, patternProperties, additionalProperties, minProperties, maxProperties } = part.schema;
  checkRequired(part);
  const counts = minProperties !== undefined || maxProperties !== undefined || propertyNames !== undefined;
  if (counts || patternProperties !== undefined || additionalProperties !== undefined || seen !== null) checkEvery(part);
  else if (isMembers(properties))
    for (const name of Object.keys(properties)) {
      charge(run, 2);
      if (Object.hasOwn(value, name) && !must(part, properties[name], value[name], name)) part.good = false;
    }
}

/** Looks at every member that there is. */
function checkEvery(part: Part<Members>): void {
  const { run, value, seen } = part;
  const { propertyNames, properties, patternProperties, additionalProperties, minProperties, maxProperties } = part.schema;
  const names = Object.keys(value);
  charge(run, 4 * names.length);
  if (isNumber(minProperties) && names.length < Number(minProperties))
    say(part, 'minProperties', `must NOT have fewer than ${minProperties} properties`);
  if (isNumber(maxProperties) && names.length > Number(maxProperties))
    say(part, 'maxProperties', `must NOT have more than ${maxProperties} properties`);
  if (propertyNames !== undefined)
    for (const name of names) if (!tried(part, propertyNames, name)) say(part, 'propertyNames', 'property name must be valid');
  const patterned = isMembers(patternProperties) ? Object.keys(patternProperties) : [];
  const known: [string, unknown][] = [];
  const extra: string[] = [];
  for (const name of names) {
    const before = known.length;
    if (isMembers(properties) && Object.hasOwn(properties, name)) known.push([name, properties[name]]);
    for (const pattern of patterned) if (matches(run, pattern, name)) known.push([name, (patternProperties as Members)[pattern]]);
    const found = known.length > before;
    if (!found) extra.push(name);
    if (found || additionalProperties !== undefined) seen?.add(name);
  }
  if (additionalProperties === false)
    for (const name of extra) say(part, 'additionalProperties', `must NOT have additional properties (${name.slice(0, 100)})`);
  else if (additionalProperties !== undefined) for (const name of extra) known.push([name, additionalProperties]);
  for (const [name, child] of known) if (!must(part, child, value[name], name)) part.good = false;
}

function checkRequired(part: Part<Members>): void {
  const { run, value } = part;
  const { required, dependentRequired } = part.schema;
  if (Array.isArray(required)) {
    charge(run, required.length);
    for (const name of required) if (!Object.hasOwn(value, name)) say(part, 'required', `must have required property '${name}'`);
  }
  if (!isMembers(dependentRequired)) return;
  for (const [name, others] of Object.entries(dependentRequired) as [string, string[]][]) {
    charge(run, 2 + others.length);
    if (!Object.hasOwn(value, name)) continue;
    for (const other of others)
      if (!Object.hasOwn(value, other)) say(part, 'dependentRequired', `must have property ${other} when property ${name} is present`);
  }
}
