import { fold } from '#server/kernel/fold.ts';
import { grouped } from '#server/kernel/numbers.ts';
import type { Filter } from '../filter/filter.ts';
import { matches } from '../filter/matches.ts';
import { badRequest } from '../problem.ts';
import type { Attribute } from '../schema/attribute.ts';
import { hasValue, MOST_VALUES, readList, readValue, type ScimObject } from '../schema/read.ts';
import type { Op } from './path.ts';

type Fold = (text: string) => string;
type Target = { attribute: Attribute; sub?: Attribute | undefined; filter?: Filter | undefined; folded: Fold };
/** A value of a list; plain texts are elements with a `value`. */
type Element = ScimObject;

/** Applies an operation to a multi-valued attribute, to the elements that a value filter selects, or to a part of these. */
export function changeList(resource: ScimObject, op: Op, target: Target, value: unknown): void {
  const { attribute } = target;
  const before = ((resource[attribute.name] as unknown[] | undefined) ?? []).map(elementOf);
  const touched = new Set<Element>();
  const changed =
    target.filter || target.sub ? changeElements(before, op, target, value, touched) : changeWhole(before, op, target, value, touched);
  const after = onePrimary(changed.filter(hasValue), touched, attribute.name);
  if (after.length > MOST_VALUES) throw badRequest('invalidValue', `${attribute.name} has at most ${grouped(MOST_VALUES)} values.`);
  if (after.length === 0) delete resource[attribute.name];
  else resource[attribute.name] = attribute.subAttributes ? after : [...new Set(after.map((element) => element.value))];
}

const elementOf = (value: unknown): Element => (typeof value === 'object' && value !== null ? { ...value } : { value });

/** Adds values, replaces all of them, or removes all or the given ones. */
function changeWhole(before: Element[], op: Op, { attribute, folded }: Target, value: unknown, touched: Set<Element>): Element[] {
  const none = value === null || value === undefined;
  if (op === 'remove' && none) return [];
  const read = none ? [] : (readList(attribute, Array.isArray(value) ? value : [value], attribute.name) ?? []);
  const given = read.map(elementOf);
  const isSame = sameness(attribute, folded);
  if (op === 'remove') return before.filter((element) => !given.some((one) => isSame(one, element)));
  for (const element of given) touched.add(element);
  if (op === 'replace') return given;
  const after = [...before];
  for (const element of given) {
    const same = after.findIndex((one) => isSame(element, one));
    if (same === -1) after.push(element);
    else if (attribute.subAttributes) touched.add(Object.assign(after[same] as Element, element));
  }
  return after;
}

/** The same value, and the same type where one is given. */
function sameness({ caseExact }: Attribute, folded: Fold): (given: Element, element: Element) => boolean {
  const comparable = (text: unknown) => (caseExact ? text : folded(String(text ?? '')));
  return (given, element) =>
    comparable(given.value) === comparable(element.value) &&
    (given.type === undefined || folded(String(given.type)) === folded(String(element.type ?? '')));
}

/** Each text is folded once: a hundred elements are compared with each other, and with every filter of a PATCH. */
export function rememberingFold(): Fold {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text) ?? fold(text);
    known.set(text, found);
    return found;
  };
}

function changeElements(
  before: Element[],
  op: Op,
  { attribute, sub, filter, folded }: Target,
  value: unknown,
  touched: Set<Element>,
): Element[] {
  const selected = filter ? before.filter((element) => matches(filter, element, folded)) : before;
  const place = `${attribute.name}${sub ? `.${sub.name}` : ''}`;
  if (selected.length === 0) {
    const created = op === 'remove' ? undefined : createdBy(filter, sub, value, place);
    if (created) return [...before, created];
    throw badRequest('noTarget', `No value of ${attribute.name} is selected by the path.`);
  }
  if (sub) {
    for (const element of selected) {
      const read = op === 'remove' ? undefined : readValue(sub, value, place);
      if (read === undefined) delete element[sub.name];
      else touched.add(Object.assign(element, { [sub.name]: read }));
    }
    return before;
  }
  if (op === 'remove') return before.filter((element) => !selected.includes(element));
  const [given] = (readList(attribute, [value], place) ?? []).map(elementOf);
  if (!given && op === 'replace') throw badRequest('invalidValue', `${place} needs a value.`);
  return before.map((element) => {
    if (!selected.includes(element)) return element;
    const result = op === 'replace' ? { ...given } : { ...element, ...given };
    touched.add(result);
    return result;
  });
}

/** Entra ID sets `emails[type eq "work"].value` of a person who has no such email yet: it is created (interface rule 23 §6.4). */
function createdBy(filter: Filter | undefined, sub: Attribute | undefined, value: unknown, place: string): Element | undefined {
  if (filter?.kind !== 'compare' || filter.path !== 'type' || filter.op !== 'eq' || sub?.name !== 'value') return undefined;
  const read = readValue(sub, value, place);
  return read === undefined ? undefined : { value: read, type: filter.value };
}

/** A value that becomes primary takes that from the one that was. @throws ScimProblem invalidValue when several become primary */
function onePrimary(elements: Element[], touched: ReadonlySet<Element>, name: string): Element[] {
  const primary = elements.filter((element) => element.primary === true);
  if (primary.length < 2) return elements;
  const chosen = primary.filter((element) => touched.has(element));
  if (chosen.length !== 1) throw badRequest('invalidValue', `At most one of ${name} is primary.`);
  return elements.map((element) => (element.primary === true && element !== chosen[0] ? { ...element, primary: false } : element));
}
