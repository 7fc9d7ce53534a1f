import { type Draft, effectiveReferences, settingsOf } from '#server/domain/routes/transfer/service.ts';
import { hostAllowed } from '#server/domain/secrets/service.ts';
import { parseTemplate } from '#server/domain/templates/grammar.ts';
import type { Space } from '#server/kernel/context.ts';
import { egress } from '#server/platform/egress.ts';
import { again, type PlanBuilder, type Step, there } from './plan-builder.ts';
import { endOf, holdsValue } from './rows.ts';
import type { Family } from './schema.ts';
import { type Held, type Reference, remembered, type Variable, type World } from './world.ts';

/** Why calls are refused over a secret: it has no value in their environment, it may not be sent where they go, or it has ended and is strict. */
export type Fault = {
  why: 'value' | 'host' | 'ended';
  secret: string;
  /** Its id, once it is there. */
  secret_id: string | undefined;
  environment: string;
  /** Where the calls go; null when that is no address. */
  host: string | null;
  /** The variables that named the secret or the host. */
  through: Through[];
};

type Through = { collection_id: string; key: string };

/** A route as it is in a world; the collection is the one it is in there. */
export type Routed = { draft: Draft; collection_id: string | null };

/** All that calls of the route would be refused over, of what its configuration names: what callers name themselves nobody knows (interface rule 30 §6). */
export function faultsOf({ draft, collection_id }: Routed, world: World, now: Date): Fault[] {
  const needed = remembered((reference: Reference): { secret: Held | undefined; through: Through[] } => {
    if (reference.kind !== 'var') return { secret: world.secret(reference), through: [] };
    const variable = world.variable(collection_id, reference);
    return { secret: variable?.secret, through: variable ? [variable] : [] };
  });
  const addresses = remembered((template: string) => addressOf(template, (reference) => world.variable(collection_id, reference)));
  return [...effectiveReferences(draft)].flatMap(([environment, references]) => {
    const address = addresses(settingsOf(draft, environment).target_base_url);
    const secrets = new Map<Held, Through[]>();
    for (const { reference } of references) {
      const { secret, through } = needed(reference);
      if (secret) secrets.set(secret, [...(secrets.get(secret) ?? []), ...through]);
    }
    return [...secrets].flatMap(([secret, through]): Fault[] => {
      const why = refusalOf(secret, environment, address, now);
      if (!why) return [];
      const ways = why === 'host' ? [...through, ...address.through] : through;
      return [{ why, secret: secret.name, secret_id: secret.row?.id, environment, host: address.host, through: ways }];
    });
  });
}

/** Those that were not there before. */
export function freshOf(faults: readonly Fault[], before: readonly Fault[]): Fault[] {
  const nameOf = ({ why, secret, environment }: Fault) => `${why} ${secret} ${environment}`;
  const known = new Set(before.map(nameOf));
  return faults.filter((fault) => !known.has(nameOf(fault)));
}

function refusalOf(secret: Held, environment: string, address: Address, now: Date): Fault['why'] | undefined {
  if (!secret.row || !holdsValue(secret.row, environment)) return 'value';
  if (secret.pins && !address.mayHave(secret.pins)) return 'host';
  const ends = endOf(secret.row, environment);
  return secret.strict && ends !== null && ends <= now ? 'ended' : undefined;
}

type Address = Pick<Fault, 'host' | 'through'> & { mayHave: (pins: readonly string[]) => boolean };

/** Where calls go with the variables filled in; nothing else may stand in a target (interface rule 10 §7.3). */
function addressOf(template: string, variable: (reference: Variable) => ReturnType<World['variable']>): Address {
  const parsed = parseTemplate(template);
  const through: Through[] = [];
  const text = (parsed.ok ? parsed.template : []).map((part) => {
    if (part.kind === 'literal') return part.text;
    const found = part.kind === 'var' ? variable(part) : undefined;
    if (found) through.push(found);
    return found?.value ?? '';
  });
  const url = URL.parse(text.join(''));
  if (!url?.hostname) return { host: null, through, mayHave: () => false };
  // Pinned values leave over https to port 443 alone, but for the operator's own test hosts (interface rule 30 §13).
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const fit = (url.protocol === 'https:' && port === 443) || egress().settings.testHosts.has(`${url.hostname}:${port}`);
  return { host: url.hostname, through, mayHave: (pins) => fit && hostAllowed(pins, url.hostname) };
}

/** "would fail ..., then promote the route again." */
export function waitsFor({ to }: PlanBuilder, { type }: Step, faults: readonly Fault[]): string {
  const { fails, remedy } = failureOf(to, type, faults);
  return `${fails}. ${remedy}, then ${again(to)} the ${type} again.`;
}

/** Why calls would fail and what to do about it, in words; of several kinds of faults the first, since the next plan tells the next. */
export function failureOf(to: Space, type: Family, faults: readonly Fault[]): { fails: string; remedy: string } {
  const why = (['value', 'host'] as const).find((one) => faults.some((fault) => fault.why === one)) ?? 'ended';
  const told = faults.filter((fault) => fault.why === why);
  const names = (of: (fault: Fault) => string | null) => list.format(new Set(told.flatMap((fault) => of(fault) ?? [])));
  const secrets = names((fault) => fault.secret);
  switch (why) {
    case 'value':
      return { fails: `would fail because ${secrets} has no value`, remedy: 'Set it' };
    case 'host':
      return {
        fails: `would fail because ${secrets} isn’t allowed for ${names((fault) => fault.host) || 'this host'}`,
        remedy: `Allow the host ${type === 'secret' ? 'here' : `in ${there(to)}`}`,
      };
    case 'ended':
      return {
        fails: `would fail because ${secrets} has expired in ${names((fault) => fault.environment)}`,
        remedy: `Set a new value in ${there(to)} or extend its expiry`,
      };
  }
}
const list = new Intl.ListFormat('en');
