import type { Steps } from '#server/kernel/slices.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import { encodeSteps } from '../../templates/render.ts';
import { type Encrypted, valueAt } from './encrypted.ts';
import type { Expression } from './expressions.ts';
import { bytesOf, isRefused, type Piece, type Slot } from './scan.ts';

/** What stands for expressions. `secret` gives undefined for a reference that was not opened. */
export type Values = {
  readonly tokens: ReadonlyMap<string, string>;
  readonly encrypted: Encrypted | null;
  readonly secret: (expression: Extract<Expression, { kind: 'secret' }>) => string | undefined;
};

/** The pieces with every expression replaced; what was put in is not looked at again. */
export function* renderPieces(pieces: readonly Piece[], values: Values): Steps<string | Refused> {
  let text = '';
  for (const piece of pieces) {
    const rendered = typeof piece === 'string' ? piece : yield* renderSlot(piece, values);
    if (typeof rendered !== 'string') return rendered;
    text += rendered;
  }
  return text;
}

export function* renderSlot({ parts, json, whole, encode }: Slot, values: Values): Steps<string | Refused> {
  const [only] = parts;
  if (json && parts.length === 1 && typeof only === 'object' && only.kind === 'encrypted') {
    const found = encryptedAt(only, values);
    return isRefused(found) ? found : bytesOf(found.json);
  }
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : textOf(part, values);
    if (typeof value !== 'string') return value;
    text += whole || typeof part === 'string' ? value : encode(value);
  }
  if (!whole) return text;
  const written = yield* encodeSteps(text, encode);
  return json ? `"${written}"` : written;
}

function textOf(part: Expression, values: Values): string | Refused {
  if (part.kind === 'token') return values.tokens.get(part.token) ?? unresolved('token');
  if (part.kind === 'secret') return values.secret(part) ?? unresolved('secret');
  const found = encryptedAt(part, values);
  if (isRefused(found)) return found;
  return (
    found.text ??
    refused('validation_error', 'An {{ encrypted | json: … }} placeholder inside of a longer text must lead to a single value.')
  );
}

function encryptedAt({ path }: Extract<Expression, { kind: 'encrypted' }>, { encrypted }: Values) {
  if (encrypted === null)
    return refused('template_unresolved', 'The call has {{ encrypted | json: … }} placeholders, but no X-Svc-Encrypted header.');
  return (
    valueAt(encrypted, path) ??
    refused('template_unresolved', 'A path of an {{ encrypted | json: … }} placeholder leads to nothing in X-Svc-Encrypted.')
  );
}

const unresolved = (kind: string): Refused => refused('template_unresolved', `A {{ ${kind}: … }} placeholder could not be resolved.`);
