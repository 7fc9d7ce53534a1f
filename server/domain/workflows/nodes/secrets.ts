import { openedSecret, SecretUnusable } from '#server/custody/mcp/secrets.ts';
import { scrubbedBytes } from '#server/custody/redaction/scrubbed-bytes.ts';
import { filledTexts, mapTexts } from '#server/domain/templates/texts.shared.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { asText } from '../expressions/filters.shared.ts';
import { COST, charge, chargeWhole } from '../expressions/meter.shared.ts';
import { evaluatePieces, evaluateText, maskOf, namesSecret, type SecretName, WALK } from '../expressions/template.shared.ts';
import { hash, type NodeCall, type NodeFault } from './node-call.ts';

/**
 * The values of secrets that one request sends. They are opened when the request is made, put only into texts that the config itself wrote, and taken out of
 * whatever comes back; nothing that is stored or referred to ever has them.
 */
export type Secrets = {
  /** A value of the config as text, in both forms. @throws SecretFault, Unresolved, SyntaxProblem */
  fill(value: unknown, strict?: boolean): Promise<Filled>;
  /** The same for every text of a JSON value; a placeholder alone keeps its type. @throws as fill */
  fillValue(value: unknown): Promise<{ sent: unknown; shown: unknown }>;
  /** Whether any value was put in. */
  sent(): boolean;
  /** What came back without any value that was put in, however it is encoded. @throws SecretFault when it can't be searched */
  scrubbed(bytes: Buffer): Promise<Buffer>;
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
export function secretsFor({ place, environment, scope, meter, now }: NodeCall, url: string): Secrets {
  /** Values by the names that stand for them. */
  const opened = new Map<string, string>();
  const open = async (name: SecretName): Promise<string> => {
    const value = opened.get(name.secret) ?? (await openNamed(place, name, environment, url, now));
    opened.set(name.secret, value);
    return value;
  };
  const fillText = async (text: string, strict: boolean): Promise<{ sent: unknown; shown: unknown }> => {
    charge(meter, text.length * COST.parse);
    if (!namesSecret(text)) {
      const plain = evaluateText(text, { scope, hash, meter, strict });
      return { sent: plain, shown: plain };
    }
    let [sent, shown] = ['', ''];
    for (const piece of evaluatePieces(text, { scope, hash, meter, strict })) {
      sent += typeof piece === 'string' ? piece : await open(piece);
      shown += typeof piece === 'string' ? piece : maskOf(piece);
    }
    return { sent, shown };
  };
  const fillIn = async (value: unknown, strict: boolean) => {
    chargeWhole(meter, value, 3 * WALK); // walked to find its texts, and once for each form
    const filled = await filledTexts(value, (text) => fillText(text, strict));
    const form = (which: 'sent' | 'shown') => mapTexts(value, ({ text }) => filled.get(text)?.[which]);
    return { sent: form('sent'), shown: form('shown') };
  };
  return {
    fillValue: (value) => fillIn(value, false),
    async fill(value, strict = false) {
      const { sent, shown } = await fillIn(value, strict);
      return { sent: asText(sent, meter), shown: asText(shown, meter) };
    },
    sent: () => opened.size > 0,
    async scrubbed(bytes) {
      const clean = await scrubbedBytes(opened, bytes);
      if (!clean) throw unsearchable();
      return clean;
    },
  };
}

export const unsearchable = (): SecretFault =>
  new SecretFault({
    code: 'network',
    message: "The answer is withheld: it can't be searched for the secrets that were sent. Have the server answer uncompressed text.",
  });

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
