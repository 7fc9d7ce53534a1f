import { type Refused, refused } from '../../core/refusal.ts';
import type { RouteCall } from '../route-call.ts';

/** Step 5: route, environment and settings of this method. What is missing is kept for after the admission (interface rule 12 §4). */
export function findRoute(call: RouteCall): undefined {
  call.state.lookupFault = lookUp(call) ?? null;
}

function lookUp(call: RouteCall): Refused | undefined {
  const { state } = call;
  if (state.reference === null)
    return refused('route_required', 'Route missing. Put its slug in the first path segment or in the X-Svc-Route header.');
  const route = call.snapshot.route(state.reference);
  // A disabled route is answered as one that was never there. So is one that serves an AI agent: nobody passes its budget and its controls by.
  if (!route?.enabled || route.managed) return refused('route_not_found', 'No enabled route matches this slug.');
  state.route = route;
  const name = state.environmentHeader || route.baseEnvironment;
  state.environmentName = name;
  const environment = route.environment(name);
  if (!environment)
    return refused('environment_not_configured', `The route ${route.name} has no configuration for the environment ${name.slice(0, 64)}.`);
  if (!environment.enabled) return refused('environment_disabled', `The route ${route.name} is disabled in the environment ${name}.`);
  state.environment = environment;
  state.config = environment.config(call.method);
  call.forwarding = state.config;
  return undefined;
}
