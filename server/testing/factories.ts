import { operations } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { PersonSample } from './test-person.ts';

/** A valid input of an operation in a fresh workspace; what it needs to exist is made first, by operations as a caller would. */
export type Sample = (ctx: Ctx) => Promise<Record<string, unknown>>;

export type Loosening = {
  rules: Readonly<Record<string, unknown>>;
  of: Sample;
  pairs: Readonly<Record<string, { strict: Record<string, unknown>; loose: Record<string, unknown> }>>;
};

/** What the derived suites need to know about a family beyond its descriptor: the exports of its `samples.fixture.ts`. */
export type Fixture = {
  samples: Record<string, Sample>;
  /** The same for operations of a person; `testedElsewhere` says where those without a sample are, and `unaudited` why a change leaves no entry. */
  personSamples?: Record<string, PersonSample>;
  testedElsewhere?: Record<string, string>;
  unaudited?: Record<string, string>;
  /** Inputs that a member confirms, of operations whose `step_up` depends on the input; for a verb that asks for several scopes, by operation and scope. */
  confirmedSamples?: Record<string, Sample>;
  /** Operations whose confirmed sample is refused in Test; for a verb that asks for several scopes, by operation and scope. */
  onlyInLive?: readonly string[];
  /** Operations with `step_up`, also by operation and scope, that no access token of a person gets done with that input, and the refusal: the confirmed login doesn't help. */
  neverByLogin?: Record<string, string>;
  /** Inputs of operations that may ask and don't for these: they grant nothing guarded, narrow, or tighten. */
  freeSamples?: Record<string, Sample>;
  /** Why an operation whose input names a role, scope, capability, field action, mode or step grants nothing that people reach only by confirming. */
  grantless?: Record<string, string>;
  /** For edits that ask before they loosen: the rules of the verb, what is edited, and a strict and a loose value for each rule that isn't harmless. */
  loosening?: Record<string, Loosening>;
  /** For all other edits: every field, none of which protects anything. */
  harmless?: Record<string, readonly string[]>;
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
  /** For each operation with `moves`: edits of things that have a stored credential. */
  moving?: Record<string, Moving>;
  /** Fields with an address that no stored credential follows, as `webhooks.update url`, and why. */
  movesNothing?: Record<string, string>;
};

/** `edits` changes one field each, nothing else; `again` gives the credential anew. */
export type Moving = { edits: Record<string, Sample>; again?: Record<string, unknown> };

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
