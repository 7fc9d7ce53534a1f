import type { Reference } from '#server/domain/templates/grammar.ts';

/** Values found for one call. Dropped with it. */
export type Resolution = {
  readonly configuration: Map<Reference, string>;
  readonly caller: Map<Reference, string>;
  placeholders: number;
  /** Secret name -> value, for redaction. */
  readonly secrets: Map<string, string>;
  /**
   * Those of them that the workspace may use and not see, with what was made of them: no answer shows their values (interface rule 30 §7.4). All of them
   * with `hidesAll`, for a call whose answer is stored.
   */
  readonly useOnly: Map<string, string>;
  readonly hidesAll: boolean;
  /** What is shown of a test request in place of the values; null for every other call. */
  readonly shown: { configuration: Map<Reference, string>; caller: Map<Reference, string> } | null;
};
export const newResolution = (test: boolean, hidesAll = false): Resolution => ({
  configuration: new Map(),
  caller: new Map(),
  placeholders: 0,
  secrets: new Map(),
  useOnly: new Map(),
  hidesAll,
  shown: test ? { configuration: new Map(), caller: new Map() } : null,
});
