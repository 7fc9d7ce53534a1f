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
import { byId, converse, written } from './frame.ts';
import type { CardResult, ToField } from './messages.ts';

// The card form. What is typed leaves this frame sealed, or goes to the vault; the page around it gets the result and nothing else.

type Init = Extract<ToField, { type: 'svc:init' }>;
let init: Init | undefined;
let busy = false;

const form = byId<HTMLFormElement>('form');
const number = byId<HTMLInputElement>('number');
const expiry = byId<HTMLInputElement>('expiry');
const holder = byId<HTMLInputElement>('name');
const button = byId<HTMLButtonElement>('submit');
const status = byId('status');
const keepsName = written('svc-keeps') === 'name';

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

const send = converse((message) => {
  if (message.type === 'svc:submit') return void submit();
  init = message;
  button.hidden = message.button === false;
  if (typeof message.button === 'string') button.textContent = message.button.slice(0, 60);
  button.disabled = false;
  say('');
});

async function submit(): Promise<void> {
  if (busy || init === undefined) return;
  const faulty = FAULTS.filter(([input, fault]) => tell(input, fault()));
  if (faulty.length > 0) return faulty[0]?.[0].focus();
  busy = true;
  button.disabled = true;
  button.setAttribute('aria-busy', 'true');
  say('Protecting the card …');
  try {
    const result = await protect(init);
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

async function protect(given: Init): Promise<CardResult> {
  const digits = digitsOf(number.value);
  const until = parsedExpiry(expiry.value);
  if (!until) throw new TypeError('the expiry was checked before');
  const shown = { last4: digits.slice(-4), brand: brandOf(digits).name, exp: writtenExpiry(until) };
  if ('token' in given) {
    const client = new SvcClient({ baseUrl: written('svc-base') });
    const value = { value: digits, card_exp_month: until.month, card_exp_year: until.year };
    const { token } = await client.tokenize(given.token, value, written('svc-parent'));
    return { ...shown, token };
  }
  const encryptor = new SvcEncryptor(given.bundle, given.role);
  const [sealedNumber, exp_month, exp_year, name] = await Promise.all(
    [digits, until.month, until.year, holder.value.trim()].map((value) => encryptor.encrypt(value)),
  );
  return { ...shown, ciphertext: { number: sealedNumber, exp_month, exp_year, name } as CardResult['ciphertext'] & object };
}

/** What the person can mend is told here; what only the page can, also to the page. */
function refuse(error: unknown): void {
  const { type, message, request_id } =
    error instanceof SvcError
      ? error
      : new SvcError('invalid_request', error instanceof Error ? error.message : 'The card could not be protected.');
  button.disabled = false;
  if (type === 'validation_error') {
    tell(number, 'This card was not accepted. Check the number and the expiry date, or use another card.');
    say('');
    number.focus();
    return;
  }
  say(RETRYABLE.has(type) ? message : ENDED, true);
  if (RETRYABLE.has(type)) return;
  button.disabled = true;
  send({ type: 'svc:error', error: { type, message, request_id } });
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
