import type { Attribute, ResourceType } from '../schema/attribute.ts';
import type { ScimObject } from '../schema/read.ts';
import { resolve } from '../schema/resolve.ts';

/** Which attributes a call wants to see (RFC 7644 §3.9): by name `true`, or the names of its parts. */
export type Selection = { attributes: Chosen | null; excluded: Chosen };
type Chosen = ReadonlyMap<string, true | ReadonlySet<string>>;

/** The query parameters `attributes` and `excludedAttributes`; names of nothing choose nothing. */
export function selectionOf(query: URLSearchParams, type: ResourceType): Selection {
  const attributes = query.get('attributes');
  return {
    attributes: attributes === null || attributes.trim() === '' ? null : chosen(attributes, type),
    excluded: chosen(query.get('excludedAttributes') ?? '', type),
  };
}

function chosen(list: string, type: ResourceType): Chosen {
  const found = new Map<string, true | Set<string>>();
  for (const name of list.split(',')) {
    const { attribute, sub } = resolve(type, name.trim()) ?? {};
    if (!attribute) continue;
    const before = found.get(attribute.name);
    if (!sub || !attribute.subAttributes) found.set(attribute.name, true);
    else if (before !== true) found.set(attribute.name, new Set([...(before ?? []), sub.name]));
  }
  return found;
}

/** The resource as the call wants to see it. What the schema always returns, and a secret that is shown this once, is there whatever was asked. */
export function project(resource: ScimObject, { attributes, excluded }: Selection, type: ResourceType): ScimObject {
  const all = [...type.common, ...type.schema.attributes];
  const shown = Object.entries(resource).flatMap(([name, value]): [string, unknown][] => {
    const attribute = all.find((one) => one.name === name);
    if (!attribute || attribute.returned === 'never') return [];
    if (attribute.returned === 'always' || attribute.returned === 'request') return [[name, value]];
    const kept = attributes === null ? value : keep(value, attributes.get(name));
    const left = kept === undefined ? undefined : leave(kept, excluded.get(name), attribute);
    return left === undefined ? [] : [[name, left]];
  });
  return Object.fromEntries(shown);
}

function keep(value: unknown, wanted: true | ReadonlySet<string> | undefined): unknown {
  if (wanted === undefined) return undefined;
  return wanted === true ? value : withParts(value, (name) => wanted.has(name));
}

function leave(value: unknown, unwanted: true | ReadonlySet<string> | undefined, { subAttributes }: Attribute): unknown {
  if (unwanted === undefined) return value;
  return unwanted === true || !subAttributes ? undefined : withParts(value, (name) => !unwanted.has(name));
}

function withParts(value: unknown, passes: (name: string) => boolean): unknown {
  if (Array.isArray(value)) {
    const elements = value.map((element) => withParts(element, passes)).filter((element) => element !== undefined);
    return elements.length > 0 ? elements : undefined;
  }
  const parts = Object.entries(value as ScimObject).filter(([name]) => passes(name));
  return parts.length > 0 ? Object.fromEntries(parts) : undefined;
}
