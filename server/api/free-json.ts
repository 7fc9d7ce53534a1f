import type { z } from 'zod';
import { BODY_SHAPE, tooDeep } from '#server/kernel/bounded-text.ts';
import { invalid } from '#server/kernel/errors.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';

// Where an input takes any JSON, numbers keep their digits and names are data. Everywhere else a number is a double, and names that reach prototypes are
// refused; at the root they are unknown fields like any other (interface rule 01 §9).

type Place = 'free' | { members: ReadonlyMap<string, Place>; rest: Place | undefined };

const PROTOTYPE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * The fields of an operation as its schema takes them, changed in place. Members that the row reads as text (`body.source`), and all of a row with
 * `body.lossless`, stay as they are.
 * @throws Refusal validation_error for what no stored JSON may have, and when a value is nested too deep
 */
export function asFields(op: Pick<AnyOperation, 'input' | 'body'>, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  const place = placeOf(op.input);
  for (const name of Object.keys(fields)) {
    if (!PROTOTYPE_NAMES.has(name) && !op.body?.lossless && !op.body?.source?.includes(name))
      fields[name] = settled(fields[name], inside(place, name), name, BODY_SHAPE.levels - 1);
  }
  return fields;
}

function settled(value: unknown, place: Place | undefined, field: string, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof LosslessNumber) {
    if (place !== 'free') return asDouble(value, field);
    if (!Number.isFinite(Number(value))) throw invalid(field, 'must not have a number beyond ±1.79e308. Send it as a string');
    return value;
  }
  if (levels === 0) throw tooDeep(BODY_SHAPE.levels);
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if (place === 'free' ? name === '__proto__' : PROTOTYPE_NAMES.has(name))
      throw invalid(field, `must not have a member named ${name}. Give it another name`);
    if (typeof members[name] === 'object') members[name] = settled(members[name], inside(place, name), field, levels - 1);
  }
  return value;
}

/** A double that is 0 for a number that isn't would be another setting: 0 often means none. */
function asDouble(number: LosslessNumber, field: string): number {
  const double = Number(number);
  if (double === 0 && /^-?[0.]*[1-9]/.test(number.value)) throw invalid(field, 'must not be a number so small that it is kept as 0');
  return double;
}

const inside = (place: Place | undefined, name: string): Place | undefined =>
  place === 'free' ? place : (place?.members.get(name) ?? place?.rest);

/** A schema never changes, and every call asks. */
const known = new WeakMap<z.ZodType, { place: Place | undefined }>();

function placeOf(schema: z.ZodType): Place | undefined {
  const found = known.get(schema) ?? { place: readPlace(schema) };
  known.set(schema, found);
  return found.place;
}

/** What the walk reads of a definition. */
type Def = {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
};

function readPlace(schema: z.ZodType): Place | undefined {
  const def = schema._zod.def as unknown as Def;
  if (def.innerType) return placeOf(def.innerType);
  if (def.type === 'unknown' || def.type === 'any') return 'free';
  if (def.type === 'pipe') return placeOf((def.in?._zod.def.type === 'transform' ? def.out : def.in) as z.ZodType);
  if (def.options) return def.options.map(placeOf).reduce(either, undefined);
  if (def.element) return holding([], placeOf(def.element));
  if (def.valueType) {
    const rest = placeOf(def.valueType);
    return rest === 'free' ? rest : holding([], rest);
  }
  return def.shape && holding(Object.entries(def.shape), undefined);
}

function holding(fields: readonly [string, z.ZodType][], rest: Place | undefined): Place | undefined {
  const members = new Map(fields.flatMap(([name, field]): [string, Place][] => withPlace(name, placeOf(field))));
  return members.size > 0 || rest !== undefined ? { members, rest } : undefined;
}

const withPlace = (name: string, place: Place | undefined): [string, Place][] => (place === undefined ? [] : [[name, place]]);

/** The place of a value that takes one of two forms. */
function either(a: Place | undefined, b: Place | undefined): Place | undefined {
  if (a === undefined || b === undefined || a === 'free' || b === 'free') return a === 'free' || b === 'free' ? 'free' : (a ?? b);
  const names = new Set([...a.members.keys(), ...b.members.keys()]);
  const members = new Map([...names].flatMap((name) => withPlace(name, either(a.members.get(name), b.members.get(name)))));
  return { members, rest: either(a.rest, b.rest) };
}
