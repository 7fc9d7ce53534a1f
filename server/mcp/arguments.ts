import { type Fault, type Prepared, TooMuchWork } from '#server/ai/schema/check.ts';
import { preparedSchema } from '#server/ai/schema/prepared.ts';
import { faultsOf } from '#server/ai/schema/run.ts';
import { InvalidSchema } from '#server/ai/schema/shape.ts';

// Arguments against the schema of their tool. Schemas come from upstreams and arguments from callers, so neither may cost more than it should: what is no
// schema, is too large for one, or would take too much work is left to the upstream, which checks anyway.

/** What is wrong with an argument; never its value. */
export type ArgumentFault = Readonly<Fault>;

const prepared = new WeakMap<object, Promise<Prepared | null>>();

/** The first faults, none for good arguments; null when they were not checked. */
export async function argumentFaults(schema: Readonly<Record<string, unknown>>, args: unknown): Promise<ArgumentFault[] | null> {
  let found = prepared.get(schema);
  if (found === undefined) {
    // Formats are hints to whoever fills a tool's arguments in, and patterns of other engines are left to the upstream.
    found = preparedSchema(schema, { strict: false, formats: new Map() }).catch(unusable);
    prepared.set(schema, found);
    // What failed is tried again.
    found.catch(() => prepared.delete(schema));
  }
  const ready = await found;
  if (ready === null) return null;
  try {
    return faultsOf(ready, args).map((fault) => ({ ...fault, path: fault.path === '' ? '/' : fault.path }));
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

function unusable(error: unknown): null {
  if (error instanceof InvalidSchema) return null;
  throw error;
}
