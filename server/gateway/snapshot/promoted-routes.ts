import { type ConfigRow, effectiveConfig } from '#server/domain/routes/effective.ts';
import { byPrecedence, coversPath, type Intercepted, interceptedTarget } from '#server/domain/routes/intercept.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import type { RouteRow } from './compile-route.ts';
import type { Variable } from './model.ts';

export type FindVariable = (collection: string | null, key: string, collectionId: string | null) => Variable | undefined;
type Promoted = Intercepted & { readonly slug: string };
type ByHost = ReadonlyMap<string, readonly Promoted[]>;

/**
 * Finds the slug of the route that an SDK with the intercept manifest would send a call through (interface rule 34 §2, §4), or null. An environment is
 * read at its first call, and again when variables have changed.
 */
export function promotedRoutes(routes: readonly RouteRow[], configs: ReadonlyMap<string, readonly ConfigRow[]>, egress: EgressSettings) {
  const eligible = routes.filter(
    (route) => route.enabled && !route.managed && route.slug !== null && configs.get(route.id)?.some((config) => config.intercept_enabled),
  );
  // Callers name environments as they like: only those that are served are kept.
  const served = new Set(eligible.flatMap((route) => configs.get(route.id) ?? []).map((config) => config.environment_name));
  const read = new Map<string, { variable: FindVariable; hosts: ByHost }>();
  const hostsIn = (environment: string, variable: FindVariable): ByHost => {
    const known = read.get(environment);
    if (known?.variable === variable) return known.hosts;
    const promoted = eligible.flatMap((route) => promotedIn(environment, route, configs.get(route.id) ?? [], variable, egress) ?? []);
    const hosts = Map.groupBy(promoted.sort(byPrecedence), ({ host }) => host);
    read.set(environment, { variable, hosts });
    return hosts;
  };
  return (environment: string, host: string, path: string, variable: FindVariable): string | null =>
    served.has(environment)
      ? (hostsIn(environment, variable)
          .get(host)
          ?.find(({ base_path }) => coversPath(base_path, path))?.slug ?? null)
      : null;
}

function promotedIn(
  environment: string,
  route: RouteRow,
  configs: readonly ConfigRow[],
  variable: FindVariable,
  egress: EgressSettings,
): Promoted | undefined {
  const base = configs.find((config) => config.is_base);
  const here = configs.find((config) => config.environment_name === environment);
  if (!base || !here) return undefined;
  const effective = effectiveConfig(base, here === base ? null : here);
  if (!effective.enabled || !effective.intercept_enabled) return undefined;
  const value = (collection: string | null, key: string) => {
    const found = variable(collection, key, route.collection_id);
    return found?.type === 'value' ? found.value : undefined;
  };
  const target = interceptedTarget(effective.target_base_url, value, egress);
  return target && { ...target, slug: route.slug as string };
}
