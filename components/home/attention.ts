export type TopRoute = { route_id: string | null; name: string | null; count: number; errors: number };

/** Routes of which a quarter of at least five calls failed: fewer calls say little. */
export const failingRoutes = (routes: readonly TopRoute[]): TopRoute[] =>
  routes.filter((route) => route.route_id !== null && route.name !== null && route.count >= 5 && route.errors / route.count >= 0.25);

type Limit<K> = { key: K; limit: number | null; used: number | null };

/** Limits of which four fifths are used, the fullest first. What is not counted has no share. */
export const fullLimits = <K>(limits: readonly Limit<K>[]): { key: K; used: number; limit: number }[] =>
  limits
    .flatMap(({ key, limit, used }) => (limit !== null && used !== null && limit > 0 && used / limit >= 0.8 ? [{ key, used, limit }] : []))
    .sort((a, b) => b.used / b.limit - a.used / a.limit);
