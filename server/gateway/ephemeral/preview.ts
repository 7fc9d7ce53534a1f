import type { ProxyTestReport } from '#server/domain/wrap/proxy-test.schema.ts';
import type { Runtime } from '../core/runtime.ts';
import type { EphemeralCall } from './ephemeral-call.ts';
import { secretOf } from './phases/find-credential.ts';
import { valueAt } from './templates/encrypted.ts';
import type { Expression } from './templates/expressions.ts';
import type { Piece } from './templates/scan.ts';

type Placeholder = ProxyTestReport['placeholders'][number];
type Judged = Pick<Placeholder, 'state' | 'detail'>;

/** Every placeholder of a scanned call, in its place, and whether it would resolve. Nothing is opened, and no value is read. */
export function preview(call: EphemeralCall, runtime: Runtime): Placeholder[] {
  const { scanned } = call.state;
  if (!scanned) return [];
  const places: [string, readonly Piece[]][] = [
    ['query', scanned.query ?? []],
    ...[...scanned.headers].map(([index, slot]): [string, Piece[]] => [call.names[index] ?? '', [slot]]),
    ['body', scanned.body ?? []],
  ];
  return places.flatMap(([place, pieces]) =>
    pieces
      .flatMap((piece) => (typeof piece === 'string' ? [] : piece.parts.filter((part) => typeof part !== 'string')))
      .map((one) => ({ place, expression: written(one), ...judged(call, runtime, one) })),
  );
}

function judged(call: EphemeralCall, runtime: Runtime, one: Expression): Judged {
  if (one.kind === 'token')
    return { state: 'later', detail: 'Opened when a key with vault:detokenize makes the call. People never open vault tokens.' };
  if (one.kind === 'secret') {
    const found = secretOf(call, runtime, one.reference);
    return 'code' in found ? { state: 'fails', detail: found.message } : { state: 'resolves', detail: `The value of ${found.name}.` };
  }
  const { encrypted } = call.state;
  if (encrypted === null) return { state: 'fails', detail: 'The call has no encrypted value.' };
  const found = valueAt(encrypted, one.path);
  if (!found) return { state: 'fails', detail: 'The path leads to nothing in the encrypted value.' };
  return { state: 'resolves', detail: found.text === undefined ? 'A list or an object.' : 'A single value.' };
}

/** As the grammar spells it; the caller's own spacing and quotes are gone. */
function written(one: Expression): string {
  if (one.kind === 'token') return `{{ token: ${one.token} }}`;
  if (one.kind === 'secret') {
    const { reference } = one;
    if (reference.kind === 'secret_id') return `{{ secret_id: ${reference.id} }}`;
    return `{{ secret: ${reference.kind === 'secret' ? reference.name : ''} }}`;
  }
  return `{{ encrypted | json: $${one.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')} }}`;
}
