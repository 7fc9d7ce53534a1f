import { PROVIDERS } from '#server/ai/providers/catalogue.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import type { AiAgentConfig } from '../../snapshot/ai-config.ts';
import type { Environment, Route } from '../../snapshot/model.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';
import type { AiCall } from '../ai-call.ts';

/** A route that can serve the call. */
export type Candidate = {
  readonly route: Route;
  readonly environment: Environment;
  /** ID of the catalogue; `custom` for a route that nothing is known of. */
  readonly provider: string;
  /** The model that is called where the call's own is of another provider; null when the route has none. */
  readonly defaultModel: string | null;
  /** Null when it is only known once variables are filled in. */
  readonly host: string | null;
};

/** The agent's primary route and its fallbacks, in the order of the catalogue of the agent; those that are gone or disabled are left out. */
export function candidatesOf({ snapshot, state }: AiCall): Candidate[] {
  const agent = state.backup ?? state.agent;
  if (!agent) return [];
  return (state.backup ? routesOf(agent).slice(0, 1) : routesOf(agent)).flatMap((id) => {
    const route = snapshot.route(id);
    if (!route?.enabled) return [];
    const environment = route.environment(route.baseEnvironment);
    if (!environment?.enabled) return [];
    const host = hostOf(environment);
    return [
      {
        ...{ route, environment, host, provider: providerOf(snapshot, agent, id, host) },
        defaultModel: snapshot.ai.composedFor.get(id)?.default_model ?? null,
      },
    ];
  });
}

/** The provider whose models the agent's calls name: that of its primary route, whatever is tried first. */
export function homeProvider({ snapshot, state }: AiCall): string {
  const agent = state.backup ?? state.agent;
  const [id] = agent ? routesOf(agent) : [];
  const route = id === undefined ? undefined : snapshot.route(id);
  const environment = route?.environment(route.baseEnvironment);
  return agent && id !== undefined
    ? providerOf(snapshot, agent, id, environment ? hostOf(environment) : null)
    : (agent?.provider ?? 'custom');
}

/** What a route speaks: what its agent was made for; then what its host shows; a route that nothing is known of speaks as its agent's own. */
const providerOf = ({ ai }: SpaceSnapshot, agent: AiAgentConfig, routeId: string, host: string | null): string =>
  (routeId === agent.primary_route_id ? agent.provider : null) ??
  ai.composedFor.get(routeId)?.provider ??
  providerAt(host) ??
  agent.provider ??
  'custom';

function hostOf(environment: Environment): string | null {
  const { target } = environment.config('POST');
  return target.kind === 'fixed' ? target.target.host : null;
}

const routesOf = ({ primary_route_id, fallback_route_ids }: AiAgentConfig): string[] =>
  primary_route_id === null ? fallback_route_ids : [primary_route_id, ...fallback_route_ids];

const byHost: ReadonlyMap<string, string> = new Map(
  PROVIDERS.flatMap(({ id, origin }) => (origin === null ? [] : [[new URL(origin).hostname, id] as const])),
);

/** The provider that a host belongs to, by its address. */
function providerAt(host: string | null): string | undefined {
  if (host === null) return undefined;
  const known = byHost.get(host);
  if (known !== undefined) return known;
  if (/^bedrock-runtime(?:-fips)?\./.test(host)) return 'bedrock';
  if (/(?:^|-)aiplatform\.googleapis\.com$/.test(host)) return 'vertex';
  return /\.(?:openai\.azure\.com|cognitive\.microsoft\.com|cognitiveservices\.azure\.com)$/.test(host) ? 'azure-openai' : undefined;
}

/** In the order in which they are tried: with weights one of them is drawn first, and the others follow by weight (interface rule 50 §5.4). */
export function inOrder(candidates: readonly Candidate[], weights: Readonly<Record<string, number>>): Candidate[] {
  const weightOf = ({ route }: Candidate) => weights[route.id] ?? 0;
  const weighted = candidates.filter((one) => weightOf(one) > 0);
  if (weighted.length === 0) return [...candidates];
  const total = weighted.reduce((sum, one) => sum + weightOf(one), 0);
  let at = (randomBuffer(4).readUInt32BE() / 2 ** 32) * total;
  const drawn = weighted.findIndex((one) => {
    at -= weightOf(one);
    return at < 0;
  });
  const first = weighted[Math.max(0, drawn)] as Candidate;
  const rest = candidates.filter((one) => one !== first);
  return [first, ...rest.sort((a, b) => weightOf(b) - weightOf(a))];
}
