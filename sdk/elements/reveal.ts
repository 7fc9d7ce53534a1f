import { SvcClient } from './client.ts';
import { SvcError } from './error.ts';
import { byId, converse, written } from './frame.ts';
import type { RevealAction, ToField } from './messages.ts';

// Shows one value for 30 seconds. It is in this document and nowhere else: not in a message, not in a title, not in storage.

const SHOWN_MS = 30_000;
type Init = Extract<ToField, { type: 'svc:init'; token: string }>;

const value = byId('value');
const copy = byId<HTMLButtonElement>('copy');
const status = byId('status');
let shown = '';
let timer: ReturnType<typeof setInterval> | undefined;
let begun = false;

const send = converse((message) => {
  if (message.type !== 'svc:init' || !('token' in message) || begun) return;
  begun = true; // the token works once
  void show(message);
});
copy.addEventListener('click', () => void copied());
addEventListener('pagehide', () => hide(''));

async function show({ token, data = '', action = actionFor(data) }: Init): Promise<void> {
  say('Opening …');
  try {
    const client = new SvcClient({ baseUrl: written('svc-base') });
    const found = action === 'decrypt' ? await client.reveal(token, data) : await client.detokenize(token, data);
    shown = typeof found === 'string' ? found : JSON.stringify(found);
    value.textContent = shown;
    copy.hidden = false;
    countDown(Date.now() + SHOWN_MS);
    send({ type: 'svc:shown' });
  } catch (error) {
    const { type, message, request_id } = error instanceof SvcError ? error : new SvcError('invalid_request', String(error));
    say('This value can no longer be shown. Reload the page to ask for it again.', true);
    send({ type: 'svc:error', error: { type, message, request_id } });
  }
}

const actionFor = (data: string): RevealAction => (data.startsWith('kc:') && data.endsWith(':$') ? 'decrypt' : 'detokenize');

function countDown(until: number): void {
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) return hide('Hidden. Reload the page to show it again.');
    say(`Hidden in ${left} s`);
  };
  timer = setInterval(tick, 250);
  tick();
}

function hide(text: string): void {
  clearInterval(timer);
  if (shown === '') return;
  shown = '';
  value.textContent = '';
  copy.hidden = true;
  say(text);
  send({ type: 'svc:cleared' });
}

async function copied(): Promise<void> {
  try {
    await navigator.clipboard.writeText(shown);
    copy.textContent = 'Copied';
  } catch {
    // A page may refuse it to its frames: then the person copies by hand.
    getSelection()?.selectAllChildren(value);
    copy.textContent = 'Press Ctrl+C';
  }
}

function say(text: string, alarming = false): void {
  status.textContent = text;
  status.dataset.tone = alarming ? 'error' : 'plain';
}
