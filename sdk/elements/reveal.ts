import { SvcClient } from './client.ts';
import { SvcError } from './error.ts';
import { byId, checkToken, converse, written } from './frame.ts';
import type { Init, RevealAction } from './messages.ts';

// Shows one value for 30 seconds. It is in this document and nowhere else: not in a message, not in a title, not in storage.

const SHOWN_MS = 30_000;

const value = byId('value');
const copy = byId<HTMLButtonElement>('copy');
const status = byId('status');
let shown = '';
let timer: ReturnType<typeof setInterval> | undefined;
let ended = false;

const { send, fail } = converse({
  begin(init) {
    if ('token' in init) void show(init);
    else fail(new SvcError('invalid_request', 'This field shows what a client token opens. Pass it one.'));
  },
  end() {
    ended = true;
    hide('');
    say('This value can no longer be shown. Reload the page to ask for it again.', true);
  },
});
copy.addEventListener('click', () => void copied());
addEventListener('pagehide', () => hide(''));

async function show({ token, data = '', action = actionFor(data) }: Extract<Init, { token: string }>): Promise<void> {
  say('Opening …');
  try {
    const client = new SvcClient({ baseUrl: written('svc-base') });
    await checkToken(client, token, action);
    const found = action === 'decrypt' ? await client.reveal(token, data) : await client.detokenize(token, data);
    if (ended) return;
    shown = typeof found === 'string' ? found : JSON.stringify(found);
    value.textContent = shown;
    copy.hidden = false;
    countDown(Date.now() + SHOWN_MS);
    send({ type: 'svc:shown' });
  } catch (error) {
    fail(error);
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
