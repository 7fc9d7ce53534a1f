import type { ConfigRow } from './effective.ts';
import { effectiveConfig } from './effective.ts';
import type { StoredRoute } from './store.ts';

/** How stored routes read in answers (interface rule 10 §2): effective values, and which of them are local. */
type BaseColumns = Pick<
  ConfigRow,
  | 'environment_name'
  | 'target_base_url'
  | 'requires_clients'
  | 'require_signature'
  | 'rate_limit_enabled'
  | 'rate_limit_requests'
  | 'rate_limit_window_sec'
  | 'allowed_methods'
  | 'http_method_restrictions_enabled'
>;

/** A row of the list: the settings of the base environment that a list shows. */
export function listItem<R extends object>(route: R, base: BaseColumns | undefined, configs: number) {
  return {
    ...route,
    target_base_url: base?.target_base_url ?? null,
    base_environment: base?.environment_name ?? null,
    requires_clients: base?.requires_clients ?? false,
    require_signature: base?.require_signature ?? false,
    rate_limit_enabled: base?.rate_limit_enabled ?? false,
    rate_limit_requests: base?.rate_limit_requests ?? null,
    rate_limit_window_sec: base?.rate_limit_window_sec ?? null,
    allowed_methods: base?.http_method_restrictions_enabled ? (base.allowed_methods ?? null) : null,
    environment_override_count: Math.max(configs - 1, 0),
  };
}

/** What creating and changing answer with. */
export function record(route: StoredRoute) {
  const base = baseOf(route);
  const { target_base_url, requires_clients, mtls_certificate_id } = effectiveConfig(base, null);
  return {
    ...route,
    target_base_url,
    base_environment: base.environment_name,
    requires_clients,
    mtls_certificate_id,
    egress_server_id: null,
  };
}

/** One route with every environment it serves (interface rule 10 §3). */
export function detail(route: StoredRoute) {
  const base = baseOf(route);
  const { enabled: _, ...settings } = effectiveConfig(base, null);
  return {
    ...route,
    ...settings,
    ...reserved,
    base_environment: base.environment_name,
    environment_override_count: route.configs.length - 1,
    configured_environments: route.configs.map((c) => c.environment_name),
    environments: environments(route),
  };
}

/** Every environment of the route, the base first. */
export const environments = (route: StoredRoute) => route.configs.map((config) => fullConfig(route, config));

/** One environment as it is in effect: what it does not say itself it has from the base. */
export function fullConfig(route: StoredRoute, config: StoredRoute['configs'][number]) {
  const settings = effectiveConfig(baseOf(route), config.is_base ? null : config);
  const { id, route_id, environment_name, created_at, updated_at } = config;
  return { id, route_id, environment_name, ...settings, ...reserved, created_at, updated_at };
}

/** Every route has exactly one base configuration; a route without is a fault of ours. */
export function baseOf<C extends { is_base: boolean }>(route: { configs: readonly C[] }): C {
  const base = route.configs.find((c) => c.is_base);
  if (!base) throw new Error('a route has no base configuration');
  return base;
}

/** Always empty: kept so that callers written for older answers find them. */
const reserved = { injection_rules: [], data_plane_node_id: null, egress_server_id: null };
