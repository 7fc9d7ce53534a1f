import { PROVIDERS } from '#server/ai/providers/catalogue.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import type { AiAgentConfig } from '../../snapshot/ai-config.ts';
import type { Environment, Route } from '../../snapshot/model.ts';
import type { AiCall } from '../ai-call.ts';

/** A route that can serve the call. */
export type Candidate = {
  readonly route: Route;
  readonly environment: Environment;
  /** ID of the catalogue; `custom` for a route that nothing is known of. */
  readonly provider: string;
  /** Null when it is only known once variables are filled in. */
  readonly host: string | null;
};

/** The agent's primary route and its fallbacks, in the order of the catalogue of the agent; those that are gone or disabled are left out. */
export function candidatesOf({ snapshot, state }: AiCall): Candidate[] {
  const agent = state.backup ?? state.agent;
  if (!agent) return [];
  return (state.backup ? routesOf(agent).slice(0, 1) : routesOf(agent)).flatMap((id, i) => {
    const route = snapshot.route(id);
    if (!route?.enabled) return [];
    const environment = route.environment(route.baseEnvironment);
    if (!environment?.enabled) return [];
    const { target } = environment.config('POST');
    const host = target.kind === 'fixed' ? target.target.host : null;
    const own = id === agent.primary_route_id || host === null;
    const provider = (i === 0 && own ? agent.provider : null) ?? providerAt(host) ?? agent.provider ?? 'custom';
    return [{ route, environment, provider, host }];
  });
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
