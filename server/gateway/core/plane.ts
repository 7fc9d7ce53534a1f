import type { IncomingMessage } from 'node:http';
import type { Space } from '#server/kernel/context.ts';
import type { Call } from './call.ts';
import type { ResponseHead } from './gateway-response.ts';
import type { PlaneMatch } from './hosts.ts';
import type { LoggedPlane, LogSubject } from './log/logged-plane.ts';
import type { Refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';

/** What a phase returns when it has answered the call itself. */
export const ANSWERED = Symbol('answered');

/** Nothing to continue; a refusal, by a code that the plane knows how to write, or ANSWERED, to stop. */
export type PhaseResult = Refused<string> | typeof ANSWERED | undefined;

/** One step of a call. A phase that returns a promise although everything is in memory costs every call a turn of the event loop. */
export type Phase<State = unknown> = (call: Call<State>, runtime: Runtime) => PhaseResult | Promise<PhaseResult>;

export type RefusalAnswer = { status: number; head: ResponseHead; body: string };

/** A request before it is a call. */
export type Arrival<State = unknown> = {
  readonly req: IncomingMessage;
  readonly match: PlaneMatch;
  readonly proto: 'http' | 'https';
  readonly sourceAddress: string;
  readonly requestId: string;
  readonly state: State;
};
/** `target` and `host` replace those of the request, where its own hold a credential. */
export type Identified =
  | { readonly tenantId: string; readonly space: Space; readonly target?: string; readonly host?: string }
  | { readonly refusal: Refused };

type Hooks<State> = {
  /** In metrics and spans. */
  readonly name: string;
  /** The value of `X-Svc-Plane`; the name if absent. */
  readonly shownAs?: string;
  /** Whether the plane serves this host and path. The first of the gateway's planes that does is taken. */
  matches(match: PlaneMatch): boolean;
  /** False: its calls are in no log. */
  readonly logged?: boolean;
  /** What the phases note of a call besides what every call has. Always the same literal, so that the engine sees a single shape. */
  newState(): State;
  /** Of the codes of its own phases, and of those that the core refuses by. */
  refusalAnswer(call: Call<State>, refusal: Refused<string>): RefusalAnswer;
  logSubject(call: Call<State>): LogSubject;
  /**
   * The workspace and space of a call whose address names none, by its credential; or why there is none. With it a plane serves the API host by itself. Everything
   * else about the credential is judged by its phases.
   */
  identify?(arrival: Arrival<State>, runtime: Runtime): Promise<Identified>;
  /** `WWW-Authenticate`, without an error, where no workspace is named: on the API host. The realm alone if absent. */
  challenge?(space: Space, target: string): string;
  /**
   * Whether a call that is still open would be admitted by the newest snapshot. A plane without it has no WebSockets. A rejection says nothing.
   */
  stands?(call: Call<State>, runtime: Runtime): boolean | Promise<boolean>;
  /** Called once when the call is over, before it is logged, however it ended. Must not throw. */
  ended?(call: Call<State>): void;
};

/** A plane: the list of phases its calls go through before they are forwarded, how it writes a refusal, and what it logs. */
export type PlaneDefinition<State> = Hooks<State> & {
  /** By name, in their order: with several faults the first phase answers. The one named `limit` counts a call against the plan. */
  readonly phases: Readonly<Record<string, Phase<State>>>;
};

/** A plane as the core sees it, which doesn't know what is in its state. */
export type Plane = Hooks<unknown> & LoggedPlane & { readonly shownAs: string; readonly phases: readonly Phase[] };

export function definePlane<State>(definition: PlaneDefinition<State>): Plane {
  const phaseNames = Object.keys(definition.phases);
  const limit = phaseNames.indexOf('limit');
  // Its functions only get calls that were made with its own newState.
  const hooks = definition as unknown as Hooks<unknown>;
  const phases = Object.values(definition.phases) as readonly unknown[] as readonly Phase[];
  return { ...hooks, shownAs: hooks.shownAs ?? hooks.name, phases, phaseNames, limitPhase: limit < 0 ? phaseNames.length : limit };
}
