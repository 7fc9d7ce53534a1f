import type { Call } from './call.ts';
import type { ResponseHead } from './gateway-response.ts';
import type { PlaneMatch } from './hosts.ts';
import type { LoggedPlane, LogSubject } from './log/logged-plane.ts';
import type { Refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';

/** What a phase returns when it has answered the call itself. */
export const ANSWERED = Symbol('answered');

/** Nothing to continue; a refusal, or ANSWERED, to stop. */
export type PhaseResult = Refused | typeof ANSWERED | undefined;

/** One step of a call. A phase that returns a promise although everything is in memory costs every call a turn of the event loop. */
export type Phase<State = unknown> = (call: Call<State>, runtime: Runtime) => PhaseResult | Promise<PhaseResult>;

export type RefusalAnswer = { status: number; head: ResponseHead; body: string };

type Hooks<State> = {
  /** The value of `X-Svc-Plane`. */
  readonly name: string;
  /** Whether the plane serves this host and path. The first of the gateway's planes that does is taken. */
  matches(match: PlaneMatch): boolean;
  /** False: its calls are in no log. */
  readonly logged?: boolean;
  /** What the phases note of a call besides what every call has. Always the same literal, so that the engine sees a single shape. */
  newState(): State;
  refusalAnswer(call: Call<State>, refusal: Refused): RefusalAnswer;
  logSubject(call: Call<State>): LogSubject;
};

/** A plane: the list of phases its calls go through before they are forwarded, how it writes a refusal, and what it logs. */
export type PlaneDefinition<State> = Hooks<State> & {
  /** By name, in their order: with several faults the first phase answers. The one named `limit` counts a call against the plan. */
  readonly phases: Readonly<Record<string, Phase<State>>>;
};

/** A plane as the core sees it, which doesn't know what is in its state. */
export type Plane = Hooks<unknown> & LoggedPlane & { readonly phases: readonly Phase[] };

export function definePlane<State>(definition: PlaneDefinition<State>): Plane {
  const phaseNames = Object.keys(definition.phases);
  const limit = phaseNames.indexOf('limit');
  // Its functions only get calls that were made with its own newState.
  const hooks = definition as unknown as Hooks<unknown>;
  const phases = Object.values(definition.phases) as readonly unknown[] as readonly Phase[];
  return { ...hooks, phases, phaseNames, limitPhase: limit < 0 ? phaseNames.length : limit };
}
