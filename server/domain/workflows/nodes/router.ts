import { routesOf } from '../structure.shared.ts';
import { isTrue } from './condition.ts';
import { type NodeKind, succeeded } from './node-call.ts';

/** Leaves by the first route that matches, or by all of them; by `default` when none does. */
export const router: NodeKind = (call) => {
  const routes = routesOf(call.node);
  const holds = (route: Record<string, unknown>) => isTrue(call, route);
  const found = call.config.match === 'all' ? routes.filter(holds) : routes.filter(holds).slice(0, 1);
  const matched = found.map(({ id }) => id);
  return succeeded({ matched }, matched.length > 0 ? matched : ['default']);
};
