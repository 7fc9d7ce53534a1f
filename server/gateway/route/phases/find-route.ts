import type { Call } from '../../core/call.ts';
import { type Refused, refused } from '../../core/refusal.ts';

/** Step 5: route, environment and settings of this method. What is missing is kept for after the admission (interface rule 12 §4). */
export function findRoute(call: Call): undefined {
  call.lookupFault = lookUp(call) ?? null;
}

function lookUp(call: Call): Refused | undefined {
  if (call.reference === null)
    return refused('route_required', 'Route missing. Put its slug in the first path segment or in the X-Svc-Route header.');
  const route = call.snapshot.route(call.reference);
  // A disabled route is answered as one that was never there.
  if (!route?.enabled) return refused('route_not_found', 'No enabled route matches this slug.');
  call.route = route;
  const name = call.environmentHeader || route.baseEnvironment;
  call.environmentName = name;
  const environment = route.environment(name);
  if (!environment)
    return refused('environment_not_configured', `The route ${route.name} has no configuration for the environment ${name.slice(0, 64)}.`);
  if (!environment.enabled) return refused('environment_disabled', `The route ${route.name} is disabled in the environment ${name}.`);
  call.environment = environment;
  call.config = environment.config(call.method);
  return undefined;
}
