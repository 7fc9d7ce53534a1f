import { operations } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { PersonSample } from './test-person.ts';

/** A valid input of an operation in a fresh workspace; what it needs to exist is made first, by operations as a caller would. */
export type Sample = (ctx: Ctx) => Promise<Record<string, unknown>>;

/** What the derived suites need to know about a family beyond its descriptor: the exports of its `samples.fixture.ts`. */
export type Fixture = {
  samples: Record<string, Sample>;
  /** The same for operations of a person; `testedElsewhere` says where those without a sample are, and `unaudited` why a change leaves no entry. */
  personSamples?: Record<string, PersonSample>;
  testedElsewhere?: Record<string, string>;
  unaudited?: Record<string, string>;
  /** Inputs that a member confirms, of operations whose `step_up` depends on the input. */
  confirmedSamples?: Record<string, Sample>;
  /** Inputs with every field that fills templates, of operations that have such fields. */
  templated?: Record<string, Sample>;
  /** Operations that ask for a person, beyond a capability. */
  peopleOnly?: readonly string[];
  /** Operations that the gateway of the node carries out. */
  needsGateway?: readonly string[];
  /** Messages of refusals that the schema of one request cannot foresee, because they depend on what exists or on several members at once. */
  dependsOnState?: readonly RegExp[];
  /** Its resources belong to the workspace and are the same in both spaces. */
  ofWorkspace?: boolean;
  /** Operations whose path names what every space may have of its own, such as a model: the same path is another thing in another space. */
  byName?: readonly string[];
  /** PATCH operations without `edits`: those that overwrite nothing anybody could have edited meanwhile. */
  unguardedEdits?: readonly string[];
  /** Fields that are marked secret or shown once, by operation. Marks drive redaction, the document and how a stored answer is sealed. */
  /** The plaintext in the answer of a reveal, which must be nowhere else. */
  // biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
  revealed?: Record<string, (output: any) => string[]>;
  secretInput?: Record<string, readonly string[]>;
  shownOnce?: Record<string, readonly string[]>;
};

let counter = 0;
/** A name nobody used yet in this process. */
export const fresh = (word: string) => `${word}-${process.pid}-${++counter}`;

export const operationById = (id: string): AnyOperation => {
  const op = operations.find((o) => o.id === id);
  if (!op) throw new Error(`no operation ${id}`);
  return op;
};

/** Runs an operation for its output. */
// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
export const made = async (ctx: Ctx, id: string, input: Record<string, unknown> = {}): Promise<any> =>
  (await perform(operationById(id), ctx, input)).output;

/** The sample of an operation without required input. */
export const nothing: Sample = async () => ({});
/** The ID of what an operation makes. */
export const idOf =
  (id: string, input: Sample): Sample =>
  async (ctx) => ({ id: (await made(ctx, id, await input(ctx))).id });
