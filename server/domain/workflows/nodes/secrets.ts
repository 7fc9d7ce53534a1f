import { openedSecret, SecretUnusable } from '#server/custody/mcp/secrets.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { isRecord } from '../definition.shared.ts';
import { evaluatePieces, maskOf, type SecretName } from '../expressions/template.shared.ts';
import { hash, type NodeCall, type NodeFault } from './node-call.ts';

/**
 * The values of secrets that one request sends. They are opened when the request is made, put only into texts that the config itself wrote, and taken out of
 * whatever comes back; nothing that is stored or referred to ever has them.
 */
export type Secrets = {
  /** A text of the config in both forms. @throws SecretFault, Unresolved, SyntaxProblem */
  fill(text: string, strict?: boolean): Promise<Filled>;
  /** The same for every text of a JSON value; a placeholder alone keeps its type. */
  fillValue(value: unknown, whole: (text: string) => unknown): Promise<{ sent: unknown; shown: unknown }>;
  /** Replaces every value that was put in by its mask, also where it stands encoded. */
  masked<T>(value: T): T;
};
export type Filled = { sent: string; shown: string };

export class SecretFault extends Error {
  override readonly name = 'SecretFault';
  readonly fault: NodeFault;
  constructor(fault: NodeFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** For one request to this URL. */
export function secretsFor({ place, environment, scope, now }: NodeCall, url: string): Secrets {
  const opened = new Map<string, { value: string; mask: string }>();
  const open = async (name: SecretName): Promise<string> => {
    const mask = maskOf(name);
    const known = opened.get(mask);
    if (known) return known.value;
    const value = await openNamed(place, name, environment, url, now);
    opened.set(mask, { value, mask });
    return value;
  };
  const fill = async (text: string, strict = false): Promise<Filled> => {
    let [sent, shown] = ['', ''];
    for (const piece of evaluatePieces(text, { scope, hash, strict })) {
      sent += typeof piece === 'string' ? piece : await open(piece);
      shown += typeof piece === 'string' ? piece : maskOf(piece);
    }
    return { sent, shown };
  };
  const fillValue: Secrets['fillValue'] = async (value, whole) => {
    if (typeof value === 'string') {
      if (value.includes('{{secret') || /\{\{\s*secret/.test(value)) return fill(value);
      const plain = whole(value);
      return { sent: plain, shown: plain };
    }
    if (Array.isArray(value)) {
      const items = await Promise.all(value.map((item) => fillValue(item, whole)));
      return { sent: items.map(({ sent }) => sent), shown: items.map(({ shown }) => shown) };
    }
    if (!isRecord(value)) return { sent: value, shown: value };
    const members = await Promise.all(Object.entries(value).map(async ([name, item]) => [name, await fillValue(item, whole)] as const));
    return {
      sent: Object.fromEntries(members.map(([name, { sent }]) => [name, sent])),
      shown: Object.fromEntries(members.map(([name, { shown }]) => [name, shown])),
    };
  };
  return { fill, fillValue, masked: (value) => maskedWith([...opened.values()].flatMap(formsOf), value) as typeof value };
}

type Form = { text: string; mask: string };
/** A value in the forms in which a receiver may give it back. A short one would mask half of the answer. */
function formsOf({ value, mask }: { value: string; mask: string }): Form[] {
  if (value.length < 4) return [];
  const encoded = Buffer.from(value);
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    encoded.toString('base64'),
    encoded.toString('base64url'),
    encoded.toString('hex'),
  ];
  return [...new Set(forms)].map((text) => ({ text, mask })).sort((a, b) => b.text.length - a.text.length);
}

export function maskedWith(forms: readonly Form[], value: unknown): unknown {
  if (forms.length === 0) return value;
  if (typeof value === 'string') return forms.reduce((text, { text: form, mask }) => text.replaceAll(form, mask), value);
  if (Array.isArray(value)) return value.map((item) => maskedWith(forms, item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [maskedWith(forms, name), maskedWith(forms, item)]));
}

async function openNamed(place: NodeCall['place'], name: SecretName, environment: string | null, url: string, now: Date): Promise<string> {
  const id = name.by === 'id' ? name.secret : await idOf(place, name.secret);
  if (id === null) throw new SecretFault({ code: 'secret_unresolved', message: `The secret ${name.secret} doesn't exist.` });
  try {
    return (await openedSecret(place, { id, environment, url, now })).reveal();
  } catch (error) {
    if (!(error instanceof SecretUnusable)) throw error;
    throw new SecretFault({ code: error.reason === 'host_not_allowed' ? 'secret_forbidden' : 'secret_unresolved', message: error.message });
  }
}

async function idOf(place: NodeCall['place'], name: string): Promise<string | null> {
  const [row] = await ownRows<{ id: string }>(place, BY_NAME, name);
  return row?.id ?? null;
}

const BY_NAME = ownQuery('workflow-secret-by-name', 'select id from secrets where tenant_id = $1 and sandbox = $2 and shortcode_name = $3');
