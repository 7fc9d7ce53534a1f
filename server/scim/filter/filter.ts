import type { Attribute } from '../schema/attribute.ts';

/**
 * A filter that was understood: every name is known and every value has the type of its attribute. `path` is the name as the schema spells it: of the
 * resource (`userName`, `name.givenName`), or inside `within` of the element (`value`). Plain values of a list are elements with a `value`.
 */
export type Filter =
  | { kind: 'and' | 'or'; parts: readonly Filter[] }
  | { kind: 'not'; part: Filter }
  /** One element of the multi-valued attribute passes `part`. */
  | { kind: 'within'; path: string; part: Filter }
  /** Has a value that isn't empty. */
  | { kind: 'present'; path: string; attribute: Attribute }
  | { kind: 'compare'; path: string; attribute: Attribute; op: Comparison; value: string | boolean | Date };

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];
