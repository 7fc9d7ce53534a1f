import type { ConfigRow } from '#server/domain/routes/effective.ts';
import { compileRoute, type RouteRow } from './compile-route.ts';
import { compileFieldActions, type FieldActionRow } from './field-actions.ts';
import type { Route } from './model.ts';
import { promotedRoutes } from './promoted-routes.ts';
import { defineSlice, OF_SPACE } from './slice.ts';

type AssignmentRow = { route_id: string; environment_id: string; client_id: string };
type Rows = { routes: RouteRow[]; configs: ConfigRow[]; assignments: AssignmentRow[]; field_actions: FieldActionRow[] };

export const routes = defineSlice({
  name: 'routes',
  tables: ['routes', 'route_environment_configs', 'route_client_assignments', 'route_field_actions'],
  queries: {
    routes: `select tenant_id, sandbox, id, name, slug, enabled, collection_id, base_environment_id, managed_by is not null as managed from routes where ${OF_SPACE}`,
    // inject_body_json stays text so that no number loses a digit, and is parsed when its route is first called.
    configs: `select tenant_id, sandbox, id, route_id, environment_id, environment_name, is_base, enabled, target_base_url, inject_headers_json,
      inject_body_json #>> '{}' as inject_body_json, inject_query_json, require_signature, signature_tolerance_sec, signature_require_nonce, signature_scheme,
      rate_limit_enabled, rate_limit_requests, rate_limit_window_sec, rate_limit_burst, rate_limit_per_client, allowed_methods,
      http_method_restrictions_enabled, method_configs, use_method_specific_configs, requires_clients, mtls_certificate_id, upstream_ca_certificate_id,
      ip_allowlist, intercept_enabled, timeout_ms, retry_attempts, circuit_breaker_failures, circuit_breaker_open_sec, upstream_protocol, body_placeholders, forward_client_ip, log_payloads,
      upstream_auth, overridden_fields
    from route_environment_configs where ${OF_SPACE}`,
    assignments: `select tenant_id, sandbox, route_id, environment_id, client_id from route_client_assignments where ${OF_SPACE}`,
    field_actions: `select tenant_id, sandbox, id, route_id, direction, action, location, selectors, key_name, data_role, content_type, mode, mask,
      signature_header, signature_member
    from route_field_actions where ${OF_SPACE} and enabled order by route_id, sort_order, created_at, id`,
  },
  compile(rows: Rows, egress) {
    const configs = Map.groupBy(rows.configs, (row) => row.route_id);
    const assigned = new Map<string, Set<string>>();
    for (const row of rows.assignments) {
      const pair = `${row.route_id} ${row.environment_id}`;
      const clients = assigned.get(pair) ?? new Set<string>();
      assigned.set(pair, clients.add(row.client_id));
    }
    const actions = Map.groupBy(rows.field_actions, (row) => row.route_id);
    const byId = new Map<string, Route>();
    const bySlug = new Map<string, Route>();
    const byName = new Map<string, Route>();
    for (const row of rows.routes) {
      const own = actions.get(row.id);
      const route = compileRoute(
        row,
        configs.get(row.id) ?? [],
        (environment) => assigned.get(`${row.id} ${environment}`) ?? NONE,
        egress,
        // Compiled at the first call, like the rest of a route.
        own && (() => compileFieldActions(own)),
      );
      byId.set(row.id, route);
      byName.set(row.name, route);
      if (row.slug !== null) bySlug.set(row.slug, route);
    }
    return {
      /** By id, else exact slug, else exact name (interface rule 12 §3). */
      route: (reference: string): Route | undefined =>
        UUID.test(reference) ? byId.get(reference.toLowerCase()) : (bySlug.get(reference) ?? byName.get(reference)),
      /** The slug of the route with interception that covers a host and path in an environment, or null (interface rule 33 §5.2). */
      promotedRoute: promotedRoutes(rows.routes, configs, egress),
    };
  },
  size: (rows) => rows.routes.length,
});

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const NONE: ReadonlySet<string> = new Set();
