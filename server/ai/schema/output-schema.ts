import { parseExactSteps } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { atOnce } from '#server/kernel/slices.ts';
import { type Fault, MOST_WORK, TooMuchWork } from './check.ts';
import { FORMATS } from './formats.ts';
import { preparedSchema } from './prepared.ts';
import { faultsOf } from './run.ts';

/** Where a value doesn't fit: a JSON pointer, the keyword that says so, and why in words; never a value. */
export type SchemaFault = Fault;

export type OutputSchema = {
  /** What doesn't fit of an assistant's text, at most five; empty when it fits. One fenced block of JSON is taken out of its fence. */
  faults: (text: string) => SchemaFault[];
};

/** Prepares a JSON Schema (2020-12) of a workspace. Every check has a bound on its work, being over which is the fault `work`. @throws InvalidSchema */
export async function outputSchema(schema: object): Promise<OutputSchema> {
  const prepared = await preparedSchema(schema, { strict: true, formats: FORMATS });
  return {
    faults(text) {
      const json = unfenced(text);
      if (json.length > LONGEST_ANSWER)
        return [{ path: '', keyword: 'size', message: `must have at most ${grouped(LONGEST_ANSWER)} characters as JSON` }];
      let value: unknown;
      try {
        value = atOnce(parseExactSteps(json, MOST_EXACT));
      } catch (error) {
        if (error instanceof RangeError) return [{ path: '', keyword: 'work', message: TOO_EXACT }];
        return [{ path: '', keyword: 'json', message: 'must be JSON' }];
      }
      try {
        return faultsOf(prepared, value).map((fault) => ({
          ...fault,
          path: fault.path.slice(0, 200),
          message: fault.message.slice(0, 300),
        }));
      } catch (error) {
        if (error instanceof TooMuchWork) return [{ path: '', keyword: 'work', message: TOO_COSTLY }];
        throw error;
      }
    },
  };
}

const TOO_COSTLY = `checking it takes more than ${grouped(MOST_WORK)} steps. Send a smaller value, or use a simpler schema: fewer branches, references and patterns`;

/** Numbers that a double would write differently, which take longer to read. */
const MOST_EXACT = 10_000;
const TOO_EXACT = `it has more than ${grouped(MOST_EXACT)} numbers such as 1.10 or 7615917337495251231, which a double would write differently. Send a smaller value, or such numbers as strings`;

/** One JSON value, as models like to wrap it. */
function unfenced(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 7) return trimmed;
  const body = trimmed.slice(3, -3);
  return body.includes('```') ? trimmed : body.replace(/^json\b/i, '');
}

const LONGEST_ANSWER = 256 * 1024;
