import { routesOf } from '../structure.shared.ts';
import { isTrue } from './condition.ts';
import { type NodeKind, succeeded } from './node-call.ts';

/** Leaves by the first route that matches, or by all of them; by `default` when none does. */
export const router: NodeKind = async (call) => {
  const matched: string[] = [];
  for (const route of routesOf(call.node)) if (await isTrue(call, route)) matched.push(route.id);
  if (call.config.match !== 'all') matched.splice(1);
  return succeeded({ matched }, matched.length > 0 ? matched : ['default']);
};
