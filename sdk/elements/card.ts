import {
  brandOf,
  digitsOf,
  expiryFault,
  grouped,
  groupedExpiry,
  longest,
  numberFault,
  parsedExpiry,
  writtenExpiry,
} from './card-number.ts';
import { SvcClient } from './client.ts';
import { SvcEncryptor } from './encryptor.ts';
import { SvcError } from './error.ts';
import { asSvcError, byId, checkToken, converse, ownBundle, written } from './frame.ts';
import type { CardResult, Init, SealedCard } from './messages.ts';

// The card form. What is typed leaves this frame sealed for the workspace in its own address, or goes to a vault of that workspace; the page around it gets
// the result and nothing else.

/** What becomes of a card. `prepare` may be repeated, and throws before anything that was typed is used. */
type Keeping = {
  prepare(): Promise<void>;
  keep(card: Card): Promise<Pick<CardResult, 'token' | 'ciphertext'>>;
};
type Card = { digits: string; month: number; year: number; holder: string };

let keeping: Keeping | undefined;
let busy = false;

const form = byId<HTMLFormElement>('form');
const number = byId<HTMLInputElement>('number');
const expiry = byId<HTMLInputElement>('expiry');
const holder = byId<HTMLInputElement>('name');
const button = byId<HTMLButtonElement>('submit');
const status = byId('status');
const bundle = ownBundle();
/** A vault has no place for a name. */
const keepsName = bundle !== null;

const FAULTS: readonly [HTMLInputElement, () => string | null][] = [
  [number, () => numberFault(digitsOf(number.value))],
  [expiry, () => expiryFault(expiry.value, new Date())],
  [holder, () => (keepsName && holder.value.trim() === '' ? 'Enter the name on the card.' : null)],
];

byId('name-field').hidden = !keepsName;
number.addEventListener('input', () => {
  const digits = digitsOf(number.value);
  rewrite(number, grouped(digits.slice(0, longest(digits))));
  showBrand();
});
expiry.addEventListener('input', (event) =>
  rewrite(expiry, groupedExpiry(expiry.value, !(event as InputEvent).inputType?.startsWith('delete'))),
);
for (const [input, fault] of FAULTS) {
  // While somebody types, only a fault that was already told is judged again.
  input.addEventListener('input', () => input.getAttribute('aria-invalid') === 'true' && tell(input, fault()));
  input.addEventListener('blur', () => input.value !== '' && tell(input, fault()));
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void submit();
});
addEventListener('pagehide', clear);

const { send, fail } = converse({
  begin(init) {
    button.hidden = init.button === false;
    if (typeof init.button === 'string') button.textContent = init.button.slice(0, 60);
    try {
      keeping = keepingOf(init);
    } catch (error) {
      return fail(error);
    }
    // Who types fast may send before the token was checked: `protect` waits for the same check.
    button.disabled = false;
    // A token that is refused is told before somebody types a card for it.
    keeping.prepare().catch((error) => busy || refuse(error));
  },
  submit: () => void submit(),
  end() {
    keeping = undefined;
    clear();
    button.disabled = true;
    say(ENDED, true);
  },
});

/** By the document's key, or by the page's token: which of the two it is, the service has decided. @throws SvcError, TypeError */
function keepingOf(init: Init): Keeping {
  if (bundle !== null) {
    if ('token' in init)
      throw new SvcError('invalid_request', 'This field seals and takes no client token. Mount one with `token` and `workspace`.');
    const encryptor = new SvcEncryptor(bundle, init.role);
    return {
      prepare: async () => {},
      async keep({ digits, month, year, holder }) {
        const [number, exp_month, exp_year, name] = await Promise.all(
          [digits, month, year, holder].map((value) => encryptor.encrypt(value)),
        );
        return { ciphertext: { number, exp_month, exp_year, name } as SealedCard };
      },
    };
  }
  if (!('token' in init))
    throw new SvcError('invalid_request', 'This field keeps cards in a vault. Pass it a client token for `tokenize`.');
  const client = new SvcClient({ baseUrl: written('svc-base') });
  let checked: Promise<void> | undefined;
  return {
    prepare: () =>
      (checked ??= checkToken(client, init.token, 'tokenize').catch((error) => {
        checked = undefined; // to be asked again when the person tries again
        throw error;
      })),
    async keep({ digits, month, year }) {
      const value = { value: digits, card_exp_month: month, card_exp_year: year };
      const { token } = await client.tokenize(init.token, value, written('svc-parent'));
      return { token };
    },
  };
}

async function submit(): Promise<void> {
  if (busy || keeping === undefined) return;
  const faulty = FAULTS.filter(([input, fault]) => tell(input, fault()));
  if (faulty.length > 0) return faulty[0]?.[0].focus();
  busy = true;
  button.disabled = true;
  button.setAttribute('aria-busy', 'true');
  say('Protecting the card …');
  try {
    const result = await protect(keeping);
    if (keeping === undefined) return; // the field ended meanwhile
    clear();
    form.hidden = true;
    say(`${brandLabel(result)} ending in ${result.last4}, valid to ${result.exp}.`);
    send({ type: 'svc:result', result });
  } catch (error) {
    refuse(error);
  } finally {
    busy = false;
    button.removeAttribute('aria-busy');
  }
}

async function protect({ prepare, keep }: Keeping): Promise<CardResult> {
  const digits = digitsOf(number.value);
  const until = parsedExpiry(expiry.value);
  if (!until) throw new TypeError('the expiry was checked before');
  const card = { digits, month: until.month, year: until.year, holder: holder.value.trim() };
  const shown = { last4: digits.slice(-4), brand: brandOf(digits).name, exp: writtenExpiry(until) };
  await prepare();
  return { ...shown, ...(await keep(card)) };
}

/** What the person can mend is told here; what only the page can, also to the page. */
function refuse(error: unknown): void {
  if (keeping === undefined) return;
  const { type, message } = asSvcError(error);
  button.disabled = false;
  if (type === 'validation_error') {
    tell(number, 'This card was not accepted. Check the number and the expiry date, or use another card.');
    say('');
    number.focus();
    return;
  }
  if (RETRYABLE.has(type)) say(message, true);
  else fail(error);
}
const ENDED = 'This form can no longer be used. Reload the page to start again. Nothing was saved.';
const RETRYABLE = new Set([
  'connection_failed',
  'rate_limit_exceeded',
  'audit_unavailable',
  'dependency_unavailable',
  'tenant_sealed',
  'internal_error',
]);

/** Shows what is wrong with a field, or that nothing is; true when something is. */
function tell(input: HTMLInputElement, fault: string | null): boolean {
  input.setAttribute('aria-invalid', String(fault !== null));
  byId(`${input.id}-error`).textContent = fault ?? '';
  return fault !== null;
}

function say(text: string, alarming = false): void {
  status.textContent = text;
  status.dataset.tone = alarming ? 'error' : 'plain';
}

function showBrand(): void {
  const { name, label } = brandOf(digitsOf(number.value));
  byId('brand').textContent = name === 'unknown' ? '' : label;
}

const brandLabel = ({ brand }: CardResult) => (brand === 'unknown' ? 'Card' : byId('brand').textContent || 'Card');

/** Sets the text and leaves the caret behind the same digit. */
function rewrite(input: HTMLInputElement, text: string): void {
  if (input.value === text) return;
  const atEnd = input.selectionStart === input.value.length;
  const before = digitsOf(input.value.slice(0, input.selectionStart ?? 0)).length;
  input.value = text;
  if (atEnd) return;
  let at = 0;
  for (let digits = 0; at < text.length && digits < before; at++) if (/\d/.test(text[at] as string)) digits++;
  input.setSelectionRange(at, at);
}

function clear(): void {
  for (const [input] of FAULTS) input.value = '';
}
