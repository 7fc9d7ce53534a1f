/** Demo data that a family adds to the workspace of `npm run seed`: the export `seed` of its `seed.ts`. */
export type Seed = {
  /** Families whose demo data this one refers to. */
  after?: readonly string[];
  /** Calls operations as a caller would. `ids` are of what was made so far, by a name of the family's choice. */
  run: (make: Make, ids: Record<string, string>) => Promise<void>;
};

/** Runs an operation of this ID. @returns its output */
export type Make = (id: string, input: Record<string, unknown>) => Promise<Record<string, unknown>>;
