// What a run with deaths in it has recorded, and what must hold of it afterwards whatever died when. Each check answers one sentence per violation. Times are
// milliseconds of one clock; pure.

export type Span = { from: number; to: number };

/** One life of a gateway, Valkey or PostgreSQL: from when it answers to when it was killed, or to the end. */
export type Life = Span & { killed: boolean };

export type Call = Span & {
  id: string;
  gateway: number;
  route: string;
  /** Of the answer, or what went wrong without one. */
  status: number | string;
  requestId: string;
  /** The version of the route's configuration in each of the two places that a change changes at once, as the upstream saw them. */
  seen?: readonly [path: number, header: number];
  /** What the answer told of the route's limit. */
  limit?: { most: number; remaining: number };
};

/** A change of a route's configuration to `version`; `to` when it was acknowledged, or undefined when it never was. */
export type Change = { route: string; version: number; from: number; to?: number };

/** Calls that failed although nothing of their gateway's had died, was paused or was starting meanwhile. */
export function unexplainedFailures(calls: readonly Call[], outages: ReadonlyMap<number, readonly Span[]>): string[] {
  return calls
    .filter(({ status }) => status !== 200 && status !== 429)
    .filter((call) => !(outages.get(call.gateway) ?? []).some((outage) => overlap(call, outage)))
    .map((call) => `call ${call.id} through gateway ${call.gateway} failed with ${call.status}, and nothing had happened to it`);
}

/** A call uses the old or the new configuration whole, one that somebody has asked for, and on one gateway never an older one than the call before. */
export function brokenVersions(calls: readonly Call[], changes: readonly Change[], lives: ReadonlyMap<number, readonly Life[]>): string[] {
  const problems: string[] = [];
  const asked = new Map(changes.map((change) => [`${change.route} ${change.version}`, change]));
  const routes = new Set(changes.map(({ route }) => route));
  const seen = calls.filter((call) => call.seen && call.status === 200 && routes.has(call.route));
  for (const call of seen) {
    const [path, header] = call.seen as readonly [number, number];
    if (path !== header) problems.push(`call ${call.id} was torn between version ${path} and ${header} of ${call.route}`);
    const change = asked.get(`${call.route} ${path}`);
    if (!change || change.from > call.to)
      problems.push(`call ${call.id} used version ${path} of ${call.route}, which nobody had asked for`);
  }
  for (const [gateway, its] of lives)
    for (const life of its)
      for (const route of new Set(seen.map((call) => call.route))) {
        const mine = seen.filter((call) => call.gateway === gateway && call.route === route && within(call, life));
        let [newest, of] = [0, ''];
        let next = 0;
        const ended = mine.toSorted((a, b) => a.to - b.to);
        for (const call of mine.toSorted((a, b) => a.from - b.from)) {
          for (let one = ended[next]; one && one.to < call.from; one = ended[++next])
            if ((one.seen?.[0] ?? 0) > newest) [newest, of] = [one.seen?.[0] ?? 0, one.id];
          const version = call.seen?.[0] ?? 0;
          if (version < newest) problems.push(`call ${call.id} went back to version ${version} of ${route} after ${of} had used ${newest}`);
        }
      }
  return problems;
}

/** Within one life of the store, what it decided gave no place of a limit twice and no more places than there are; what a gateway decided alone, by its share, neither. */
export function brokenLimits(
  calls: readonly Call[],
  route: string,
  most: number,
  share: number,
  store: readonly Life[],
  lives: ReadonlyMap<number, readonly Life[]>,
): string[] {
  const problems: string[] = [];
  const admitted = calls.filter((call) => call.route === route && call.status === 200);
  for (const call of admitted)
    if (call.limit?.most !== most && call.limit?.most !== share)
      problems.push(`call ${call.id} was admitted by a limit of ${call.limit?.most}`);
  const judge = (these: readonly Call[], places: number, who: string) => {
    const told = new Set(these.map((call) => call.limit?.remaining));
    if (told.size < these.length) problems.push(`${who} gave ${these.length - told.size} places of ${route} twice`);
    if (these.length > places) problems.push(`${who} gave ${these.length} places of ${route}, and there are ${places}`);
  };
  for (const [i, life] of store.entries())
    judge(
      admitted.filter((call) => call.limit?.most === most && within(call, life)),
      most,
      `life ${i} of the store`,
    );
  for (const [gateway, its] of lives)
    for (const life of its)
      judge(
        admitted.filter((call) => call.limit?.most === share && call.gateway === gateway && within(call, life)),
        share,
        `gateway ${gateway} by itself`,
      );
  return problems;
}

/** Once a gateway has refused a revoked key, no later call of the same life is let in by it; and no call is that began long after the revocation. */
export function admittedRevoked(
  calls: readonly Call[],
  revokedAt: number,
  withinMs: number,
  lives: ReadonlyMap<number, readonly Life[]>,
): string[] {
  const problems: string[] = [];
  for (const call of calls)
    if (call.status === 200 && call.from > revokedAt + withinMs)
      problems.push(`call ${call.id} was let in ${Math.round(call.from - revokedAt)} ms after its key was revoked`);
  for (const [gateway, its] of lives)
    for (const life of its) {
      const mine = calls.filter((call) => call.gateway === gateway && within(call, life) && call.from > revokedAt);
      const refused = mine.find((call) => call.status === 401);
      const back = refused && mine.find((call) => call.status === 200 && call.from > refused.to);
      if (back) problems.push(`call ${back.id} was let in by gateway ${gateway} after it had refused the key`);
    }
  return problems;
}

export type Row = { id: string; name: string };

/** Every acknowledged write is there, under the ID it was acknowledged with; none took effect twice; each has one audit entry, and no entry is without its row. */
export function brokenWrites(
  acknowledged: ReadonlyMap<string, string>,
  begun: ReadonlySet<string>,
  rows: readonly Row[],
  audited: readonly string[],
): string[] {
  const problems: string[] = [];
  const byName = Map.groupBy(rows, ({ name }) => name);
  for (const [name, id] of acknowledged)
    if (!byName.get(name)?.some((row) => row.id === id)) problems.push(`the write ${name} was acknowledged as ${id} and isn't there`);
  for (const [name, these] of byName) {
    if (these.length > 1) problems.push(`the write ${name} took effect ${these.length} times`);
    if (!begun.has(name)) problems.push(`nobody has written ${name}`);
  }
  const entries = Map.groupBy(audited, (id) => id);
  for (const { id, name } of rows)
    if (entries.get(id)?.length !== 1) problems.push(`the write ${name} has ${entries.get(id)?.length ?? 0} audit entries`);
  const ids = new Set(rows.map(({ id }) => id));
  for (const id of entries.keys()) if (!ids.has(id)) problems.push(`an audit entry tells of ${id}, which isn't there`);
  return problems;
}

/** Every write reached the receiver, at least once and always as the same event. */
export function brokenDeliveries(rows: readonly Row[], received: readonly { resource: string; event: string }[]): string[] {
  const events = Map.groupBy(received, ({ resource }) => resource);
  return rows.flatMap(({ id, name }) => {
    const ids = new Set((events.get(id) ?? []).map(({ event }) => event));
    return ids.size === 1 ? [] : [`the write ${name} was told as ${ids.size} events`];
  });
}

/** Calls that got through and that the request log lacks (of a flood of refusals it keeps a part), other than those of the last `lostMs` before their gateway was killed. */
export function missingFromLog(
  calls: readonly Call[],
  logged: ReadonlySet<string>,
  lostMs: number,
  lives: ReadonlyMap<number, readonly Life[]>,
): string[] {
  const mayBeLost = (call: Call) =>
    (lives.get(call.gateway) ?? []).some(({ to, killed }) => killed && call.from <= to && call.to >= to - lostMs);
  return calls
    .filter((call) => call.status === 200 && call.requestId !== '' && !logged.has(call.requestId) && !mayBeLost(call))
    .map((call) => `call ${call.id} was answered with ${call.status} and isn't in the log`);
}

const within = (call: Span, life: Span): boolean => call.from >= life.from && call.to <= life.to;
const overlap = (one: Span, other: Span): boolean => one.from <= other.to && one.to >= other.from;
