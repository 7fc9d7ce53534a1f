import type { Verdict } from '#server/platform/counters.ts';
import type { Call } from '../call.ts';
import type { LoggedPlane, Proxied } from './logged-plane.ts';
import { sameNames } from './same-names.ts';

type Phases = Pick<LoggedPlane, 'phaseNames' | 'limitPhase'>;
type Left = { limit: number; remaining: number };

/** What the inspector shows of a call besides its row (interface rule 13 §2). */
export type Trace = {
  /** In the plane's order, as far as the call came. */
  phases_ms: Readonly<Record<string, number>>;
  latency_phase: Call['phase'];
  request_headers: readonly string[];
  response_headers: readonly string[];
  limits: Partial<Record<'route' | 'tenant' | 'monthly', Left>>;
  /** Of a call to a host that its caller named. */
  proxied?: Proxied;
};

/** The trace of a call that has just ended: the row's JSON, and whether the call came past the limits. */
export type TraceText = { readonly text: string; readonly pastLimits: boolean };

/** Milliseconds each phase took, to the microsecond. */
export const phasesOf = ({ phaseTimings }: Pick<Call, 'phaseTimings'>, { phaseNames }: Phases): Record<string, number> =>
  Object.fromEntries(phaseTimings.map((_, phase) => [phaseNames[phase], microseconds(phaseTimings, phase) / 1_000]));

export function limitsOf({ routeVerdict: route, tenantVerdict: tenant, monthly }: Limited): Record<string, Left> {
  const left = ({ limit, remaining }: Left): Left => ({ limit, remaining });
  return { ...(route && { route: left(route) }), ...(tenant && { tenant: left(tenant) }), ...(monthly && { monthly: left(monthly) }) };
}

/** Whether the call came past the limits, so that the plan's counter took it. A row that waited on the disk may be of a release without phases. */
export const cameToLimits = (trace: Trace | TraceText | null): boolean =>
  trace !== null && ('text' in trace ? trace.pastLimits : trace.phases_ms?.limit !== undefined);

/** The trace of a call as JSON, at less than half of what `JSON.stringify` costs: every name in it is a token (RFC 9110 §5.6.2), in which nothing needs escaping. */
export function traceText(call: Traced, { phaseNames, limitPhase }: Phases, proxied?: Proxied): TraceText {
  const { phaseTimings, phase } = call;
  let phases = '';
  for (let i = 0; i < phaseTimings.length; i++)
    phases += `${i === 0 ? '' : ','}"${phaseNames[i]}":${millisecondsText(microseconds(phaseTimings, i))}`;
  const text =
    `{"phases_ms":{${phases}},"latency_phase":"${phase}","request_headers":${namesText(call.names)},` +
    `"response_headers":${namesText(call.responseHeaders ?? [])},"limits":{${limitsText(call)}}${proxied ? `,"proxied":${JSON.stringify(proxied)}` : ''}}`;
  return { text, pastLimits: phaseTimings.length > limitPhase };
}

type Limited = { routeVerdict: Pick<Verdict, keyof Left> | null; tenantVerdict: Pick<Verdict, keyof Left> | null; monthly: Left | null };
export type Traced = Limited & Pick<Call, 'phaseTimings' | 'phase' | 'names' | 'responseHeaders'>;

const microseconds = (phaseTimings: readonly number[], phase: number): number =>
  Math.round(((phaseTimings[phase] ?? 0) - (phase === 0 ? 0 : (phaseTimings[phase - 1] ?? 0))) * 1_000);

/** Up to a millisecond every number of microseconds, written: the engine finds the shortest digits of each fraction anew. */
const BELOW_A_MILLISECOND = Array.from({ length: 1_000 }, (_, us) => String(us / 1_000));
const millisecondsText = (us: number): string => BELOW_A_MILLISECOND[us] ?? String(us / 1_000);

function limitsText({ routeVerdict, tenantVerdict, monthly }: Limited): string {
  let limits = '';
  if (routeVerdict) limits = `"route":${leftText(routeVerdict)}`;
  if (tenantVerdict) limits += `${limits === '' ? '' : ','}"tenant":${leftText(tenantVerdict)}`;
  if (monthly) limits += `${limits === '' ? '' : ','}"monthly":${leftText(monthly)}`;
  return limits;
}
const leftText = ({ limit, remaining }: Left) => `{"limit":${limit},"remaining":${remaining}}`;

/** The list of so many names that came last, with its text: neighbours mostly have the same names, and joining them is most of what a trace costs. */
const last: { names: readonly string[]; text: string }[] = [];
const MOST_KEPT = 4 * 1024;

function namesText(names: readonly string[]): string {
  const before = last[names.length];
  if (before && sameNames(before.names, names)) return before.text;
  const text = names.length === 0 ? '[]' : `["${names.map(shortened).join('","')}"]`;
  if (text.length <= MOST_KEPT) last[names.length] = { names, text };
  return text;
}

/** Of a header's name as much as tells it from the others. */
const MAX_NAME = 128;
const shortened = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name);
