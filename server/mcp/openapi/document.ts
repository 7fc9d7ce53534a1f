import { isExact, isNumber } from '#server/kernel/lossless-json.ts';

/** A part of an API description: data of strangers, of any shape. */
export type Json = Record<string, unknown>;

export const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value) ? (value as Json) : {};
/** A number counts as its text: YAML has them where a version or a name isn't quoted. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : isNumber(value) ? String(value) : '');

/** What a reference within the document (`#/components/…`) names; anything else, other documents above all, reads as empty. */
export function pointed(document: Json, ref: string): unknown {
  if (!ref.startsWith('#/') || ref.length > 1_000) return {};
  return ref
    .slice(2)
    .split('/')
    .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, step) => (Object.hasOwn(object(at), step) ? object(at)[step] : undefined), document);
}

/** The value itself, or what its reference leads to in a few steps. */
export function resolved(document: Json, value: unknown): Json {
  let at = object(value);
  for (let step = 0; step < 5 && typeof at.$ref === 'string'; step++) at = object(pointed(document, at.$ref));
  return at;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
