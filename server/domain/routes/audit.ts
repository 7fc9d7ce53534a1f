import { isDeepStrictEqual } from 'node:util';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { baseOf, record } from './answers.ts';
import { CONFIG_FIELDS, effectiveConfig } from './effective.ts';
import type { StoredRoute } from './store.ts';

/** What may be injected never appears in the trail, only that it changed (interface rule 10 §3.1). */
const NAMES_ONLY = new Set([
  'inject_headers_json',
  'inject_query_json',
  'inject_body_json',
  'method_configs',
  'payload_structure',
  'upstream_auth',
]);
const ROUTE_FIELDS = ['name', 'slug', 'enabled', 'collection_id', 'base_environment'] as const;

/** The entry of a route; an update whose only change is `enabled` is an enable or a disable. */
export function routeEntry(
  verb: 'create' | 'update' | 'delete',
  route: StoredRoute,
  before?: StoredRoute,
  details: Record<string, unknown> = {},
): AuditEntry {
  const changes = before ? changesBetween(routeFields(before), routeFields(route)) : [];
  const only = changes.length === 1 && changes[0]?.field === 'enabled';
  return {
    action: verb === 'update' && only ? (route.enabled ? 'enable' : 'disable') : verb,
    resource_type: 'route',
    resource_id: route.id,
    name: route.name,
    ...(before ? { changes } : {}),
    details: { slug: route.slug, ...(before ? { changed: changes.map((c) => c.field) } : {}), ...details },
  };
}

/** The entry of one environment's configuration, where switching it on or off alone is told as such; the resource is the route. */
export function configEntry(
  verb: 'create' | 'update' | 'delete',
  route: StoredRoute,
  environment: string,
  before?: StoredRoute,
): AuditEntry {
  const changes =
    verb === 'delete' ? [] : changesBetween(before ? configFields(before, environment) : {}, configFields(route, environment));
  const only = verb === 'update' && changes.length === 1 && changes[0]?.field === 'enabled';
  return {
    action: only ? (servesIn(route, environment) ? 'enable' : 'disable') : verb,
    resource_type: 'environment_config',
    resource_id: route.id,
    name: route.name,
    ...(verb === 'update' ? { changes } : {}),
    details: { slug: route.slug, environment, changed: changes.map((c) => c.field) },
  };
}

function routeFields(route: StoredRoute): Record<string, unknown> {
  const { enabled: _, overridden_fields: __, ...base } = effectiveConfig(baseOf(route), null);
  const { name, slug, enabled, collection_id, base_environment } = record(route);
  return { name, slug, enabled, collection_id, base_environment, ...base } satisfies Record<(typeof ROUTE_FIELDS)[number], unknown>;
}

/** An override that says nothing of it serves. */
const servesIn = (route: StoredRoute, environment: string): boolean =>
  route.configs.find((c) => c.environment_name === environment)?.enabled !== false;

/** Local fields only: what the environment inherits is not its own change. */
function configFields(route: StoredRoute, environment: string): Record<string, unknown> {
  const config = route.configs.find((c) => c.environment_name === environment);
  if (!config) return {};
  const { overridden_fields, ...settings } = effectiveConfig(baseOf(route), config.is_base ? null : config);
  return Object.fromEntries(CONFIG_FIELDS.filter((f) => overridden_fields.includes(f)).map((f) => [f, settings[f]]));
}

function changesBetween(before: Record<string, unknown>, after: Record<string, unknown>): NonNullable<AuditEntry['changes']> {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields
    .filter((f) => !isDeepStrictEqual(before[f], after[f]))
    .map((field) => (NAMES_ONLY.has(field) ? { field, changed: true as const } : { field, from: before[field], to: after[field] }));
}
